"""Lease: two sessions do not write the same file without a person knowing.

*Asks* before a write, edit, delete or move of a path that another agent session has written by a file tool within the last fifteen minutes, and
names the holder; a shell command that names such a path asks too.

*Lets pass* one's own paths, paths that only commands have written, and callers without a session, of whom nobody can tell who they are.

*How it was fooled before*: two agents in one checkout that undo each other's work, edit by edit.

*To adjust*: `leases` in `[files]`; a lease ends by itself.
"""

from __future__ import annotations

from ...model.effect import TargetKind
from ...model.fact import Question, QuestionKind
from ...model.verdict import Tier
from ..base import BuiltIn, shown
from ..ground import CHANGES, elsewhere, ground_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

MOST = 16  # paths of one intent that are looked up


class Lease(BuiltIn):
    id = "lease"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        if not intent.session:
            return ()
        paths = dict.fromkeys(effect.target.text for effect in effects if _counts(effect, situation.workspace))
        return tuple(Question(QuestionKind.LEASE, path) for path in list(paths)[:MOST])

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: dict[str, Finding] = {}
        for effect in effects:
            path = effect.target.text
            if path in found or not _counts(effect, situation.workspace):
                continue
            answer = facts.answer(QuestionKind.LEASE, path)
            holder = answer.get("holder") if answer.known else ""
            if holder:
                agent = f" of {answer.get('agent')}" if answer.get("agent") else ""
                where = ground_of(intent, profile, situation).shown(path)
                reason = f"session {shown(str(holder))}{agent} is at work on {where}, for {answer.get('minutes')} minutes more"
                found[path] = self.finding(profile.file_leases, reason, "work on another file, or wait until its lease ends", effect=effect)
        return tuple(found.values())


def _counts(effect: Effect, workspace: str) -> bool:
    target = effect.target
    return (
        effect.kind in CHANGES
        and target.kind is TargetKind.PATH
        and not target.dynamic
        and target.text.startswith(workspace.rstrip("/") + "/")
        and not elsewhere(effect)
    )
