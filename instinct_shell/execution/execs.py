"""Answers the execs of one run: a jailed process that is about to become another program waits until this has said yes or no.

    the command's process -> installs the notification filter last of all -> hands its listener to the launcher -> exec
    launcher -> a thread that reads what is asked; what is not watched goes on at once -> a second thread that judges the rest

The two never wait for each other, so a judgement that hangs holds up only the exec that it is about, and not for long. When the launcher is lost, so
is the listener, and the kernel answers every exec with ENOSYS. The filter hands over pointers into memory that others may change meanwhile, so this
guards what programs mean to do; the jail is what holds them.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import stat
import struct
import sys
import threading
import time
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_CLOEXEC, SOCK_STREAM, SOL_SOCKET, socketpair
from collections import deque
from queue import SimpleQueue

from ..model.execs import PASS, ExecAnswer
from .jail import syscalls
from .tracee import Tracee, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import NoReturn

    from ..model.execs import ExecRequest
    from ..model.ports import ExecJudge

    Key = tuple[bytes, ...]

JUDGING_S = 3.0
_RECEIVE, _SEND, _STILL_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_SAME_CPU = 1  # SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, from Linux 6.6 on
_QUESTION = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; the call: number, architecture, place, six arguments
_ANSWER = struct.Struct("=QqiI")
_EMPTY = bytes(_QUESTION.size)
_SWITCH_S = 0.0005  # how long the thread that judges may keep the one that answers waiting; the interpreter's own is ten times that
_GO_ON, _EACCES = 1, 13
_MOST_KNOWN = 4096
_MOST_WORDS = 4000  # bytes of our own words: what a pipe takes at once
_SYSTEM = (b"/usr/", b"/bin/", b"/sbin/")  # what lies here is what it is called: no jail lets a command write there
_NOT_ENVIRONMENT = (b"_=", b"SHLVL=", b"OLDPWD=")  # differ from call to call and mean nothing


class Supervisor:
    """The execs of one run. `inner` is the descriptor for the command's process; `start` after the fork, `finish` or `leave` at the end."""

    def __init__(self, judge: ExecJudge, *, dedicated: bool) -> None:
        self.denied = 0
        self._judge = judge
        self._dedicated = dedicated
        self._outer, self._inner = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)
        self.inner = self._inner.fileno()
        self._event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._listener = -1
        self._first = True  # the command itself, which was judged
        self._stopping = self._keep = False
        self._watched: dict[bytes, bool] = {}
        self._known: dict[Key, ExecAnswer] = {}
        self._pending: dict[int, tuple[float, int, Key, ExecRequest]] = {}
        self._asked: SimpleQueue[tuple[int, Key, ExecRequest] | None] = SimpleQueue()
        self._answered: deque[tuple[int, ExecAnswer]] = deque()
        self._told = (0, b"")
        self._refused: tuple[int, Key, ExecAnswer] = (0, (), PASS)  # the last one: it may try the same in the next folder of PATH
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """In the launcher, after the fork."""
        self._inner.close()
        if self._dedicated:
            sys.setswitchinterval(_SWITCH_S)
        self._run(self._serve)
        self._run(self._judge_all)

    def finish(self) -> None:
        """The whole tree has ended."""
        if self._threads:
            self._stop()
        self._inner.close()
        self._outer.close()
        if self._event >= 0:
            os.close(self._event)
            self._event = -1

    def leave(self) -> None:
        """As `finish`, when the command has ended and what it left in the background goes on: so does this, in our threads in a host program.

        A dedicated launcher, which ends, leaves a process behind that ends with the last of them.
        """
        if self._idle():
            self.finish()
        elif self._dedicated:
            self._stop(keep=True)
            if os.fork() == 0:
                self._stay_behind()
            os.close(self._listener)
            self.finish()

    # ------------------------------------------------------------ the threads

    def _run(self, what: object) -> None:
        thread = threading.Thread(target=what, daemon=True)  # type: ignore[arg-type]  # a bound method
        self._threads.append(thread)
        thread.start()

    def _stop(self, *, keep: bool = False) -> None:
        """Ends the threads. keep: the listener stays open, and what was asked meanwhile stays pending."""
        self._keep = keep
        self._stopping = True
        os.eventfd_write(self._event, 1)
        self._asked.put(None)
        for thread in self._threads:
            thread.join(JUDGING_S)
        self._threads.clear()

    def _idle(self) -> bool:
        """Whether nobody is left who could ask."""
        if self._listener < 0 or not self._threads or not self._threads[0].is_alive():
            return True
        poll = select.poll()
        poll.register(self._listener, 0)
        return any(events & select.POLLHUP for _, events in poll.poll(0))

    def _serve(self) -> None:
        """The first thread. INVARIANT: however it ends, the listener does not outlive it unanswered: then every exec fails."""
        try:
            self._listener = _receive(self._outer, self._event)
            if self._listener >= 0:
                self._answer_all()
        except Exception as problem:  # noqa: BLE001  # a fault of ours ends the answering, visibly, and with it every further exec
            _write(2, f"instinct: judging execs failed ({type(problem).__name__}: {problem}); further programs are refused\n".encode())
        finally:
            if self._listener >= 0 and not (self._stopping and self._keep):
                os.close(self._listener)
                self._listener = -1

    def _answer_all(self) -> None:
        """Until nobody is left who could ask, or `_stop`."""
        try:
            fcntl.ioctl(self._listener, _SET_FLAGS, _SAME_CPU)
        except OSError:
            pass  # an older kernel
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._event, select.POLLIN)
        while True:
            wait = (min(until for until, *_ in self._pending.values()) - time.monotonic()) * 1000 if self._pending else None
            for fd, events in poll.poll(wait if wait is None else max(0.0, wait)):
                if fd == self._event:
                    os.eventfd_read(self._event)
                    self._deliver()
                    if self._stopping:
                        return
                elif events & select.POLLIN:
                    self._take()
                else:
                    return
            self._give_up_on_late()

    def _judge_all(self) -> None:
        """The second thread."""
        while (asked := self._asked.get()) is not None:
            number, key, request = asked
            answer = self._known.get(key)
            if answer is None:
                try:
                    answer = self._judge.judge(request)
                except Exception as problem:  # noqa: BLE001  # INVARIANT: what was not judged is not let through by accident
                    answer = self._unjudged(request, f"{type(problem).__name__}: {problem}")
            self._answered.append((number, answer))
            try:
                os.eventfd_write(self._event, 1)
            except OSError:
                return  # the run is over

    def _unjudged(self, request: ExecRequest, why: str) -> ExecAnswer:
        try:
            return self._judge.unjudged(request, why)
        except Exception as problem:  # noqa: BLE001  # the same
            return ExecAnswer(allow=False, words=f"instinct: not judged, so not run ({type(problem).__name__})\n", lasting=False)

    # ------------------------------------------------------------ one exec

    def _take(self) -> None:
        question = bytearray(_EMPTY)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, question, True)
        except OSError:
            return  # it has died, or a signal took it back
        number, pid, _, call, _, _, *arguments = _QUESTION.unpack(question)
        if self._first:
            self._first = False
            self._say(number, PASS)
            return
        try:
            tracee = Tracee(pid, tuple(arguments), at=call == syscalls.number("execveat"))
        except Unreadable as why:
            self._not_read(number, pid, str(why))
            return
        try:
            path = tracee.path()
            if not self._watches(path, tracee) or not tracee.exists(path):  # a search along PATH: the kernel says "not found" itself
                self._say(number, PASS)
                return
            argv, env = tracee.words()
            folder = tracee.folder()
            named = path.rpartition(b"/")[2] if path.startswith(_SYSTEM) else path
            key = (named, folder, b"\0".join(argv), *(entry for entry in env if not entry.startswith(_NOT_ENVIRONMENT)))
            known = self._refused[2] if self._refused[:2] == (pid, key) else self._known.get(key)
            request = tracee.request(path, argv, env) if known is None else None
        except Unreadable as why:
            self._not_read(number, pid, str(why))
            return
        finally:
            tracee.close()
        if known is not None:
            self._conclude(number, pid, known)
        elif request is not None and self._valid(number):  # what was read belongs to this process, and not to a later one of its number
            self._pending[number] = (time.monotonic() + JUDGING_S, pid, key, request)
            self._asked.put((number, key, request))

    def _watches(self, path: bytes, tracee: Tracee) -> bool:
        if self._watches_name(path.rpartition(b"/")[2]):
            return True
        if path.startswith(_SYSTEM) and not path.endswith((b"/busybox", b"/toybox")):
            return False
        return self._watches_name(tracee.leads_to(path).rpartition(b"/")[2])

    def _watches_name(self, name: bytes) -> bool:
        found = self._watched.get(name)
        if found is None:
            if len(self._watched) > _MOST_KNOWN:
                self._watched.clear()
            found = self._watched[name] = bool(name) and self._judge.watches(os.fsdecode(name))
        return found

    def _not_read(self, number: int, pid: int, why: str) -> None:
        if self._valid(number):  # else it has died while we looked
            from ..model.execs import ExecRequest

            self._conclude(number, pid, self._unjudged(ExecRequest("", (), ""), why))

    def _deliver(self) -> None:
        while self._answered:
            number, answer = self._answered.popleft()
            pending = self._pending.pop(number, None)
            if pending is None:
                continue  # too late
            _, pid, key, _ = pending
            if not answer.allow:
                self._refused = (pid, key, answer)
            if answer.lasting:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = answer
            self._conclude(number, pid, answer)

    def _give_up_on_late(self) -> None:
        now = time.monotonic()
        for number, (until, pid, _, request) in list(self._pending.items()):
            if until <= now:
                del self._pending[number]
                self._conclude(number, pid, self._unjudged(request, f"no verdict within {JUDGING_S:g} s"))

    def _conclude(self, number: int, pid: int, answer: ExecAnswer) -> None:
        if not answer.allow and self._valid(number):
            words = answer.words.encode("utf-8", "backslashreplace")[:_MOST_WORDS]
            if self._told != (pid, words):  # else it tries the same program in the next folder of PATH
                self._told = (pid, words)
                self.denied += 1
                if not _tell(pid, words):
                    _write(2, words)
        self._say(number, answer)

    def _say(self, number: int, answer: ExecAnswer) -> None:
        said = _ANSWER.pack(number, 0, 0, _GO_ON) if answer.allow else _ANSWER.pack(number, 0, -_EACCES, 0)
        try:
            fcntl.ioctl(self._listener, _SEND, said)
        except OSError:
            pass  # it has died meanwhile

    def _valid(self, number: int) -> bool:
        """Whether the process still waits, so that its number is still its own."""
        try:
            fcntl.ioctl(self._listener, _STILL_VALID, struct.pack("=Q", number))
        except OSError:
            return False
        return True

    # ------------------------------------------------------------ after the launcher

    def _stay_behind(self) -> NoReturn:
        """In the process that outlives the launcher: nothing of the launcher's but the listener."""
        try:
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            kept = sorted((self._listener, self._event))
            for before, after in zip([2, *kept], [*kept, 1 << 16], strict=True):
                os.closerange(before + 1, after)
            for caught in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(caught, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            self._judge.afresh()
            self._stopping = False
            self._asked = SimpleQueue()
            self._answered.clear()
            for number, (_, pid, key, request) in list(self._pending.items()):
                self._pending[number] = (time.monotonic() + JUDGING_S, pid, key, request)
                self._asked.put((number, key, request))
            self._run(self._judge_all)
            self._answer_all()
        finally:
            os._exit(0)


def hand_over(listener: int, to: int) -> None:
    """In the command's process, just before its exec: the listener goes to the launcher. Raises StepFailed."""
    from _socket import socket

    connection = socket(fileno=to)
    try:
        connection.sendmsg([b"L"], [(SOL_SOCKET, SCM_RIGHTS, struct.pack("=i", listener))])
    except OSError as problem:
        raise syscalls.StepFailed("sending the launcher what has execs judged", problem.errno or 0) from None
    connection.detach()


def _receive(connection: socket, event: int) -> int:
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


def _tell(pid: int, words: bytes) -> bool:
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
        return _write(fd, words)
    finally:
        os.close(fd)


def _leader(pid: int) -> int:
    """The process of a thread."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), pid)


def _write(fd: int, words: bytes) -> bool:
    """Whether the words were taken at once."""
    poll = select.poll()
    try:
        poll.register(fd, select.POLLOUT)
        if not any(events & select.POLLOUT for _, events in poll.poll(0)):
            return False
        return os.write(fd, words) > 0
    except (OSError, OverflowError):
        return False
