"""The system call filter: a deny list, hand-assembled as classic BPF, the same for root and for an ordinary user.

It holds what neither mounts nor Landlock see: other processes' memory, new namespaces, keyrings, io_uring, set-id bits, terminal injection,
unusual socket families. Refused calls answer EPERM; calls whose arguments lie in memory (clone3, openat2) answer ENOSYS, so that callers fall back
to forms that can be read. Calls without a rule cost nothing: the kernel caches them as always allowed.
"""

from __future__ import annotations

import struct
from functools import cache

from .inside import ANSWER
from .syscalls import MACHINE, NEWEST_KNOWN, StepFailed, address, attempt, buffer, call, number

LISTENING = "installing the filter that has each exec judged"
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOW, _KILL, _NOTIFY = 0x7FFF0000, 0x80000000, 0x7FC00000
_EPERM, _ENOSYS, _EAFNOSUPPORT = (0x00050000 | errno for errno in (1, 38, 97))
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _IF_AT_LEAST, _RETURN, _AND = 0x20, 0x15, 0x45, 0x35, 0x06, 0x54
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # offsets in struct seccomp_data
_X32_BIT = 0x40000000
_NEW_NAMESPACE = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00000080
_SET_ID = 0o6000
_O_CREAT_OR_TMPFILE = 0o100 | 0o20000000
_PROCESS_GROUP = 4  # PIDFD_SIGNAL_PROCESS_GROUP
_DEVICE_KINDS = (0o020000, 0o060000)  # S_IFCHR, S_IFBLK
_TIOCSTI, _TIOCLINUX, _FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR = 0x5412, 0x541C, 0x40086602, 0x401C5820

_NEW_LISTENER, _KILL_ONLY_WHILE_ANSWERED = 8, 32  # SECCOMP_FILTER_FLAG_*; the second from Linux 5.19 on
_EINVAL = 22

_DENIED = (
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd "  # other processes
    "io_uring_setup io_uring_enter io_uring_register "  # a way round every filter
    "mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr setns "
    "keyctl add_key request_key bpf perf_event_open userfaultfd "
    "kexec_load kexec_file_load init_module finit_module delete_module swapon swapoff reboot acct quotactl quotactl_fd "
    "open_by_handle_at name_to_handle_at syslog settimeofday clock_settime sethostname setdomainname personality fanotify_init vhangup iopl ioperm"
)
_METADATA = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat setxattr lsetxattr fsetxattr setxattrat "
    "removexattr lremovexattr fremovexattr removexattrat file_setattr"
)

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def _op(code: int, constant: int, true: int = 0, false: int = 0) -> Instruction:
    return (code, true, false, constant & 0xFFFFFFFF)


def _argument(index: int) -> Instruction:
    """Loads the low half of an argument: both architectures are little-endian, and the kernel ignores the high half of ints."""
    return _op(_LOAD, _ARGUMENTS_AT + 8 * index)


def _when(name: str, body: list[Instruction]) -> list[Instruction]:
    """`body` runs for this call alone and must return; nothing where the architecture lacks the call."""
    known = number(name)
    return [] if known is None else [_op(_IF_EQUAL, known, 0, len(body)), *body]


def _refuse_bits(argument: int, bits: int) -> list[Instruction]:
    return [_argument(argument), _op(_IF_ANY_BIT, bits, 0, 1), _op(_RETURN, _EPERM), _op(_RETURN, _ALLOW)]


def _refuse_values(argument: int, values: tuple[int, ...]) -> list[Instruction]:
    checks = [_op(_IF_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [_argument(argument), *checks, _op(_RETURN, _ALLOW), _op(_RETURN, _EPERM)]


def _only_values(argument: int, values: tuple[int, ...], refusal: int) -> list[Instruction]:
    checks = [_op(_IF_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [_argument(argument), *checks, _op(_RETURN, refusal), _op(_RETURN, _ALLOW)]


def _creation(flags: int, mode: int) -> list[Instruction]:
    """open with a set-id mode would plant what chmod may not."""
    return [_argument(flags), _op(_IF_ANY_BIT, _O_CREAT_OR_TMPFILE, 1, 0), _op(_RETURN, _ALLOW), *_refuse_bits(mode, _SET_ID)]


def _node(mode: int) -> list[Instruction]:
    kinds = [_op(_IF_EQUAL, kind, len(_DEVICE_KINDS) + 1 - i, 0) for i, kind in enumerate(_DEVICE_KINDS)]
    return [
        *(_argument(mode), _op(_IF_ANY_BIT, _SET_ID, len(_DEVICE_KINDS) + 3, 0), _op(_AND, 0o170000)),
        *kinds,
        *(_op(_RETURN, _ALLOW), _op(_RETURN, _EPERM), _op(_RETURN, _EPERM)),
    ]


@cache
def assemble(families: tuple[int, ...], read_only: bool = False, signals_scoped: bool = True, own_processes: bool = True) -> bytes:
    """The program as the kernel's bytes.

    families: socket families that may be made. read_only: also refuse metadata changes. signals_scoped: Landlock keeps signals inside; without it
    a signal to "my process group" (kill 0) would reach the caller, whose group the command shares. own_processes: there is a process namespace, whose
    first process is ours; without one every process of the user could be ended by a limit on its processor time.
    """
    program = [
        *(_op(_LOAD, _ARCHITECTURE_AT), _op(_IF_EQUAL, _ARCHITECTURE[MACHINE], 1, 0), _op(_RETURN, _KILL)),
        _op(_LOAD, _NUMBER_AT),
        *(_op(_IF_AT_LEAST, NEWEST_KNOWN + 1, 0, 1), _op(_RETURN, _ENOSYS)),  # newer than this table, or x32: as on an older kernel
    ]
    assert NEWEST_KNOWN < _X32_BIT
    program += _when("openat", _creation(2, 3)) + _when("open", _creation(1, 2)) + _when("creat", _refuse_bits(1, _SET_ID))
    program += _when("openat2", [_op(_RETURN, _ENOSYS)])
    program += _when("getpriority", _only_values(0, (0, 1, 2), 0x00050000 | ANSWER))  # tells our own programs where they are: inside.py
    ioctls = (_TIOCSTI, _TIOCLINUX, *((_FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR) if read_only else ()))
    program += _when("ioctl", _refuse_values(1, ioctls))
    program += _when("clone", _refuse_bits(0, _NEW_NAMESPACE & ~0x80)) + _when("unshare", _refuse_bits(0, _NEW_NAMESPACE))
    program += _when("clone3", [_op(_RETURN, _ENOSYS)])
    program += _when("socket", _only_values(0, families, _EAFNOSUPPORT))
    program += _when("socketpair", _only_values(0, (AF_UNIX,), _EAFNOSUPPORT))
    program += _when("prlimit64", _refuse_values(0, (1,)) if own_processes else _only_values(0, (0,), _EPERM))
    program += _when("mknod", _node(1)) + _when("mknodat", _node(2))
    denied = _DENIED.split()
    if read_only:
        denied += _METADATA.split()
    else:
        for name, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2)):
            program += _when(name, _refuse_bits(mode, _SET_ID))
    if not signals_scoped:
        program += _when("kill", _refuse_values(0, (0,))) + _when("pidfd_send_signal", _refuse_bits(3, _PROCESS_GROUP))
    numbers = [known for name in denied if (known := number(name)) is not None]
    program += [_op(_IF_EQUAL, known, len(numbers) - i, 0) for i, known in enumerate(numbers)]
    program += [_op(_RETURN, _ALLOW), _op(_RETURN, _EPERM)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def execs() -> bytes:
    """The program that has execve and execveat wait for an answer. What the other filter refuses stays refused: the stricter answer counts."""
    program = [
        *(_op(_LOAD, _ARCHITECTURE_AT), _op(_IF_EQUAL, _ARCHITECTURE[MACHINE], 1, 0), _op(_RETURN, _ALLOW)),
        _op(_LOAD, _NUMBER_AT),
        *_when("execve", [_op(_RETURN, _NOTIFY)]),
        *_when("execveat", [_op(_RETURN, _NOTIFY)]),
        _op(_RETURN, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def install(program: bytes) -> None:
    """Puts the filter on this process and all its later children. Needs no_new_privs; raises StepFailed."""
    if MACHINE not in _ARCHITECTURE:
        raise StepFailed("the system call filter knows x86_64 and aarch64 only")
    code = buffer(program)
    header = buffer(struct.pack("@HP", len(program) // 8, address(code)))
    call("installing the system call filter", "seccomp", 1, 0, address(header))


def listen(program: bytes) -> int:
    """As `install`, for a filter that asks: the descriptor on which its questions are read. Once nobody has it open, they are answered ENOSYS.

    A program that gets signals all the time (Go's runtime) would ask again at each; where the kernel can, only a deadly one ends the waiting.
    """
    code = buffer(program)
    header = buffer(struct.pack("@HP", len(program) // 8, address(code)))
    listener = attempt("seccomp", 1, _NEW_LISTENER | _KILL_ONLY_WHILE_ANSWERED, address(header))
    if listener == -_EINVAL:
        listener = attempt("seccomp", 1, _NEW_LISTENER, address(header))
    if listener < 0:
        raise StepFailed(LISTENING, -listener)
    return listener
