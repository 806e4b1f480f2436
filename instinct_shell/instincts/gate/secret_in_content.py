"""Secret in content: a key does not get into a file, nor into what a model reads.

*Asks* (denies above dev) for a file tool's write that brings a key with a known shape, a private key, or a value of the workspace's own `.env`
files into a file. An output with one of them is denied as it is: `check --batch` answers with the redacted text, hooks replace it where the agent
lets them.

*Lets pass* secrets that the file holds already, examples and placeholders, values of `.env` files that are no secrets (ports, hosts, names).

*How it was fooled before*: a token pasted into a test, a `.env` value copied into a compose file, a log that prints the environment.

*To adjust*: `secrets` in `[files]`; name the variable instead of its value.
"""

from __future__ import annotations

from ...model.fact import Question, QuestionKind
from ...model.intent import IntentType
from ...model.verdict import Decision, Tier
from ..base import BuiltIn
from ..ground import ground_of
from .file_syntax import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Answer, Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding


class SecretInContent(BuiltIn):
    id = "secret-in-content"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        path = written(intent, effects)
        return (Question(QuestionKind.SECRETS, path),) if path else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        path = written(intent, effects)
        words = _words(facts.answer(QuestionKind.SECRETS, path)) if path else ""
        if not words:
            return ()
        where = ground_of(intent, profile, situation).shown(path)
        instead = "read it from the environment where it is needed, and write its name only"
        return (self.finding(profile.file_secrets, f"writes {words} into {where}", instead, effect=effects[0]),)


class SecretInOutput(BuiltIn):
    """Secret in output: see secret-in-content; the same secrets in a text that is about to be passed on."""

    id = "secret-in-output"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        return (Question(QuestionKind.SECRETS, ""),) if intent.type is IntentType.OUTPUT and intent.content else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        if intent.type is not IntentType.OUTPUT or not intent.content:
            return ()
        answer = facts.answer(QuestionKind.SECRETS, "")
        if not answer.known:
            return (self.finding(Decision.DENY, f"the output could not be looked through ({answer.why})", "pass on less of it"),)
        words = _words(answer)
        return (self.finding(Decision.DENY, f"the output holds {words}", "pass on the redacted text"),) if words else ()


def _words(answer: Answer) -> str:
    """What was found and in which lines, "" for nothing."""
    found = answer.get("found") if answer.known else None
    if not isinstance(found, list | tuple):
        return ""
    shown = [f"{each.get('what')} (line {each.get('line')})" for each in found if isinstance(each, dict)]
    more = answer.get("more", 0)
    total = len(shown) + (more if isinstance(more, int) else 0)
    return ", ".join(shown[:3]) + (f" and {total - 3} more" if total > 3 else "")
