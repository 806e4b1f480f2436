"""The holder of a jail session: first process of its pid namespace, which keeps the session's namespaces alive and ends what a dead command leaves.

Started by `session.py` as a program of its own, in fresh namespaces, with /proc of its own; built-in modules only, so that it stays small. A launcher
keeps a connection open for as long as its command runs. Each message is one packet, each with one letter:

    B  the command begins; comes with a descriptor of its mount namespace, which every process of the command carries for life
    D  it ended by itself: what it left in the background stays
    K  it has to end: every process of its mount namespace is killed; answered by G when nothing is left. A lost connection means the same
    L  what is here: answered by the label and the counts
    E  end the session

usage: holder.py NAME IDLE_SECONDS LABEL
descriptors: 3 bound socket, 4 its folder, 5 the agent's pidfd (/dev/null: no agent is known), 6 a pipe that is closed when the socket listens
"""

import sys
from _signal import (  # type: ignore[import-not-found]  # `signal` would import enum
    SIG_DFL,
    SIG_IGN,
    SIGCHLD,
    SIGINT,
    SIGKILL,
    SIGPIPE,
    SIGSTOP,
    signal,
)
from _socket import SCM_RIGHTS, SO_PEERCRED, SOL_SOCKET, socket
from posix import (
    O_CLOEXEC,
    O_CREAT,
    O_EXCL,
    O_NOFOLLOW,
    O_WRONLY,
    close,
    fstat,
    getpid,
    kill,
    listdir,
    open as open_file,
    stat,
    unlink,
    write,
)
from select import POLLIN, poll
from time import monotonic

LISTENER, FOLDER, AGENT, READY = 3, 4, 5, 6
HELLO, GONE = b"H", b"G"
MOST_WAITING = 128
LOOKING_SECONDS = 30.0
SETTLING_SECONDS = 0.5  # in which the last processes of a command that has ended do so too
FAR = 1e18
MOST_ROUNDS = 2000  # of a millisecond each


class Session:
    """The loop and what it knows: connections, and for each the mount namespace of its command (-1: none has begun)."""

    def __init__(self, name: str, idle_seconds: float, label: bytes) -> None:
        self.name = name
        self.idle_seconds = idle_seconds
        self.label = label
        self.socket = self.identity()
        self.listener = socket(fileno=LISTENER)
        self.listener.listen(MOST_WAITING)  # asked here: whoever connects learns by it who the holder is
        close(READY)
        self.agent_known = fstat(AGENT).st_mode & 0o170000 != 0o020000
        self.connections: dict[int, tuple[socket, int]] = {}
        self.waiting = poll()
        self.last_used = monotonic()
        self.look_at = 0.0  # when to look whether a command has left something; 0 for never

    def run(self) -> None:
        """Serves until the agent is gone, somebody ends the session, or nobody has needed it for long."""
        self.waiting.register(LISTENER, POLLIN)
        if self.agent_known:
            self.waiting.register(AGENT, POLLIN)
        while True:
            left = min(self.last_used + self.idle_seconds, self.look_at or FAR) - monotonic()
            if self.look_at and monotonic() >= self.look_at:
                self.mark_what_is_left()
                continue
            ready = self.waiting.poll(max(min(left, LOOKING_SECONDS), 0) * 1000)
            if not ready and (self.is_unreachable() or (monotonic() >= self.last_used + self.idle_seconds and self.is_idle())):
                return
            for fd, _ in ready:
                if fd == AGENT or not self.serve(fd):
                    return

    def is_unreachable(self) -> bool:
        """Nothing runs and nobody can join any more: the socket, or the folder around it, has been removed."""
        return self.identity() != self.socket and not self.running()

    def identity(self) -> int:
        """Which file has our socket's name; 0 when none has."""
        try:
            return stat(self.name, dir_fd=FOLDER).st_ino
        except OSError:
            return 0

    def leave(self) -> None:
        """Removes the socket before the end: who finds none may make a new one."""
        if self.identity() == self.socket:
            unlink(self.name, dir_fd=FOLDER)

    def is_idle(self) -> bool:
        """Nothing runs. What runs in the background is a reason to stay while the agent lives, whose end is seen; otherwise nobody would end it."""
        if self.connections or (self.agent_known and self.processes()):
            self.last_used = monotonic()
            return False
        return True

    def serve(self, fd: int) -> bool:
        """One packet or one newcomer; False ends the session."""
        if fd == LISTENER:
            self.welcome()
            return True
        connection, mounts = self.connections[fd]
        try:
            letter, descriptors = receive(connection)
        except OSError:
            letter, descriptors = b"", []
        if letter == b"B" and len(descriptors) == 1 and mounts < 0:
            self.connections[fd] = (connection, descriptors[0])
            self.last_used = monotonic()
            return True
        for extra in descriptors:
            close(extra)
        if letter == b"L":
            answer(connection, b"%d %d " % (self.running(), len(self.processes())) + self.label)
        elif letter == b"E":
            return False
        else:
            if letter != b"D" and mounts >= 0:
                self.end(mounts)
            elif mounts >= 0:
                self.look_at = self.look_at or monotonic() + SETTLING_SECONDS
            if letter == b"K":
                answer(connection, GONE)
            self.forget(fd)
        return True

    def welcome(self) -> None:
        """Takes a caller on. Only this user's programs reach the socket; of another user's, should its folder be opened one day, none is served."""
        connection = socket(fileno=self.listener._accept()[0])  # type: ignore[attr-defined]  # what `socket.accept` is made of
        if int.from_bytes(connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)[4:8], "little") != stat("/proc/self").st_uid:
            connection.close()
            return
        self.connections[connection.fileno()] = (connection, -1)
        self.waiting.register(connection.fileno(), POLLIN)
        answer(connection, HELLO)

    def forget(self, fd: int) -> None:
        """Closes a connection."""
        connection, mounts = self.connections.pop(fd)
        self.waiting.unregister(fd)
        connection.close()
        if mounts >= 0:
            close(mounts)
            self.last_used = monotonic()

    def mark_what_is_left(self) -> None:
        """A file beside the socket says that something of a command goes on after its end, and from when on it could make files unseen."""
        self.look_at = 0.0
        if self.processes():
            try:
                mark = open_file(self.name + ".left", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600, dir_fd=FOLDER)
            except OSError:
                return  # marked already, or nowhere to
            write(mark, self.label)
            close(mark)

    def running(self) -> int:
        """How many commands run."""
        return sum(mounts >= 0 for _, mounts in self.connections.values())

    def processes(self) -> list[int]:
        """What lives here in the background: no process of a command that still runs."""
        spared = {fstat(mounts).st_ino for _, mounts in self.connections.values() if mounts >= 0}
        return [pid for pid in everybody() if mounts_of(pid) not in spared | {0}]

    def end(self, mounts: int) -> None:
        """Kills every process of a command, stopped first so that none can fork away. One that hides where it belongs goes too."""
        wanted = (fstat(mounts).st_ino, -1)
        for _ in range(MOST_ROUNDS):  # one that sleeps in the kernel dies when it wakes
            found = [pid for pid in everybody() if mounts_of(pid) in wanted]
            if not found:
                return
            for number in (SIGSTOP, SIGKILL):
                for pid in found:
                    send(pid, number)
            poll().poll(1)


def everybody() -> list[int]:
    """Every process of the session but this one."""
    return [int(name) for name in listdir("/proc") if name.isdigit() and int(name) != getpid()]


def mounts_of(pid: int) -> int:
    """Which mount namespace a process is in; 0 when it has ended, -1 when it may not be told."""
    try:
        return stat(f"/proc/{pid}/ns/mnt").st_ino
    except PermissionError:
        return -1
    except OSError:
        return 0


def send(pid: int, number: int) -> None:
    """A signal, unless the process has ended meanwhile."""
    try:
        kill(pid, number)
    except OSError:
        pass


def receive(connection: socket) -> tuple[bytes, list[int]]:
    """One packet and the descriptors that came with it; b"" at the end of the connection. Raises OSError."""
    data, ancillary, _, _ = connection.recvmsg(16, 64)
    descriptors = []
    for level, kind, piece in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            descriptors += [int.from_bytes(piece[i : i + 4], "little") for i in range(0, len(piece), 4)]
    return data, descriptors


def answer(connection: socket, data: bytes) -> None:
    """A packet to a caller, who may be gone."""
    try:
        connection.send(data)
    except OSError:
        pass


def main(name: str, idle_seconds: str, label: str) -> None:
    """Holds the session. INVARIANT: no signal from inside may have an effect, so none has a handler."""
    signal(SIGINT, SIG_DFL)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGCHLD, SIG_IGN)  # orphans come to us, and go without our doing
    title = open_file("/proc/self/comm", O_WRONLY | O_CLOEXEC)
    write(title, b"instinct-holder")  # no `pkill python` means us
    close(title)
    session = Session(name, float(idle_seconds), label.encode("utf-8", "surrogateescape"))
    session.run()
    session.leave()


main(*sys.argv[1:])
