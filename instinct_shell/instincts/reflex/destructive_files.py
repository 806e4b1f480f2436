"""Losses of files: the part of destructive-operation that knows places. Each function returns (decision, reason, alternative) or None."""

from __future__ import annotations

import posixpath
import re

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.verdict import Decision
from .. import globs
from ..base import shown
from ..ground import CHANGES, LOSSES, Ground, elsewhere, inside, is_pattern, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[Decision, str, str]

_VERBS = {
    EffectKind.FILE_DELETE: "deletes",
    EffectKind.FILE_MOVE: "moves away",
    EffectKind.FILE_WRITE: "overwrites",
    EffectKind.FILE_APPEND: "appends to",
    EffectKind.FILE_METADATA: "changes permissions or ownership of",
    EffectKind.FILE_LINK: "makes a link at",
    EffectKind.FILE_CREATE: "creates",
}
_INSIDE = "name a path inside the workspace, such as `rm -rf ./build`"
_WRITE_INSIDE = "write inside the workspace, such as `mkdir -p build`, or under /tmp"
_LEAVE = "leave it where it is, and work on a copy inside the workspace"
_ONE_FILE = "name the one file inside the workspace that needs it, and look first: `ls -la`"
_DISKS = "write to a file inside the workspace, and see which disks there are: `lsblk`"
# Where databases and their like keep their data: the folder, all of it, or one of its main parts.
_DATA = (
    r"(?:/var/lib/(?:postgresql|pgsql|mysql|mariadb|mongodb|mongo|redis|elasticsearch|opensearch|rabbitmq|influxdb2?|clickhouse|neo4j|couchdb|cassandra|"
    r"scylla|etcd|consul|grafana|prometheus|meilisearch|minio|docker|gitea|registry)|/data/(?:db|configdb)|/var/opt/mssql|/opt/couchdb|"
    r"/usr/share/elasticsearch|/bitnami/\w+|/qdrant/storage|/meili_data)"
    r"(?:/(?:\d+(?:\.\d+)?|main|data|\*|\.\*))*(?:/(?:base|global|pg_wal|pg_xact|ibdata\d*|\w+\.ibd|\w+\.wt|dump\.rdb|appendonly\S*|nodes|indices|mnesia))?/?(?:\*)?"
)
_ROOTS = frozenset(("sudo", "doas", "su", "pkexec", "runuser"))


def judge_file(effect: Effect, earlier: tuple[Effect, ...], ground: Ground, jail_level: str) -> Said | None:
    """What a file effect would lose."""
    if effect.target.kind not in (TargetKind.PATH, TargetKind.PATTERN):
        return None
    if elsewhere(effect) and effect.kind not in LOSSES and not ground.in_workspace(effect.target.text):
        return None  # net.remote_exec or the container's own decision stands for it
    if effect.has("container") and effect.has("remote") and effect.kind in LOSSES and (held := re.fullmatch(_DATA, effect.target.text)):
        return (
            Decision.DENY,
            f"{_VERBS[effect.kind]} {shown(held[0])}, where the service in the container {shown(effect.get('remote'))} keeps its data",
            "look first, and let a person make a back-up: `ls -la`",
        )
    if effect.has("container") and effect.has("remote") and effect.kind in LOSSES and effect.target.text.strip("/*").count("/"):
        return (
            max(ground.profile.remote_exec_local, Decision.ASK),
            f"{_VERBS[effect.kind]} {shown(effect.target.text)} in the container {shown(effect.get('remote'))}",
            "look first, and change what the image is made of",
        )
    if effect.target.dynamic:
        return _dynamic(effect, ground, jail_level)
    if is_pattern(effect):
        return _pattern(effect, ground)
    path = path_of(effect)
    if not path or effect.kind is EffectKind.FILE_CREATE:
        return _created(path, ground) if path else None
    if effect.kind in LOSSES:
        return _loss(effect, path, earlier, ground)
    return _change(effect, path, ground)


def _created(path: str, ground: Ground) -> Said | None:
    """Creating destroys nothing, but nothing belongs into a device, `/proc`, `/sys` or the repository's own store."""
    if ground.is_sink(path) or not path.startswith(("/dev/", "/proc/", "/sys/")) or ground.in_scope(path):
        return None
    return Decision.DENY, f"writes to {shown(path)}, {ground.place(path)}", _instead(EffectKind.FILE_CREATE, path)


def _instead(kind: EffectKind, path: str) -> str:
    """What to do instead of an effect of this kind outside the scope."""
    if kind is EffectKind.FILE_MOVE:
        return _LEAVE
    if kind in LOSSES:
        return _INSIDE
    if kind is EffectKind.FILE_METADATA:
        return _ONE_FILE
    return _DISKS if path.startswith("/dev/") else _WRITE_INSIDE


def _loss(effect: Effect, path: str, earlier: tuple[Effect, ...], ground: Ground) -> Said | None:
    verb = _VERBS[effect.kind]
    covered = ground.covers_scope(path)
    chosen = effect.get("filter")
    if covered:
        if path == ground.workspace and effect.has("sweep") and chosen and not globs.wild(chosen):
            return None  # `find . -name '*.pyc' -delete` chooses by name
        if path == ground.workspace and effect.has("empty"):
            return None  # only what is empty goes
        if effect.has("one") and path == ground.workspace:
            return Decision.ASK, f"{verb} a file that is chosen by its number or its twin", "name the file: `find . -inum 12345 -print`"
        what = f"everything in {covered}" if effect.has("sweep") else covered
        if path == ground.workspace and effect.kind is EffectKind.FILE_DELETE:
            return Decision.DENY, f"{verb} {what} ({shown(path)}), the repository included", _INSIDE
        return Decision.DENY, f"{verb} {what} ({shown(path)})", _instead(effect.kind, path)
    if not ground.in_scope(path):
        unset = effect.get("unset")
        why = f"; `${unset}` is not set, which leaves this path" if unset else ""
        return Decision.DENY, f"{verb} {ground.shown(path)}, {ground.place(path)}{why}", _instead(effect.kind, path)
    if ground.is_repository(path):
        return (
            Decision.DENY,
            f"{verb} the repository's own data ({ground.shown(path)})",
            "undo with git itself, such as `git status` and `git stash push`",
        )
    if path in ground.scratch and not ground.in_workspace(path):
        if effect.has("empty") or (effect.has("sweep") and effect.get("filter") and not globs.wild(effect.get("filter"))):
            return None
        return (
            Decision.ASK,
            f"{verb} everything in {shown(path)}, where other programs keep files too",
            "name one folder of your own, such as `rm -rf /tmp/app-test`",
        )
    if not ground.in_workspace(path):
        return None
    if effect.has("shred") or effect.program == "shred":
        if ground.sole_copy(path):
            return (
                Decision.DENY,
                f"shreds {ground.shown(path)}, which usually exists once",
                f"keep a copy: `cp {ground.argument(path)} build/`",
            )
        return None
    if effect.kind is EffectKind.FILE_DELETE:
        if ground.sole_copy(path) and not effect.has("created"):
            return (
                Decision.ASK,
                f"deletes {ground.shown(path)}, which usually exists once",
                f"move it aside: `mv {ground.argument(path)} build/`",
            )
        moved = _moved_into(path, earlier, ground)
        if moved:
            return (
                Decision.ASK,
                f"deletes {ground.shown(path)} after {moved} was moved into it",
                f"look first: `ls -A {ground.argument(path)}`",
            )
    return None


def _change(effect: Effect, path: str, ground: Ground) -> Said | None:
    """Overwriting, appending, links and permissions."""
    verb = _VERBS[effect.kind]
    if ground.is_sink(path):
        return None
    if not ground.in_scope(path):
        if effect.kind is EffectKind.FILE_LINK and not effect.has("force") and not ground.covers_scope(path):
            return None  # a new name somewhere else, over nothing: scope-validation asks
        if effect.kind is EffectKind.FILE_METADATA and effect.has("touch") and not _ROOTS.intersection(effect.origin):
            return Decision.ASK, f"changes the times of {ground.shown(path)}, {ground.place(path)}", _WRITE_INSIDE
        return Decision.DENY, f"{verb} {ground.shown(path)}, {ground.place(path)}", _instead(effect.kind, path)
    if effect.has("whole") and path == ground.workspace and effect.kind in (EffectKind.FILE_WRITE, EffectKind.FILE_APPEND):
        return (
            Decision.DENY,
            f"{verb} every file below {shown(path)}, the repository's own data included",
            "change what git tracks: `git ls-files -z | xargs -0 sed -i s/old/new/`",
        )
    if ground.is_repository(path) and effect.kind is not EffectKind.FILE_METADATA:
        return Decision.DENY, f"{verb} the repository's own data ({ground.shown(path)})", "let git write it, such as `git status`"
    return None


def _pattern(effect: Effect, ground: Ground) -> Said | None:
    """A shell glob, before the disk is asked: does it sweep the workspace, reach the repository, or leave the scope?"""
    if effect.kind not in CHANGES:
        return None
    glob, verb = effect.target.text, _VERBS[effect.kind]
    folder = ground.sweeps(glob)
    prefix = globs.literal_prefix(glob)
    stem = prefix if prefix.endswith("/") else posixpath.dirname(prefix)
    stem = stem.rstrip("/") or "/"
    if effect.kind in LOSSES:
        if folder and ground.covers_scope(folder):
            if effect.kind is EffectKind.FILE_DELETE or folder != ground.workspace:
                return Decision.DENY, f"{verb} everything in {ground.covers_scope(folder)} ({shown(glob)})", _instead(effect.kind, folder)
        if folder and folder in ground.scratch:
            return (
                Decision.ASK,
                f"{verb} everything in {shown(folder)}, where other programs keep files too",
                "name one folder of your own, such as `rm -rf /tmp/app-test`",
            )
    if not ground.in_scope(stem) and not (ground.in_scope(stem + "/x") and stem != "/"):
        if effect.kind is EffectKind.FILE_CREATE or (effect.kind is EffectKind.FILE_LINK and not effect.has("force")):
            return None
        return Decision.DENY, f"{verb} {shown(glob)}, {ground.place(stem)}", _instead(effect.kind, stem)
    if effect.kind in LOSSES and ground.in_workspace(stem) and _reaches_repository(glob, ground):
        return Decision.DENY, f"{verb} the repository's own data by {shown(glob)}", _INSIDE
    if effect.kind is EffectKind.FILE_DELETE and ground.in_workspace(stem) and not ground.rebuildable(stem + "/x"):
        sole = next((pattern for pattern in ground.profile.sole_copies if _same_end(glob, pattern)), "")
        if sole:
            return (
                Decision.ASK,
                f"deletes {ground.shown(glob)}, data that usually exists once",
                "look first with `ls -la`, and move it into build",
            )
    return None


def _reaches_repository(glob: str, ground: Ground) -> bool:
    depth = len(globs.components(globs.escape(ground.workspace)))
    parts = globs.components(glob)
    return len(parts) == depth + 1 and parts[depth].startswith((".", "[.", "\\.")) and globs.shell_automaton(parts[depth]).accepts(".git")


def _same_end(glob: str, pattern: str) -> bool:
    """Whether the glob's ending is the sole-copy pattern's (`*.sqlite`)."""
    return pattern.startswith("*.") and "*" not in pattern[1:] and globs.literal_runs(glob)[-1].endswith(pattern[1:])


def _moved_into(path: str, earlier: tuple[Effect, ...], ground: Ground) -> str:
    """What was moved (not copied) below this path earlier in the same line, unless a build makes it again."""
    for effect in earlier:
        if effect.kind is EffectKind.FILE_MOVE and inside(effect.get("to"), path) and not ground.rebuildable(effect.target.text):
            return ground.shown(effect.target.text)
    return ""


def _dynamic(effect: Effect, ground: Ground, jail_level: str) -> Said | None:
    """A path that is only known when the command runs: bound, held by a literal prefix, or decided by the profile's table."""
    prefix, why = effect.target.text, effect.target.dynamic
    if effect.has("bound") and (not prefix or ground.in_scope(prefix.rstrip("/") or "/")):
        return None
    verb = _VERBS[effect.kind]
    if _ROOTS.intersection(effect.origin) and (effect.kind in LOSSES or effect.has("recursive")):
        return Decision.DENY, f"{verb} a path that is only known when it runs ({why}), with the rights of root", _INSIDE
    folder = prefix if prefix.endswith("/") else posixpath.dirname(prefix) if prefix else ""
    folder = folder.rstrip("/") or ("/" if prefix else "")
    instead = "bind the path first, such as `rm -rf ./build`, or look at it: `ls -la`"
    if prefix and not _can_be_in_scope(prefix, ground):
        if ground.is_sink(prefix):
            return None
        made = effect.kind is EffectKind.FILE_CREATE or (effect.kind is EffectKind.FILE_LINK and not effect.has("force"))
        if made and not folder.startswith(("/dev", "/proc", "/sys")):
            return None  # scope-validation asks
        return (
            Decision.DENY,
            f"{verb} a path that begins with {shown(prefix)}, {ground.place(folder)}",
            _instead(effect.kind, prefix),
        )
    if effect.kind in LOSSES:
        below = ground.in_scope(folder) and folder not in ground.writable
        named = folder in ground.writable and len(prefix) > len(folder) + 1
        if below or named:
            return None
        if prefix and folder not in ground.writable:
            return (
                Decision.DENY,
                f"{verb} whatever follows {shown(prefix)}, which may be {ground.covers_scope(folder) or ground.place(folder)}",
                _INSIDE,
            )
        decision = ground.profile.dynamic_decision("delete", jail_level)
    elif prefix and ground.in_scope(folder):
        return None
    else:
        decision = ground.profile.dynamic_decision("write", jail_level)
    if decision is Decision.ALLOW:
        return None
    return decision, f"{verb} a path that is only known when it runs ({why})", instead


def _can_be_in_scope(prefix: str, ground: Ground) -> bool:
    """Whether some completion of the prefix lies in the scope. That the tools' caches lie in the home makes no `~/$name` harmless."""
    begins = prefix.rstrip("/") or "/"
    return any(inside(begins, folder) for folder in ground.writable) or any(folder.startswith(prefix) for folder in ground.named)
