"""Written dependency: packages that a text names are what was meant.

*Asks* (denies above dev), as the dependency instinct does at the install, for a line of a manifest that names a package nobody knows, one letter
from a well-known one, or one from a URL, git or another index; and for an import one letter from a well-known package that the project does not
have. *Says* when an import cannot be found anywhere.

*Lets pass* names that the project has: its own modules, installed packages, manifests, the standard library; and whatever stood there before.

*How it was fooled before*: `import reqeusts` in a new file, `"lodahs": "^4"` in package.json, a requirement that a model made up and that
somebody had registered.

*To adjust*: `[packages]`.
"""

from __future__ import annotations

from ...model.fact import Question, QuestionKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from .file_syntax import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

    Said = tuple[Decision, str, str]


class WrittenDependency(BuiltIn):
    id = "written-dependency"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        path = written(intent, effects)
        return (Question(QuestionKind.IMPORTS, path),) if path else ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        path = written(intent, effects)
        answer = facts.answer(QuestionKind.IMPORTS, path) if path else None
        strange = answer.get("strange") if answer is not None and answer.known else None
        if not isinstance(strange, list | tuple):
            return ()
        return tuple(self.finding(*_said(each, profile), effect=effects[0]) for each in strange if isinstance(each, dict))


def _said(each: dict[str, object], profile: Profile) -> Said:
    name, near = shown(str(each.get("name"))), each.get("near")
    if each.get("foreign"):
        return (
            profile.package_foreign,
            f"names {name} from {each['foreign']}, unpinned and unknown",
            "take it from the index, by name and version",
        )
    if near:
        return (
            profile.package_lookalike,
            f"names {name}, one letter from the well-known {shown(str(near))}",
            f"check the name; {near} is the well-known one",
        )
    if each.get("manifest"):
        return (
            profile.package_unknown,
            f"names the package {name}, which is not well known",
            "check that it exists and is the right one; let a person add it",
        )
    return Decision.ALLOW, f"imports {name}, which neither the project nor the well-known packages have", ""
