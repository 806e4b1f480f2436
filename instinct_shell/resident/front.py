"""The quick way in: ask the engine, print what it says, run what it planned. Built-in modules only; None means "judge in this process"."""

from __future__ import annotations

import posix

from . import client, protocol


def warm(program: str, arguments: list[str]) -> int | None:
    """The exit status of the whole program, or None: then nothing was run, printed or written down, and the caller goes the long way.

    program: instinct-exec | check.
    """
    if not client.wanted() or not arguments:
        return None
    connection = client.call()
    if connection is None:
        return None
    try:
        data = client.request(program.encode(), arguments)
    except OSError:
        return None  # this folder is gone; the long way says so
    if not client.say(connection, data):
        return None
    if program != "instinct-exec":
        answer = client.hear(connection)
        if answer is None:
            return None
        tell(answer)
        return int(answer[protocol.STATUS])
    from .running import run

    return run(connection, tell)


def tell(answer: dict[int, bytes]) -> None:
    """Pass on what the engine has to say; a closed stream is no reason to fail differently."""
    for tag, fd in ((protocol.TO_STDOUT, 1), (protocol.TO_STDERR, 2)):
        text = answer.get(tag, b"")
        try:
            while text:
                text = text[posix.write(fd, text) :]
        except OSError:
            pass  # nobody is listening: the exit status still says it
