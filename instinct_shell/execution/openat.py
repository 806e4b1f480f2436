"""Opening paths below a folder so that no symlink, no `..` and no swap of either leads out of it: openat2, else folder by folder."""

from __future__ import annotations

import errno
import os
import struct

from .beneath import folder
from .jail import syscalls

RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x02, 0x04, 0x08
RESOLVE = RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH
_UNKNOWN = (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL)  # an old kernel, or a filter of a container


def open_below(root: int, path: str, flags: int) -> int:
    """A descriptor of an existing entry; `path` is relative and plain, "" is the root itself. Raises OSError: ELOOP or EXDEV for a link on the way."""
    if any(part in ("", ".", "..") for part in path.split("/")) and path:
        raise OSError(errno.EINVAL, "not a plain path", path)
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    how = syscalls.buffer(struct.pack("=QQQ", flags, 0, RESOLVE))
    name = os.fsencode(path or ".") + b"\0"
    result = syscalls.attempt("openat2", root, name, syscalls.address(how), len(how))
    if result >= 0:
        return result
    if -result not in _UNKNOWN:
        raise OSError(-result, os.strerror(-result), path)
    head, _, last = path.rpartition("/")
    with folder(root, head) as parent:
        return os.open(last or ".", flags, dir_fd=parent)


def folder_below(root: int, path: str) -> int:
    """A descriptor (O_PATH) of a folder; "" is the root itself. Links are followed as long as they stay below. Raises OSError: EXDEV for one that leads out.

    Without openat2 no link is followed at all.
    """
    how = syscalls.buffer(struct.pack("=QQQ", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0, RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH))
    result = syscalls.attempt("openat2", root, os.fsencode(path or ".") + b"\0", syscalls.address(how), len(how))
    if result >= 0:
        return result
    if -result not in _UNKNOWN:
        raise OSError(-result, os.strerror(-result), path)
    with folder(root, path) as found:
        return os.dup(found)


def make_folders(root: int, path: str) -> int:
    """A descriptor of the folder `path`, whose missing parts are made with the usual mode."""
    fd = os.dup(root)
    try:
        for name in (part for part in path.split("/") if part):
            try:
                os.mkdir(name, 0o777, dir_fd=fd)
            except FileExistsError:
                pass
            inner = open_below(fd, name, os.O_RDONLY | os.O_DIRECTORY)
            os.close(fd)
            fd = inner
        return fd
    except BaseException:
        os.close(fd)
        raise
