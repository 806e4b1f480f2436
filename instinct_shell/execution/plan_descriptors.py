"""How the caller's descriptors go into the jail of a ready-made plan. The twin of descriptors.py and relay.py. Built-in modules only."""

from __future__ import annotations

import posix
import sys

_TERMINALS = (4, 5, 136, 137, 138, 139, 140, 141, 142, 143, 229, 204)  # majors: vt, tty and console, pts, hvc, serial
_MEMORY_MAJOR, _HARMLESS_MINORS = 1, (3, 5, 7, 8, 9)  # null zero full random urandom
_PIECE = 1 << 16
_WAITING_BYTES = 0x541B  # FIONREAD


class Refused(Exception):
    """A standard descriptor that must not go in; the message is the step that failed."""


def write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[posix.write(fd, data) :]


def fill_standard_descriptors() -> tuple[int, ...]:
    """Opens /dev/null on each of 0, 1, 2 that the caller left closed, so that our own pipes get other numbers; the numbers filled."""
    filled = []
    for fd in (0, 1, 2):
        try:
            posix.fstat(fd)
        except OSError:
            opened = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
            if opened != fd:
                posix.dup2(opened, fd)
                posix.close(opened)
            filled.append(fd)
    return tuple(filled)


def is_plain(fd: int) -> bool:
    """Whether it passes into any jail untouched: a pipe, a socket, a terminal, /dev/null or its like."""
    found = posix.fstat(fd)
    kind = found.st_mode & 0o170000
    if kind in (0o010000, 0o140000):
        return True
    if kind != 0o020000:
        return False
    major, minor = posix.major(found.st_rdev), posix.minor(found.st_rdev)
    return posix.isatty(fd) or major in _TERMINALS or (major == _MEMORY_MAJOR and minor in _HARMLESS_MINORS)


def letter(fd: int, layers: list[tuple[bytes, bytes]]) -> bytes:
    """How this descriptor goes in. Raises Refused."""
    if is_plain(fd):
        return b"p"
    found = posix.fstat(fd)
    kind = found.st_mode & 0o170000
    if kind != 0o100000:
        what = {0o040000: "a folder", 0o060000: "a block device", 0o020000: "a device"}.get(kind, "neither file, pipe, socket nor terminal")
        raise Refused(f"handing over {('stdin', 'stdout', 'stderr')[fd]}: it is {what}, which would lead around the jail")
    path = posix.readlink(b"/proc/self/fd/%d" % fd)
    try:
        named = posix.lstat(path)
    except OSError:
        return b"r"
    if (named.st_dev, named.st_ino) != (found.st_dev, found.st_ino):
        return b"r"
    layer = next((kind for kind, top in reversed(layers) if path == top or path.startswith(top.rstrip(b"/") + b"/")), b"R")
    if layer == b"W":
        return b"p"
    return b"o" if layer in b"RS" and access_mode(fd) == posix.O_RDONLY else b"r"


def access_mode(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL) & 3


def is_same_file(one: int, two: int) -> bool:
    """Whether what is written to both comes one after the other, as after `>log 2>&1`."""
    import fcntl

    first, second = posix.fstat(one), posix.fstat(two)
    if (first.st_dev, first.st_ino) != (second.st_dev, second.st_ino):
        return False
    return fcntl.fcntl(one, fcntl.F_GETFL) == fcntl.fcntl(two, fcntl.F_GETFL) and posix.lseek(one, 0, 1) == posix.lseek(two, 0, 1)


def reads_from(fd: int) -> bool:
    mode = access_mode(fd)
    return mode == posix.O_RDONLY or (mode == posix.O_RDWR and fd == 0)


def pump(fd: int, end: int, reads: bool, asked: int, tell: int, others: set[int]) -> None:
    """In a forked child: passes bytes between the caller's file and the pipe whose other end the command has; never returns.

    When `asked` is closed, it says `d` by `tell` once all that was in the pipe then has been passed on, and goes on, since what the command left behind
    may write for ever; what the command would have read is over then. It says `e` when the file takes no more.
    """
    import fcntl
    from select import POLLIN, poll

    try:
        for other in others:
            posix.close(other)  # a pipe must close when its last holder does
        source, sink = (fd, end) if reads else (end, fd)
        waiting = poll()
        waiting.register(asked, POLLIN)
        waiting.register(source, POLLIN)
        owed = -1
        while True:
            ready = dict(waiting.poll())
            if asked in ready:
                if reads and source not in ready:
                    break
                waiting.unregister(asked)
                owed = int.from_bytes(fcntl.ioctl(source, _WAITING_BYTES, bytes(4)), sys.byteorder) if not reads else -1
            if source in ready:
                piece = posix.read(source, _PIECE)
                if not piece:
                    break
                try:
                    write_all(sink, piece)
                except OSError:
                    posix.write(tell, b"e")
                    break
                owed = max(0, owed - len(piece)) if owed > 0 else owed
            if owed == 0:
                owed = -1
                posix.write(tell, b"d")
    except OSError:
        pass  # the other side is gone: our end tells the one that is left, as with a plain pipe
    finally:
        posix._exit(0)
