"""Task alignment: what is done belongs to what was asked for.

*Asks* for a change outside the task that a person stated with `instinct task set "TEXT" --paths .. --operations ..`: a file outside the paths, or
a kind of change that the operations do not name. The task is quoted in the reason.

*Lets pass* everything when no task is set; reading and running; scratch and build output; what a package manager writes for itself when
installing is part of the task.

*How it was fooled before*: an agent that was to fix a test rewrote the build, one that was to look deleted, and one that was to tidy up a folder
tidied up its neighbours. Each command was harmless by itself.

*To adjust*: `instinct task set`, `instinct task clear`. A model's judgement can be added by `[[instinct]]` in a person's profile; none is needed.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..gate.scope_validation import path_allowed
from ..ground import CHANGES, Ground, elsewhere, ground_of, path_of
from ..patterns import any_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

# Looking, and running what is judged by its own effects, is part of every task.
_ALWAYS = frozenset(
    (
        EffectKind.FILE_READ,
        EffectKind.FILE_EXECUTE,
        EffectKind.PROCESS_SPAWN,
        EffectKind.PROCESS_BACKGROUND,
        EffectKind.NET_CONNECT,
        EffectKind.NET_LISTEN,
        EffectKind.DB_READ,
        EffectKind.INFRA_READ,
        EffectKind.SECRET_READ,
        EffectKind.CODE_INLINE,
        EffectKind.CODE_SCRIPT,
        EffectKind.CODE_OPAQUE,
        EffectKind.UNKNOWN,
        EffectKind.API_CALL,
    )
)


class TaskAlignment(BuiltIn):
    id = "task-alignment"
    tier = Tier.ASSESSMENT

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        if not situation.task:
            return ()
        ground = ground_of(intent, profile, situation)
        found: dict[str, Finding] = {}
        for effect in effects:
            outside = _outside(effect, situation, ground)
            if outside and outside not in found:
                reason = f"{outside}, outside the task {shown(situation.task)}"
                found[outside] = self.finding(
                    Decision.ASK, reason, "stay with the task, or ask the person to widen it: `instinct task show`", effect=effect
                )
        return tuple(found.values())


def _outside(effect: Effect, situation: Situation, ground: Ground) -> str:
    """What the effect does that the task does not name, in words; "" when it belongs to the task."""
    if effect.kind in _ALWAYS:
        return ""
    path = path_of(effect)
    on_file = effect.kind in CHANGES or (effect.kind is EffectKind.GIT_DISCARD and bool(path))
    if on_file and path and (ground.is_sink(path) or ground.rebuildable(path) or (ground.in_scope(path) and not ground.in_workspace(path))):
        return ""
    operations = situation.task_operations
    if effect.has("by_manager"):
        installing = not operations or any_matches(operations, EffectKind.PACKAGE_INSTALL.value)
        return "" if installing else f"changes {ground.shown(path)}"
    if operations and not any_matches(operations, effect.kind.value):
        name = path or effect.target.text
        return f"does {effect.kind.value}" + (f" on {ground.shown(path) if path else shown(name)}" if name else "")
    paths = situation.task_paths
    if not paths or not on_file or elsewhere(effect):
        return ""
    if not path:
        return f"changes {shown(effect.target.text or 'a path that is only known when it runs')}"
    return "" if path_allowed(paths, path, ground) else f"changes {ground.shown(path)}"
