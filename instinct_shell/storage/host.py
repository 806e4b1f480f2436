"""What tells one process of this machine from every other, also after the machine was started again."""

from __future__ import annotations

import os
from functools import cache

from ..model.value import Value


class Owner(Value):
    """A process: its pid, its start time (clock ticks since the machine started), its pid namespace, and the kernel's boot id."""

    pid: int
    start: str
    namespace: str
    boot: str


@cache
def boot_id() -> str:
    """The kernel's boot id; the empty string where there is none (then nothing is ever taken for the work of a restart)."""
    return _first_line("/proc/sys/kernel/random/boot_id")


def owner(pid: int) -> Owner:
    """This process as it stands in /proc; pid 0 is nobody."""
    return Owner(pid, _start(pid) if pid else "", _namespace(), boot_id())


def is_gone(who: Owner) -> bool:
    """Whether the process surely runs no more. Never true when it cannot be told: another pid namespace, no /proc."""
    if not who.pid or not who.boot or not who.start:
        return False
    if who.boot != boot_id():
        return bool(boot_id())
    return who.namespace == _namespace() != "" and _start(who.pid) != who.start


def _start(pid: int) -> str:
    # Field 22 of `stat`; the program's name before it may hold blanks and parentheses. A zombie has ended: it settles nothing any more.
    fields = _first_line(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in ("Z", "X") else ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _first_line(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, 4096).decode("utf-8", "replace").strip()
    except OSError:
        return ""  # the process ended between open and read
    finally:
        os.close(fd)
