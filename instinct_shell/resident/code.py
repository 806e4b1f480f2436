"""Whether this package is still what an engine was started from: every file and folder of it, by time, size and inode.

A look at all of them costs 0.4 ms, so the kernel is asked first whether anything happened there (inotify): it has noted a change before the call that
made it returns, so no call that comes after a change is answered by the old code. Without inotify each look is a full one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    Mark = tuple[int, int, int]

_EVENTS = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800  # modify, attributes, moves, create, delete, self deleted or moved


class Code:
    """The package's files as they are now. May be shared by forked processes."""

    def __init__(self, package: str) -> None:
        folders: list[str] = []
        paths = [os.path.realpath(sys.executable)]
        for folder, inner, files in os.walk(package):
            inner[:] = [name for name in inner if name != "__pycache__"]
            folders.append(folder)
            paths += [folder, *(os.path.join(folder, name) for name in files)]
        self._events = watch(folders)
        self._marks = [(path, _mark(path)) for path in paths]

    def changed(self) -> bool:
        """Whether something was changed, added or taken away since."""
        return (self._events < 0 or self._happened()) and self.differs()

    def differs(self) -> bool:
        """The same by looking at every file: sees also what the kernel does not tell, as on a network disk."""
        return any(_mark(path) != then for path, then in self._marks)

    def _happened(self) -> bool:
        seen = False
        try:
            while os.read(self._events, 1 << 16):
                seen = True  # read before looking: what comes later is told anew
        except BlockingIOError:
            return seen
        return True


def _mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def watch(folders: list[str]) -> int:
    """An inotify descriptor for these folders; -1 when there is none to be had, or not for all of them."""
    import ctypes

    libc = ctypes.CDLL(None)
    fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        return -1
    for folder in folders:
        if libc.inotify_add_watch(fd, os.fsencode(folder), _EVENTS) < 0:
            os.close(fd)
            return -1
    return fd
