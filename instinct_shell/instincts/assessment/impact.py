"""Impact: how much would be lost, counted, and what of it neither git nor undo gives back.

*Stops* a force push of the current branch when that branch is protected. *Asks* for discarding uncommitted work of a whole folder, and for
deleting or moving away a folder, or what a pattern matches, with more untracked or modified files than undo keeps.

*Lets pass* what is tracked and clean, build output, one named file, scratch. For what passes it says the blast radius without restricting: files,
bytes, and how many of them git does not know (`instinct explain`, `--json`, the request that a person approves).

*How it was fooled before*: `git push -f` names no branch (here it is looked up), `git restore src/` looks like one file, a folder of
untracked originals looks like any other.

*To adjust*: `protected_refs` in `[git]`, `build_output` in `[paths]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.fact import Question, QuestionKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import Ground, ground_of, is_pattern, path_of
from ..patterns import any_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

# What undo keeps of one command: more is not promised (execution/undo).
UNDO_FILES = 2_000
UNDO_BYTES = 256 * 1024 * 1024
MOST = 64


class Impact(BuiltIn):
    id = "impact"
    tier = Tier.ASSESSMENT

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        ground = ground_of(intent, profile, situation)
        wanted: dict[Question, None] = {}
        for effect in effects:
            path = path_of(effect)
            if effect.kind is EffectKind.GIT_FORCE_PUSH and not effect.has("branch"):
                wanted[Question(QuestionKind.GIT_STATE, situation.workspace)] = None
            elif effect.kind is EffectKind.GIT_DISCARD and effect.has("named") and path:
                wanted[Question(QuestionKind.RESOLVE, path)] = None
            elif _counted(effect, path, ground):
                wanted[Question(QuestionKind.TREE, path)] = None
            elif _matched(effect, ground):
                wanted[Question(QuestionKind.GLOB, effect.target.text)] = None
        return tuple(wanted)[:MOST]

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        ground = ground_of(intent, profile, situation)
        found: list[Finding] = []
        for effect in effects:
            path = path_of(effect)
            if effect.kind is EffectKind.GIT_FORCE_PUSH and not effect.has("branch"):
                branch = str(facts.answer(QuestionKind.GIT_STATE, situation.workspace).get("branch", ""))
                if branch and any_matches(profile.protected_refs, branch):
                    found.append(
                        self.finding(
                            Decision.DENY,
                            f"force-pushes the current branch {shown(branch)}, which is protected",
                            "push without force, or with `git push --force-with-lease`",
                            effect=effect,
                        )
                    )
            elif effect.kind is EffectKind.GIT_DISCARD and effect.has("named") and path:
                if facts.answer(QuestionKind.RESOLVE, path).get("type") == "dir":
                    found.append(
                        self.finding(
                            Decision.ASK,
                            f"discards uncommitted work in the whole folder {ground.shown(path)}",
                            "see what would be lost: `git diff`, or keep it: `git stash push -u`",
                            effect=effect,
                        )
                    )
            elif _counted(effect, path, ground):
                finding = self._tree(effect, path, ground, facts)
                if finding is not None:
                    found.append(finding)
            elif _matched(effect, ground):
                finding = self._glob(effect, ground, facts)
                if finding is not None:
                    found.append(finding)
        return tuple(found)

    def _tree(self, effect: Effect, path: str, ground: Ground, facts: Facts) -> Finding | None:
        answer = facts.answer(QuestionKind.TREE, path)
        if not answer.known or not (answer.get("files") or answer.get("more")):
            return None
        files, size = _count(answer.get("files")), _count(answer.get("bytes"))
        untracked, modified = _count(answer.get("untracked")), _count(answer.get("modified"))
        loose = untracked + modified
        more = bool(answer.get("more"))
        words = "moves away" if effect.kind is EffectKind.FILE_MOVE else "deletes"
        reason = f"{words} {ground.shown(path)} with {_files(files, more=more)} ({_bytes(size)}), {_known_to_git(untracked, modified)}"
        if effect.kind is EffectKind.FILE_DELETE and loose and (more or loose > UNDO_FILES or size > UNDO_BYTES):
            look = f"look first: `ls -A {ground.argument(path)}`"
            return self.finding(Decision.ASK, f"{reason}: more than undo keeps", look, effect=effect)
        return self.finding(Decision.ALLOW, reason, effect=effect)

    def _glob(self, effect: Effect, ground: Ground, facts: Facts) -> Finding | None:
        answer = facts.answer(QuestionKind.GLOB, effect.target.text)
        paths = answer.get("paths")
        if not answer.known or not isinstance(paths, list | tuple) or not paths:
            return None
        count = _files(len(paths), more=bool(answer.get("more")), what="name")
        return self.finding(Decision.ALLOW, f"deletes {count} by {ground.shown(effect.target.text)}", effect=effect)


def _counted(effect: Effect, path: str, ground: Ground) -> bool:
    """A loss of more than one file, in the workspace, that no build makes again."""
    if not path or not ground.in_workspace(path) or ground.rebuildable(path):
        return False
    if effect.kind is EffectKind.FILE_MOVE:
        return True
    return effect.kind is EffectKind.FILE_DELETE and (effect.has("recursive") or effect.has("sweep"))


def _matched(effect: Effect, ground: Ground) -> bool:
    return effect.kind is EffectKind.FILE_DELETE and is_pattern(effect) and not ground.rebuildable(effect.target.text)


def _files(count: int, *, more: bool, what: str = "file") -> str:
    return f"{'more than ' if more else ''}{count} {what}{'' if count == 1 and not more else 's'}"


def _bytes(size: int) -> str:
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def _known_to_git(untracked: int, modified: int) -> str:
    if not untracked and not modified:
        return "all of it known to git"
    parts = [f"{untracked} untracked"] * bool(untracked) + [f"{modified} modified"] * bool(modified)
    return " and ".join(parts) + ", which git cannot give back"


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
