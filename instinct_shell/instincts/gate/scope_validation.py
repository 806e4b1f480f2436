"""Scope validation: where paths really lead, asked of the disk before anything runs.

*Stops* a change that leaves the scope through a symlink, a folder that is one, or `..` behind one; a read or change that reaches a protected
file, a secret, agent configuration or the guard by a link, a hard link, another letter case or a glob; copying, packing or printing a whole folder that
holds protected files; a folder of unnamed content in the place of one with agent configuration; what the seeds' `scope.paths` does not name.
*Asks* for creating something outside the scope, for deleting or moving a folder
that holds protected files, and where a path cannot be followed.

*Lets pass* paths that do not exist yet below a real folder in the scope, removing a link (not what it points to), links that stay inside,
globs whose matches on this disk are all ordinary.

*How it was fooled before*: lexical prefix checks (`/work/app` and `/work/application`), `ln -s / ws/root && rm -rf ws/root/home`, a link that
is read, `ln .env x`, `.ENV` on a case-insensitive mount, a missing parent that becomes a link later (the kernel holds that one).

*To adjust*: `writable` and the name lists in `[paths]`, `paths` in `[scope]`.
"""

from __future__ import annotations

import posixpath

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.fact import Answer, Question, QuestionKind
from ...model.intent import IntentType
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import CHANGES, LOSSES, READS, TMP, Ground, elsewhere, ground_of, is_pattern, path_of
from ..patterns import PathSet, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

    Said = tuple[Decision, str, str]

_SEARCHERS = frozenset("grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep pcregrep pcre2grep ggrep agrep rg ag ack ugrep sed awk".split())
_FILE_BY_FILE = ("cp", "split", "csplit", "install", "dd")  # they leave a folder out, or refuse it
_INTO_FOLDERS = ("cp", "mv", "ln")  # a folder that is there already receives the thing instead of becoming it
MOST = 256  # questions of one judgement
_LOOK = "see where it leads: `ls -la`"
_FILE_INTENTS = (
    IntentType.FILE_READ,
    IntentType.FILE_WRITE,
    IntentType.FILE_EDIT,
    IntentType.FILE_DELETE,
    IntentType.FILE_MOVE,
    IntentType.TOOL_CALL,
)


class ScopeValidation(BuiltIn):
    id = "scope-validation"
    tier = Tier.GATE

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        ground = ground_of(intent, profile, situation)
        wanted: dict[Question, None] = {}
        for effect in effects:
            for question in _questions(effect, ground):
                wanted[question] = None
        return tuple(wanted)[:MOST]

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        ground = ground_of(intent, profile, situation)
        found: list[Finding] = []
        for effect in effects:
            if effect.kind not in CHANGES and effect.kind not in READS:
                continue
            said = (
                _scope_paths(intent, effect, ground)
                or _put_in_place(effect, ground, facts)
                or _created_outside(effect, ground)
                or _resolved(effect, ground, facts)
                or _matched(effect, ground, facts)
                or _below(effect, ground, facts)
            )
            if said is not None:
                found.append(self.finding(*said, effect=effect))
        return tuple(found)


def _questions(effect: Effect, ground: Ground) -> list[Question]:
    if (effect.kind not in CHANGES and effect.kind not in READS) or (elsewhere(effect) and not ground.in_workspace(effect.target.text)):
        return []
    if is_pattern(effect):
        return [Question(QuestionKind.GLOB, effect.target.text)]
    path = path_of(effect)
    if not path or ground.is_sink(path) or path.startswith(("/dev/", "/proc/", "/sys/")):
        return []
    asked = [Question(QuestionKind.RESOLVE, path)]
    if _whole_tree(effect, path, ground):
        asked.append(Question(QuestionKind.TREE, path))
    return asked


def _whole_tree(effect: Effect, path: str, ground: Ground) -> bool:
    """Whether what lies below matters: a folder that is copied, lost or printed whole, and that no build makes again. git leaves ignored files alone."""
    if not ground.in_scope(path) or ground.rebuildable(path) or effect.program == "git":
        return False
    if effect.has("filter") and not ground.filter_may_reach(effect.get("filter")):
        return False
    if effect.kind is EffectKind.FILE_READ:
        # Searching prints single lines and counting or hashing none: that is what folders are read for all day.
        printed = effect.has("sweep") and not effect.has("search") and not effect.has("digest") and effect.program not in _SEARCHERS
        if effect.program in _FILE_BY_FILE and not effect.has("recursive") and not effect.has("sweep"):
            return False
        return effect.has("source_of_copy") or effect.has("prints") or printed
    return effect.kind in LOSSES and not effect.has("empty")  # what is empty holds nothing


def _scope_paths(intent: Intent, effect: Effect, ground: Ground) -> Said | None:
    """The seeds' `allowed_paths`: each path a tool call names, and each path a command changes, must match one of them."""
    allowed = ground.profile.scope_paths
    path = path_of(effect) or (effect.target.text if is_pattern(effect) else "")
    if not allowed or not path or ground.is_sink(path) or (effect.kind in READS and intent.type not in _FILE_INTENTS):
        return None
    if path_allowed(allowed, path, ground):
        return None
    return Decision.DENY, f"{shown(path)} is outside the allowed paths of this profile", "allowed paths: " + ", ".join(allowed)


def path_allowed(allowed: tuple[str, ...], path: str, ground: Ground) -> bool:
    """Whether some entry, a path pattern or `re:` with an expression that matches from the start, holds for the path or its short form."""
    spellings = (path, path[len(ground.workspace) :].lstrip("/") if ground.in_workspace(path) else path)
    for entry in allowed:
        if entry.startswith("re:"):
            import re

            if any(re.match(entry[3:], each) for each in spellings):
                return True
        elif PathSet((entry.replace("{workspace}", ground.workspace).replace("{tmp}", TMP),)).find(*spellings, "/" + spellings[1]):
            return True
    return False


def _put_in_place(effect: Effect, ground: Ground, facts: Facts) -> Said | None:
    """A whole folder, whose content nobody named, in the place of one that holds agent configuration or what the host runs, or spread over it."""
    path = path_of(effect)
    cloned = effect.kind is EffectKind.FILE_CREATE and effect.program == "git"
    if not path or not (cloned or effect.kind in (EffectKind.FILE_WRITE, EffectKind.FILE_LINK)) or not ground.in_scope(path):
        return None
    never, host = ground.holds(path, "never"), ground.holds(path, "host")
    if not never and not host:
        return None
    if effect.program in _INTO_FOLDERS and not effect.has("below") and not effect.has("if_folder"):
        there = facts.answer(QuestionKind.RESOLVE, path)
        if there.known and there.get("type") == "dir" and not there.get("final_link"):
            return None  # it goes into that folder, under its own name
    what = f"puts what nobody has named in the place of {ground.shown(path)}"
    if not host:
        return Decision.DENY, f"{what}, which holds agent configuration ({shown(never[0])})", "copy the files that are wanted one by one"
    return (
        ground.profile.host_executed_decision,
        f"{what}, which holds what the host runs later ({shown(host[0])})",
        "copy the files that are wanted one by one",
    )


def _created_outside(effect: Effect, ground: Ground) -> Said | None:
    """Creating outside the scope destroys nothing; the kernel would refuse it, so a person decides whether it should be opened."""
    if effect.kind not in (EffectKind.FILE_CREATE, EffectKind.FILE_LINK) or effect.target.kind not in (TargetKind.PATH, TargetKind.PATTERN):
        return None
    path = path_of(effect) or effect.target.text
    if not path or elsewhere(effect) or ground.in_scope(path.rstrip("/") or "/") or ground.is_sink(path) or effect.has("bound"):
        return None
    instead = "`git worktree add .worktrees/next`" if effect.has("worktree") else "`mkdir -p build`"
    return Decision.ASK, f"creates {ground.shown(path)}, {ground.place(path)}", f"create it inside the workspace, such as {instead}"


def _resolved(effect: Effect, ground: Ground, facts: Facts) -> Said | None:
    path = path_of(effect)
    if not path:
        return None
    answer = facts.answer(QuestionKind.RESOLVE, path)
    changes = effect.kind in CHANGES
    if not answer.known:
        if answer.why == "not asked" or not changes or not ground.in_scope(path):
            return None
        return Decision.ASK, f"it cannot be told where {ground.shown(path)} leads ({answer.why})", _LOOK
    if effect.has("touch") and answer.get("exists") is False and (ground.protected(path) or ground.lockfile(path)):
        return Decision.DENY, f"creates the protected file {ground.shown(path)}", "write a sample such as .env.example"
    for real in _real_names(effect, answer):
        if real == path:
            continue
        said = _by_another_name(effect, path, real, ground)
        if said is not None:
            return said
    return None


def _real_names(effect: Effect, answer: Answer) -> list[str]:
    """What the effect acts on: removing or moving a link takes the link itself, everything else what it points to."""
    itself = effect.kind in LOSSES or (effect.kind is EffectKind.FILE_LINK)
    names = [str(answer.get("parent") if itself and answer.get("final_link") else answer.get("path"))]
    names += [str(answer.get(key)) for key in ("case_twin", "same_as") if answer.get(key)]
    return [name for name in names if name.startswith("/")]


def _by_another_name(effect: Effect, path: str, real: str, ground: Ground) -> Said | None:
    words = f"{ground.shown(path)} is {ground.shown(real)}"
    if effect.kind in READS:
        if ground.secret(real):
            return Decision.DENY, f"{words}, a secret", _LOOK
        if ground.protected(real):
            return Decision.DENY, f"{words}, a protected file", _LOOK
        return None
    if ground.guard(real):
        return Decision.DENY, f"{words}, which belongs to the guard", _LOOK
    if ground.never_write(real) and not ground.never_write(path):
        return Decision.DENY, f"{words}, agent configuration", _LOOK
    if effect.kind is not EffectKind.FILE_METADATA:  # permissions leave the content alone, as when the file is named
        if ground.protected(real) or ground.secret(real):
            return Decision.DENY, f"{words}, a protected file", _LOOK
        if ground.lockfile(real) and not effect.has("by_manager"):
            return Decision.DENY, f"{words}, a lockfile", _LOOK
    if ground.in_scope(path) and not ground.in_scope(real) and not ground.is_sink(real):
        if not _same_scope(ground, real):
            return Decision.DENY, f"{words}, {ground.place(real)}", _LOOK
    if effect.kind in LOSSES and ground.covers_scope(real):
        return Decision.DENY, f"{words}: {ground.covers_scope(real)}", _LOOK
    if ground.is_repository(real) and not ground.is_repository(path):
        return Decision.DENY, f"{words}, the repository's own data", _LOOK
    if ground.host_executed(real) and not ground.host_executed(path):
        return ground.profile.host_executed_decision, f"{words}, which the host runs later", _LOOK
    return None


def _same_scope(ground: Ground, real: str) -> bool:
    """A scratch folder that is itself a link (macOS has /tmp -> /private/tmp) stays scratch."""
    return real.startswith("/private/") and ground.in_scope(real.removeprefix("/private"))


def _matched(effect: Effect, ground: Ground, facts: Facts) -> Said | None:
    """What a glob matches on this disk."""
    if not is_pattern(effect):
        return None
    answer = facts.answer(QuestionKind.GLOB, effect.target.text)
    paths = answer.get("paths") if answer.known else None
    for path in paths if isinstance(paths, list | tuple) else ():
        said = _by_another_name(
            effect.replace(target=effect.target.replace(kind=TargetKind.PATH, text=str(path))), effect.target.text, str(path), ground
        )
        if said is not None:
            return said
    return None


def _left_out(path: str, effect: Effect) -> bool:
    """Whether the copy itself leaves this file out (`tar --exclude=.env`), by its name or by a part of its path."""
    parts = path.split("/")
    return any(
        matches(chosen.strip("/").removeprefix("./"), part) for chosen in effect.get("exclude").split(",") if chosen for part in parts
    )


def _below(effect: Effect, ground: Ground, facts: Facts) -> Said | None:
    """Protected files inside a folder that is copied, packed, deleted or moved."""
    path = path_of(effect)
    if not path or not _whole_tree(effect, path, ground):
        return None
    held = facts.answer(QuestionKind.TREE, path).get("protected", ())
    held = [str(each) for each in held if not _left_out(str(each), effect)] if isinstance(held, list | tuple) else []
    if effect.has("filter"):
        held = [each for each in held if matches(effect.get("filter"), posixpath.basename(each))]
    if not held:
        return None
    names = ", ".join(ground.shown(each) for each in held[:3])
    where = "the workspace" if path == ground.workspace else ground.shown(path)
    if effect.has("filter"):
        where = f"what is named {shown(effect.get('filter'))} in {where}"
    if effect.kind is EffectKind.FILE_READ:
        return (
            Decision.DENY,
            f"{'copies' if effect.has('source_of_copy') else 'prints what is in'} {where}, which holds protected files ({names})",
            "search what git tracks: `git grep -n TODO`"
            if effect.has("prints")
            else "copy what git tracks: `git archive --output=build/source.tar HEAD`",
        )
    verb = "deletes" if effect.kind is EffectKind.FILE_DELETE else "moves"
    return Decision.ASK, f"{verb} {where}, which holds protected files ({names})", f"look first: `ls -A {ground.argument(path)}`"
