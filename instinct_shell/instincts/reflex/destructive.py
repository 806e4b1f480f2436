"""Destructive operations: what cannot be given back is not done on a whim.

*Stops* deleting, moving or overwriting anything outside the scope (workspace and scratch), the workspace itself, its repository or everything
in it; raw devices; shredding the only copy of something; whole-tree git discards (`reset --hard`, `restore .`, `clean -f`), forms that skip
git's own refusal, history rewrites, force pushes to protected branches; DROP, TRUNCATE and unscoped DELETE; destroy verbs of clusters and
clouds; stopping services, power, disks, users, firewalls. *Asks* for sole copies (a database, a backup), for files that were just moved into
what is deleted, and for commits or refs that git can still name (`branch -D`, `stash drop`).

*Lets pass* deleting what git or undo gives back (tracked files, build output, caches, one named file), scratch under /tmp, dry runs, targets
bound by `mktemp` or a literal prefix inside the scope, `--force-with-lease`, and text that only mentions such commands.

*How it was fooled before*: another spelling of the command (`find -delete`, `xargs rm`, `shutil.rmtree`, `rsync --delete`, `: > file`,
`git -C . reset --hard`, `git push origin +main`), another name for the target (`$PWD`, `..`, a link made in the same line, `/proc/self/root`),
a wrapper, an interpreter, a script written in the same line, an unset variable that leaves `/app`.

*To adjust*: `[effects]`, `[dynamic]`, `sole_copies`, `build_output` and `writable` in `[paths]`, `protected_refs` in `[git]`.
"""

from __future__ import annotations

from ...model.verdict import Tier
from ..base import BuiltIn
from ..ground import CHANGES, ground_of
from .destructive_files import judge_file
from .destructive_git import judge_git
from .destructive_systems import judge_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.effect import Effect
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding


class DestructiveOperation(BuiltIn):
    id = "destructive-operation"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for number, effect in enumerate(effects):
            if effect.kind in CHANGES:
                said = judge_file(effect, effects[:number], ground_of(intent, profile, situation), situation.jail_level)
            elif effect.kind.startswith("git."):
                said = judge_git(effect, ground_of(intent, profile, situation))
            else:
                said = judge_system(effect, profile)
            if said is not None:
                decision, reason, instead = said
                found.append(self.finding(decision, reason, instead, effect=effect))
        return tuple(found)
