"""A launcher's side of a call: find the engine, make sure of it, ask, and never wait for long. Built-in modules only.

Whatever goes wrong, the answer is None and `trouble` says why; the caller then judges in its own process, with the same verdict.
"""

from __future__ import annotations

import posix
from _socket import AF_UNIX, SO_PASSCRED, SOCK_CLOEXEC, SOCK_STREAM, SOL_SOCKET, socket

from . import protocol
from .protocol import Hangup

# Why there was no answer. The first three are reasons to start an engine, the last two are not.
ABSENT, HUNG, DIED, DECLINED, OFF = "absent", "hung", "died", "declined", "off"
SETTING = b"INSTINCT_ENGINE"
PACKAGE = __file__.rpartition("/")[0].rpartition("/")[0]
_CREDENTIALS = 2  # SCM_CREDENTIALS

trouble = ""


def wanted() -> bool:
    """Whether the environment leaves the engine on. `off` is for good; the other values are what a launcher before us met."""
    global trouble
    trouble = posix.environ.pop(SETTING, b"").decode("ascii", "replace")
    if trouble:
        posix.unsetenv(SETTING)
    return not trouble


def call() -> socket | None:
    """A connection to an engine that has taken our call and is what it says; None with `trouble` set."""
    global trouble
    uid = posix.getuid()
    try:
        fd = protocol.open_folder(protocol.folder(posix.environ, uid), uid)
    except OSError:
        trouble = ABSENT
        return None
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)
    try:
        connection.setsockopt(SOL_SOCKET, SO_PASSCRED, 1)
        connection.settimeout(protocol.HELLO_MS / 1000)
        trouble = ABSENT
        connection.connect(f"/proc/self/fd/{fd}/{protocol.socket_name(PACKAGE)}")
        trouble = HUNG
        if not _hello(connection):
            trouble = DECLINED
            return None
        trouble = ""
        return connection
    except OSError:
        return None
    except Hangup:
        trouble = DIED
        return None
    finally:
        posix.close(fd)
        if trouble:
            connection.close()


def _hello(connection: socket) -> bool:
    """Whether the first message comes from a process of ours that stands beside us. The kernel vouches for who sent it.

    Whoever listens might be somebody else by now, since a socket's credentials outlive its maker; a message's do not.
    """
    data, ancillary, _, _ = connection.recvmsg(10, 64)
    expected = protocol.message(protocol.record(protocol.HELLO))
    if not data:
        raise Hangup("end of file")
    senders = [piece for level, kind, piece in ancillary if (level, kind) == (SOL_SOCKET, _CREDENTIALS)]
    if data != expected or len(senders) != 1 or int.from_bytes(senders[0][4:8], "little") != posix.getuid():
        return False
    return protocol.stands_beside(int.from_bytes(senders[0][:4], "little"))


def request(program: bytes, arguments: list[str]) -> bytes:
    """Everything that bears on the answer: what was asked, where, with which environment. Raises OSError when this folder is gone."""
    umask = posix.umask(0o077)
    posix.umask(umask)
    terminals = b"".join(b"%d" % fd for fd in (0, 1, 2) if _is_terminal(fd))
    return protocol.message(
        protocol.record(protocol.PROGRAM, program),
        *(protocol.record(protocol.ARGUMENT, word.encode("utf-8", "surrogateescape")) for word in arguments),
        protocol.record(protocol.FOLDER, posix.getcwdb()),
        protocol.record(protocol.UMASK, b"%o" % umask),
        protocol.record(protocol.TERMINALS, terminals),
        *(protocol.record(protocol.VARIABLE, name + b"=" + value) for name, value in posix.environ.items()),
    )


def ask(connection: socket, data: bytes) -> dict[int, bytes] | None:
    """The answer's records; None with `trouble` set when there is none, or when it is to do it ourselves."""
    return hear(connection) if say(connection, data) else None


def say(connection: socket, data: bytes) -> bool:
    """Send; False with `trouble` set when the engine is gone."""
    global trouble
    connection.settimeout(protocol.ANSWER_MS / 1000)
    try:
        protocol.send(connection, data)
    except Hangup:
        trouble = DIED
    return not trouble


def hear(connection: socket) -> dict[int, bytes] | None:
    """The answer to what was said."""
    global trouble
    try:
        answer = protocol.first(protocol.receive(connection))
    except Hangup:
        trouble = DIED
        return None
    if protocol.LONG_WAY in answer:
        trouble = DECLINED
        return None
    return answer


def _is_terminal(fd: int) -> bool:
    try:
        return posix.isatty(fd)
    except OSError:
        return False
