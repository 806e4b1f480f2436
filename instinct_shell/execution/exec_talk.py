"""How the process that asks and the launcher that answers come together, and how a refused program hears why."""

from __future__ import annotations

import os
import select
import stat
import struct
from _socket import SCM_RIGHTS, SOL_SOCKET, socket

from .jail import syscalls


def hand_over(listener: int, to: int) -> None:
    """In the command's process, just before its exec: the listener goes to the launcher. Raises StepFailed."""
    connection = socket(fileno=to)
    try:
        connection.sendmsg([b"L"], [(SOL_SOCKET, SCM_RIGHTS, struct.pack("=i", listener))])
    except OSError as problem:
        raise syscalls.StepFailed("sending the launcher what has execs judged", problem.errno or 0) from None
    connection.detach()


def receive(connection: socket, event: int) -> int:
    """The listener; -1 when the command's process ended without one."""
    poll = select.poll()
    for fd in (connection.fileno(), event):
        poll.register(fd, select.POLLIN)
    if connection.fileno() not in dict(poll.poll()):
        return -1
    _, ancillary, _, _ = connection.recvmsg(1, 32)
    for level, kind, piece in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            listener: int = struct.unpack_from("=i", piece)[0]
            os.set_inheritable(listener, False)
            return listener
    return -1


def tell(pid: int, words: bytes) -> bool:
    """Our words on the process's own stderr, without ever waiting for whoever reads it. False when they were not said."""
    try:
        process = os.pidfd_open(_leader(pid))
    except OSError:
        return False
    try:
        fd = syscalls.attempt("pidfd_getfd", process, 2, 0)
    finally:
        os.close(process)
    if fd < 0:
        return False
    try:
        found = os.fstat(fd)
        if stat.S_ISCHR(found.st_mode) and found.st_rdev == os.makedev(1, 3):
            return False  # /dev/null: nobody would hear it
        return say(fd, words)
    finally:
        os.close(fd)


def _leader(pid: int) -> int:
    """The process of a thread."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), pid)


def say(fd: int, words: bytes) -> bool:
    """Whether the words were taken at once."""
    poll = select.poll()
    try:
        poll.register(fd, select.POLLOUT)
        if not any(events & select.POLLOUT for _, events in poll.poll(0)):
            return False
        return os.write(fd, words) > 0
    except (OSError, OverflowError):
        return False
