"""Keeping watch over one run: limits, signals, stop and continue, and that nothing outlives it.

Between the launcher and the command stands the *attendant*. At level full it is PID 1 of the jail's pid namespace: the command must not be, since
the kernel ignores default signals there, and when PID 1 ends the kernel ends everything else in the namespace. In a session it stands outside, and
the session's holder ends what is left. At level partial it is the reaper of orphans and ends the tree itself; should it be killed, the process does
that which stays beside it. It speaks to the launcher by lines on
one pipe, the launcher to it by real-time signals.
"""

from __future__ import annotations

import os
import resource
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..model.jailspec import Limits

ALL_SIGNALS = signal.valid_signals()
FORWARDED: frozenset[int] = frozenset(
    getattr(signal, f"SIG{name}") for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "CONT", "TSTP", "TTIN", "TTOU", "WINCH")
)
_FIRST_REQUEST = 34  # real-time signal 34 + n asks the attendant to pass on signal n
PARENT_DIED = 64
_F_SETOWN_EX, _THREAD_OWNER = 15, 0
_SAME_SIGNAL_WITHIN = 0.005  # seconds between a group signal reaching the launcher and reaching the attendant


def request(number: int) -> int:
    """The real-time signal by which the launcher asks the attendant to pass `number` on to the command; KILL ends the whole tree."""
    return _FIRST_REQUEST + number


# --- in the command's process, just before exec --------------------------------------------------------------------------------------------


def apply_limits(limits: Limits, *, own_user_namespace: bool) -> None:
    """Sets the command's resource limits, never above what the caller has. Raises OSError.

    memory counts a process's private writable memory (RLIMIT_DATA): address space would stop node and Go, which reserve gigabytes. processes counts
    the jail's own at level full; at partial all of the user's, so those already there are added. Root is exempt from it (Plan: pid_max instead).
    """
    for kind, soft, hard in wanted_limits(limits, own_user_namespace=own_user_namespace):
        _lower(kind, soft, hard)


def wanted_limits(limits: Limits, *, own_user_namespace: bool) -> list[tuple[int, int, int]]:
    """(resource, soft, hard) of each limit that is set."""
    wanted = []
    if limits.cpu_seconds:
        wanted.append((resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1))
    if limits.memory_bytes:
        wanted.append((resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes))
    if limits.processes:
        processes = limits.processes + (0 if own_user_namespace else _tasks_of_user())
        wanted.append((resource.RLIMIT_NPROC, processes, processes))
    if limits.open_files:
        wanted.append((resource.RLIMIT_NOFILE, limits.open_files, limits.open_files))
    if limits.file_bytes:
        wanted.append((resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes))
    wanted.append((resource.RLIMIT_CORE, 1, 1))  # not 0: where core_pattern is a pipe only 1 keeps a process with secrets from being dumped
    return wanted


def _lower(kind: int, soft: int, hard: int) -> None:
    wanted = (soft, hard)
    known = resource.getrlimit(kind)
    least = tuple(new if old == resource.RLIM_INFINITY else min(new, old) for new, old in zip(wanted, known, strict=True))
    resource.setrlimit(kind, (least[0], least[1]))


def _tasks_of_user() -> int:
    uid, tasks = os.getuid(), 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                tasks += os.stat(f"/proc/{name}/task").st_nlink - 2
        except OSError:
            continue  # ended meanwhile
    return tasks


# --- the attendant ---------------------------------------------------------------------------------------------------------------------------


def attend(command: int, report: int, *, owns_namespace: bool, own_group: bool = False, lifeline: int = -1) -> NoReturn:
    """Waits for `command`, reports how it ended, ends what is left of the tree, and exits. All signals must be blocked.

    own_group: the command leads a process group of its own, so what the caller's group got is sent to that one. lifeline: ends it all when it is cut.

    Lines written: `stopped N`, `continued`, `ended STATUS USER_US SYSTEM_US MAX_RSS_KB` with the raw wait status.
    """
    group_signals: set[int] = set()
    while True:
        information = signal.sigwaitinfo(ALL_SIGNALS)
        caught = information.si_signo
        if caught == signal.SIGCHLD:
            if (ended := _reap(command, report)) is not None:
                if not owns_namespace:
                    end_descendants()
                os.write(report, ended)
                os._exit(0)
        elif caught == PARENT_DIED or caught == request(signal.SIGKILL):
            if not owns_namespace:
                end_descendants()
            os._exit(0)
        elif caught in FORWARDED:
            if information.si_code <= 0:  # not from the terminal, which the launcher does not pass on either
                group_signals.add(caught)  # sent to the whole group: the command has it already
        elif caught - _FIRST_REQUEST in FORWARDED:
            number = caught - _FIRST_REQUEST
            if number in group_signals or signal.sigtimedwait((number,), _SAME_SIGNAL_WITHIN) is not None:
                group_signals.discard(number)
                if own_group:
                    _send(-command, number)
            else:
                _send(command, number)
        elif caught == signal.SIGIO and lifeline >= 0 and is_cut(lifeline):
            os._exit(0)


def signal_at(fd: int) -> None:
    """What becomes readable there arrives as SIGIO, at this thread, which has it blocked."""
    import _thread
    import fcntl
    import struct

    fcntl.fcntl(fd, _F_SETOWN_EX, struct.pack("=ii", _THREAD_OWNER, _thread.get_native_id()))
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)


def is_cut(lifeline: int) -> bool:
    """Whether nobody holds the other end of this pipe any more. Nothing is ever written there."""
    try:
        return not os.read(lifeline, 1)
    except BlockingIOError:
        return False


def _reap(command: int, report: int) -> bytes | None:
    """Collects every child that changed; the closing line when the command itself ended."""
    ended = None
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid != command:
            continue
        if os.WIFSTOPPED(status):
            os.write(report, b"stopped %d\n" % os.WSTOPSIG(status))
        elif os.WIFCONTINUED(status):
            os.write(report, b"continued\n")
        else:
            times = (int(usage.ru_utime * 1e6), int(usage.ru_stime * 1e6), usage.ru_maxrss)
            ended = b"ended %d %d %d %d\n" % (status, *times)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it ended just now; the wait status tells


def stay_beside(attendant: int) -> NoReturn:
    """Between the launcher and the attendant, or bubblewrap: ends with that one, and all that it leaves with either, whatever they were doing at that
    moment. This process must be the reaper of orphans."""
    while signal.sigwaitinfo((signal.SIGCHLD, PARENT_DIED)).si_signo == signal.SIGCHLD:
        if _ended(attendant):
            break
    end_descendants()
    os._exit(0)


def _ended(attendant: int) -> bool:
    """Reaps what has ended. Whether that one has."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True  # nothing is left at all
        if pid in (0, attendant):
            return pid == attendant


def end_descendants() -> None:
    """Kills and reaps every descendant of this process, which must be the reaper of orphans.

    Stops them first, so that none can fork away.
    """
    while descendants := descendants_of(os.getpid()):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants:
                _send(pid, number)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        signal.sigtimedwait((signal.SIGCHLD,), 0.001)


def descendants_of(top: int) -> list[int]:
    """All processes below `top`, its zombies included, from one pass over /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # ended meanwhile
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    frontier = [top]
    while frontier:
        below = children.get(frontier.pop(), [])
        found += below
        frontier += below
    return found
