"""Names that the host runs or trusts and that are not there yet, while a command runs long: what appears unjudged is set aside at once.

Nothing is set up in the first moments of a run (AFTER_S), so a short command pays nothing: for it the look at its end comes as soon. From then on the
folders around those names are watched (docs/decisions/0009). What is set aside is told to the trail at once, and to the person when the run ends.
"""

from __future__ import annotations

import ctypes
import math
import os
import select
import struct
import time

from .renames import attendant_of
from .unjudged import AWAY, Window, aside, culprits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from typing import NoReturn

    from ..model.effect import Effect
    from .renames import Renames

AFTER_S = 0.05
SET_ASIDE, HELD_AGAIN = "set aside", "held again"
_NEW = 0x80 | 0x100 | 0x8  # IN_MOVED_TO, IN_CREATE, IN_CLOSE_WRITE
_MODIFIED, _OVERFLOW = 0x2, 0x4000
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_PAUSE_MS = 10  # between two looks: a build may make thousands of files beside what matters
_RETRY_MS = 30
_GIT_S = 5.0  # git brings files first and notes them when it is done; longer than this nobody may hold its lock against us
_NUL = b"\0"
_MOST_INNER = 200
_LEFT: list[int] = []  # children of ours that go on, or have ended and are still to be reaped


class Vigil:
    """A watch over `names` (absolute, below the workspace) but for those in `before`. tell: gets what was done, `set aside` or `held again`, and its
    lines, at once."""

    def __init__(
        self,
        workspace: str,
        names: Iterable[str],
        before: Container[str],
        effects: tuple[Effect, ...],
        risky: Sequence[str],
        tell: Callable[[str, list[str]], None],
    ) -> None:
        self.lines: list[str] = []
        self.fd = -1
        self.waits = False  # for git to be done: `look` again soon
        self._workspace = workspace
        self._names = [path for path in names if path not in before]
        self._run = (Window(0.0, math.inf, effects),)
        self._begun = time.time() - 1.0  # a vigil begins when the run has gone on for a moment
        self._risky = risky
        self._tell = tell
        self._folders: dict[int, str] = {}
        self._around = {workspace} | {folder for path in self._names for folder in _between(workspace, path)}
        self._known = {*self._names, *self._around}
        self._first_seen: dict[str, float] = {}
        self._inner: set[str] = set()  # folders that the command has made, where everything matters

    def arm(self) -> int:
        """Begin. A descriptor that becomes readable when there may be something to `look` at; -1 for none: then the end of the run is soon enough."""
        self._libc = ctypes.CDLL(None)
        self.fd = self._libc.inotify_init1(_FLAGS)
        self._watch_folders()
        return self.fd

    def look(self, *, anyway: bool = False) -> None:
        """Set aside what has appeared. anyway: also when nothing was said to have happened. Never raises."""
        try:
            if self._happened() or anyway or self.waits:
                self._watch_folders()
                self._settle()
        except OSError:
            pass  # a disk that fails: the end of the run looks again

    def replaced(self, line: str) -> None:
        """What became of a protected file that the host has replaced: for the trail, no matter of the command's."""
        self._tell(HELD_AGAIN, [line])

    def close(self) -> None:
        """End the watch."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _watch_folders(self) -> None:
        for folder in (*self._around, *self._names, *self._inner) if self.fd >= 0 else ():
            if os.path.isdir(folder) and not os.path.islink(folder):
                mask = _NEW | (_MODIFIED if folder.endswith("/.git") else 0)  # of a configuration it is the content that matters
                watch = self._libc.inotify_add_watch(self.fd, os.fsencode(folder), mask)
                if watch >= 0:
                    self._folders[watch] = folder

    def _happened(self) -> bool:
        seen = False
        while self.fd >= 0:
            try:
                events = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                break
            at = 0
            while at < len(events):
                watch, mask, _, size = struct.unpack_from("=iIII", events, at)
                folder = self._folders.get(watch, "")
                path = f"{folder}/{os.fsdecode(events[at + 16 : at + 16 + size].rstrip(_NUL))}"
                seen = seen or path in self._known or folder not in self._around or bool(mask & _OVERFLOW)
                at += 16 + size
        return seen

    def _settle(self) -> None:
        self.waits = False
        told = []
        for path in self._names:
            for culprit in culprits(path, self._run, self._workspace, self._risky) if os.path.lexists(path) else ():
                for each in self._harmful(culprit):
                    if self._git_may_bring(each):
                        self.waits = True
                    elif words := aside(each, self._workspace, self._begun):
                        told.append(words)
        if told:
            self.lines += told
            self._tell(SET_ASIDE, told)

    def _harmful(self, path: str) -> list[str]:
        """The path itself, or of a folder what is in it, which is watched from now on: the command may be about to make more there, and the end of the
        run takes the folder."""
        if os.path.islink(path) or not os.path.isdir(path):
            return [path]
        found: list[str] = []
        for folder, _, names in os.walk(path):
            if len(self._inner) < _MOST_INNER:
                self._inner.add(folder)
            found += [f"{folder}/{name}" for name in names if AWAY not in name]
        self._watch_folders()
        return found

    def _git_may_bring(self, path: str) -> bool:
        """Whether git is at work and may be about to note this file."""
        if path.startswith(f"{self._workspace}/.git/") or not os.path.lexists(f"{self._workspace}/.git/index.lock"):
            return False
        return time.monotonic() < self._first_seen.setdefault(path, time.monotonic()) + _GIT_S


def _between(top: str, path: str) -> list[str]:
    """The folders below `top` on the way to a path."""
    found = []
    while (path := path.rpartition("/")[0]) and path != top:
        found.append(path)
    return found


class Apart:
    """A vigil kept by a process of its own, for a launcher that is not our child: it ends with that, or when we say so."""

    def __init__(self, vigil: Vigil, pid: int, launcher: int, held: Callable[[], Renames]) -> None:
        """pid, launcher: its number and a pidfd. held: the watch over protected files that the host may replace, to be made over there."""
        _LEFT[:] = [pid for pid in _LEFT if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        self._told, tell = os.pipe2(os.O_CLOEXEC)
        stop, self._stop = os.pipe2(os.O_CLOEXEC)
        self._pid = os.fork()
        if self._pid == 0:
            _keep(vigil, pid, launcher, held, stop, tell)
        for fd in (tell, stop):
            os.close(fd)

    def leave(self) -> None:
        """It goes on until the launcher ends."""
        self._close()
        _LEFT.append(self._pid)

    def end(self) -> list[str]:
        """What it has set aside; it has ended then."""
        try:
            os.write(self._stop, b"x")
        except BrokenPipeError:
            pass  # it has ended with the launcher; what it said is there
        said = b""
        while piece := os.read(self._told, 1 << 16):
            said += piece
        self._close()
        os.waitpid(self._pid, 0)
        return os.fsdecode(said).split("\0")[:-1]

    def _close(self) -> None:
        for fd in (self._told, self._stop):
            os.close(fd)


def _keep(vigil: Vigil, pid: int, launcher: int, held: Callable[[], Renames], stop: int, told: int) -> NoReturn:
    import signal

    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL if number != signal.SIGPIPE else signal.SIG_IGN)
        _close_all_but(launcher, stop, told)
        poll, ends = select.poll(), select.poll()
        for fd in (launcher, stop):
            for each in (poll, ends):
                each.register(fd, select.POLLIN)
        renames = held()
        for fd in (vigil.arm(), renames.fd):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        vigil.look(anyway=True)
        while True:
            ready = dict(poll.poll(_RETRY_MS if vigil.waits else None))
            over = launcher in ready or _is_asked(stop, ready)
            if stop in ready and not over:  # whoever started us has left
                poll.unregister(stop)
                ends.unregister(stop)
            vigil.look(anyway=over)
            if over:
                break
            _hold(vigil, renames, pid, launcher)
            ends.poll(_PAUSE_MS)
        os.write(told, b"".join(os.fsencode(line) + _NUL for line in vigil.lines))
    finally:  # whatever it was: the end of the run looks again, and nothing of the engine's may run twice
        os._exit(0)


def _hold(vigil: Vigil, renames: Renames, pid: int, launcher: int) -> None:
    """What the host has replaced is held again, or the command ends: it could write the new file (renames.py)."""
    import signal

    paths = renames.replaced()
    attendant = attendant_of(pid) if paths else 0
    if not attendant:
        return
    names = ", ".join(f"`{path}`" for path in paths)
    if renames.hold(attendant, paths):
        vigil.replaced(f"{names} was replaced from outside while a command ran, and is held again")
    elif not select.select([launcher], [], [], 0)[0]:
        signal.pidfd_send_signal(launcher, signal.SIGKILL)
        vigil.replaced(f"{names} was replaced from outside and could not be held again; the command was ended")


def _is_asked(stop: int, ready: dict[int, int]) -> bool:
    return stop in ready and bool(os.read(stop, 1))


def _close_all_but(*kept: int) -> None:
    low = 3
    for fd in sorted(kept):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 16)
