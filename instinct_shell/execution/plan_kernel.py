"""The kernel's calls as a ready-made plan needs them (carry_out.py), through `syscall` of the C library. Built-in modules only: every command waits.

Each refusal is `Failed` with the step that was refused. The calls of the jail proper, with their checks and words, are in jail/kernel.py.
"""

from __future__ import annotations

import posix
from _ctypes import FUNCFLAG_CDECL, FUNCFLAG_USE_ERRNO, CFuncPtr, _SimpleCData, dlopen, dlsym, get_errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Long(_SimpleCData):  # type: ignore[type-arg]  # `ctypes` would name these types; importing it costs 3 ms
    _type_ = "l"


class _Pointer(_SimpleCData):  # type: ignore[type-arg]  # the same
    _type_ = "P"


class Character(_SimpleCData):  # type: ignore[type-arg]  # the same
    _type_ = "c"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


syscall: Any = _Function(dlsym(dlopen(None, 0), "syscall"))  # type: ignore[arg-type]  # None: this program itself
syscall.argtypes = (_Long,) + (_Pointer,) * 6
_OURS = posix.uname().machine == "x86_64"  # the other one that has plans is aarch64
CLONE, PRCTL, CAPSET, SECCOMP, MOUNT = (56, 157, 126, 317, 165) if _OURS else (220, 167, 91, 277, 40)
UNSHARE, SETNS, IOCTL = (272, 308, 16) if _OURS else (97, 268, 29)
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, CLOSE_RANGE, OPENAT2, MOUNT_SETATTR = 428, 429, 430, 431, 432, 436, 437, 442
RULESET, ADD_RULE, RESTRICT = 444, 445, 446
NEW_PRIVATE = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000 | 0x04000000  # user, pid, mount, ipc, uts
NEW_NET, CLONE_PARENT = 0x40000000, 0x8000
AT_FDCWD, EMPTY_PATH, RECURSIVE = -100, 0x1000, 0x8000
NO_MAGIC_LINKS, NO_SYMLINKS = 2, 4
READ_ONLY, NO_SET_ID, PLAIN, NO_EXEC = 1, 2, 2 | 4, 8
PARENT_DEATH_SIGNAL, DUMPABLE, BOUNDING_SET_DROP, NO_NEW_PRIVILEGES, AMBIENT = 1, 4, 24, 38, 47
_FOLDER, LINK = 0o040000, 0o120000
HIGHEST = 0xFFFFFFFF
GONE = (2, 13, 20)  # ENOENT, EACCES, ENOTDIR

class Failed(Exception):
    """One step was refused: (errno, step)."""


def call(step: str, number: int, *arguments: int | bytes) -> int:
    result: int = syscall(number, *arguments, *(0,) * (6 - len(arguments)))
    if result < 0:
        raise Failed(get_errno(), step)
    return result


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)




def is_folder(fd: int) -> bool:
    return posix.fstat(fd).st_mode & 0o170000 == _FOLDER




def shown(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")




def write(path: str, text: bytes, step: str) -> None:
    try:
        fd = posix.open(path, posix.O_WRONLY | posix.O_CLOEXEC)
        posix.write(fd, text)
        posix.close(fd)
    except OSError as problem:
        raise Failed(problem.errno or 0, step) from None
