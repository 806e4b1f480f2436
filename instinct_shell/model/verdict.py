"""Decisions, findings and verdicts. The most restrictive finding wins, always."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from .effect import NOWHERE, Effect, Span
from .value import Value


class Decision(IntEnum):
    """Ordered by restriction, so that `max` is the merge."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        """`allow`, `ask` or `deny`, as records and protocols spell it."""
        return self.name.lower()


DECISIONS = {decision.word: decision for decision in Decision}


class Tier(StrEnum):
    REFLEX = "reflex"
    GATE = "gate"
    ASSESSMENT = "assessment"


TIERS = (Tier.REFLEX, Tier.GATE, Tier.ASSESSMENT)


class Finding(Value):
    """What one instinct says. Every ask and deny has a reason, and an alternative where there is one that this profile allows."""

    instinct: str
    decision: Decision
    reason: str = ""
    alternative: str = ""
    span: Span = NOWHERE
    effect: Effect | None = None

    def _check(self) -> None:
        # INVARIANT: nothing is refused without a reason.
        if self.decision is not Decision.ALLOW and not self.reason:
            raise ValueError(f"{self.instinct}: a finding that restricts needs a reason")


class Timing(Value):
    """How long one instinct took, in microseconds."""

    instinct: str
    tier: Tier
    elapsed_us: int


class Verdict(Value):
    """The answer to an intent. `tier` is the tier that decided (the last one that ran when allowed); `elapsed_us` is the judging time."""

    decision: Decision
    findings: tuple[Finding, ...] = ()
    tier: Tier = Tier.REFLEX
    elapsed_us: int = 0
    ran: tuple[Timing, ...] = ()

    @property
    def allow(self) -> bool:
        """True only for a plain allow; an ask is not one."""
        return self.decision is Decision.ALLOW

    @property
    def finding(self) -> Finding | None:
        """The first of the most restrictive findings: the one that explains the verdict."""
        chosen: Finding | None = None
        for finding in self.findings:
            if finding.decision is not Decision.ALLOW and (chosen is None or finding.decision > chosen.decision):
                chosen = finding
        return chosen

    @property
    def reason(self) -> str:
        """`[instinct-id] reason` of the deciding finding, or the empty string."""
        finding = self.finding
        return f"[{finding.instinct}] {finding.reason}" if finding else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What instincts had to say without restricting: the blast radius, what changes beside."""
        return tuple(finding.reason for finding in self.findings if finding.decision is Decision.ALLOW and finding.reason)

    @property
    def alternative(self) -> str:
        """What to do instead, or the empty string."""
        finding = self.finding
        return finding.alternative if finding else ""


def merge(findings: tuple[Finding, ...]) -> Decision:
    """The most restrictive decision among the findings; ALLOW when there is none."""
    decision = Decision.ALLOW
    for finding in findings:
        if finding.decision > decision:
            decision = finding.decision
    return decision
