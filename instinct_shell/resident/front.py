"""The quick way in: ask the engine, print what it says, run what it planned. Built-in modules only; None means "judge in this process"."""

from __future__ import annotations

import posix

from . import client, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

BLOCKED = 2  # a hook's exit status that stops the tool, with every agent
_INPUT_MS = 200
MOST_ASKED = 1 << 20  # bytes of a hook's input that an engine is bothered with


def warm(program: str, arguments: list[str]) -> int | None:
    """The exit status of the whole program, or None: then nothing was run, printed or written down, and the caller goes the long way.

    program: instinct-exec | shell | check.
    """
    if not client.wanted() or not arguments:
        return None
    return _check(arguments) if program == "check" else _run(program.encode(), arguments)


def asked(program: str, arguments: list[str]) -> dict[int, bytes] | None:
    """The engine's answer to a program that runs nothing, by tag (TO_STDOUT, TO_STDERR, STATUS); None when there is none."""
    if not client.wanted():
        return None
    connection = _ask(program.encode(), arguments)
    return client.hear(connection) if connection is not None else None


def hook(arguments: list[str]) -> tuple[int | None, bytes]:
    """A hook before a tool: (its exit status, b""). With None goes what was read of its input: nothing was judged, and the caller goes the long way."""
    if "pre" not in arguments or not client.wanted():
        return None, b""
    said, whole = _input()
    connection = _ask(b"hook", [*arguments, said.decode("utf-8", "surrogateescape")]) if whole else None
    answer = client.hear(connection) if connection is not None else None
    if answer is None or protocol.STATUS not in answer:
        return None, said
    return emit(answer.get(protocol.TO_STDOUT, b""), answer.get(protocol.TO_STDERR, b""), int(answer[protocol.STATUS])), b""


def _input() -> tuple[bytes, bool]:
    """(what there is on stdin, whether that is all): agents write it at once; who does not, or writes very much, is no matter for a quick way."""
    from select import POLLERR, POLLHUP, POLLIN, poll

    ready = poll()
    ready.register(0, POLLIN | POLLHUP | POLLERR)
    said = b""
    while len(said) < MOST_ASKED and ready.poll(_INPUT_MS):
        try:
            part = posix.read(0, 1 << 20)
        except OSError:
            break
        if not part:
            return said, True
        said += part
    return said, False


def emit(stdout: bytes, stderr: bytes, status: int) -> int:
    """Print a hook's answer; the exit status. When it cannot be printed, the status has to say it: then the tool is blocked."""
    try:
        _write(1, stdout)
    except OSError:
        status = BLOCKED
        stderr = stderr or b"instinct: denied, because the hook's answer could not be written"
    if status == BLOCKED and not stderr.strip():
        stderr = b"instinct: denied"  # Codex takes exit 2 with nothing on stderr for a failed hook, and runs the tool
    try:
        _write(2, stderr + b"\n" if stderr else b"")
    except OSError:
        pass  # the exit status still blocks
    return status


def _check(arguments: list[str]) -> int | None:
    connection = _ask(b"check", arguments)
    answer = client.hear(connection) if connection is not None else None
    if answer is None:
        return None
    tell(answer)
    return int(answer[protocol.STATUS])


def _run(program: bytes, arguments: list[str]) -> int | None:
    missing = _fill()  # or the connection to the engine would become the command's stdin
    connection = _ask(program, arguments)
    status = None
    if connection is not None:
        from .running import run

        status = run(connection, missing, tell)
    if status is None:
        for fd in missing:
            posix.close(fd)
    return status


def _fill() -> tuple[int, ...]:
    for fd in (0, 1, 2):
        try:
            posix.fstat(fd)
        except OSError:
            from ..execution.plan_descriptors import fill_standard_descriptors

            return fill_standard_descriptors()
    return ()


def _ask(program: bytes, arguments: list[str]) -> socket | None:
    """A connection on which the question was asked; None with `client.trouble` set."""
    connection = client.call()
    if connection is None:
        return None
    try:
        data = client.request(program, arguments)
    except OSError:
        return None  # this folder is gone; the long way says so
    return connection if client.say(connection, data) else None


def tell(answer: dict[int, bytes]) -> None:
    """Pass on what the engine has to say; a closed stream is no reason to fail differently."""
    for tag, fd in ((protocol.TO_STDOUT, 1), (protocol.TO_STDERR, 2)):
        try:
            _write(fd, answer.get(tag, b""))
        except OSError:
            pass  # nobody is listening: the exit status still says it


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[posix.write(fd, data) :]
