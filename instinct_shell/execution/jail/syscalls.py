"""System calls by number, each return value checked: a refusal is a `StepFailed` that names the step and the errno.

Python has no wrapper for most of what a jail needs (mount_setattr, move_mount, Landlock, seccomp). Numbers are for x86-64 and aarch64, from the
kernel's own tables; a machine that is not listed has no jail and says so.
"""

from __future__ import annotations

import ctypes
import os
import struct
from ctypes import c_long, c_void_p

MACHINE = os.uname().machine

# name: (x86-64, aarch64); None where the architecture never had the call
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "creat": (85, None),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "file_setattr": (469, 469),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "getpriority": (140, 141),
    "prlimit64": (302, 261),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open": (2, None),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "renameat2": (316, 276),
    "request_key": (249, 218),
    "seccomp": (317, 277),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vhangup": (153, 58),
}
NEWEST_KNOWN = 469  # file_setattr, Linux 6.17; both architectures share numbers from 424 on

_COLUMN = {"x86_64": 0, "aarch64": 1}.get(MACHINE)
_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.argtypes = (c_long,) + (c_void_p,) * 6
_syscall.restype = c_long


class StepFailed(Exception):
    """One step of making the jail was refused by the kernel. `step` says which in words, `errno` is 0 when it was not a system call."""

    def __init__(self, step: str, errno: int = 0) -> None:
        super().__init__(step, errno)
        self.step = step
        self.errno = errno


def supported() -> bool:
    """Whether this processor's call numbers are known."""
    return _COLUMN is not None


def number(name: str) -> int | None:
    """The call's number here; None when this architecture lacks it."""
    return None if _COLUMN is None else NUMBERS[name][_COLUMN]


def attempt(name: str, *arguments: int | bytes | None) -> int:
    """Makes the call; the result, or minus the errno."""
    wanted = number(name)
    if wanted is None:
        return -38  # ENOSYS
    result: int = _syscall(wanted, *arguments, *(0,) * (6 - len(arguments)))
    return -ctypes.get_errno() if result < 0 else result


def call(step: str, name: str, *arguments: int | bytes | None) -> int:
    """Makes the call; raises StepFailed naming `step` when the kernel refuses."""
    result = attempt(name, *arguments)
    if result < 0:
        raise StepFailed(step, -result)
    return result


def read_memory(pid: int, where: int, size: int) -> bytes:
    """Up to `size` bytes of another process's memory; less where it ends, b"" where it may not be read."""
    found = buffer(bytes(size))
    ours, theirs = (buffer(struct.pack("@PN", at, size)) for at in (address(found), where))
    count = attempt("process_vm_readv", pid, address(ours), 1, address(theirs), 1, 0)
    return found.raw[:count] if count > 0 else b""


def buffer(content: bytes) -> ctypes.Array[ctypes.c_char]:
    """Memory whose address may be handed to the kernel for as long as the object lives."""
    return ctypes.create_string_buffer(content, len(content))


def address(memory: ctypes.Array[ctypes.c_char]) -> int:
    return ctypes.addressof(memory)
