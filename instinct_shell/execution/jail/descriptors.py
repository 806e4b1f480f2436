"""What becomes of the caller's stdin, stdout and stderr, decided before anything is mounted.

A passed descriptor keeps its outside mount: with `< .env`, writing to /proc/self/fd/0 went through although the file is read-only inside
(measured). So a file is passed as it is only where the jail lets it be written under its own name; one that may only be read is opened anew
inside; everything else goes through a pipe. Folders are refused. Pipes, terminals and sockets pass untouched.
"""

from __future__ import annotations

import fcntl
import os
import stat

from ...model.value import Value
from .syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

STANDARD = (0, 1, 2)
_NAMES = ("stdin", "stdout", "stderr")
_TERMINALS = (4, 5, 136, 137, 138, 139, 140, 141, 142, 143, 229, 204)  # majors: vt, tty and console, pts, hvc, serial
_MEMORY_MAJOR, _HARMLESS_MINORS = 1, (3, 5, 7, 8, 9)  # null zero full random urandom


class Handed(Value):
    """How one standard descriptor reaches the command.

    how: pass | reopen (inside, read-only, at `offset`) | relay (through a pipe) | closed (the caller had none). `path` is set for reopen.
    """

    fd: int
    how: str
    path: str = ""
    offset: int = 0
    reads: bool = False  # relay direction: the command reads from it


def examine(access: Callable[[str], str], *, capped: bool, missing: tuple[int, ...] = ()) -> tuple[Handed, ...]:
    """Decides for 0, 1 and 2. `access(path)` answers `rw`, `r` or `` as in `Plan.access`; `capped` relays all output so that it can be counted;
    `missing`: numbers that the caller left closed and that a placeholder holds now.

    Raises StepFailed for a descriptor that must not go in.
    """
    handed = []
    for fd in STANDARD:
        one = Handed(fd=fd, how="closed") if fd in missing else _examine(fd, access)
        if capped and fd and one.how in ("pass", "reopen"):
            one = Handed(fd=fd, how="relay")
        handed.append(one)
    return tuple(handed)


def check_extra(extra: tuple[int, ...]) -> None:
    """Descriptors beside the standard ones may be what passes untouched; raises StepFailed for anything that leads to a file."""
    for fd in extra:
        try:
            plain = _is_plain(fd, os.fstat(fd))
        except OSError as problem:
            raise StepFailed(f"handing over descriptor {fd}", problem.errno or 0) from None
        if not plain:
            raise StepFailed(f"handing over descriptor {fd}: it is neither pipe, socket nor terminal")


def _is_plain(fd: int, status: os.stat_result) -> bool:
    """Whether it passes into any jail untouched: a pipe, a socket, a terminal, /dev/null or its like."""
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFCHR:
        return kind in (stat.S_IFIFO, stat.S_IFSOCK)
    major, minor = os.major(status.st_rdev), os.minor(status.st_rdev)
    return os.isatty(fd) or major in _TERMINALS or (major == _MEMORY_MAJOR and minor in _HARMLESS_MINORS)


def _examine(fd: int, access: Callable[[str], str]) -> Handed:
    status = os.fstat(fd)
    if _is_plain(fd, status):
        return Handed(fd=fd, how="pass")
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFREG:
        return _file(fd, status, access)
    what = {stat.S_IFDIR: "a folder", stat.S_IFBLK: "a block device", stat.S_IFCHR: "a device"}.get(kind, "neither file, pipe, socket nor terminal")
    raise StepFailed(f"handing over {_NAMES[fd]}: it is {what}, which would lead around the jail")


def _file(fd: int, status: os.stat_result, access: Callable[[str], str]) -> Handed:
    mode = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
    path = os.readlink(f"/proc/self/fd/{fd}")
    allowed = access(path) if _is_at(path, status) else ""
    if allowed == "rw":
        return Handed(fd=fd, how="pass")
    if allowed == "r" and mode == os.O_RDONLY:
        return Handed(fd=fd, how="reopen", path=path, offset=os.lseek(fd, 0, os.SEEK_CUR))
    return Handed(fd=fd, how="relay", reads=mode == os.O_RDONLY or (mode == os.O_RDWR and fd == 0))


def _is_at(path: str, status: os.stat_result) -> bool:
    """Whether the name still leads to this very file: not deleted, not from another mount namespace."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino)


def reopen(one: Handed) -> None:
    """Inside the jail: replaces the descriptor by a fresh read-only one of the same file, at the same offset. Raises StepFailed."""
    outside = os.fstat(one.fd)
    try:
        fd = os.open(one.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as problem:
        raise StepFailed(f"opening {_NAMES[one.fd]} `{one.path}` inside the jail", problem.errno or 0) from None
    inside = os.fstat(fd)
    if (inside.st_dev, inside.st_ino) != (outside.st_dev, outside.st_ino):
        raise StepFailed(f"opening {_NAMES[one.fd]} `{one.path}` inside the jail: it is another file now")
    os.lseek(fd, one.offset, os.SEEK_SET)
    os.dup2(fd, one.fd)
    os.close(fd)
