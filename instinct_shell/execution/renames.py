"""Protected files that the host replaces while a command runs: an editor's save is a rename, and a mount does not follow a name.

The new file would be writable inside. So the folders around protected files are watched, and when a name leads to another file a helper enters the
jail's mount namespace and binds the new one read-only over itself, a few milliseconds later. Where that fails the command is stopped.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct

from .jail import mounts, syscalls
from .jail.plan import LayerKind
from .jail.syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .jail.plan import Plan

_HELD = (LayerKind.READ_ONLY, LayerKind.PINNED_LINK, LayerKind.HIDDEN)
_NEW_NAMES = 0x80 | 0x100  # IN_MOVED_TO, IN_CREATE
_OVERFLOW = 0x4000
_NUL = b"\0"
_TRIES = 8
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_NEW_USER, _NEW_MOUNT = 0x10000000, 0x00020000
_NS_GET_USERNS = 0xB701
_MOST_FOLDERS = 512


class Renames:
    """A watch over the protected files of one view, from before it is mounted. `fd` becomes readable when something new got a name beside one."""

    def __init__(self, plan: Plan, before: Mapping[str, tuple[int, int] | None] | None = None) -> None:
        """before: the files that the names led to when the view was planned, for a watch that begins later."""
        writable = [layer.path for layer in plan.layers if layer.kind is LayerKind.WRITABLE]
        held = [layer for layer in plan.layers if layer.kind in _HELD and any(layer.path.startswith(f"{folder.rstrip('/')}/") for folder in writable)]
        now = identities(layer.path for layer in held)
        self._known = now if before is None else {path: before.get(path, now[path]) for path in now}
        self._hidden = {layer.path for layer in held if layer.kind is LayerKind.HIDDEN}
        self._first = True  # what happened between the look above and the watch
        self._folders: dict[int, str] = {}
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(_FLAGS) if held else -1
        if self.fd >= 0:
            for folder in sorted({os.path.dirname(path) for path in self._known})[:_MOST_FOLDERS]:
                self._folders[libc.inotify_add_watch(self.fd, os.fsencode(folder), _NEW_NAMES)] = folder

    def replaced(self) -> list[str]:
        """The protected names that got another file since the last time.

        By what happened, not by comparing inode numbers, which are used again: only what nobody was told of is compared.
        """
        if self.fd < 0:
            return []
        named, unsure = self._happened()
        if unsure:
            named |= {path for path, before in self._known.items() if _identity(path) not in (before, None)}
        for path in named:
            self._known[path] = _identity(path)
        return sorted(path for path in named if self._known[path] is not None)

    def _happened(self) -> tuple[set[str], bool]:
        """The names of ours among the events, and whether some events may have been missed. A build makes many files beside them, which cost
        next to nothing."""
        named: set[str] = set()
        unsure, self._first = self._first, False
        while True:
            try:
                events = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return named, unsure
            at = 0
            while at < len(events):
                watch, mask, _, size = struct.unpack_from("=iIII", events, at)
                path = f"{self._folders.get(watch, '')}/{os.fsdecode(events[at + 16 : at + 16 + size].rstrip(_NUL))}"
                if path in self._known:
                    named.add(path)
                unsure = unsure or bool(mask & _OVERFLOW)
                at += 16 + size

    def hold(self, attendant: int, paths: list[str]) -> bool:
        """Binds the new files in the mount namespace of the attendant's command. False when they could not be held: the command must not go on."""
        inside = _child_of(attendant)
        if not inside:
            return False
        child = os.fork()
        if child == 0:
            try:
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
                _bind(inside, paths, self._hidden)
            except BaseException:  # noqa: BLE001  # the status says it; nothing of the launcher's may run twice
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return status == 0

    def close(self) -> None:
        """Ends the watch."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def attendant_of(launcher: int) -> int:
    """The child of this launcher that has a child: its relays have none. 0 when there is none, or no more."""
    return next((pid for pid in _children_of(launcher) if _children_of(pid)), 0)


def identities(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """(device, inode) of each; None for what is not there."""
    return {path: _identity(path) for path in paths}


def _child_of(pid: int) -> int:
    """The command: the attendant itself lets nobody in."""
    return next(iter(_children_of(pid)), 0)


def _children_of(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _bind(inside: int, paths: list[str], hidden: set[str]) -> None:
    """In the helper: enters the jail's user and mount namespaces, and holds each path there. Raises StepFailed."""
    import fcntl

    there = os.open(f"/proc/{inside}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(there, _NS_GET_USERNS)  # bubblewrap's command is in a user namespace below the one that may mount
    syscalls.call("entering the jail's user namespace", "setns", owner, _NEW_USER)
    syscalls.call("entering the jail's mounts", "setns", there, _NEW_MOUNT)
    for path in paths:
        if path in hidden:
            raise StepFailed(f"hiding `{path}` anew")  # what it held may have been read: better to stop
        for turn in range(_TRIES):
            try:
                _hold(path)
                break
            except StepFailed:  # replaced again while we were at it
                if turn == _TRIES - 1:
                    raise


def _hold(path: str) -> None:
    target = mounts.try_open_path(path)
    if target is not None:
        tree = mounts.copy_tree(target, path)
        mounts.make_read_only(tree, path)
        mounts.attach(tree, target, path)
