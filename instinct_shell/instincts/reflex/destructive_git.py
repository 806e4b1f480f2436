"""Losses in git: the part of destructive-operation that knows what git can still give back."""

from __future__ import annotations

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.verdict import Decision
from ..base import shown
from ..ground import Ground
from ..patterns import any_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[Decision, str, str]

_STASH = "keep the work: `git stash push -u`"


def judge_git(effect: Effect, ground: Ground) -> Said | None:
    """What a git effect would lose."""
    match effect.kind:
        case EffectKind.GIT_DISCARD:
            return _discard(effect, ground)
        case EffectKind.GIT_FORCE_PUSH:
            return _force_push(effect, ground)
        case EffectKind.GIT_DELETE_REF:
            return _delete_ref(effect, ground)
        case EffectKind.GIT_REWRITE:
            decision = ground.profile.effect_decision(EffectKind.GIT_REWRITE)
            how = effect.get("how") or "history rewrite"
            return (
                decision,
                f"rewrites history for good ({shown(how)})",
                "make a new commit that takes it back: `git revert --no-edit HEAD`",
            )
        case _:
            return None


def _scratch(effect: Effect, ground: Ground) -> bool:
    """Whether the work tree lies in scratch, where deleting all of it would pass too: a folder below /tmp, or a fresh one."""
    path = effect.target.text
    if effect.target.dynamic:
        return effect.has("bound") and ground.in_scope(path.rstrip("/") or "/") and not ground.in_workspace(path.rstrip("/") or "/")
    return effect.target.kind is TargetKind.PATH and ground.in_scope(path) and not ground.in_workspace(path) and path not in ground.writable


def _discard(effect: Effect, ground: Ground) -> Said | None:
    stash = effect.get("stash")
    if stash == "clear":
        return Decision.DENY, "drops every stash", "look at them: `git stash list`"
    if stash:
        return Decision.ASK, "drops a stash", "look at it: `git stash show -p`, or keep it as a branch: `git stash branch rescue`"
    if _scratch(effect, ground):
        return None
    if effect.has("force"):
        return Decision.DENY, "skips git's own refusal to lose uncommitted work", "leave the force option out, or " + _STASH
    if effect.has("sweep") or not effect.has("named"):
        if effect.has("untracked"):
            what = "untracked and ignored files" if effect.has("ignored") else "untracked files"
            return Decision.DENY, f"deletes {what} unseen", "see what would go: `git clean -nd`"
        return Decision.DENY, "discards uncommitted work of the whole tree", _STASH
    if effect.has("folder"):
        return (
            Decision.ASK,
            f"discards uncommitted work in the whole folder {ground.shown(effect.target.text)}",
            "see what would be lost: `git diff`, or " + _STASH,
        )
    decision = ground.profile.effect_decision(EffectKind.GIT_DISCARD)
    if decision is Decision.ALLOW:
        return None
    return decision, f"discards uncommitted work in {ground.shown(effect.target.text)}", "see what would be lost: `git diff`"


def _force_push(effect: Effect, ground: Ground) -> Said | None:
    instead = "push without force, or refuse to overwrite what you have not seen: `git push --force-with-lease`"
    if effect.has("all"):
        return Decision.DENY, f"overwrites every ref of {shown(effect.get('remote') or 'the remote')}", instead
    branch = short_ref(effect.get("branch"))
    if branch and any_matches(ground.profile.protected_refs, branch):
        return Decision.DENY, f"force-pushes the protected branch {shown(branch)}", instead
    decision = max(ground.profile.effect_decision(EffectKind.GIT_FORCE_PUSH), Decision.ASK)
    return decision, f"force-pushes {shown(branch) if branch else 'the current branch'}", instead


def _delete_ref(effect: Effect, ground: Ground) -> Said | None:
    kind = effect.get("kind") or "ref"
    name = short_ref(effect.get("branch") or effect.target.text)
    guarded = any_matches(ground.profile.protected_refs, name)
    words = f"the {'protected ' if guarded else ''}{kind.replace('_', ' ')} {shown(name)}"
    look = "see what it holds: `git log --oneline -10`"
    if kind == "ref" or effect.has("all") or (guarded and kind in ("remote_branch", "branch", "remote_tag")):
        return Decision.DENY, f"deletes {words}", look
    if kind == "stash":
        return Decision.ASK, "drops a stash", "look at it: `git stash show -p`"
    return max(ground.profile.effect_decision(EffectKind.GIT_DELETE_REF), Decision.ASK), f"deletes {words}", look


def short_ref(name: str) -> str:
    """A ref without `refs/heads/` and its like, and without a remote's name when it is written `origin/x`."""
    for prefix in ("refs/heads/", "refs/tags/", "refs/remotes/", "heads/", "origin/", "upstream/"):
        name = name.removeprefix(prefix)
    return name
