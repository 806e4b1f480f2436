"""Judges what the programs of one allowed command start, with the guard's own steps: the exec port's other end.

A denial is a record of its own, tied to the command's; an ask is a near-miss. What could not be judged goes on where the profile lets a program run
of which nothing is known (`"unknown" = "allow"` in `[effects]`), and is refused everywhere else.
"""

from __future__ import annotations

import os
import time

from ..engine import execs, records
from ..instincts.base import shown as shown_text
from ..model.codec import decode, encode
from ..model.effect import Effect, EffectKind
from ..model.execs import PASS, ExecAnswer
from ..model.intent import Intent, IntentType
from ..model.record import AuditRecord, NearMiss, RecordKind
from ..model.verdict import Decision, Finding, Tier, Verdict
from ..storage.audit import AuditTrail, new_run
from ..storage.nearmiss import NearMisses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.judgement import Judgement
    from ..model.execs import ExecRequest
    from ..model.ports import Parser
    from ..shell.syntax import Parsed
    from .guard import Guard

DOOR = "exec"
_SHOWN = 160


class ExecSteps:
    """The ExecJudge port for one command. parent: what was judged and allowed."""

    def __init__(self, guard: Guard, parent: Judgement) -> None:
        from ..effects.own_rows import rows_of

        self._trail = AuditTrail(guard.state, profile=guard.profile)
        self._guard = guard
        self._parent = parent
        self._set = execs.WatchSet(rows_of(guard.profile.programs))
        self._known = _Known()
        self._pipeline = guard.pipeline_for_execs(self._known, parent.situation)
        self._memory = -1

    # ------------------------------------------------------------ what covers

    @property
    def shared(self) -> bool:
        """Whether another process judges with what this one allows."""
        return self._memory >= 0

    def share(self) -> None:
        """Before the fork of the process that will judge."""
        if not self.shared:
            self._memory = os.memfd_create("instinct-execs", os.MFD_CLOEXEC)

    def cover(self, parent: Judgement) -> None:
        """Another command was allowed: its effects cover what it starts."""
        import json

        data = json.dumps({"run": parent.run, "effects": encode(parent.effects)}).encode()
        os.pwrite(self._memory, data, 0)
        os.ftruncate(self._memory, len(data))

    def _current(self) -> Judgement:
        """The command that runs now."""
        if self.shared and (size := os.fstat(self._memory).st_size):
            import json

            said, _ = json.JSONDecoder().raw_decode(os.pread(self._memory, size, 0).decode())
            self._parent = self._parent.replace(run=said["run"], effects=decode(tuple[Effect, ...], said["effects"]))
        return self._parent

    # ------------------------------------------------------------ the port

    def afresh(self, *, alone: bool = False) -> None:
        """The parser's worker was the launcher's, or is in use by a judgement that was given up; and nobody shares with us any more."""
        self._known = _Known()
        self._pipeline = self._guard.pipeline_for_execs(self._known, self._parent.situation)
        if alone and self.shared:
            self._current()
            self._memory = -1

    def watches(self, name: str) -> bool:
        """Whether a program's row can come to anything that is judged here."""
        return name in self._set

    def own_step(self, name: str, caller: str) -> bool:
        """Whether a program only goes on with what was judged when it was started itself."""
        return execs.own_step(name, caller)

    def judge(self, request: ExecRequest) -> ExecAnswer:
        """The answer, written down when it is a refusal or would have been a question."""
        parent = self._current()
        text, parsed = execs.tree_of(request)
        intent = Intent(
            IntentType.SHELL_COMMAND, text, cwd=request.cwd, env=execs.environment_of(request), session=self._parent.intent.session, door=DOOR,
            agent=self._parent.intent.agent,
        )  # fmt: skip
        self._known.expect(text, parsed)
        judgement = self._pipeline.judge(intent)
        # A script may be another one the next time, and another command may be allowed another thing.
        lasting = not judgement.facts.items() and not self.shared
        stopping = execs.stopping(request, judgement.verdict, parent.effects, parent.situation.workspace)
        if stopping is not None:
            return ExecAnswer(allow=False, words=self._refuse(judgement, stopping), lasting=lasting)
        if (fault := execs.faulted(judgement.verdict)) is not None:
            return self.unjudged(request, fault.reason)
        if judgement.verdict.decision is Decision.ASK:
            self._learn("asked", judgement)
        return PASS if lasting else PASS.replace(lasting=False)

    def unjudged(self, request: ExecRequest, why: str) -> ExecAnswer:
        """By profile; never in silence."""
        shown = " ".join(request.argv)[:_SHOWN] or "a program"
        passes = self._guard.profile.effect_decision(EffectKind.UNKNOWN) is Decision.ALLOW
        finding = Finding(
            "exec", Decision.DENY, f"{shown_text(shown)} could not be judged: {why}", "start it as a command of its own: it is judged before it runs"
        )
        intent = Intent(IntentType.SHELL_COMMAND, shown, cwd=request.cwd or self._parent.intent.cwd, session=self._parent.intent.session, door=DOOR)
        judgement = self._parent.replace(
            intent=intent, run=new_run(), verdict=Verdict(Decision.DENY, (finding,), Tier.REFLEX), effects=(), refused=True
        )
        if passes:
            self._learn("unjudged", judgement)
            return PASS.replace(lasting=False)
        return ExecAnswer(allow=False, words=self._refuse(judgement, finding), lasting=False)

    def _refuse(self, judgement: Judgement, finding: Finding) -> str:
        """Writes the denial down; the words for whoever is refused."""
        body = records.judged(judgement, self._guard.profile)
        self._trail.append(
            AuditRecord(RecordKind.JUDGED, judgement.run, time.time(), (*body, ("exec", 1), ("parent", self._parent.run))), durable=False
        )
        self._learn("denied", judgement)
        return self._guard.denial(judgement.replace(verdict=judgement.verdict.replace(findings=(finding,))))

    def _learn(self, kind: str, judgement: Judgement) -> None:
        finding = judgement.verdict.finding
        signature = tuple(dict.fromkeys(f"{effect.kind} {effect.program}".rstrip() for effect in judgement.effects))
        summary = f"{finding.instinct}: {finding.reason}" if finding else ""
        NearMisses(self._guard.state).append(NearMiss(kind, time.time(), self._parent.run, signature, summary))


class _Known:
    """The Parser port, with one text read already: an exec's own. Texts inside it are parsed, by a parser that is made by need."""

    def __init__(self) -> None:
        self._text = ""
        self._parsed: Parsed | None = None
        self._others: Parser | None = None

    def expect(self, text: str, parsed: Parsed) -> None:
        """What will be asked for first."""
        self._text, self._parsed = text, parsed

    def parse(self, text: str) -> Parsed:
        """The tree."""
        if text == self._text and self._parsed is not None:
            return self._parsed
        if self._others is None:
            from ..execution.parsers import WorkerParser

            self._others = WorkerParser()
        return self._others.parse(text)
