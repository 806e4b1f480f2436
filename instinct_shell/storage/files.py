"""Writing so that a reader finds the whole or the old, never half."""

from __future__ import annotations

import errno
import os

from ..model.refusal import explain


def write_all(fd: int, data: bytes) -> None:
    """Every byte, or an OSError (a full disk answers with a short write first and with its reason at the next)."""
    view = memoryview(data)
    while view:
        done = os.write(fd, view)
        if not done:
            raise OSError(errno.ENOSPC, "nothing was written")
        view = view[done:]


def append_whole(fd: int, data: bytes, size: int) -> None:
    """All of the bytes at the end of a file that is `size` bytes long, or none of them. Raises OSError."""
    try:
        write_all(fd, data)
    except OSError:
        try:
            os.ftruncate(fd, size)
        except OSError:
            pass  # what is left is a line cut short, which the next writer sets aside
        raise


def replace(path: str, data: bytes) -> None:
    """Put a private file in place, on disk before it is seen. Raises StorageError; then the old one is still there."""
    draft = f"{path}.{os.getpid()}.new"
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                write_all(fd, data)
                os.fdatasync(fd)
            finally:
                os.close(fd)
            os.rename(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise explain(error, path) from error
