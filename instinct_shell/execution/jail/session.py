"""Joining a jail session, and making one when there is none (holder.py is the process that then holds it).

A launcher connects to the holder's socket, learns from the kernel who listens there, and has its child enter that process's namespaces. The open
connection is what ties the command to its launcher: when it is lost, the holder ends whatever the command has started.
"""

from __future__ import annotations

import errno
import os
import signal
import struct
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SO_PEERCRED, SOCK_CLOEXEC, SOCK_SEQPACKET, SOL_SOCKET, socket  # the whole module costs 3 ms

from . import mounts, namespaces, privileges
from .syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from ...model.jailspec import Session

_START = "starting the session"
_HELLO_SECONDS = 3.0  # the holder may be ending what another command has left
_END_SECONDS = 5.0
_TRIES = 5
_HOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "holder.py")


class Membership:
    """A live connection to a session's holder. `holder` is its pidfd."""

    def __init__(self, connection: socket, holder: int) -> None:
        self._connection = connection
        self.holder = holder
        self._concluded = False

    def descriptors(self) -> tuple[int, int]:
        """What the launcher's child needs of it."""
        return (self._connection.fileno(), self.holder)

    def begin(self) -> None:
        """In the command's own process: says which mounts are the command's. Raises StepFailed."""
        fd = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._connection.sendmsg([b"B"], [(SOL_SOCKET, SCM_RIGHTS, struct.pack("=i", fd))])
        except OSError as problem:
            raise StepFailed(namespaces.JOIN, problem.errno or 0) from None
        os.close(fd)

    def conclude(self, *, by_itself: bool) -> bool:
        """The command is over. Not by itself: returns when nothing is left of it. Whether the session was still there; if not, everything has ended."""
        if self._concluded:
            return True
        self._concluded = True
        held = True
        try:
            self._connection.send(b"D" if by_itself else b"K")
            if not by_itself:
                self._connection.settimeout(_END_SECONDS)
                self._connection.recv(1)
        except OSError:
            held = False
        self.close()
        return held

    def ask(self, letter: bytes) -> bytes:
        """The holder's answer to a question; b"" when it ends instead. Raises OSError."""
        self._connection.settimeout(_HELLO_SECONDS)
        self._connection.send(letter)
        return self._connection.recv(8192)

    def close(self) -> None:
        """Lets go; a command that has begun ends by it."""
        self._connection.close()
        if self.holder >= 0:
            os.close(self.holder)
            self.holder = -1


def enter(session: Session, *, own_network: bool) -> Membership:
    """Joins the session, made now if need be. Raises StepFailed."""
    folder = _open_folder(os.path.dirname(session.path))
    try:
        for _ in range(_TRIES):
            if (membership := connect(folder, os.path.basename(session.path))) is not None:
                return membership
            _make(session, folder, own_network=own_network)
    finally:
        os.close(folder)
    raise StepFailed(f"{namespaces.JOIN}: its holder ends again and again")


def connect(folder: int, name: str) -> Membership | None:
    """A connection to a holder that answers; None when there is none. One that does not answer is ended."""
    connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC)
    holder = -1
    try:
        connection.settimeout(_HELLO_SECONDS)
        connection.connect(f"/proc/self/fd/{folder}/{name}")
        pid, uid, _ = struct.unpack("=iii", connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12))
        if uid != os.geteuid() or pid <= 0:
            raise ProcessLookupError
        holder = os.pidfd_open(pid)
        try:
            hello = connection.recv(1)
        except TimeoutError:
            # It was listening just now, so the number is still its own.
            signal.pidfd_send_signal(holder, signal.SIGKILL)
            raise
        if hello != b"H":
            raise ProcessLookupError
        connection.settimeout(None)
        return Membership(connection, holder)
    except OSError:
        connection.close()
        if holder >= 0:
            os.close(holder)
        return None


def named(folder: int) -> Iterator[str]:
    """The names of the sockets in a folder of sessions."""
    yield from sorted(name for name in os.listdir(folder) if not name.endswith((".lock", ".net", ".left")))


def _open_folder(path: str) -> int:
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise StepFailed(f"{_START}: `{path}`", problem.errno or 0) from None
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        os.close(fd)
        raise StepFailed(f"{_START}: `{path}` must be yours, mode 0700")
    return fd


# --- making one


def _make(session: Session, folder: int, *, own_network: bool) -> None:
    """Starts a holder, unless another launcher was faster. Raises StepFailed."""
    import fcntl

    name = os.path.basename(session.path)
    lock = os.open(f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (there := connect(folder, name)) is not None:
            there.close()
            return
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{name}")
            _start(session, listener.fileno(), folder, own_network=own_network)
        finally:
            listener.close()
    except OSError as problem:
        raise StepFailed(_START, problem.errno or 0) from None
    finally:
        os.close(lock)


def _start(session: Session, listener: int, folder: int, *, own_network: bool) -> None:
    """Forks the holder and waits until it listens. Raises StepFailed."""
    agent = _agent(session)
    reader, writer = os.pipe2(os.O_CLOEXEC)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        child = os.fork()
        if child == 0:
            _become_first_process(session, listener, folder, agent, writer, own_network=own_network)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(writer)
        if agent >= 0:
            os.close(agent)
    said = b""
    while piece := os.read(reader, 4096):
        said += piece
    os.close(reader)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass  # SIGCHLD is ignored here: reaped already
    if said:
        number, _, step = said.decode(errors="surrogateescape").partition(" ")
        raise StepFailed(step, int(number))


def _agent(session: Session) -> int:
    """A pidfd of the agent; -1 when none is known. Raises StepFailed when it has ended: then nobody is left to run a command for."""
    if not session.agent:
        return -1
    try:
        fd = os.pidfd_open(session.agent)
    except OSError as problem:
        raise StepFailed(f"{_START}: its agent has ended", problem.errno or 0) from None
    if started_at(session.agent) != session.agent_started:
        os.close(fd)
        raise StepFailed(f"{_START}: its agent has ended", errno.ESRCH)
    return fd


def started_at(pid: int) -> int:
    """When a process began, in clock ticks since the machine did; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read(4096).rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def _become_first_process(session: Session, listener: int, folder: int, agent: int, report: int, *, own_network: bool) -> NoReturn:
    """In the forked child, and then in its own: new namespaces, a /proc, one capability, exec. Whatever fails is one line on the report pipe."""
    try:
        os.setsid()
        os.chdir("/")
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        namespaces.enter(own_network=own_network)
        if os.fork():
            os._exit(0)
        mounts.follow_host_mounts()
        mounts.attach(mounts.new_filesystem("proc", attributes=mounts.PLAIN | mounts.NO_EXEC), mounts.open_path("/proc"), "/proc")
        if own_network:
            namespaces.raise_loopback()
        report = _arrange_descriptors(listener, folder, agent, report)
        privileges.no_new_privileges()
        privileges.keep_sight_only()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        label = "\t".join(part.replace("\t", " ") for part in (session.name, session.profile, session.workspace, str(session.agent)))
        argv = (sys.executable, "-I", "-S", "-X", "utf8", _HOLDER, os.path.basename(session.path), str(session.idle_seconds), label)
        os.execve(argv[0], argv, {})  # noqa: S606  # our own program
    except StepFailed as failure:
        _tell(report, failure.errno, failure.step)
    except BaseException as problem:  # noqa: BLE001  # ends in a refusal: nothing of the launcher's may run twice
        _tell(report, getattr(problem, "errno", 0) or 0, f"{_START}: {type(problem).__name__} {problem}")
    finally:
        os._exit(1)


def _arrange_descriptors(listener: int, folder: int, agent: int, report: int) -> int:
    """0, 1, 2 empty; 3, 4, 5 as holder.py wants them, and 6 the report, whose new number is returned; nothing else."""
    import fcntl

    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in (listener, folder, agent if agent >= 0 else null, report)]
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for fd, wanted in zip(high, (3, 4, 5, 6), strict=True):
        os.dup2(fd, wanted)
    os.closerange(7, 1 << 16)
    return 6


def _tell(report: int, number: int, step: str) -> None:
    try:
        os.write(report, f"{number} {step}".replace("\n", " ").encode(errors="surrogateescape"))
    except OSError:
        pass  # the launcher is gone
