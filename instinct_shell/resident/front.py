"""The quick way in: ask the engine, print what it says, run what it planned. Built-in modules only; None means "judge in this process"."""

from __future__ import annotations

import posix

from . import client, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket


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
        text = answer.get(tag, b"")
        try:
            while text:
                text = text[posix.write(fd, text) :]
        except OSError:
            pass  # nobody is listening: the exit status still says it
