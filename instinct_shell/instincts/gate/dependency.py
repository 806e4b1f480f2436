"""Dependencies: what is installed is what was meant.

*Asks* (denies above dev) for a package one edit away from a well-known name, one that is neither well known nor in the project's manifest, a
foreign index, a URL or git source, and a global install.

*Lets pass* installs from a lockfile or manifest, well-known names, names that the manifest already lists, and local paths.

*How it was fooled before*: `requets`, `python-dateutils`, `--extra-index-url`, `npm i https://...`, `pip install git+https://...`,
`npx` and `uvx` of a name nobody knows.

*To adjust*: `[packages]`; the list of well-known names ships with the package and is dated.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.fact import Question, QuestionKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_FOREIGN = {"url": "a URL", "git": "a git repository"}
_TRUSTED = ("lockfile", "manifest", "path")


class Dependency(BuiltIn):
    id = "dependency"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """One question for each package that is taken by name from a registry."""
        return tuple(Question(QuestionKind.PACKAGE, _subject(effect, intent)) for effect in effects if _by_name(effect))

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for effect in effects:
            if effect.kind is not EffectKind.PACKAGE_INSTALL:
                continue
            decision, reason, instead = _package(effect, intent, profile, facts)
            if decision is not Decision.ALLOW:
                found.append(self.finding(decision, reason, instead, effect=effect))
        return tuple(found)


def _name(effect: Effect) -> str:
    return effect.get("name") or effect.target.text


def _by_name(effect: Effect) -> bool:
    return effect.kind is EffectKind.PACKAGE_INSTALL and bool(_name(effect)) and effect.get("source") not in (*_TRUSTED, *_FOREIGN)


def _subject(effect: Effect, intent: Intent) -> str:
    return f"{effect.get('manager') or effect.program} {_name(effect)} {intent.cwd}"


def _package(effect: Effect, intent: Intent, profile: Profile, facts: Facts) -> tuple[Decision, str, str]:
    name, source = _name(effect), effect.get("source")
    words = shown(name) if name else "packages"
    what = "install what the lockfile holds, or let a person add it"
    if source in _FOREIGN:
        return profile.package_foreign, f"installs {words} from {_FOREIGN[source]}, unpinned and unknown", what
    if effect.has("index"):
        return (
            profile.package_foreign,
            f"installs {words} from another index ({shown(effect.get('index'))})",
            "use the index that this machine is configured for",
        )
    if effect.has("global"):
        return profile.package_global, f"installs {words} for the whole machine, outside the project", "install it in the project"
    if not _by_name(effect):
        return Decision.ALLOW, "", ""
    answer = facts.answer(QuestionKind.PACKAGE, _subject(effect, intent))
    if answer.get("known") or answer.get("declared"):
        return Decision.ALLOW, "", ""
    near = answer.get("near")
    if near:
        return (
            profile.package_lookalike,
            f"installs {words}, one letter from the well-known {shown(str(near))}",
            f"check the name; {near} is the well-known one",
        )
    return profile.package_unknown, f"installs {words}, which is neither well known nor in the project's manifest", what
