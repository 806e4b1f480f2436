"""Which commands may run apart, on a copy-on-write view of the workspace, in which jail, and what their real change is as effects.

Apart means: nothing in the workspace changes before the change was looked at. That is only true of a command whose doings are files in the
workspace, so everything else is refused with the reason: network, databases, git's own store, builds and servers, other machines.
"""

from __future__ import annotations

import posixpath

from ..errors import OverlayError
from ..instincts.ground import CHANGES, elsewhere, inside
from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.jailspec import JailLevel
from ..model.overlay import MOST_BYTES, WALL_SECONDS
from ..model.verdict import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.jailspec import JailSpec
    from ..model.overlay import Change, ChangeSet
    from .judgement import Judgement

_LOCAL = frozenset(
    (
        *CHANGES, EffectKind.FILE_READ, EffectKind.FILE_EXECUTE, EffectKind.PROCESS_SPAWN, EffectKind.CODE_INLINE, EffectKind.CODE_SCRIPT,
        EffectKind.CODE_OPAQUE, EffectKind.UNKNOWN,
    )
)  # fmt: skip
# Programs whose work is more than the files it leaves: histories, caches, lock files, many files, what runs on.
_NEVER = {
    **dict.fromkeys(("git", "hg", "jj", "svn"), "keeps a history of its own"),
    **dict.fromkeys(
        "make gmake ninja cmake meson bazel cargo go gradle gradlew mvn mvnw ant sbt npm pnpm yarn bun npx pip pip3 uv poetry pdm tox nox dotnet "
        "msbuild xcodebuild swift rake bundle composer mix rebar3 stack cabal just task docker podman nerdctl buildah".split(),
        "builds, installs or serves",
    ),
    **dict.fromkeys(("sqlite3", "psql", "mysql", "redis-cli", "mongosh"), "works on a database"),
}
_SINKS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/", "/proc/self/fd/")
_TMP = "/tmp"  # noqa: S108  # a private one inside


def obstacle(judgement: Judgement) -> str:
    """Why this command cannot run apart; "" when it can. Only what the jail of level full holds is held apart."""
    workspace = judgement.situation.workspace
    if judgement.situation.jail_level != JailLevel.FULL:
        return "an overlay needs a jail of level full"
    if judgement.refused or (judgement.parsed is not None and judgement.parsed.syntax_error):
        return "it is no command that could be read"
    if not inside(judgement.intent.cwd, workspace):
        return f"it runs in `{judgement.intent.cwd}`, outside the workspace"
    for effect in judgement.effects:
        reason = _not_local(effect, workspace)
        if reason:
            return reason
    for invocation in judgement.evaluation.invocations if judgement.evaluation else ():
        name = posixpath.basename(invocation.words[0].text or "") if invocation.words else ""
        if name in _NEVER:
            return f"`{name}` {_NEVER[name]}"
    return ""


def runs_apart(judgement: Judgement, *, wanted: bool, unanswered: bool, possible: bool, approvable: bool) -> bool:
    """Whether it runs apart. wanted: that was asked for. unanswered: an ask that nobody answered: only when all of it is about files here and a person
    can approve the change. possible: overlays can be made by this door, on this machine. Raises OverlayError when it was asked for where there are none."""
    if wanted and not possible:
        raise OverlayError("no overlay can be made here", hint="it needs a full jail by namespaces of our own: see `instinct doctor`")
    if not unanswered:
        return wanted and judgement.verdict.decision is not Decision.DENY
    return possible and approvable and asks_about_files(judgement) and not obstacle(judgement)


def refuse_unfit(judgement: Judgement) -> None:
    """Raise OverlayError for a command that cannot run apart."""
    reason = obstacle(judgement)
    if reason:
        raise OverlayError(f"this cannot run in an overlay: {reason}", hint="run it without one; it is judged as ever")


def asks_about_files(judgement: Judgement) -> bool:
    """Whether every question that nobody answered is about changing files in the workspace; only then may its command run apart unasked."""
    asking = [finding for finding in judgement.verdict.findings if finding.decision is Decision.ASK]
    return bool(asking) and all(
        finding.effect is not None
        and finding.effect.kind in CHANGES
        and not elsewhere(finding.effect)
        and _stays(finding.effect, judgement.situation.workspace)
        for finding in asking
    )


def _not_local(effect: Effect, workspace: str) -> str:
    program = f" (`{effect.program}`)" if effect.program else ""
    if elsewhere(effect):
        return f"it acts on another machine or in a container{program}"
    if effect.kind not in _LOCAL:
        return f"it does more than change files: {effect.kind}{program}"
    if effect.kind in CHANGES and not _stays(effect, workspace):
        return f"it changes `{effect.target.text}`, outside the workspace"
    if effect.has("hard"):
        return "it makes hard links, which a commit would part"
    name = effect.target.text if effect.kind is EffectKind.PROCESS_SPAWN else effect.program  # found in a nested text too
    return f"`{name}` {_NEVER[name]}" if name in _NEVER else ""


def _stays(effect: Effect, workspace: str) -> bool:
    """Whether a change is one of the workspace as far as is known: for the rest of the path the jail holds it there."""
    text = effect.target.text
    if effect.target.kind not in (TargetKind.PATH, TargetKind.PATTERN) or not text:
        return bool(effect.target.dynamic) and not text
    if text.startswith(_SINKS):
        return True
    if effect.has("bound") and inside(text, _TMP):
        return True  # a scratch file of its own, which goes with the private /tmp
    if inside(text, workspace):
        return True
    return bool(effect.target.dynamic) and inside(workspace, text.rstrip("/") or "/")


def spec_of(spec: JailSpec) -> JailSpec:
    """The jail for it: nothing but the workspace can be written, nothing is reached, nothing runs on, and it ends by itself."""
    limits = spec.limits
    env = tuple((name, _TMP if name in ("TMPDIR", "TMP", "TEMP") and not inside(value, spec.workspace) else value) for name, value in spec.env)
    return spec.replace(
        writable=(spec.workspace,),
        network="none",
        network_allow=(),
        publish=(),
        private_tmp=True,
        read_only=False,
        session=None,
        vetted=(),
        env=env,
        least_level=JailLevel.FULL,
        limits=limits.replace(
            wall_seconds=min(limits.wall_seconds or WALL_SECONDS, WALL_SECONDS), file_bytes=min(limits.file_bytes or MOST_BYTES, MOST_BYTES)
        ),
    )


def effects_of(change: ChangeSet) -> tuple[Effect, ...]:
    """The real change as effects, each path by itself: what is protected is protected in the middle of a deleted folder too."""
    gone = {one.path for one in change.changes if one.what == "deleted"}
    found: list[Effect] = []
    for one in change.changes:
        found += _effects(one, f"{change.workspace.rstrip('/')}/{one.path}".rstrip("/"), gone)
    return tuple(found)


def _effects(one: Change, path: str, gone: set[str]) -> list[Effect]:
    target = Target(TargetKind.PATH, path)
    if one.what == "deleted":
        whole = one.kind == "dir" and one.path.rpartition("/")[0] not in gone
        return [Effect(EffectKind.FILE_DELETE, target, program="overlay", attributes=(("recursive", "1"),) if whole else ())]
    if one.what == "metadata":
        return [Effect(EffectKind.FILE_METADATA, target, program="overlay")]
    made = [Effect(EffectKind.FILE_WRITE if one.what == "modified" else EffectKind.FILE_CREATE, target, program="overlay")]
    if one.kind == "link":
        made.append(Effect(EffectKind.FILE_LINK, target, program="overlay", attributes=(("to", one.to),)))
    return made


def git_of(change: ChangeSet) -> str:
    """A path of a git store among the changes; "" when there is none. What git keeps is changed by git itself, where it can lock it."""
    return next((one.path for one in change.changes if ".git" in one.path.split("/")), "")


def lines_of(change: ChangeSet, most: int = 40) -> tuple[str, ...]:
    """The list of changes for people: a letter, the path, and what there is to say about it."""
    gone = {one.path for one in change.changes if one.what == "deleted" and one.kind == "dir"}
    moved = {one.moved_from for one in change.changes if one.moved_from}
    lines = []
    for one in change.changes:
        if one.what == "deleted" and (one.path in moved or one.path.rpartition("/")[0] in gone):
            continue  # told with the other end of the move, or with its folder
        lines.append(_line(one, sum(1 for other in change.changes if other.path.startswith(f"{one.path}/")) if one.path in gone else 0))
    left = len(lines) - most
    return (*lines[:most], f"... and {left} more") if left > 0 else tuple(lines)


def _line(one: Change, below: int) -> str:
    path = one.path or "."
    if one.moved_from:
        return f"R {one.moved_from} -> {path}"
    if one.what == "deleted":
        return f"D {path}/ ({below} below it)" if one.kind == "dir" else f"D {path}"
    if one.what == "metadata":
        was = one.was.mode if one.was else 0
        return f"m {path} (mode {was:04o} -> {one.mode:04o})" if was != one.mode else f"m {path} (time)"
    letter = "M" if one.what == "modified" else "A"
    if one.kind == "link":
        return f"{letter} {path} -> {one.to}"
    return f"{letter} {path}/" if one.kind == "dir" else f"{letter} {path} ({one.size} byte{'' if one.size == 1 else 's'})"
