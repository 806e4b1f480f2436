"""What a process may still do by capability and by exec: nothing. Root ends up with no more than an ordinary user that owns root's files."""

from __future__ import annotations

import struct

from .syscalls import address, attempt, buffer, call

_SET_PARENT_DEATH_SIGNAL, _SET_DUMPABLE, _DROP_FROM_BOUNDING_SET = 1, 4, 24
_SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS, _AMBIENT, _AMBIENT_CLEAR_ALL = 36, 38, 47, 4
_EINVAL, _EPERM = 22, 1
_CAPABILITY_VERSION_3 = 0x20080522
_AMBIENT_RAISE, _CAP_SYS_PTRACE = 2, 19


def die_with_parent(signal: int) -> None:
    """The kernel sends `signal` when the thread that made this process ends. Forgotten by fork: each process asks for itself."""
    call("asking for the parent's death signal", "prctl", _SET_PARENT_DEATH_SIGNAL, signal, 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants whose parent ends become children of this process instead of leaving the tree."""
    call("becoming the reaper of orphans", "prctl", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def hide_memory() -> None:
    """Nobody without privilege over this process may trace it or read its /proc entries; exec undoes it."""
    call("making the jail's first process unreadable", "prctl", _SET_DUMPABLE, 0, 0, 0, 0)


def no_new_privileges() -> None:
    """Set-id bits and file capabilities mean nothing from here on. Landlock and seccomp require it."""
    call("setting no_new_privs", "prctl", _SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def keep_sight_only() -> None:
    """Over exec, keeps the one capability to look into other processes of this user namespace, and nothing else."""
    for capability in range(64):
        if capability != _CAP_SYS_PTRACE and attempt("prctl", _DROP_FROM_BOUNDING_SET, capability, 0, 0, 0) < 0:
            break  # one past the kernel's last
    header = buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0))
    sight = 1 << _CAP_SYS_PTRACE
    sets = buffer(struct.pack("=6I", sight, sight, sight, 0, 0, 0))
    call("keeping the capability to look into processes", "capset", address(header), address(sets))
    call("keeping the capability to look into processes", "prctl", _AMBIENT, _AMBIENT_RAISE, _CAP_SYS_PTRACE, 0, 0)


def drop_capabilities() -> None:
    """Empties bounding, ambient, permitted, effective and inheritable sets, so that not even an exec as uid 0 gains one back."""
    for capability in range(64):
        result = attempt("prctl", _DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
        if result == -_EINVAL:
            break  # one past the kernel's last capability
        if result == -_EPERM:
            break  # an ordinary user at level partial: holds none, and no_new_privs keeps it so
    attempt("prctl", _AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0))
    nothing = buffer(bytes(24))
    call("dropping all capabilities", "capset", address(header), address(nothing))
