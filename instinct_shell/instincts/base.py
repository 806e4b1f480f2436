"""The Instinct protocol. One rule a file; its docstring is its documentation page."""

from __future__ import annotations

from ..model.effect import Effect
from ..model.fact import Facts, Question
from ..model.profile import Profile
from ..model.situation import Situation
from ..model.verdict import Finding, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..model.intent import Intent

    class Instinct(Protocol):
        """One rule. `id` is stable for ever. Reflexes ask no questions. Pure: no I/O, no clock, no randomness."""

        id: str
        tier: Tier

        def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]: ...

        def judge(
            self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
        ) -> tuple[Finding, ...]: ...
else:
    Instinct = object

__all__ = ["Effect", "Facts", "Finding", "Instinct", "Question"]
