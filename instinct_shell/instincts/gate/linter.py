"""Linter: what the project's own linter says about the text before it is written.

*Asks* (or only says, where `linter` is "allow") when ruff, flake8, pylint, eslint, shellcheck or yamllint, as the project configures them, find
something that they did not find before.

*Lets pass* what they found already, files they do not look at, projects without one, a linter that gives no answer in time. It is asked in a jail
without network and write rights, since its configuration may be a program.

*How it was fooled before*: an undefined name that parses, a shell variable without quotes in front of a glob.

*To adjust*: `linter` in `[files]`, and the linter's own configuration.
"""

from __future__ import annotations

from ...model.fact import Question, QuestionKind
from ...model.verdict import Tier
from ..base import BuiltIn, shown
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


class Linter(BuiltIn):
    id = "linter"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        path = written(intent, effects)
        return (Question(QuestionKind.LINT, path),) if path else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        path = written(intent, effects)
        answer = facts.answer(QuestionKind.LINT, path) if path else None
        new = answer.get("new") if answer is not None and answer.known else None
        if not isinstance(new, list | tuple) or not new or answer is None:
            return ()
        more = answer.get("more", 0)
        count = len(new) + (more if isinstance(more, int) else 0)
        words = "; ".join(shown(str(message)) for message in new[:3]) + (f" and {count - 3} more" if count > 3 else "")
        where = ground_of(intent, profile, situation).shown(path)
        return (
            self.finding(
                profile.file_linter, f"{answer.get('tool')} finds in {where}: {words}", "mend it and write it again", effect=effects[0]
            ),
        )
