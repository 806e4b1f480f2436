"""A ready-made plan carried out, as the launcher sees it: the command's ancestor in the caller's own process group, cgroup and terminal.

For a process that exists for this command alone, started with nothing imported. What happens inside the jail is carry_out.py's; this is the twin of
bin/launcher/watch.c, and of launcher.py, descriptors.py, relay.py and watch.py for a plan instead of a spec. Built-in modules only.
"""

from __future__ import annotations

import fcntl
import posix
import resource
import sys
from _signal import (  # type: ignore[import-not-found]  # the C half of `signal`, whose enums cost 4 ms
    SIG_BLOCK,
    SIG_SETMASK,
    SIGCONT,
    SIGKILL,
    SIGSTOP,
    SIGTERM,
    pthread_sigmask,
    sigtimedwait,
    sigwaitinfo,
)
from _socket import AF_UNIX, SO_PEERCRED, SOCK_CLOEXEC, SOCK_SEQPACKET, SOL_SOCKET, socket
from _thread import get_native_id
from time import monotonic

from .carry_out import ALL_SIGNALS, FIRST_REQUEST, FORWARDED, Inside
from .plan_descriptors import Refused, is_same_file, letter, pump, reads_from
from .plan_records import LAYER, SESSION, WALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = tuple[int, bytes]

FAILED, TIMED_OUT = 125, 124
_GRACE = 1.0  # seconds between TERM and KILL when the wall clock runs out
_FROM_KERNEL = 128  # SI_KERNEL: the terminal sent it, to the whole group
_HOLDER_S, _END_S = 3.0, 5.0


class PlannedRun:
    """One command: `prepare` makes the jail, then either `go` and `watch`, or `give_up`."""

    def __init__(self, plan: list[Record], missing: tuple[int, ...] = ()) -> None:
        """missing: standard descriptors that the caller left closed and that `fill_standard_descriptors` filled."""
        self.ending = b""
        self._plan = plan
        self._child = self._attendant = 0
        self._early: list[int] = []  # signals that came before the attendant existed
        self._unread = b""
        self._stopped = False
        self._failed = b""
        self._ended = b""
        self._limit = ""
        self._deadline = 0.0
        self._pumps: dict[int, tuple[int, int, int]] = {}  # by descriptor: process, the end that asks it, the end that it tells by
        self._drained: set[int] = set()
        self.lost = False  # something that was written could not be passed on
        self._session: socket | None = None
        self._holder = -1
        self._terminal = -1
        self._on_terminal = False
        self._missing = missing
        self._mask = pthread_sigmask(SIG_BLOCK, ())  # the caller's, which the command gets

    def join(self) -> bool:
        """Calls the holder of the plan's session, where it has one (jail/session.py); False when none answers."""
        path = dict(self._plan).get(SESSION)
        if path is None:
            return True
        folder, _, name = path.rpartition(b"/")
        connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC)
        fd = -1
        try:
            fd = posix.open(folder, posix.O_PATH | posix.O_DIRECTORY | posix.O_CLOEXEC)
            found = posix.fstat(fd)
            if found.st_uid != posix.geteuid() or found.st_mode & 0o077:
                return False
            connection.settimeout(_HOLDER_S)
            connection.connect(b"/proc/self/fd/%d/%s" % (fd, name))
            credentials = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)
            pid, uid = int.from_bytes(credentials[:4], sys.byteorder), int.from_bytes(credentials[4:8], sys.byteorder)
            if uid != posix.geteuid() or pid <= 0:
                return False
            self._holder = posix.pidfd_open(pid)
            if connection.recv(1) != b"H":  # it greets after we hold its process: the number was still its own then
                return False
        except OSError:
            return False
        finally:
            if fd >= 0:
                posix.close(fd)
        self._session = connection
        return True

    # ------------------------------------------------------------ before the command

    def prepare(self) -> None:
        """Fork what makes the jail and waits. All signals are blocked in it, and here from now on."""
        pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
        layers = [(data[:1], data[2:]) for tag, data in self._plan if tag == LAYER]
        try:
            handed = b"".join(b"c" if fd in self._missing else letter(fd, layers) for fd in (0, 1, 2))
        except Refused as refused:
            self._failed = b"failed 0 " + str(refused).encode("utf-8", "surrogateescape")
            return
        inner = self._start_pumps(handed) if b"r" in handed else {}
        self._report, report = posix.pipe2(posix.O_CLOEXEC)
        go, self._go = posix.pipe2(posix.O_CLOEXEC)
        session = (self._session.fileno(), self._holder) if self._session else None
        self._child = posix.fork()
        if self._child == 0:
            Inside(self._plan, handed, inner, report, go, self._mask, session).enter()
        for fd in {report, go, *inner.values()}:
            posix.close(fd)

    def give_up(self) -> None:
        """Nothing is to run: everything is as before."""
        for pid, _, _ in self._pumps.values():
            posix.kill(pid, SIGKILL)
        if self._child:
            posix.close(self._go)
            while posix.read(self._report, 4096):
                pass  # until what was made ready has ended
            posix.close(self._report)
            posix.waitpid(self._child, 0)
        pthread_sigmask(SIG_SETMASK, self._mask)

    def go(self, told: Callable[[bytes], None]) -> None:
        """Start the command and stay with it to its end. `told` gets `ending` as soon as it is known, while the rest of the jail ends."""
        self._told = told
        if self._failed:
            self._tell(self._failed)
            return
        try:
            posix.write(self._go, b"G")
        except BrokenPipeError:
            pass  # the jail's process has died: its report says why
        posix.close(self._go)
        self._watch(float(dict(self._plan)[WALL]) / 1000)

    def status(self) -> int:
        """What this process should end with. Ends it by the signal that ended the command."""
        if self._failed:
            return FAILED
        if self._limit:
            return TIMED_OUT
        if not self._ended:
            return FAILED
        status = int(self._ended.split()[0])
        if posix.WIFSIGNALED(status):
            _die_like(posix.WTERMSIG(status))
            return 128 + posix.WTERMSIG(status)
        return posix.WEXITSTATUS(status)

    def _tell(self, ending: bytes) -> None:
        self.ending = ending
        self._told(ending)

    # ------------------------------------------------------------ relays

    def _start_pumps(self, handed: bytes) -> dict[int, int]:
        """One process for each relay, which outlives us where a session's background process goes on writing; the ends for the command."""
        inner: dict[int, int] = {}
        ours: dict[int, int] = {}
        for fd in (0, 1, 2):
            if handed[fd : fd + 1] == b"r":
                if fd == 2 and 1 in ours and is_same_file(1, 2):
                    inner[2] = inner[1]  # one relay for both, so that the order stays
                    continue
                reader, writer = posix.pipe2(posix.O_CLOEXEC)
                inner[fd], ours[fd] = (reader, writer) if reads_from(fd) else (writer, reader)
        for fd, end in ours.items():
            asked, ask = posix.pipe2(posix.O_CLOEXEC)
            told, tell = posix.pipe2(posix.O_CLOEXEC)
            pid = posix.fork()
            if pid == 0:
                earlier = {way for _, *ways in self._pumps.values() for way in ways}
                others = {0, 1, 2, ask, told, *inner.values(), *ours.values(), *earlier} - {fd, end}
                pump(fd, end, reads_from(fd), asked, tell, others)
            posix.close(asked)
            posix.close(tell)
            self._pumps[fd] = (pid, ask, told)
        for end in ours.values():
            posix.close(end)
        return inner

    def drain(self) -> None:
        """Wait until everything written by now has been passed on. What comes later is the pumps' own business: they end with the last writer.

        Nobody waits for that end: what the command left behind, or handed to a program outside, may write for as long as it likes.
        """
        for fd in self._pumps.keys() - self._drained:
            self._drained.add(fd)
            _, ask, told = self._pumps[fd]
            posix.close(ask)
            self.lost = posix.read(told, 1) == b"e" or self.lost

    # ------------------------------------------------------------ watching (watch.py)

    def _watch(self, wall_seconds: float) -> None:
        started = monotonic()
        self._deadline = started + wall_seconds if wall_seconds else 0.0
        terminals = [fd for fd in (0, 1, 2) if posix.isatty(fd)]
        self._on_terminal = bool(terminals)
        if terminals and _in_foreground(terminals[0]):
            self._terminal = fcntl.fcntl(terminals[0], 1030, 3)  # F_DUPFD_CLOEXEC
        null = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
        for fd in (0, 1):
            posix.dup2(null, fd)  # pipes close when the command closes them
        posix.close(null)
        # a line from the attendant arrives as SIGIO, at this thread, which has it blocked
        fcntl.fcntl(self._report, 15, bytes(4) + get_native_id().to_bytes(4, sys.byteorder))  # F_SETOWN_EX, F_OWNER_TID
        fcntl.fcntl(self._report, fcntl.F_SETFL, posix.O_NONBLOCK | 0o20000)  # O_ASYNC
        said = False
        while self._listen():
            if not said and (self._failed or (self._ended and not self._killed_in_session())):
                said = True
                self._tell(self._words(started))  # the engine writes while the rest of the jail ends
            left = max(0.0, self._deadline - monotonic()) if self._deadline else 0.0
            caught = sigtimedwait(ALL_SIGNALS, left) if self._deadline else sigwaitinfo(ALL_SIGNALS)
            if caught is None:
                self._out_of_time()
            elif caught.si_signo in FORWARDED and caught.si_code != _FROM_KERNEL:
                self._pass_on(caught.si_signo)
        for pid in {self._child, self._attendant} - {0}:
            posix.waitpid(pid, 0)
        by_itself = bool(self._ended) and not self._limit
        if not self._conclude(by_itself=by_itself) and self._killed_in_session():
            self._ended = b""  # by the end of the session
        if not said:
            self._tell(self._words(started))
        self.drain()
        posix.close(self._report)
        if self._terminal >= 0 and not _in_foreground(self._terminal):
            try:
                posix.tcsetpgrp(self._terminal, posix.getpgrp())
            except OSError:
                pass  # the terminal was hung up

    def _killed_in_session(self) -> bool:
        return self._session is not None and self._ended.split()[:1] == [b"9"]

    def _conclude(self, *, by_itself: bool) -> bool:
        """The command is over. Not by itself: returns when nothing is left of it. Whether the session was still there; if not, all has ended."""
        if self._session is None:
            return True
        held = True
        try:
            self._session.send(b"D" if by_itself else b"K")
            if not by_itself:
                self._session.settimeout(_END_S)
                self._session.recv(1)
        except OSError:
            held = False
        self._session.close()
        return held

    def _listen(self) -> bool:
        """Reads what the attendant wrote; False when everything that could write has ended."""
        while True:
            try:
                piece = posix.read(self._report, 4096)
            except BlockingIOError:
                if self._stopped and self._on_terminal:  # Ctrl-Z: so do we, for the shell that waits for us
                    self._stopped = False
                    posix.kill(posix.getpid(), SIGSTOP)
                    self._pass_on(SIGCONT)
                return True
            if not piece:
                return False
            *lines, self._unread = (self._unread + piece).split(b"\n")
            for line in lines:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        word, _, rest = line.partition(b" ")
        if word == b"attendant":
            self._attendant = int(rest)
            for number in self._early:
                self._pass_on(number)
        elif word == b"failed":
            self._failed = line
        elif word == b"ended":
            self._ended = rest
        elif word in (b"stopped", b"continued"):
            self._stopped = word == b"stopped"

    def _pass_on(self, number: int) -> None:
        if not self._attendant:
            self._early.append(number)
            return
        try:
            posix.kill(self._attendant, FIRST_REQUEST + number)
        except ProcessLookupError:
            pass  # over already

    def _out_of_time(self) -> None:
        if self._limit:
            posix.kill(self._attendant or self._child, SIGKILL)
            self._deadline = 0.0
            return
        self._limit = "wall_seconds"
        self._deadline = monotonic() + _GRACE
        self._pass_on(SIGCONT)
        self._pass_on(SIGTERM)

    def _words(self, started: float) -> bytes:
        """As jail/order.py reads it."""
        if self._failed:
            return self._failed
        kind = b"session" if self._session else b"own"
        rest = b"%d %s %s" % (int((monotonic() - started) * 1e6), self._limit.encode() or b"-", kind)
        return b"ended " + self._ended + b" " + rest if self._ended else b"lost " + rest


def _in_foreground(terminal: int) -> bool:
    try:
        return posix.tcgetpgrp(terminal) == posix.getpgrp()
    except OSError:
        return False


def _die_like(number: int) -> None:
    """End this process by the signal, so that the caller sees what a shell would show; returns when the signal does not end it."""
    from _signal import SIG_DFL, SIG_UNBLOCK, signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # the core, if any, is the command's
    try:
        signal(number, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, {number})
    except (OSError, ValueError):
        pass  # SIGKILL has no handler to reset
    posix.kill(posix.getpid(), number)
