"""The cache of resolved profiles: plain tables by `marshal`, believed only while every source is what it was.

A cache is an answer to "which files, as they were then, gave this result". It is used when path, modification time, size and inode of all of them
agree, the product and its instincts have the same versions, and nobody but its owner (us, root, or the owner of the package) could have
written it. A cache that cannot be read or written only costs time.
"""

from __future__ import annotations

import os
import stat
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Mark = tuple[int, int, int]
FORMAT = 5
LARGEST = 512 * 1024


def mark(found: os.stat_result) -> Mark:
    """What must stay the same of a source file."""
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def read_cache(folders: tuple[str, ...], wanted: tuple[object, ...]) -> tuple[Any, ...] | None:
    """The plain tables kept for this request in the first folder whose cache holds good, or None."""
    for folder in folders:
        data = _trusted_bytes(os.path.join(folder, _name(wanted)))
        if data is None:
            continue
        from .profile_build import stamp

        try:
            form, versions, key, sources, plain = _tables(data)
        except (ValueError, EOFError, TypeError):
            continue  # torn, or of another Python: the files are read instead
        if (form, versions, key) == (FORMAT, stamp(), wanted) and all(_mark_now(path) == then for path, then in sources):
            return tuple(plain)
    return None


@lru_cache(maxsize=4)
def _tables(data: bytes) -> Any:
    """What these bytes hold; a process that serves many commands reads the same ones each time."""
    import marshal

    return marshal.loads(data)  # noqa: S302  # only its owner could have written it


def write_cache(
    folder: str, wanted: tuple[object, ...], sources: tuple[tuple[str, Mark | None], ...], plain: tuple[Any, ...], *, make: bool
) -> None:
    """Keep the tables, whole or not at all. make: the folder may be made (the package's own `__pycache__`)."""
    import marshal

    from .profile_build import stamp

    target = os.path.join(folder, _name(wanted))
    draft = f"{target}.{os.getpid()}"
    content: Any = (FORMAT, stamp(), wanted, sources, plain)
    try:
        if make:
            os.makedirs(folder, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644 if make else 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(marshal.dumps(content))
        os.replace(draft, target)
    except OSError:
        return


def _mark_now(path: str) -> Mark | None:
    try:
        return mark(os.stat(path))
    except OSError:
        return (0, 0, 0) if dangling(path) else None


def dangling(path: str) -> str:
    """For a path that leads to nothing: the link on the way to it that does not, as when a disk is not mounted; "" when there is just nothing."""
    while path.strip("/"):
        if os.path.islink(path):
            return path
        if os.path.exists(path):
            return ""
        path = os.path.dirname(path)
    return ""


def _name(wanted: tuple[object, ...]) -> str:
    import binascii

    return f"resolved-{binascii.crc32(repr(wanted).encode('utf-8', 'surrogateescape')):08x}.marshal"


def _trusted_bytes(path: str) -> bytes | None:
    """The bytes of a regular file that only its owner can write; else None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        owners = {0, os.getuid(), os.stat(os.path.dirname(__file__)).st_uid}
        if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o022 or found.st_uid not in owners:
            return None
        return os.read(handle, LARGEST)
    except OSError:
        return None
    finally:
        os.close(handle)
