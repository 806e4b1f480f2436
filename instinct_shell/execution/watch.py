"""The launcher's side of a run: waits for the attendant, passes signals on, stops and continues with the command, keeps the wall clock."""

from __future__ import annotations

import os
import signal
import time

from ..errors import Exit
from ..model.jailspec import JailLevel, RunResult
from . import supervise
from .jail.syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .jail.session import Membership
    from .relay import Relays
    from .renames import Renames
    from .vigil import Vigil

_LONG, _AGAIN = 0.05, 0.03  # seconds until a run is a long one (vigil.AFTER_S); until a vigil that waits for git looks again
_LOOK = 0.25  # seconds between two looks at what an overlay holds
_GRACE = 1.0  # seconds between TERM and KILL when the wall clock runs out: time to remove a lock file
_FROM_KERNEL = 128  # SI_KERNEL: the terminal sent it, to the whole group
BUBBLEWRAP_STEP = "starting bubblewrap"
_LIMIT_SIGNALS: dict[int, str] = {signal.SIGXCPU: "cpu_seconds", signal.SIGXFSZ: "file_bytes"}


class Watch:
    """One run as the launcher sees it. After `run`, `failure` says which step failed (nothing ran), or `result` how the command ended."""

    def __init__(self, child: int, report: int, relays: Relays, wall_seconds: float, *, dedicated: bool, own_tree: bool) -> None:
        self.failure: StepFailed | None = None
        self._child = child
        self._report = report
        self._relays = relays
        self._deadline = time.monotonic() + wall_seconds if wall_seconds else None
        self._dedicated = dedicated
        self._own_tree = own_tree  # the attendant's death ends everything in its pid namespace
        self.session: Membership | None = None
        self.renames: Renames | None = None
        self.end_child: int = signal.SIGKILL  # what ends the making of the jail, before there is an attendant
        self.vigil: Callable[[], Vigil | None] | None = None
        self._vigil: Vigil | None = None  # while it is kept
        self._vigil_at = time.monotonic() + _LONG
        self.overgrown: Callable[[], bool] | None = None  # of an overlay: whether more was written to it than it may hold
        self.left_something = False  # the command ended by itself, in a session: what it left in the background goes on
        self._held_anew: list[str] = []
        self._attendant = 0
        self._early: list[int] = []  # signals that came before the attendant existed
        self._unread = b""
        self._stopped = False
        self._limit = ""
        self._ended: tuple[int, ...] = ()
        self._on_terminal = False
        self._terminal: int | None = None  # a copy of the caller's, when we had its foreground

    def run(self, mask: Iterable[int]) -> None:
        """Returns when nothing of the run is left. All signals are blocked on entry; `mask` is the caller's."""
        os.set_blocking(self._report, False)
        self._relays.start(lambda: self._kill("output_bytes"))
        try:
            if self._dedicated:
                self._take_over_process()
                self._wait_by_signals()
            else:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                self._wait_by_polling()
        except BaseException:
            self._kill("")
            raise
        finally:
            self._reap()
            if self._vigil is not None:
                self._vigil.close()
            by_itself = bool(self._ended) and not self._limit
            if self.session is not None and not self.session.conclude(by_itself=by_itself) and self._killed():
                self._ended = ()  # by the end of the session
            self.left_something = self.session is not None and by_itself
            if self.left_something:
                self._relays.leave(dedicated=self._dedicated)
            else:
                self._relays.finish()
            os.close(self._report)
            self._give_terminal_back()
            while self._dedicated and signal.sigtimedwait((signal.SIGIO, signal.SIGCHLD), 0):
                pass  # wake-ups of ours that nobody else should meet

    def result(self, level: JailLevel, layers: tuple[str, ...], abi: int, wall_us: int) -> RunResult:
        """What the run came to."""
        result = result_of(self._ended, self._limit).replace(level=level, layers=layers, landlock_abi=abi, wall_us=wall_us)
        return result.replace(held_anew=tuple(self._held_anew)) if self._held_anew else result

    def _killed(self) -> bool:
        return bool(self._ended) and os.WIFSIGNALED(self._ended[0]) and os.WTERMSIG(self._ended[0]) == signal.SIGKILL

    # --- waiting

    def _take_over_process(self) -> None:
        import fcntl

        terminals = [fd for fd in (0, 1, 2) if os.isatty(fd)]
        self._on_terminal = bool(terminals)
        if terminals and _in_foreground(terminals[0]):
            self._terminal = fcntl.fcntl(terminals[0], fcntl.F_DUPFD_CLOEXEC, 3)
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        for fd in (0, 1):
            os.dup2(null, fd)
        os.close(null)
        supervise.signal_at(self._report)  # a line from the attendant
        if self.renames is not None and self.renames.fd >= 0:
            supervise.signal_at(self.renames.fd)

    def _wait_by_signals(self) -> None:
        while self._listen():
            left = self._seconds_left()
            caught = signal.sigwaitinfo(supervise.ALL_SIGNALS) if left is None else signal.sigtimedwait(supervise.ALL_SIGNALS, left)
            if caught is None:
                self._woken()
            elif caught.si_signo == signal.SIGIO:
                self._hold_what_was_replaced()
                self._look_out()
            elif caught.si_signo == supervise.PARENT_DIED:
                self._out_of_time()
            elif caught.si_signo in supervise.FORWARDED and caught.si_code != _FROM_KERNEL:
                self._pass_on(caught.si_signo)

    def _wait_by_polling(self) -> None:
        import select

        poll = select.poll()
        poll.register(self._report, select.POLLIN)
        if self.renames is not None and self.renames.fd >= 0:
            poll.register(self.renames.fd, select.POLLIN)
        while self._listen():
            left = self._seconds_left()
            if not poll.poll(None if left is None else left * 1000):
                self._woken()
                if self._vigil is not None and self._vigil.fd >= 0:
                    poll.register(self._vigil.fd, select.POLLIN)
            self._hold_what_was_replaced()
            self._look_out()

    def _seconds_left(self) -> float | None:
        """Until there is something to look after; None: nothing before the next event."""
        now = time.monotonic()
        waits = [max(0.0, moment - now) for moment in (self._deadline, self._vigil_at if self.vigil else None) if moment is not None]
        if self.overgrown is not None and not self._limit:
            waits.append(_LOOK)
        if self._vigil is not None and self._vigil.waits:
            waits.append(_AGAIN)
        return min(waits, default=None)

    def _listen(self) -> bool:
        """Reads what the attendant wrote; False when everything that could write has ended."""
        while True:
            try:
                piece = os.read(self._report, 4096)
            except BlockingIOError:
                self._stop_with_command()
                return True
            if not piece:
                return False
            *lines, self._unread = (self._unread + piece).split(b"\n")
            for line in lines:
                self._hear(line.decode(errors="surrogateescape"))

    def _hear(self, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        match word:
            case "attendant" | '"child-pid":':  # the second is how bubblewrap says it
                self._attendant = int(rest.rstrip(","))
                for number in self._early:
                    self._pass_on(number)
            case "bwrap:":
                self.failure = self.failure or StepFailed(f"{BUBBLEWRAP_STEP}: {rest}")
            case "failed":
                errno, _, step = rest.partition(" ")
                self.failure = StepFailed(step, int(errno))
            case "stopped":
                self._stopped = True
            case "continued":
                self._stopped = False
            case "ended":
                self._ended = tuple(int(part) for part in rest.split())

    # --- acting

    def _pass_on(self, number: int) -> None:
        if not self._attendant:
            self._early.append(number)
            return
        try:
            os.kill(self._attendant, supervise.request(number))
        except ProcessLookupError:
            pass  # over already

    def _stop_with_command(self) -> None:
        """The command stopped (Ctrl-Z, or by itself): so do we, for the shell that waits for us. Continued, we see to it that the command is too.

        Without a terminal nobody would continue us, and a command that stops itself must not stop the wall clock.
        """
        if self._stopped and self._on_terminal:
            self._stopped = False
            os.kill(os.getpid(), signal.SIGSTOP)
            self._pass_on(signal.SIGCONT)

    def _hold_what_was_replaced(self) -> None:
        """A protected file that the host has replaced is held again, or the command ends: it could write the new one."""
        paths = self.renames.replaced() if self.renames is not None and self._attendant and not self._ended else []
        if not paths:
            return
        assert self.renames is not None
        if self.renames.hold(self._attendant, paths):
            self._held_anew += paths
        elif not self._ended:
            self._kill("protected_file")

    def _woken(self) -> None:
        if self.vigil is not None and time.monotonic() >= self._vigil_at:
            self._begin_vigil(self.vigil())
            self.vigil = None
        elif self._vigil is not None and self._vigil.waits:
            self._vigil.look()
        if self.overgrown is not None and not self._limit and self.overgrown():
            self._kill("overlay")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._out_of_time()

    def _begin_vigil(self, vigil: Vigil | None) -> None:
        """The command runs long: from now on what appears unjudged is set aside while it runs."""
        if vigil is None:
            return
        self._vigil = vigil
        if vigil.arm() >= 0 and self._dedicated:
            supervise.signal_at(vigil.fd)
        vigil.look(anyway=True)

    def _look_out(self) -> None:
        if self._vigil is not None:
            self._vigil.look()

    def _out_of_time(self) -> None:
        if self._limit:
            self._kill(self._limit)
            self._deadline = None
            return
        self._limit = "wall_seconds"
        self._deadline = time.monotonic() + _GRACE
        self._pass_on(signal.SIGCONT)
        self._pass_on(signal.SIGTERM)

    def _kill(self, limit: str) -> None:
        """Ends the whole tree at once. At partial the attendant has to do it: it alone is the reaper of what left the tree."""
        self._limit = self._limit or limit
        try:
            if self._own_tree and self._attendant:
                os.kill(self._attendant, signal.SIGKILL)
            elif self._attendant:
                os.kill(self._attendant, supervise.request(signal.SIGKILL))
            else:
                os.kill(self._child, self.end_child)
        except ProcessLookupError:
            pass  # over already, and reaped where it is not our child

    def _reap(self) -> None:
        for pid in dict.fromkeys((self._child, self._attendant)):
            if pid:
                try:
                    os.waitpid(pid, 0)
                except ChildProcessError:
                    continue  # the host program ignores SIGCHLD: the kernel has reaped it

    def _give_terminal_back(self) -> None:
        if self._terminal is None:
            return
        if not _in_foreground(self._terminal):
            try:
                os.tcsetpgrp(self._terminal, os.getpgrp())
            except OSError:
                pass  # the terminal was hung up
        os.close(self._terminal)


def _in_foreground(terminal: int) -> bool:
    """Whether our process group has this terminal's foreground; False too for a terminal that is not the controlling one."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


def result_of(ended: tuple[int, ...], limit: str) -> RunResult:
    """What a run came to: the attendant's closing line (wait status, microseconds of user and system time, KB of memory; empty without one) and
    the limit that ended it. A tree that was ended without a word from the attendant counts as started with its outcome unknown."""
    result = RunResult(status=Exit.FAILED, started=True, limit=limit)
    if ended:
        status, user_us, system_us, rss_kb = ended
        result = result.replace(user_us=user_us, system_us=system_us, max_rss_bytes=rss_kb * 1024)
    if limit == "wall_seconds":
        return result.replace(status=Exit.TIMEOUT, failure="the wall-clock limit was reached")
    if limit == "protected_file":
        result = result.replace(failure="stopped: a protected file was replaced outside, and the new one could not be held")
    if limit:  # whether our KILL or the closed pipe was faster
        return result.replace(status=128 + signal.SIGKILL, signal=int(signal.SIGKILL))
    if not ended:
        return result.replace(failure="the jail was killed from outside; the command ended with it, its outcome is unknown")
    if not os.WIFSIGNALED(status):
        return result.replace(status=os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    return result.replace(status=128 + number, signal=number, limit=_LIMIT_SIGNALS.get(number, ""))
