"""Shell syntax: text that bash itself would refuse is refused with bash's own words.

*Stops* a command that `bash -n` does not accept, before any part of it runs: bash would run the lines in front of the broken one.

*Lets pass* whatever bash accepts, also where our own parsers gave up (opaque-code judges that).

*How it was fooled before*: an unclosed quote that hides a second command, a heredoc without an end, `then` without `if` after a harmless line.

*To adjust*: nothing; write the command so that bash reads it.
"""

from __future__ import annotations

from ...model.effect import EffectKind
from ...model.fact import Question, QuestionKind
from ...model.intent import IntentType
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding


class ShellSyntax(BuiltIn):
    id = "shell-syntax"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """bash is asked only when something could not be read: a process for each command would cost more than all judging."""
        unread = any(effect.kind is EffectKind.CODE_OPAQUE and effect.get("source") != "network" for effect in effects)
        return (
            (Question(QuestionKind.SYNTAX, intent.content),)
            if intent.type is IntentType.SHELL_COMMAND and unread and intent.content.strip()
            else ()
        )

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        answer = facts.answer(QuestionKind.SYNTAX, intent.content)
        if not answer.known or answer.get("ok"):
            return ()
        message = str(answer.get("message") or "syntax error").strip().splitlines()
        return (
            self.finding(
                Decision.DENY, f"bash cannot read this: {shown(message[0])}", "mend the quoting or split it into several commands"
            ),
        )
