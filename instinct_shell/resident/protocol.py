"""What launchers and the engine say to each other, and how each makes sure of the other (docs/protocol/engine.md, docs/protocol/plan.md).

A message is four bytes of length (little-endian) and a body; a body is a row of records: one tag byte, four bytes of length, that many bytes,
one NUL that is not counted, so that a C program uses texts where they lie. Every start of ours imports this file, so it needs built-in modules only.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Iterator, Mapping

HELLO_MS = 1000  # how long a launcher waits until an engine has taken its call
ANSWER_MS = 4000  # and then until the verdict is there; the engine's own limit is shorter
JUDGING_S = 3.0
MOST = 16 << 20  # bytes of one message: far above the largest environment and command that the kernel lets anyone pass on

# what a launcher sends
PROGRAM, ARGUMENT, FOLDER, VARIABLE, TERMINALS, UMASK = b"PACETU"
END, SAID = b"FZ"  # how the run ended; the end of its stderr, where the launcher can read it again
STOP, ABOUT = b"KI"
# what an engine sends
HELLO, LONG_WAY, TO_STDOUT, TO_STDERR, STATUS, PLAN, RUN, GO = b"HLOWXQNG"

_NAMESPACES = ("user", "mnt", "pid", "net", "cgroup")
_HELD_BY = (b"NoNewPrivs:", b"Seccomp:", b"Seccomp_filters:", b"CapEff:", b"CapBnd:")
_PEER_CREDENTIALS, _SOCKET_LEVEL = 17, 1  # SO_PEERCRED, SOL_SOCKET


class Hangup(Exception):
    """The other side is gone, or does not keep to the protocol."""


def record(tag: int, data: bytes = b"") -> bytes:
    """One record of a body."""
    return bytes((tag,)) + len(data).to_bytes(4, "little") + data + b"\0"


def message(*records: bytes) -> bytes:
    """A whole message."""
    body = b"".join(records)
    return len(body).to_bytes(4, "little") + body


def records(body: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, data) of each record, in order. Raises Hangup for bytes that are no body."""
    at = 0
    while at < len(body):
        end = at + 5 + int.from_bytes(body[at + 1 : at + 5], "little")
        if end >= len(body) or body[end]:
            raise Hangup("a record that is cut short")
        yield body[at], body[at + 5 : end]
        at = end + 1


def first(body: bytes) -> dict[int, bytes]:
    """The data of each tag, where every tag stands once."""
    return dict(records(body))


def send(connection: socket, data: bytes) -> None:
    """The whole message. Raises Hangup."""
    try:
        connection.sendall(data)
    except OSError as error:
        raise Hangup(str(error)) from None


def receive(connection: socket) -> bytes:
    """The body of the next message; the connection's own time-out applies to each piece. Raises Hangup."""
    size = int.from_bytes(_exactly(connection, 4), "little")
    if size > MOST:
        raise Hangup("a message that is too long")
    return _exactly(connection, size)


def _exactly(connection: socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        try:
            piece = connection.recv(min(size - len(data), 1 << 20))
        except OSError as error:  # a time-out is one too
            raise Hangup(str(error)) from None
        if not piece:
            raise Hangup("end of file")
        data += piece
    return bytes(data)


# ---------------------------------------------------------------- where


def folder(environ: Mapping[bytes, bytes], uid: int) -> bytes:
    """The runtime directory: `$XDG_RUNTIME_DIR/instinct-shell` where that is ours, else `run` in the state directory; b"" for nowhere."""
    base = environ.get(b"XDG_RUNTIME_DIR", b"")
    if base.startswith(b"/"):
        try:
            if posix.stat(base).st_uid == uid:
                return base + b"/instinct-shell"
        except OSError:
            pass  # left over from another login
    base = environ.get(b"XDG_STATE_HOME", b"")
    if not base.startswith(b"/"):
        home = environ.get(b"HOME", b"")
        if not home.startswith(b"/"):
            return b""
        base = home + b"/.local/state"
    return base + b"/instinct-shell/run"


def open_folder(path: bytes, uid: int) -> int:
    """A descriptor of the runtime directory. Raises OSError when it is missing, and PermissionError unless it is ours alone."""
    fd = posix.open(path, posix.O_PATH | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    found = posix.fstat(fd)
    if found.st_uid != uid or found.st_mode & 0o077:
        posix.close(fd)
        raise PermissionError(1, "the runtime directory must be yours, mode 0700", path)
    return fd


def socket_name(package: str) -> str:
    """The socket's name within the runtime directory: one for each copy of this package, since an engine runs one copy's code."""
    found = posix.stat(package)
    return f"engine1-{found.st_dev:x}-{found.st_ino:x}"


# ---------------------------------------------------------------- who


def peer(connection: socket) -> tuple[int, int]:
    """(pid, uid) of whoever connected, as the kernel noted it then."""
    data = connection.getsockopt(_SOCKET_LEVEL, _PEER_CREDENTIALS, 12)
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")


def stands_beside(pid: int) -> bool:
    """Whether that process sees the machine as this one does, and is held by nothing that does not hold this one.

    A jailed command of the same user never does: it lives in namespaces of its own or at least under one more system call filter, and can leave
    neither. So it can neither pass for an engine, whatever folder a variable names, nor be answered by one.
    """
    if pid <= 0:
        return False
    try:
        for name in _NAMESPACES:
            if posix.readlink(f"/proc/{pid}/ns/{name}") != posix.readlink(f"/proc/self/ns/{name}"):
                return False
        return posix.readlink(f"/proc/{pid}/root") == posix.readlink("/proc/self/root") == "/" and _held(f"/proc/{pid}/status") == _held(
            "/proc/self/status"
        )
    except OSError:
        return False


def _held(path: str) -> list[bytes]:
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return [line for line in posix.read(fd, 8192).split(b"\n") if line.startswith(_HELD_BY)]
    finally:
        posix.close(fd)
