"""Other processes as people want to hear of them: what stands above us, and what runs since when.

Read with psutil, which costs tens of milliseconds to import: for the verbs that talk to people. Whoever judges or runs a command reads /proc
itself (`execution/host.py`, `storage/host.py`).
"""

from __future__ import annotations

import time

from ..model.value import Value
from .agents import agent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psutil


class Process(Value):
    """A process that is alive. agent: the agent whose program it is, or ""; seconds: how long it has been running."""

    pid: int
    name: str
    agent: str
    seconds: int


def above(pid: int = 0) -> list[Process]:
    """The processes above this one, or above `pid`, nearest first. An ended one has none."""
    import psutil

    try:
        return [found for parent in psutil.Process(pid or None).parents() if (found := _described(parent)) is not None]
    except psutil.Error:
        return []


def alive(pid: int) -> Process | None:
    """The process with this id, when one runs. The caller knows that the id was not given out again (a jail session ends with its agent)."""
    import psutil

    try:
        return _described(psutil.Process(pid))
    except psutil.Error:
        return None


def _described(process: psutil.Process) -> Process | None:
    import psutil

    try:
        with process.oneshot():
            name = process.name()
            try:
                words = process.cmdline()
            except psutil.AccessDenied:
                words = []
            ended = process.status() == psutil.STATUS_ZOMBIE
            return None if ended else Process(process.pid, name, agent_of(words or [""], name), max(0, int(time.time() - process.create_time())))
    except psutil.Error:
        return None


def duration(seconds: int) -> str:
    """A length of time in its largest whole unit: `40 s`, `3 min`, `2 h`, `5 d`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
