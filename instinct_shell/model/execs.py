"""An exec inside a jail, as a plain value, and the answer to it (execution/execs.py asks, wiring/execs.py answers)."""

from __future__ import annotations

from .value import Value


class ExecRequest(Value):
    """What a process is about to become.

    program: the path as the kernel was given it, absolute; argv with argv[0]; cwd, env as they will be. caller: the path of the program that asks.
    Bytes that are not UTF-8 are carried as lone surrogates.
    """

    program: str
    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...] = ()
    caller: str = ""


class ExecAnswer(Value):
    """Whether it may go on. words: what the program's own stderr is told when not. lasting: the same question gets the same answer in this run."""

    allow: bool
    words: str = ""
    lasting: bool = True


PASS = ExecAnswer(allow=True)
