"""File syntax: what a file tool writes can be read by its own language.

*Stops* a write or edit that brings a syntax error into Python, JSON, TOML, YAML, XML, JavaScript, PHP, Go or a shell script; *asks* for SQL, whose
dialects are many.

*Lets pass* an edit of a file that is broken already, templates, fixtures of broken files, configuration that its tool reads with comments, syntax
newer than the interpreters here, languages that nothing installed can read.

*How it was fooled before*: a JSON file with a trailing comma, a heredoc without an end in a script, half a function after a cut-off answer.

*To adjust*: `syntax` in `[files]`.
"""

from __future__ import annotations

from ...model.fact import Question, QuestionKind
from ...model.intent import IntentType
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import ground_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

WRITES = (IntentType.FILE_WRITE, IntentType.FILE_EDIT)
_UNSURE = ("sql",)


def written(intent: Intent, effects: tuple[Effect, ...]) -> str:
    """The path that a file tool's intent writes text to, "" for every other intent."""
    return effects[0].target.text if intent.type in WRITES and effects else ""


class FileSyntax(BuiltIn):
    id = "file-syntax"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        path = written(intent, effects)
        return (Question(QuestionKind.FILE_SYNTAX, path),) if path else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        path = written(intent, effects)
        answer = facts.answer(QuestionKind.FILE_SYNTAX, path) if path else None
        new = answer.get("new") if answer is not None and answer.known else None
        if not isinstance(new, list | tuple) or not new or answer is None:
            return ()
        language = str(answer.get("language"))
        decision = min(profile.file_syntax, Decision.ASK) if language in _UNSURE else profile.file_syntax
        where = ground_of(intent, profile, situation).shown(path)
        reason = f"{where} would no longer be {language}: {shown(str(new[0]))}"
        return (self.finding(decision, reason, "mend that place and write it again", effect=effects[0]),)
