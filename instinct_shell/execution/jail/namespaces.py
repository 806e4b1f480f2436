"""Entering fresh namespaces: user, mount, pid, ipc, uts and, when the command gets no network, net; or those of a session that exists.

The uid inside is the uid outside.
"""

from __future__ import annotations

import os
import signal

from .syscalls import StepFailed, address, buffer, call

_NEW_MOUNT, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_CLONE_PARENT = 0x00008000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

UNSHARE = "making new namespaces"
MAP = "mapping the user id"
JOIN = "joining the session"


def enter(*, own_network: bool) -> None:
    """Moves this process into new namespaces; the pid namespace begins with its next child. Raises StepFailed."""
    uid, gid = os.geteuid(), os.getegid()
    call(UNSHARE, "unshare", _NEW_USER | _NEW_MOUNT | _NEW_PID | _NEW_IPC | _NEW_UTS | (_NEW_NET if own_network else 0))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        try:
            fd = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
            os.write(fd, text.encode())
            os.close(fd)
        except OSError as problem:
            raise StepFailed(MAP, problem.errno or 0) from None


def join(holder: int, *, own_network: bool) -> None:
    """Moves this process into the namespaces of the session whose holder the pidfd names, but for its mounts and, as it was made before, its own
    place among processes: the next child is in the session's pid namespace. Raises StepFailed."""
    outside = os.stat("/proc/self/ns/net").st_ino
    call(JOIN, "setns", holder, _NEW_USER | _NEW_PID | _NEW_IPC | _NEW_UTS | (_NEW_NET if own_network else 0))
    if own_network and os.stat("/proc/self/ns/net").st_ino == outside:
        raise StepFailed(f"{JOIN}: it was made with the host's network")


def own_mounts() -> None:
    """A mount namespace of its own for this process and its children."""
    call(UNSHARE, "unshare", _NEW_MOUNT)


def fork_sibling() -> int:
    """As fork, but the child's parent is this process's own parent: the launcher, which stays outside the namespaces.

    Only for a process with one thread: libc's fork handlers do not run.
    """
    return call("starting the jail's first process", "clone", _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)


def raise_loopback() -> None:
    """127.0.0.1 works inside an own network namespace, so that test servers do; nothing else is reachable."""
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as any_socket:
        request = buffer(struct.pack("16sh22x", b"lo", _IFF_UP))
        call("raising the loopback interface", "ioctl", any_socket.fileno(), _SIOCSIFFLAGS, address(request))
