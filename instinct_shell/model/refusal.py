"""The operating system's refusals in our words: what, where, and how to mend it."""

from __future__ import annotations

import errno

from ..errors import StorageError


def explain(error: OSError, path: str) -> StorageError:
    """A StorageError that says what could not be written, where, and what to do; `path` is what was being worked on."""
    where = str(error.filename or path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"no space left to write `{where}`", hint="free some space on that disk (or raise the quota), then try again")
    if error.errno == errno.EFBIG:
        return StorageError(
            f"`{where}` may not grow: the file size limit of this process is reached", hint="raise `ulimit -f`, then try again"
        )
    if error.errno == errno.EROFS:
        return StorageError(
            f"`{where}` lies on a read-only file system", hint="mount it writable, or set XDG_STATE_HOME to a writable directory"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return StorageError(f"no permission to write `{where}`", hint=f"make it yours: chown -R $(id -u) {path}, or set XDG_STATE_HOME")
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return StorageError(f"`{where}` leads through something that is not a directory", hint="move it away, or set XDG_STATE_HOME")
    if error.errno == errno.ENOENT:
        return StorageError(f"`{where}` is missing", hint="restore it from a backup, or run `instinct doctor`")
    return StorageError(f"cannot use `{where}`: {(error.strerror or str(error)).lower()}", hint="run `instinct doctor`")
