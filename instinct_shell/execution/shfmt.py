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


def tree(text: str, deadline_ms: int) -> dict[str, Any]:
    """mvdan/sh's tree of this text. Raises SyntaxFault, OutOfTime, or ParserFault when the program cannot be started."""
    output, errors, status = _run(text.encode("utf-8", "surrogateescape"), deadline_ms)
    if status != 0:
        message = errors.decode("utf-8", "replace").strip()
        raise SyntaxFault(message.removeprefix("<standard input>:") or f"parser ended with status {status}")
    try:
        found: dict[str, Any] = _scan(output.decode("utf-8", "replace"))
    except (ValueError, StopIteration) as error:
        raise ParserFault(f"the parser program answered rubbish: {error}") from None
    return found


def _scan(text: str) -> Any:
    from json import loads

    return loads(text)


def _run(source: bytes, deadline_ms: int) -> tuple[bytes, bytes, int]:
    """Output, error text and exit status of one run."""
    name = program()
    read_out, write_out = os.pipe()
    read_err, write_err = os.pipe()
    given = os.memfd_create("command")
    pid = 0
    try:
        os.write(given, source)
        os.lseek(given, 0, os.SEEK_SET)
        actions = [
            (os.POSIX_SPAWN_DUP2, given, 0),
            (os.POSIX_SPAWN_DUP2, write_out, 1),
            (os.POSIX_SPAWN_DUP2, write_err, 2),
        ]
        try:
            # GOMAXPROCS=1, GOGC=off: a parse of milliseconds gains nothing from more threads; GOMEMLIMIT still bounds the memory
            environment = {"GOMAXPROCS": "1", "GOGC": "400", "GOMEMLIMIT": "200MiB"}
            pid = os.posix_spawn(name, [name, "--to-json", "--language-dialect=bash"], environment, file_actions=actions)
        except OSError as error:
            raise ParserFault(f"the parser program `{name}` cannot be started: {error.strerror}") from None
        os.close(write_out)
        os.close(write_err)
        write_out = write_err = -1
        output, errors = _gather(read_out, read_err, monotonic() + deadline_ms / 1000)
        _, status = os.waitpid(pid, 0)
        pid = 0
        return output, errors, os.waitstatus_to_exitcode(status)
    finally:
        for fd in (given, read_out, read_err, write_out, write_err):
            if fd >= 0:
                os.close(fd)
        if pid:
            os.kill(pid, _KILL)
            os.waitpid(pid, 0)


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
