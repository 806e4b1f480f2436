"""Answers the execs of one run: a jailed process that is about to become another program waits until this has said yes or no.

    the command's process -> installs the notification filter last of all -> hands its listener to the launcher -> exec
    launcher -> a thread that reads what is asked: what is not watched goes on at once, the rest is judged

A second thread sleeps beside it: a judgement that is not done in time is given up, and the second thread takes over. When the launcher is lost, so is
the listener, and the kernel answers every exec with ENOSYS. The filter hands over pointers into memory that others may change meanwhile, so this
guards what programs mean to do; the jail is what holds them.
"""

from __future__ import annotations

import fcntl
import gc
import os
import select
import signal
import struct
import threading
import time
from _socket import AF_UNIX, SOCK_CLOEXEC, SOCK_STREAM, socketpair

from ..model.execs import PASS, ExecAnswer, ExecRequest
from . import exec_talk
from .jail import syscalls
from .tracee import Tracee, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from ..model.ports import ExecJudge

    Key = tuple[bytes, ...]

JUDGING_S = 3.0
_RECEIVE, _SEND, _STILL_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_SAME_CPU = 1  # SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, from Linux 6.6 on
_QUESTION = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; the call: number, architecture, place, six arguments
_ANSWER = struct.Struct("=QqiI")
_EMPTY = bytes(_QUESTION.size)
_GO_ON, _EACCES = 1, 13
_MOST_KNOWN = 4096
_COLLECT_EVERY = 250  # judgements, some 10 KB each
_MOST_WORDS = 4000  # bytes of our own words: what a pipe takes at once
_SYSTEM = (b"/usr/", b"/bin/", b"/sbin/")  # what lies here is what it is called: no jail lets a command write there
_NOT_ENVIRONMENT = (b"_=", b"SHLVL=", b"OLDPWD=")  # differ from call to call and mean nothing
_EXECVEAT = syscalls.number("execveat")


class _Judging:
    """What is judged now, and until when there is time for it."""

    __slots__ = ("number", "pid", "request", "thread", "until")

    def __init__(self, number: int, pid: int, request: ExecRequest) -> None:
        self.number = number
        self.pid = pid
        self.request = request
        self.until = time.monotonic() + JUDGING_S
        self.thread = threading.current_thread()


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
        self._stopping = self._keep = self._left = False
        self._watched: dict[bytes, bool] = {}
        self._steps: dict[tuple[bytes, bytes], bool] = {}
        self._known: dict[Key, ExecAnswer] = {}
        self._told = (0, b"")
        self._refused: tuple[int, Key, ExecAnswer] = (0, (), PASS)  # the last one: it may try the same in the next folder of PATH
        self._current: _Judging | None = None
        self._turn = threading.Lock()  # over who concludes what is judged now
        self._rouse = threading.Event()
        self._resting = False
        self._judged = 0
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """In the launcher, after the fork."""
        self._inner.close()
        self._run(self._serve)
        self._run(self._look_after)

    def finish(self) -> None:
        """The whole tree has ended."""
        if self._threads and self._event >= 0:
            self._stop()
        self._close()

    def _close(self) -> None:
        with self._turn:
            self._inner.close()
            self._outer.close()
            if self._event >= 0:
                os.close(self._event)
                self._event = -1

    def leave(self) -> None:
        """As `finish`, when the command has ended and what it left in the background goes on: so does this, in our threads in a host program.

        A dedicated launcher, which ends, leaves a process behind that ends with the last of them.
        """
        self._left = not self._dedicated
        if self._idle():
            self.finish()
        elif self._dedicated:
            self._stop(keep=True)
            if self._listener < 0:
                self.finish()
                return
            if os.fork() == 0:
                self._stay_behind()
            os.close(self._listener)
            self.finish()

    # ------------------------------------------------------------ the threads

    def _run(self, what: Callable[[], None]) -> None:
        thread = threading.Thread(target=what, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _stop(self, *, keep: bool = False) -> None:
        """Ends the threads. keep: the listener stays open, for another process."""
        self._keep = keep
        self._stopping = True
        try:
            os.eventfd_write(self._event, 1)
        except OSError:
            pass  # it has just ended by itself
        self._rouse.set()
        until = time.monotonic() + JUDGING_S + 1
        for thread in list(self._threads):
            thread.join(max(0.0, until - time.monotonic()))
        self._threads.clear()

    def _idle(self) -> bool:
        """Whether nobody is left who could ask."""
        if self._listener < 0:
            return True
        poll = select.poll()
        poll.register(self._listener, 0)
        return any(events & select.POLLHUP for _, events in poll.poll(0))

    def _serve(self) -> None:
        """The thread that answers."""
        try:
            self._listener = exec_talk.receive(self._outer, self._event)
        except OSError as problem:
            self._lost(problem)
        if self._listener >= 0:
            self._answer_all()

    def _answer_all(self) -> None:
        """Answers until nobody is left who could ask, until `_stop`, or until another thread has taken over.

        INVARIANT: however it ends, but for the last two, the listener is closed: then every exec fails.
        """
        try:
            try:
                fcntl.ioctl(self._listener, _SET_FLAGS, _SAME_CPU)
            except OSError:
                pass  # an older kernel
            poll = select.poll()
            poll.register(self._listener, select.POLLIN)
            poll.register(self._event, select.POLLIN)
            while not self._stopping:
                for fd, events in poll.poll():
                    if fd == self._event or self._stopping:
                        continue
                    if not events & select.POLLIN:
                        self._close_listener()
                        self._end_by_itself()
                        return
                    if not self._take():
                        return
            if not self._keep:
                self._close_listener()
        except Exception as problem:  # noqa: BLE001  # a fault of ours ends the answering, visibly, and with it every further exec
            self._lost(problem)
            self._close_listener()

    def _end_by_itself(self) -> None:
        """Nobody is left who could ask. In a host program, after the run, nobody is left either who would end us."""
        if self._left:
            self._stopping = True
            self._rouse.set()
            self._close()

    def _close_listener(self) -> None:
        if self._listener >= 0:
            os.close(self._listener)
            self._listener = -1

    def _lost(self, problem: Exception) -> None:
        exec_talk.say(2, f"instinct: judging execs failed ({type(problem).__name__}: {problem}); further programs are refused\n".encode())

    def _look_after(self) -> None:
        """The other thread: takes over from one that is not done with a judgement in time. It rests while nothing is judged."""
        while not self._stopping or self._current is not None:
            self._resting = True
            if self._current is None:
                self._rouse.wait()
            self._rouse.clear()
            judged = -1
            while judged != self._judged and (not self._stopping or self._current is not None):
                current, judged = self._current, self._judged
                self._rouse.wait(JUDGING_S if current is None else max(0.0, current.until - time.monotonic()))
                self._rouse.clear()
                if current is not None and self._take_over(current):
                    return

    def _take_over(self, late: _Judging) -> bool:
        """When that is still being judged and its time is up: refuses it or lets it go on, and answers all others from now on."""
        with self._turn:
            if self._current is not late or late.until > time.monotonic():
                return False
            self._current = None
        self._threads = [thread for thread in self._threads if thread is not late.thread]  # nobody waits for it any more
        self._conclude(late.number, late.pid, self._unjudged(late.request, f"no verdict within {JUDGING_S:g} s"))
        self._judge.afresh()
        self._run(self._look_after)
        self._answer_all()
        return True

    def _verdict(self, number: int, pid: int, key: Key, request: ExecRequest) -> bool:
        """Judges and concludes; False when it took so long that another thread has taken over."""
        current = _Judging(number, pid, request)
        self._current = current
        self._judged += 1
        if self._resting:
            self._resting = False
            self._rouse.set()
        try:
            answer = self._judge.judge(request)
        except Exception as problem:  # noqa: BLE001  # INVARIANT: what was not judged is not let through by accident
            answer = self._unjudged(request, f"{type(problem).__name__}: {problem}")
        with self._turn:
            if self._current is not current:
                return False
            self._current = None
        if not answer.allow:
            self._refused = (pid, key, answer)
        if answer.lasting:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = answer
        self._conclude(number, pid, answer)
        if self._dedicated and self._judged % _COLLECT_EVERY == 0:
            gc.collect()  # a launcher collects nothing by itself: it was made for fifty milliseconds
            gc.freeze()
        return True

    def _unjudged(self, request: ExecRequest, why: str) -> ExecAnswer:
        try:
            return self._judge.unjudged(request, why)
        except Exception as problem:  # noqa: BLE001  # the same
            return ExecAnswer(allow=False, words=f"instinct: not judged, so not run ({type(problem).__name__})\n", lasting=False)

    # ------------------------------------------------------------ one exec

    def _take(self) -> bool:
        """One exec; False when another thread has taken over meanwhile."""
        question = bytearray(_EMPTY)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, question, True)
        except OSError:
            return True  # it has died, or a signal took it back
        number, pid, _, call, _, _, *arguments = _QUESTION.unpack(question)
        if self._first:
            self._first = False
            self._say(number, PASS)
            return True
        tracee = None
        try:
            tracee = Tracee(pid, tuple(arguments), at=call == _EXECVEAT)
            path = tracee.path()
            if not self._watches(path, tracee) or not tracee.exists(path):  # a search along PATH: the kernel says "not found" itself
                self._say(number, PASS)
                return True
            caller = tracee.caller()
            if self._own_step(path, caller):
                self._say(number, PASS)
                return True
            argv, env = tracee.words()
            named = path.rpartition(b"/")[2] if path.startswith(_SYSTEM) else path
            key = (named, tracee.folder(), b"\0".join(argv), *(entry for entry in env if not entry.startswith(_NOT_ENVIRONMENT)))
            known = self._refused[2] if self._refused[:2] == (pid, key) else self._known.get(key)
            request = tracee.request(path, argv, env, caller) if known is None else None
        except Unreadable as why:
            if self._valid(number):  # else it has died while we looked
                self._conclude(number, pid, self._unjudged(ExecRequest("", (), ""), str(why)))
            return True
        finally:
            if tracee is not None:
                tracee.close()
        if known is not None:
            self._conclude(number, pid, known)
        elif request is not None and self._valid(number):  # what was read belongs to this process, and not to a later one of its number
            return self._verdict(number, pid, key, request)
        return True

    def _watches(self, path: bytes, tracee: Tracee) -> bool:
        if self._watches_name(path.rpartition(b"/")[2]):
            return True
        if path.startswith(_SYSTEM) and not path.endswith((b"/busybox", b"/toybox")):
            return False
        return self._watches_name(tracee.leads_to(path).rpartition(b"/")[2])

    def _own_step(self, path: bytes, caller: bytes) -> bool:
        pair = (path.rpartition(b"/")[2], caller.rpartition(b"/")[2])
        found = self._steps.get(pair)
        if found is None:
            if len(self._steps) > _MOST_KNOWN:
                self._steps.clear()
            found = self._steps[pair] = self._judge.own_step(*map(os.fsdecode, pair))
        return found

    def _watches_name(self, name: bytes) -> bool:
        found = self._watched.get(name)
        if found is None:
            if len(self._watched) > _MOST_KNOWN:
                self._watched.clear()
            found = self._watched[name] = bool(name) and self._judge.watches(os.fsdecode(name))
        return found

    def _conclude(self, number: int, pid: int, answer: ExecAnswer) -> None:
        if not answer.allow and self._valid(number):
            words = answer.words.encode("utf-8", "backslashreplace")[:_MOST_WORDS]
            if self._told != (pid, words):  # else it tries the same program in the next folder of PATH
                self._told = (pid, words)
                self.denied += 1
                if not exec_talk.tell(pid, words):
                    exec_talk.say(2, words)
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
            self._judge.afresh(alone=True)
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
            self._stopping = False
            self._current = None
            self._turn, self._rouse = threading.Lock(), threading.Event()
            self._run(self._look_after)
            self._answer_all()
            self._stop()
        finally:
            os._exit(0)
