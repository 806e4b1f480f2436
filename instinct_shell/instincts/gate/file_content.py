"""File content: how much is written, over what, and whether it can be at all.

*Stops* an edit of a binary file, and a file above `most_bytes`. *Asks* before text takes the place of a binary file. *Says* when an edit does not
fit what the file holds: the file tools then change nothing.

*Lets pass* everything else; what the text says is for file-syntax, linter, secret-in-content and dependency.

*How it was fooled before*: a "rewritten" image that became an apology in text, a patch of a database file, a data dump of 300 MB.

*To adjust*: `binary` and `most_bytes` in `[files]`.
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
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding


class FileContent(BuiltIn):
    id = "file-content"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        path = written(intent, effects)
        return (Question(QuestionKind.CONTENT, path),) if path else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        path = written(intent, effects)
        if not path:
            return ()
        answer = facts.answer(QuestionKind.CONTENT, path)
        where = ground_of(intent, profile, situation).shown(path)
        size, most = answer.get("bytes", 0), profile.file_most_bytes
        if not answer.known:
            size = len(intent.content)
        if most and isinstance(size, int) and size > most:
            return (
                self.finding(
                    Decision.DENY,
                    f"{where} would hold {size:,} bytes, more than {most:,}",
                    "write less, or make it by a command",
                    effect=effects[0],
                ),
            )
        if answer.get("was") == "binary":
            if intent.type is IntentType.FILE_EDIT:
                return (
                    self.finding(
                        Decision.DENY, f"{where} is a binary file; edits are for text", "change it with its own program", effect=effects[0]
                    ),
                )
            if not answer.get("binary"):
                return (
                    self.finding(
                        profile.file_binary,
                        f"text would take the place of the binary file {where}",
                        "write it under another name",
                        effect=effects[0],
                    ),
                )
        misfit = answer.get("misfit")
        if misfit:
            # An agent's own edit tool may be more forgiving than ours, which refuses it when it comes to that.
            return (self.finding(Decision.ALLOW, f"the edit of {where} does not fit what it holds: {misfit}", effect=effects[0]),)
        return ()
