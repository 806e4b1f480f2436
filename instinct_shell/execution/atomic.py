"""One file takes the place of another in one step: a reader, and whoever looks after a kill or a crash, finds the old one or the new one, whole.

The new content goes into a file without a name (O_TMPFILE), or with one of ours where the disk knows no such files, gets mode, owner and
attributes of the old one, and is renamed over it in the same folder, by that folder's descriptor.
"""

from __future__ import annotations

import errno
import os
import stat

from ..model.value import Value

PREFIX, SUFFIX = ".instinct-", ".tmp"
BLOCK = 1 << 20
_NO_TMPFILE = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS, errno.EACCES, errno.EPERM)


class Stamp(Value):
    """What must still be so of a file that is replaced."""

    inode: int
    device: int
    size: int
    changed_ns: int


def stamp(found: os.stat_result) -> Stamp:
    """The stamp of an open or looked-up file."""
    return Stamp(found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns)


def put(parent: int, name: str, data: bytes, old: int | None, *, durable: bool, mode: int = -1) -> None:
    """Write `data` under this name in the open folder. old: the open file that it replaces; None: there must be none.

    mode: of a new file, -1 for the usual one. Raises OSError; ESTALE when the name is no longer what `old` is, EEXIST when it is taken. Then
    nothing has changed.
    """
    sweep(parent)
    fd, draft = _draft(parent)
    try:
        try:
            _write_all(fd, data)
            if old is not None:
                _make_alike(fd, old)
            else:
                os.fchmod(fd, mode if mode >= 0 else 0o666 & ~_umask())
            if durable:
                os.fsync(fd)
            if not draft and old is not None:
                draft = _name()
                _link(fd, draft, parent)
            if old is None:
                if draft:
                    os.link(draft, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
                else:
                    _link(fd, name, parent)
            else:
                now = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stamp(now) != stamp(os.fstat(old)):
                    raise OSError(errno.ESTALE, "it has changed meanwhile", name)
                os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
                draft = ""
        finally:
            os.close(fd)
    finally:
        if draft:
            os.unlink(draft, dir_fd=parent)
    if durable:
        os.fsync(parent)


def sweep(parent: int) -> None:
    """Take away drafts of writers that were killed between naming and renaming them."""
    for name in os.listdir(parent):
        if name.startswith(PREFIX) and name.endswith(SUFFIX):
            pid = name[len(PREFIX) :].partition("-")[0]
            if pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
                try:
                    os.unlink(name, dir_fd=parent)
                except OSError:
                    pass  # another writer was quicker, or it is not ours


def _draft(parent: int) -> tuple[int, str]:
    """(descriptor, name); "" when the file has no name yet."""
    try:
        if os.path.isdir("/proc/self/fd"):
            return os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=parent), ""
    except OSError as error:
        if error.errno not in _NO_TMPFILE:
            raise
    name = _name()
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=parent), name


def _name() -> str:
    return f"{PREFIX}{os.getpid()}-{os.urandom(6).hex()}{SUFFIX}"


def _link(fd: int, name: str, parent: int) -> None:
    os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=parent, follow_symlinks=True)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:BLOCK]) :]


def _make_alike(fd: int, old: int) -> None:
    """Owner, group, extended attributes (access lists are among them) and mode of the old file, as far as we may."""
    found = os.fstat(old)
    mine = os.fstat(fd)
    if (found.st_uid, found.st_gid) != (mine.st_uid, mine.st_gid):
        try:
            os.fchown(fd, found.st_uid, found.st_gid)
        except PermissionError:
            try:
                os.fchown(fd, -1, found.st_gid)
            except PermissionError:
                pass  # a file of another user that we may write: it becomes ours, as with any editor that saves by renaming
    try:
        for name in os.listxattr(old):
            try:
                os.setxattr(fd, name, os.getxattr(old, name))
            except OSError:
                continue  # trusted and security ones are not ours to set
    except OSError:
        pass  # this disk has none
    os.fchmod(fd, stat.S_IMODE(found.st_mode))  # last: chown takes set-id bits away


def _umask() -> int:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("Umask:"):
                    return int(line.split()[1], 8)
    except (OSError, ValueError, IndexError):
        pass
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
