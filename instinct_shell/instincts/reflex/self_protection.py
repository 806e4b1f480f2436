"""Self-protection: the guard, its configuration and the agents' own settings are not the agent's to change.

*Stops* writing, deleting, moving or linking over agent configuration (hooks, permissions, MCP servers) and the guard's own files, also when a
folder that holds them is taken away; setting `INSTINCT_*` variables; killing the agent or the guard; the guard's own verbs that decide something
(`instinct approve`, `instinct task clear`, `instinct budget set`); skipping the guard's project file; attaching a debugger to the guard or the agent;
starting an agent that asks nobody (`--dangerously-skip-permissions`, `--yolo`).

*Lets pass* reading all of these, and instructions for agents (CLAUDE.md, AGENTS.md, commands, skills), which are ordinary project files.

*How it was fooled before*: `tee` instead of the Write tool, `jq ... > x && mv x settings.json`, `sed -i`, a helper script written to /tmp,
appending to an allow-list file, a new `.instinct.toml`, `export INSTINCT_PROFILE=off`, another shell.

*To adjust*: `never_write` in `[paths]` of the person's profile grows; a person edits these files outside the agent.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import CHANGES, LOSSES, Ground, folder_of, ground_of, is_pattern, path_of
from ..patterns import PathSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_PERSON = "ask the person to change it; reading it is fine"
_HARMLESS_VARIABLES = ("INSTINCT_SESSION", "INSTINCT_WORKSPACE")  # chosen at the first command, fixed afterwards
# Folders that hold configuration: deleting or moving the folder takes it along.
_FOLDERS = (".claude", ".cursor", ".codex", ".gemini", ".opencode", ".kiro", ".qwen", ".amazonq", ".windsurf", ".roo", ".clinerules")


class SelfProtection(BuiltIn):
    id = "self-protection"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for effect in effects:
            if effect.kind in CHANGES:
                said = _file(effect, ground_of(intent, profile, situation))
            elif effect.kind is EffectKind.ENV_HIJACK:
                said = _variable(effect)
            elif effect.kind is EffectKind.PROCESS_KILL:
                said = _kill(effect, situation)
            elif effect.kind is EffectKind.PROCESS_SPAWN and effect.has("attaches"):
                said = _kill(effect, situation).replace("kills ", "attaches to ")
            elif effect.kind is EffectKind.PROCESS_SPAWN and effect.has("unasked"):
                said = f"starts an agent that asks nobody: {shown(effect.target.text + ' ' + effect.get('unasked'))}"
            elif effect.kind is EffectKind.PROCESS_SPAWN and effect.has("guard"):
                said = f"decides for the person by {shown('instinct ' + effect.get('guard'))}"
            elif effect.kind is EffectKind.GIT_DISCARD and effect.target.kind is TargetKind.PATH:
                said = _file(effect, ground_of(intent, profile, situation))
            else:
                continue
            if said:
                found.append(
                    self.finding(
                        Decision.DENY,
                        said,
                        _PERSON if effect.kind is not EffectKind.PROCESS_KILL else "stop one child of your own by its pid",
                        effect=effect,
                    )
                )
        return tuple(found)


def _file(effect: Effect, ground: Ground) -> str:
    path = path_of(effect)
    if path:
        if ground.guard(path):
            return f"changes the guard's own file {ground.shown(path)}"
        if ground.never_write(path):
            return f"changes agent configuration: {ground.shown(path)}"
        if effect.kind in LOSSES or (effect.kind is EffectKind.FILE_METADATA and effect.has("recursive")):
            held = ground.holds_guard(path)
            if held and not ground.covers_scope(path):
                return f"takes away {ground.shown(path)}, which holds the guard's {shown(held)}"
            if effect.kind in LOSSES and path.rpartition("/")[2] in _FOLDERS:
                return f"takes away the agent configuration in {ground.shown(path)}"
        return ""
    if is_pattern(effect):
        glob = effect.target.text
        if ground.glob_reaches(glob, "never") or ground.never_write(folder_of(effect)) or ground.guard(folder_of(effect)):
            return f"changes agent configuration by {ground.shown(glob)}"
        return ""
    if effect.target.dynamic and effect.target.kind is TargetKind.PATH and effect.target.text:
        head = effect.target.text
        if ground.never_write(head.rstrip("/")) or ground.guard(head.rstrip("/")):
            return f"changes something below {ground.shown(head)}, which belongs to the guard or the agent"
        tail = effect.get("suffix")
        if tail and "/" in tail and PathSet(ground.profile.never_write).find("/" + tail.lstrip("/")):
            return f"changes agent configuration: a path that ends in {shown(tail)}"
    return ""


def _variable(effect: Effect) -> str:
    name = effect.get("variable") or effect.target.text
    if name.startswith("INSTINCT_") and name not in _HARMLESS_VARIABLES:
        return f"sets the guard's own variable {shown(name)}"
    return ""


def _kill(effect: Effect, situation: Situation) -> str:
    target = effect.target.text
    if effect.get("by") in ("signal0", "child"):
        return ""
    if target.isdigit() and (int(target) in situation.agent_pids or int(target) == 1):
        return f"kills process {shown(target)}, which is the agent, the guard or the session itself"
    if effect.get("by") == "parent" or target in ("$PPID", "PPID"):
        return "kills its own parent, which is the agent or the guard"
    if effect.get("by") == "name" and (
        target.startswith("instinct") or target in ("claude", "codex", "gemini", "opencode", "cursor-agent")
    ):
        return f"kills {shown(target)}, the agent or the guard"
    return ""
