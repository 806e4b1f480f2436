"""One call, answered by a process of its own: it takes on the caller's surroundings, runs the code that the caller would run, and ends.

That is why a verdict is the same with and without an engine: nothing is judged differently, only the imports are done already. What the engine
must not do (spend, use up a grant) and what it cannot plan (a jail below level full) is answered by "take the long way": the caller then judges in
its own process. INVARIANT: nothing has been written down when that is said.
"""

from __future__ import annotations

import os
import select
import signal
import time

from ..errors import JailError
from ..execution.host import forget
from ..execution.jail import network, order, probe, view
from ..execution.parsers import WorkerParser
from ..execution.renames import Renames, identities
from ..execution.vigil import AFTER_S, Apart
from ..model.jailspec import JailLevel
from ..model.verdict import Decision
from ..pipeline import cost_micros
from ..wiring import Guard
from . import protocol
from .protocol import Hangup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable, Mapping

    from ..engine.judgement import Judgement, Outcome
    from ..model.intent import Intent
    from ..model.jailspec import JailSpec, RunResult
    from ..model.ports import GrantStore, Jail, Ledger, Parser
    from ..shell.syntax import Script
    from ..wiring.newcomers import Lookout

    Program = Callable[[list[str], type[Guard]], int]

LINGER_S = 2.0  # how long a worker waits for the end of a run before it leaves that to another one
PATIENCE_MS = 20  # and how long when somebody else waits: most commands end sooner, and an end that comes as a call of its own costs a call
_PARSING_BYTES = 512 << 20


class LongWay(BaseException):
    """The caller has to do this in its own process. No ordinary exception, so that no handler on the way takes it for a failure."""


class Left(BaseException):
    """A run that goes on without us: its launcher brings the end to whichever worker is free."""


class Call:
    """What a launcher asked for."""

    def __init__(self, connection: socket, body: bytes, pid: int, listener: int) -> None:
        """Raises Hangup for a body that is no request."""
        self.listener = listener
        self.connection = connection
        self.pid = pid
        self.last_words: bytes | None = None  # the end of the command's stderr
        self.arguments: list[str] = []
        self.environ: dict[bytes, bytes] = {}
        fields: dict[int, bytes] = {}
        for tag, data in protocol.records(body):
            if tag == protocol.ARGUMENT:
                self.arguments.append(os.fsdecode(data))
            elif tag == protocol.VARIABLE:
                name, _, value = data.partition(b"=")
                self.environ.setdefault(name, value)
            else:
                fields[tag] = data
        self.fields = fields
        self.program = fields.get(protocol.PROGRAM, b"").decode("ascii", "replace")
        terminals = fields.get(protocol.TERMINALS, b"")
        self.on_terminal = bool(terminals)
        self.stdout, self.stderr = Said(terminal=b"1" in terminals), Said(terminal=b"2" in terminals)

    def said(self) -> bytes:
        """What was said since the last time, as records."""
        return protocol.record(protocol.TO_STDOUT, self.stdout.take()) + protocol.record(protocol.TO_STDERR, self.stderr.take())


class Said:
    """A stream of the caller's: text meant for it is kept and sent along with the answer."""

    encoding = "utf-8"  # as the launchers' own streams (-X utf8)

    def __init__(self, *, terminal: bool) -> None:
        self._terminal = terminal
        self._text: list[str] = []

    def isatty(self) -> bool:
        """Whether the caller's stream is a terminal."""
        return self._terminal

    def write(self, text: str) -> int:
        """Keep it."""
        self._text.append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits here."""

    def take(self) -> bytes:
        """All that was kept, once."""
        text = "".join(self._text)
        self._text.clear()
        return text.encode("utf-8", "surrogateescape")


def answer(
    connection: socket,
    listener: int,
    programs: Mapping[str, Program],
    questions: Mapping[int, Callable[[], str]],
    later: Callable[[str], None] | None = None,
) -> None:
    """Serve one call to its end. listener: where the next one would come in. questions: about the engine itself. later: as AuditTrail takes it.

    Raises Hangup when the caller is gone or is nobody to be answered.
    """
    # INVARIANT: a worker that hangs is ended by the kernel before its caller gives up.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, protocol.JUDGING_S)
    try:
        _serve(connection, listener, programs, questions, later)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _serve(
    connection: socket,
    listener: int,
    programs: Mapping[str, Program],
    questions: Mapping[int, Callable[[], str]],
    later: Callable[[str], None] | None,
) -> None:
    pid, uid = protocol.peer(connection)
    protocol.send(connection, protocol.message(protocol.record(protocol.HELLO)))
    if uid != os.getuid() or not protocol.stands_beside(pid):  # while the caller does the same
        raise Hangup("a caller from elsewhere")
    call = Call(connection, protocol.receive(connection), pid, listener)
    if asked := call.fields.keys() & questions.keys():
        said = [protocol.record(protocol.TO_STDOUT, questions[tag]().encode()) for tag in asked]
        protocol.send(connection, protocol.message(*said))
    elif call.program not in programs:
        raise Hangup(f"no program `{call.program}`")
    else:
        _perform(call, programs[call.program], later)


def _perform(call: Call, program: Program, later: Callable[[str], None] | None) -> None:
    try:
        _take_on(call)
        status = program(call.arguments, _guard_for(call, later))
    except Left:
        return
    except LongWay as why:
        protocol.send(call.connection, protocol.message(protocol.record(protocol.LONG_WAY, str(why).encode())))
        return
    protocol.send(call.connection, protocol.message(call.said() + protocol.record(protocol.STATUS, b"%d" % status)))


def _take_on(call: Call) -> None:
    """Folder, environment and streams of the caller: from here on this process sees what the caller sees."""
    import sys

    try:
        os.chdir(call.fields[protocol.FOLDER])
        os.umask(int(call.fields[protocol.UMASK], 8))
    except (OSError, ValueError, KeyError) as error:
        raise LongWay("the folder cannot be entered") from error
    theirs = {name: value for name, value in call.environ.items() if name}
    ours = dict(os.environb)
    for name in ours.keys() - theirs.keys():
        del os.environb[name]
    for name, value in theirs.items() - ours.items():  # callers after one another differ in little
        os.environb[name] = value
    sys.stdout, sys.stderr = call.stdout, call.stderr


def _guard_for(call: Call, unsynced: Callable[[str], None] | None) -> type[Guard]:
    class ForThisCall(EngineGuard):
        pass

    ForThisCall.call = call
    ForThisCall.caller = call.pid
    ForThisCall.later = staticmethod(unsynced) if unsynced else None
    return ForThisCall


class EngineGuard(Guard):
    """A guard that judges here and has the caller run what it planned."""

    call: Call

    def run(self, intent: Intent, *, apart: str = "") -> Outcome:
        """Decide; what is allowed runs in the caller's process. Raises LongWay before anything is written down."""
        if apart:
            raise LongWay("an overlay")
        if self._jail_level() != JailLevel.FULL or probe.probe().obstacle:
            raise LongWay("no jail of level full by namespaces of our own")
        if self.profile.limits.output_bytes:
            raise LongWay("an output limit")
        judgement = self.pipeline.judge(intent)
        if judgement.verdict.decision is Decision.ASK:
            raise LongWay("a grant may exist")
        if cost_micros(judgement.effects):
            raise LongWay("it costs money")
        try:
            return self.pipeline.act_on(judgement)
        except JailError:
            forget(self._level_file())  # the machine may have changed since the last look
            probe.probe.cache_clear()
            raise

    def confine(self, judgement: Judgement) -> JailSpec:
        """As any guard. Raises LongWay for a jail that a ready-made plan cannot describe."""
        spec = super().confine(judgement)
        if spec.session is not None and not os.path.exists(spec.session.path):
            raise LongWay("a session has to be started")
        if not order.can_plan(spec):
            raise LongWay("the launcher has to take part while it runs, or to look after it")
        # The caller makes the mounts while this is written down; the command starts at GO and not before.
        self._held_before = identities((*spec.protected, *spec.masked))
        plan = protocol.record(protocol.PLAN, order.encode(spec, terminal=self.call.on_terminal))
        protocol.send(self.call.connection, protocol.message(self.call.said(), protocol.record(protocol.RUN, judgement.run.encode()), plan))
        return spec

    def before_filling(self) -> None:
        """Nothing of ours may take that long. Raises LongWay."""
        raise LongWay("a cache is to be filled")

    def last_words(self) -> str | None:
        """As the caller has read them."""
        said = self.call.last_words
        return None if said is None else said.decode("utf-8", "replace")

    def _parser(self) -> Parser:
        return EngineParser()

    def _ledger(self) -> Ledger:
        raise LongWay("it needs the books")

    def _grants(self) -> GrantStore:
        raise LongWay("it needs a grant")

    def _jail(self) -> Jail:
        return CallersJail(self.call, self.lookout, self._held_before)


class EngineParser(WorkerParser):
    """bashlex in this very process, which ends with the call and may be killed: then the caller judges, with a worker of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 1  # bashlex is loaded: no reason to let mvdan/sh have the first text

    def start(self) -> None:
        """Nothing to start."""

    def begin(self, text: str) -> None:
        """Nothing to import meanwhile."""

    def _by_bashlex(self, text: str, wait_ms: int = 0) -> Script | None:  # noqa: ARG002  # nothing has to be waited for
        import resource

        from ..shell.bashlex_adapter import parse
        from ..shell.lexer import Untrusted

        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _PARSING_BYTES if hard == resource.RLIM_INFINITY else min(_PARSING_BYTES, hard)
        left, _ = signal.setitimer(signal.ITIMER_REAL, self.deadline_ms / 1000)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
            return parse(text)
        except (Untrusted, RecursionError):
            return None
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            signal.setitimer(signal.ITIMER_REAL, left)


class CallersJail:
    """The Jail port: lets the caller, which is the command's parent and has the plan already, start it, and hears how it ended."""

    def __init__(self, call: Call, lookout: Lookout, held: Mapping[str, tuple[int, int] | None]) -> None:
        """held: the files that protected names led to when the plan was made."""
        self._call = call
        self._lookout = lookout
        self._held = held

    def level(self) -> str:
        """What was judged for; the caller makes this level or none."""
        return JailLevel.FULL

    def run(self, spec: JailSpec) -> RunResult:
        """Raises JailError when a step failed; then nothing ran. Does not return when the run outlives this process."""
        connection = self._call.connection
        protocol.send(connection, protocol.message(self._call.said(), protocol.record(protocol.GO)))
        signal.setitimer(signal.ITIMER_REAL, 0)
        vigil = None
        if not self._ends_soon(AFTER_S):
            vigil = self._begin_vigil(spec)
            if not self._ends_soon(LINGER_S):
                if vigil is not None:
                    vigil.leave()
                raise Left  # it takes longer, or somebody else waits to be judged
        signal.setitimer(signal.ITIMER_REAL, protocol.JUDGING_S)
        if vigil is not None:
            self._lookout.told = vigil.end()
        try:
            answer = protocol.first(protocol.receive(connection))
            end = answer[protocol.END]
        except (Hangup, KeyError):
            raise Left from None  # the launcher was killed, and the command with it: a run without an end is a normal state
        self._call.last_words = answer.get(protocol.SAID)
        result = order.result(end)
        connections = network.collected_of(spec)
        return result.replace(connections=connections) if connections else result

    def _ends_soon(self, seconds: float) -> bool:
        """Wait for the launcher's word while nothing else is to be done. False: leave it to whichever worker is free then."""
        end, listener = self._call.connection.fileno(), self._call.listener
        until = time.monotonic() + seconds
        either, only = select.poll(), select.poll()
        for poll, fd in ((either, end), (either, listener), (only, end)):
            poll.register(fd, select.POLLIN)
        while ready := dict(either.poll(max(0.0, until - time.monotonic()) * 1000)):
            if end in ready or only.poll(PATIENCE_MS if seconds else 0):
                return True
            if listener in dict(either.poll(0)):
                return False
        return False

    def _begin_vigil(self, spec: JailSpec) -> Apart | None:
        """From now on what appears unjudged is set aside while the command runs; by a process of its own, since we may be gone before it ends."""
        vigil = None if spec.read_only else self._lookout.vigil()
        if vigil is None:
            return None
        try:
            launcher = os.pidfd_open(self._call.pid)
        except OSError:
            return None  # it has ended
        try:
            if self._ends_soon(0):
                return None  # its number might not be its own any more
            return Apart(vigil, self._call.pid, launcher, lambda: Renames(view.plan_for(spec), self._held))
        finally:
            os.close(launcher)
