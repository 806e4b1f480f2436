"""Files below one folder, reached by descriptors and never through a symlink: what lies outside can be neither read nor written.

Paths are relative to the folder, `/`-separated, without `.` and `..`. All of it raises OSError; callers say what that means.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FICLONE = 0x40049409  # linux/fs.h: share the other file's blocks until one of both is written
BLOCK = 1 << 20


@contextmanager
def folder(root: int, path: str, *, make: bool = False) -> Iterator[int]:
    """An open descriptor of the folder `path` ("" is the root itself); make: missing ones are made, readable for their owner only."""
    fd = os.dup(root)
    try:
        for name in (part for part in path.split("/") if part):
            if name in (".", ".."):
                raise OSError(errno.EINVAL, "not a plain path", path)
            if make:
                try:
                    os.mkdir(name, 0o700, dir_fd=fd)
                except FileExistsError:
                    pass
            inner = os.open(name, FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def split(path: str) -> tuple[str, str]:
    """(folder, name) of a relative path."""
    head, _, name = path.rpartition("/")
    return head, name


def look(root: int, path: str) -> os.stat_result | None:
    """The entry itself (never what a symlink points to), or None when it is not there."""
    if not path:
        return os.fstat(root)
    head, name = split(path)
    try:
        with folder(root, head) as parent:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def open_file(root: int, path: str) -> int:
    """A regular file, opened for reading; never waits (a fifo would)."""
    head, name = split(path)
    with folder(root, head) as parent:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def walk(root: int, path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, parents before their children, symlinks as themselves. Folders that cannot be opened are left out."""
    try:
        with folder(root, path) as fd:
            names = sorted(os.listdir(fd))
            found = []
            for name in names:
                try:
                    found.append((name, os.stat(name, dir_fd=fd, follow_symlinks=False)))
                except FileNotFoundError:
                    continue  # removed while we looked
    except OSError:
        return
    for name, status in found:
        inner = f"{path}/{name}" if path else name
        yield inner, status
        if stat.S_ISDIR(status.st_mode):
            yield from walk(root, inner)


def copy(source: int, target: int, most: int) -> int:
    """Copy an open file's contents, sharing blocks where the disk can; at most `most` bytes. Returns how many there are now."""
    try:
        fcntl.ioctl(target, FICLONE, source)
        size = os.fstat(target).st_size
        if size > most:  # it grew since it was measured
            os.ftruncate(target, most)
            return most
        return size
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
    done = 0
    while done < most:
        part = os.sendfile(target, source, done, min(BLOCK, most - done))
        if not part:
            break
        done += part
    return done
