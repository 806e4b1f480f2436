"""Replay: a record judged again must give the verdict that it holds.

The record keeps effects, facts, situation and the profile's digest after redaction with stable placeholders, so nothing of the host is asked.
"""

from __future__ import annotations

from ..instincts.registry import BUILTIN
from ..model.codec import decode, decode_facts
from ..model.effect import Effect
from ..model.fact import Answer, Facts
from ..model.intent import Intent
from ..model.situation import Situation
from ..model.verdict import Finding, Tier, Timing, Verdict
from .execs import ACTING, without_rules
from .judge import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..instincts.base import Instinct
    from ..model.fact import Question
    from ..model.profile import Profile


class _NoClock:
    """Replaying takes no time: timings are not part of a verdict's meaning."""

    def now(self) -> float:
        return 0.0

    def monotonic_us(self) -> int:
        return 0


def replay(body: Mapping[str, object], profile: Profile, instincts: Iterable[Instinct] = BUILTIN) -> Verdict:
    """The verdict of a JUDGED record's body under this profile (the caller compares digests first). Raises StorageError for a bad record."""
    intent = decode(Intent, body["intent"])
    effects = decode(tuple[Effect, ...], body.get("effects", []))
    situation = decode(Situation, body["situation"])
    facts = decode_facts(body.get("facts", []))
    unreadable = bool(body.get("unreadable"))
    members = tuple(instincts)
    if body.get("exec"):  # a program inside a command: fewer instincts had a say, and no rules
        members = tuple(each for each in members if each.id in ACTING)
        profile = without_rules(profile)
    members += _foreign(body, {*(each.id for each in members), *(rule.id for rule in profile.rules)})
    verdict, _ = judge(intent, effects, profile, situation, _recorded(facts), _NoClock(), members, unreadable=unreadable, facts=facts)
    return verdict


def same(verdict: Verdict, body: Mapping[str, object]) -> bool:
    """Whether a replayed verdict equals the recorded one: decision, and the (instinct, decision) pairs of its findings."""
    recorded = decode(tuple[Finding, ...], body.get("findings", []))
    pairs = [(finding.instinct, finding.decision) for finding in verdict.findings]
    return verdict.decision.word == body.get("decision") and sorted(pairs) == sorted(
        (finding.instinct, finding.decision) for finding in recorded
    )


class _Repeated:
    """An instinct of somebody else's, which is not here to be asked again: it says what it said."""

    def __init__(self, name: str, tier: Tier, findings: tuple[Finding, ...]) -> None:
        self.id = name
        self.tier = tier
        self._findings = findings

    def questions(self, *_: object) -> tuple[Question, ...]:
        """None: nothing is asked again."""
        return ()

    def judge(self, *_: object) -> tuple[Finding, ...]:
        """What the record holds."""
        return self._findings


def _foreign(body: Mapping[str, object], known: set[str]) -> tuple[_Repeated, ...]:
    """The record's registered and plugged instincts, each with its recorded findings."""
    findings = decode(tuple[Finding, ...], body.get("findings", []))
    ran = decode(tuple[Timing, ...], body.get("ran", []))
    return tuple(
        _Repeated(timing.instinct, timing.tier, tuple(each for each in findings if each.instinct == timing.instinct))
        for timing in ran
        if timing.instinct not in known
    )


def _recorded(facts: Facts) -> Ask:
    def ask(questions: Sequence[Question]) -> dict[Question, Answer]:
        return {question: facts.answer(question.kind, question.subject) for question in questions}

    return ask


if TYPE_CHECKING:
    from .judge import Ask
