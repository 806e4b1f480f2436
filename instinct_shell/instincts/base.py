"""The Instinct protocol, and the small class that the built-in ones share. One rule a file; its docstring is its documentation page."""

from __future__ import annotations

from ..model.effect import NOWHERE, Effect, Span
from ..model.fact import Facts, Question
from ..model.profile import Profile
from ..model.situation import Situation
from ..model.verdict import Decision, Finding, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Protocol

    from ..model.intent import Intent

    class Instinct(Protocol):
        """One rule. `id` is stable for ever. Reflexes ask no questions. Pure: no I/O, no clock, no randomness."""

        @property
        def id(self) -> str: ...

        @property
        def tier(self) -> Tier: ...

        def questions(
            self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation
        ) -> tuple[Question, ...]: ...

        def judge(
            self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
        ) -> tuple[Finding, ...]: ...
else:
    Instinct = object

__all__ = ["BuiltIn", "Effect", "Facts", "Finding", "Instinct", "Question", "shown"]

_SHOWN = 120


class BuiltIn:
    """What the built-in instincts share. `version` rises when a verdict changes; it is part of the profile's digest."""

    id: ClassVar[str]
    tier: ClassVar[Tier]
    version: ClassVar[int] = 1

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """None: a reflex needs nothing from the host. Gates and assessments override this."""
        return ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        """The findings, the restrictive ones only; an empty tuple means nothing to say."""
        raise NotImplementedError

    def finding(
        self, decision: Decision, reason: str, alternative: str = "", *, effect: Effect | None = None, span: Span | None = None
    ) -> Finding:
        """A finding of this instinct, standing where its effect stands."""
        return Finding(self.id, decision, reason, alternative, span or (effect.span if effect else NOWHERE), effect)


def shown(text: str) -> str:
    """User text in backticks, safe for one line of a terminal: control characters escaped, long text cut in the middle, backticks replaced."""
    clean = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in text)
    clean = clean.replace("`", "'")
    if len(clean) > _SHOWN:
        clean = clean[: _SHOWN // 2 - 2] + "..." + clean[-_SHOWN // 2 + 1 :]
    return f"`{clean}`"
