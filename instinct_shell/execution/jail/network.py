"""The launcher's side of a network allow-list and of published ports: starts the process that serves them (proxy.py) and collects what it wrote down.

The jail has a network of its own with nothing but loopback, whatever becomes of the proxy. One proxy serves a jail, or all commands of a session:
who binds its port first hands the listener out, and the kernel lets nobody be second. So a proxy that was killed is replaced by the next command.
"""

from __future__ import annotations

import os
import signal
from _socket import AF_INET, AF_UNIX, SCM_RIGHTS, SO_REUSEADDR, SOCK_CLOEXEC, SOCK_SEQPACKET, SOCK_STREAM, SOL_SOCKET, socket, socketpair

from ...model.hosts import ALLOWLIST, NONE, PROXY_PORT, AllowList
from ...model.jailspec import Connection
from .syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from ...model.jailspec import JailSpec
    from .session import Membership

_STARTING = "starting the network proxy"
_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.py")
_QUEUE = 128
_END_SECONDS = 5.0
BOOK = ".net"  # behind the session's name: what its proxy has connected and no record holds yet
MOST_TOLD = 256  # connections that a record tells one by one


def is_served(spec: JailSpec) -> bool:
    """Whether a process outside has to serve this jail's network."""
    return spec.network == ALLOWLIST or (spec.network == NONE and bool(spec.publish))


class Passage:
    """One run's way out, around the run. `inner` is the descriptor by which the jail's first process hands the listeners out; -1: nothing is served."""

    def __init__(self, spec: JailSpec, membership: Membership | None, book: int = -1) -> None:
        """book: a file of the caller's for what is connected, read while the command runs; else a new one."""
        self.inner = -1
        self.connections: tuple[Connection, ...] = ()
        self._spec = spec
        self._membership = membership
        self._given = book
        self._kept = -1  # while it is open, the proxy of a jail that is the command's alone lives
        self._book = -1
        self._pid = 0
        self._handle = -1  # the same process, whatever becomes of its number

    def __enter__(self) -> Passage:
        if is_served(self._spec):
            try:
                self._start()
            except OSError as problem:
                self.__exit__(None, None, None)
                raise StepFailed(_STARTING, problem.errno or 0) from None
        return self

    def close_inner(self) -> None:
        """In the launcher, after the fork."""
        if self.inner >= 0:
            os.close(self.inner)
            self.inner = -1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close_inner()
        if self._kept >= 0:
            if self._handle >= 0 and not self._spec.publish and not _is_held(f"/proc/self/fd/{self._book}"):
                _kill(self._handle)  # the command was over before the proxy could begin: it has nothing to tell
            os.close(self._kept)
        if self._handle >= 0:
            _reap(self._pid, self._handle)
        if self._book >= 0:
            self.connections = collected(self._book)
            os.close(self._book)
        self._kept = self._book = self._handle = -1

    def _start(self) -> None:
        import json

        spec, membership = self._spec, self._membership
        if membership is not None and spec.session is not None:
            self._book = _open_book(spec.session.path)
            if has_proxy(spec):
                return
        theirs, ours = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC)
        self.inner = ours.detach()
        told = {
            "allow": spec.network_allow if spec.network == ALLOWLIST else (),
            "publish": spec.publish,
            "advice": advice(spec),
            "session": membership is not None,
        }
        os.write(self.inner, json.dumps(told).encode())
        opened = []
        try:
            if membership is not None and spec.session is not None:
                lifeline = membership.holder
                opened.append(_open_book(spec.session.path))  # opened by itself: its lock must not live in a descriptor of ours
            else:
                self._book = os.dup(self._given) if self._given >= 0 else new_book()
                lifeline, self._kept = os.pipe2(os.O_CLOEXEC)
                opened += [lifeline]
            self._pid = _spawn(theirs.fileno(), lifeline, opened[0] if membership is not None else self._book)
            self._handle = os.pidfd_open(self._pid)
        finally:
            theirs.close()
            for fd in opened:
                os.close(fd)


def _open_book(session_path: str) -> int:
    return os.open(session_path + BOOK, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def new_book() -> int:
    """A descriptor of an empty book that no file system has."""
    import fcntl

    book = os.memfd_create("connections", os.MFD_CLOEXEC)
    fcntl.fcntl(book, fcntl.F_SETFL, os.O_APPEND)
    return book


def _spawn(channel: int, lifeline: int, book: int) -> int:
    """Starts the proxy, with nothing of the caller's but these: no terminal, no output, no environment that resolvers or Python would obey."""
    import fcntl
    import sys

    above = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in (channel, lifeline, book)]  # clear of the numbers they get
    try:
        actions = [
            *((os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)),
            *((os.POSIX_SPAWN_DUP2, fd, wanted) for fd, wanted in zip(above, (3, 4, 5), strict=True)),
        ]
        argv = (sys.executable, "-I", "-S", "-B", "-X", "utf8", _PROGRAM)
        return os.posix_spawn(
            argv[0], argv, {}, file_actions=actions, setsid=True, setsigmask=(), setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        )
    finally:
        for fd in above:
            os.close(fd)


def _reap(pid: int, handle: int) -> None:
    """Waits for the proxy, whose lifeline is closed (or which has left a child behind and goes); one that does not end is ended."""
    import select

    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if not waiting.poll(_END_SECONDS * 1000):
        _kill(handle)
    os.close(handle)
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass  # the host program ignores SIGCHLD: the kernel has reaped it


def _kill(handle: int) -> None:
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended


def hand_out(channel: int, spec: JailSpec) -> None:
    """In the jail's first process, or one that has joined its network: makes the listeners and sends them out. Raises StepFailed."""
    out = socket(fileno=channel)
    listeners: dict[int, socket] = {}
    network = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for port in (PROXY_PORT, *_local_ports(spec)):
            listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC)
            listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
                listener.listen(_QUEUE)
            except OSError as problem:
                listener.close()
                if port != PROXY_PORT:
                    continue  # a server of the session's own has it, or it takes a right that bubblewrap leaves nobody; the proxy leads there as well
                if spec.session is not None:
                    return  # another command of the session has done it
                raise StepFailed(f"{_STARTING}: its port", problem.errno or 0) from None
            listeners[port] = listener
        descriptors = [*(one.fileno() for one in listeners.values()), network]
        out.sendmsg(
            [" ".join(map(str, listeners)).encode()], [(SOL_SOCKET, SCM_RIGHTS, b"".join(fd.to_bytes(4, "little") for fd in descriptors))]
        )
    finally:
        os.close(network)
        out.close()
        for one in listeners.values():
            one.close()


def _local_ports(spec: JailSpec) -> tuple[int, ...]:
    return AllowList(spec.network_allow).local_ports() if spec.network == ALLOWLIST else ()


def advice(spec: JailSpec) -> str:
    """What a refusal says about the list, for whoever reads it."""
    shown = ", ".join(spec.network_allow[:12]) + (", ..." if len(spec.network_allow) > 12 else "")
    return f"Allowed: {shown or 'nothing'}. A person can add `host:port` to [network] allow in their own profile; a project or an agent cannot."


# --- what was connected


def has_proxy(spec: JailSpec) -> bool:
    """Whether the command joins a session whose proxy lives, so that none has to be started: it holds a lock for as long."""
    return spec.session is not None and _is_held(spec.session.path + BOOK)


def _is_held(path: str) -> bool:
    """Whether a proxy has this book open and serves."""
    import fcntl

    try:
        book = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(book, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(book)
    return False


def collected_of(spec: JailSpec) -> tuple[Connection, ...]:
    """What the proxy of this command's session has written down since somebody last looked."""
    if spec.session is None or not is_served(spec):
        return ()
    try:
        book = os.open(spec.session.path + BOOK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return ()
    try:
        return collected(book)
    finally:
        os.close(book)


def collected(book: int) -> tuple[Connection, ...]:
    """The connections in a proxy's book, which is emptied: each is told once. One that still lives is told with what it comes to later."""
    import fcntl

    fcntl.lockf(book, fcntl.LOCK_EX)
    try:
        text = b""
        while piece := os.pread(book, 1 << 20, len(text)):
            text += piece
        if text:
            os.ftruncate(book, 0)
    finally:
        fcntl.lockf(book, fcntl.LOCK_UN)
    return read_book(text) if text else ()


def read_book(text: bytes) -> tuple[Connection, ...]:
    """The lines of a book as connections: beginnings and ends put together."""
    import json

    found: dict[tuple[int, int], Connection] = {}
    left_out = 0
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the proxy was killed while it wrote
        left_out += entry.get("left_out", 0)
        key = (entry["by"], entry["id"])
        refused, over = entry.get("refused", ""), "up" in entry
        how = "earlier" if over and key not in found else entry["how"]  # an earlier record told it as open
        state = "refused" if refused else "closed" if over else "open"
        found[key] = Connection(
            entry["host"], entry["port"], not refused, refused, entry.get("address", ""), how, entry.get("up", 0), entry.get("down", 0), state
        )
    told = list(found.values())
    left_out += max(len(told) - MOST_TOLD, 0)
    rest = (Connection("", 0, False, f"{left_out} further connections, not told one by one", state="left out"),) if left_out else ()
    return (*told[:MOST_TOLD], *rest)
