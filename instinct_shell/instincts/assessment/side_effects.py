"""Side effects: what a command changes beside what it is for.

*Stops* nothing. *Says*, without restricting: which lockfile and manifest an install rewrites, that packages bring install scripts which run at once, which
services or processes are left behind.

*Lets pass* everything: what must not happen is stopped by the instinct whose matter it is. The notes stand in `instinct explain`, in `--json` and
in the request that a person approves.

*How it was fooled before*: `npm install x` looked like one new package, and rewrote a lockfile of eight hundred others.

*To adjust*: nothing; `task set --operations` turns what is not part of the task into a question.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import CHANGES, Ground, ground_of, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

# Managers that run code of a package while installing it.
_SCRIPTS = {
    "npm": "its install scripts (`--ignore-scripts` leaves them out)",
    "yarn": "its install scripts",
    "bun": "its install scripts when it is a trusted dependency",
    "pip": "its build when there is no wheel (`--only-binary :all:` leaves it out)",
    "uv": "its build when there is no wheel",
    "poetry": "its build when there is no wheel",
    "cargo": "its build script",
    "gem": "its native extension's build",
    "composer": "its plugins",
}


class SideEffects(BuiltIn):
    id = "side-effects"
    tier = Tier.ASSESSMENT

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        ground = ground_of(intent, profile, situation)
        notes: dict[str, Effect] = {}
        for effect in effects:
            note = _note(effect, ground)
            if note:
                notes.setdefault(note, effect)
        return tuple(self.finding(Decision.ALLOW, note, effect=effect) for note, effect in notes.items())


def _note(effect: Effect, ground: Ground) -> str:
    if effect.kind in CHANGES and effect.has("by_manager") and path_of(effect):
        kind = "lockfile" if ground.lockfile(path_of(effect)) else "manifest"
        return f"{shown(effect.get('by_manager'))} changes the {kind} {ground.shown(path_of(effect))}"
    if effect.kind is EffectKind.PACKAGE_INSTALL and effect.get("source") != "path":
        runs = _SCRIPTS.get(effect.get("manager") or effect.program)
        if runs and not effect.has("run"):
            name = effect.get("name") or effect.target.text
            return f"installing {shown(name) if name else 'packages'} runs {runs}"
    if effect.kind is EffectKind.PROCESS_BACKGROUND:
        return "leaves a process running, which ends with the jail"
    return ""
