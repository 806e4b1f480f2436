"""Impact: how much would be lost that neither git nor undo gives back.

*Stops* a force push of the current branch when that branch is protected. *Asks* for discarding uncommitted work of a whole folder, and for
deleting a folder with more untracked or modified files than undo keeps.

*Lets pass* what is tracked and clean, build output, one named file, scratch.

*How it was fooled before*: `git push -f` names no branch (here it is looked up), `git restore src/` looks like one file, a folder of
untracked originals looks like any other.

*To adjust*: `protected_refs` in `[git]`, `build_output` in `[paths]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.fact import Question, QuestionKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import Ground, ground_of, path_of
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
        return tuple(found)

    def _tree(self, effect: Effect, path: str, ground: Ground, facts: Facts) -> Finding | None:
        answer = facts.answer(QuestionKind.TREE, path)
        files, size = _count(answer.get("files")), _count(answer.get("bytes"))
        loose = _count(answer.get("untracked")) + _count(answer.get("modified"))
        if not answer.known or not loose or not (answer.get("more") or loose > UNDO_FILES or size > UNDO_BYTES):
            return None
        many = f"more than {files}" if answer.get("more") else str(files)
        reason = f"deletes {ground.shown(path)} with {many} files ({size // (1024 * 1024)} MB), {loose} of them unknown to git: more than undo keeps"
        return self.finding(Decision.ASK, reason, f"look first: `ls -A {ground.argument(path)}`", effect=effect)


def _counted(effect: Effect, path: str, ground: Ground) -> bool:
    return (
        effect.kind is EffectKind.FILE_DELETE
        and bool(path)
        and ground.in_workspace(path)
        and not ground.rebuildable(path)
        and (effect.has("recursive") or effect.has("sweep"))
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
