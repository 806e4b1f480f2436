"""Runs `shfmt --to-json` (mvdan/sh) on a text and returns its tree as plain JSON, within a deadline and a memory limit.

The program comes with the shfmt-py package; it is looked up beside the packages in use, never on PATH. It is started directly
(`posix_spawn`), since `subprocess` costs more to import than the whole parse.
"""

from __future__ import annotations

import os
import select
import sys
from functools import cache
from time import monotonic

from ..errors import ParserFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_OUTPUT = 64 * 1024 * 1024
_CHUNK = 1 << 20
_KILL = 9


class SyntaxFault(Exception):
    """mvdan/sh rejects the text; the message is its own, with line and column."""


class OutOfTime(Exception):
    """The program was killed: deadline or output limit."""


@cache
def program() -> str:
    """The absolute path of the shfmt that belongs to the packages in use. Raises ParserFault when it is not installed."""
    folders = [os.path.dirname(os.path.abspath(__file__)) + "/../..", *sys.path]
    candidates = [f"{sys.prefix}/bin/shfmt", *(f"{folder}{up}/bin/shfmt" for folder in folders if folder for up in ("/../../..", ""))]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    raise ParserFault("the parser program `shfmt` is missing beside the installed packages", hint="run bin/setup, or pip install shfmt-py")


def _scan(text: str) -> Any:
    from json import loads

    return loads(text)


class Run:
    """One run of the program, started at once and read later: a process that judges one text has its imports to do meanwhile.

    Raises ParserFault when the program cannot be started. `tree` or `drop` must follow.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        name = program()
        self._out, write_out = os.pipe()
        self._err, write_err = os.pipe()
        given = os.memfd_create("command")
        self._pid = 0
        try:
            os.write(given, text.encode("utf-8", "surrogateescape"))
            os.lseek(given, 0, os.SEEK_SET)
            actions = [
                (os.POSIX_SPAWN_DUP2, given, 0),
                (os.POSIX_SPAWN_DUP2, write_out, 1),
                (os.POSIX_SPAWN_DUP2, write_err, 2),
            ]
            # GOMAXPROCS=1, GOGC=off: a parse of milliseconds gains nothing from more threads; GOMEMLIMIT still bounds the memory
            environment = {"GOMAXPROCS": "1", "GOGC": "400", "GOMEMLIMIT": "200MiB"}
            self._pid = os.posix_spawn(name, [name, "--to-json", "--language-dialect=bash"], environment, file_actions=actions)
        except OSError as error:
            self.drop()
            raise ParserFault(
                f"the parser program `{name}` cannot be started: {(error.strerror or str(error)).lower()}",
                hint="raise the limits that this process runs under (`ulimit -a`), or reinstall it with bin/setup",
            ) from None
        finally:
            for fd in (given, write_out, write_err):
                os.close(fd)

    def tree(self, deadline_ms: int) -> dict[str, Any]:
        """Its answer; the deadline begins now. Raises SyntaxFault and OutOfTime."""
        try:
            output, errors = _gather(self._out, self._err, monotonic() + deadline_ms / 1000)
            _, status = os.waitpid(self._pid, 0)
            self._pid = 0
        finally:
            self.drop()
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            message = errors.decode("utf-8", "replace").strip()
            raise SyntaxFault(message.removeprefix("<standard input>:") or f"parser ended with status {code}")
        try:
            found: dict[str, Any] = _scan(output.decode("utf-8", "replace"))
        except (ValueError, StopIteration) as error:
            raise ParserFault(f"the parser program answered rubbish: {error}") from None
        return found

    def drop(self) -> None:
        """End it and give its descriptors back; nothing more is wanted of it."""
        for fd in (self._out, self._err):
            if fd >= 0:
                os.close(fd)
        self._out = self._err = -1
        if self._pid:
            os.kill(self._pid, _KILL)
            os.waitpid(self._pid, 0)
            self._pid = 0


def _gather(out: int, err: int, until: float) -> tuple[bytes, bytes]:
    """Everything written to both pipes until they are closed."""
    pieces: dict[int, list[bytes]] = {out: [], err: []}
    poll = select.poll()
    poll.register(out, select.POLLIN | select.POLLHUP)
    poll.register(err, select.POLLIN | select.POLLHUP)
    open_ = {out, err}
    size = 0
    while open_:
        left = until - monotonic()
        ready = poll.poll(max(0, int(left * 1000) + 1)) if left > 0 else []
        if not ready:
            raise OutOfTime
        for fd, _ in ready:
            piece = os.read(fd, _CHUNK)
            if not piece:
                poll.unregister(fd)
                open_.discard(fd)
                continue
            size += len(piece)
            if size > MAX_OUTPUT:
                raise OutOfTime
            pieces[fd].append(piece)
    return b"".join(pieces[out]), b"".join(pieces[err])
