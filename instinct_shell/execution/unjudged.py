"""What the host runs or trusts and what came into being while commands ran, without having been judged: found at the next command, and set aside.

No mount can hold a name that is not there yet, and the end of a run is not always seen: its launcher may be killed, and what it left in the background
writes later. So each command begins by comparing the guarded paths of the workspace, which its jail needs anyway, with those of the command before. What
is new is laid to a run by its time of change, and stays when that run was judged to make it, when git knows it as it is, or when no run was going on:
then a person made it. Nothing is looked up or written while nothing is new.
"""

from __future__ import annotations

import os
import time

from ..instincts.ground import RUN_ELSEWHERE
from ..model.digest import text_digest
from ..model.effect import Effect, EffectKind, TargetKind
from ..model.value import Value
from .looking import possible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Hooks that git runs. A folder of samples is no harm.
HOOKS = tuple(
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge "
    "pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate "
    "fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change".split()
)
MAKES = (EffectKind.FILE_WRITE, EffectKind.FILE_CREATE, EffectKind.FILE_APPEND, EffectKind.FILE_LINK, EffectKind.FILE_METADATA, EffectKind.GIT_HOOK)
_WHOLE = ("recursive", "below", "sweep")
_LATE = 1.0  # seconds after its end in which a run's last processes may still write
_EARLY = 0.1  # the clock of file times ticks coarsely
_CONFIG = ("/config", "/config.worktree")
_OF_SUBMODULES = ("core.worktree",)  # what git itself writes for one, and what is risky elsewhere
_MOST_CONFIG = 1 << 20
AWAY = ".set-aside-"
_MOST_FILES, _MOST_CONTENT = 200, 1 << 20


class Window(Value):
    """When a run of this workspace was going on, epoch seconds, and what it was judged to do."""

    begun: float
    ended: float
    effects: tuple[Effect, ...] = ()


def settle(
    state: str, workspace: str, present: Iterable[str], windows: Callable[[], Sequence[Window]], *, risky: Sequence[str] = (), whole: bool = True
) -> tuple[str, ...]:
    """Set aside what nobody judged; one line for each. present: the guarded paths that exist now, absolute; all of them, unless not `whole`.

    windows: asked only when something is new. risky: keys of git's configuration, as patterns, without which a new one is left alone.
    """
    now = {path for path in present if not _elsewhere(path, workspace)}
    place = _place(state, workspace)
    before = _read(place)
    if before is None:
        _write(place, now)
        return ()
    new = sorted(now - before)
    words = []
    if new:
        runs = windows()
        for path in new:
            since = min((run.begun for run in _going_on(path, runs)), default=time.time())
            words += [said for culprit in culprits(path, runs, workspace, risky) if (said := aside(culprit, workspace, since))]
            if not os.path.lexists(path):
                now.discard(path)
    if not whole:
        now |= before
    if now != before:
        _write(place, now)
    return tuple(words)


def fixed(workspace: str, names: Iterable[str]) -> list[str]:
    """The paths of these names, from the workspace on, that exist; names with stars and places elsewhere are left out."""
    chosen = tuple(name for name in names if is_fixed(name))
    return [path for name in possible(workspace, chosen) if os.path.lexists(path := os.path.join(workspace, name))]


def is_fixed(name: str) -> bool:
    """Whether this is one name in the workspace: no pattern with stars, and no place elsewhere."""
    return not name.startswith(("/", "{")) and not any(character in name for character in "*?[")


def aside(path: str, workspace: str, since: float) -> str:
    """Gives it another name beside its own, and says so; "" when that cannot be done. since: when the run began, in epoch seconds.

    INVARIANT: nothing outside the workspace gets another name. A jailed command can make `.claude` a symbolic link to a folder of the person's, and we
    could write there. Where a link on the way leads out, the link is what is set aside, if it came into being during the run.
    """
    from .openat import folder_below

    head, name = path[len(workspace) + 1 :].rpartition("/")[::2]
    try:
        root = os.open(workspace, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        try:
            fd = folder_below(root, head)
        except OSError:
            fd, head, name = _leading_out(root, head, since)
        if fd < 0:
            return ""
        try:
            away = f"{name}{AWAY}{os.urandom(3).hex()}"
            os.rename(name, away, src_dir_fd=fd, dst_dir_fd=fd)
        finally:
            os.close(fd)
    except OSError:
        return ""
    finally:
        os.close(root)
    folder = f"{workspace}/{head}" if head else workspace
    return f"`{folder}/{name}` was made without having been judged; it is set aside as `{folder}/{away}`"


def _leading_out(root: int, path: str, since: float) -> tuple[int, str, str]:
    """(descriptor of its folder, that folder's path, its name) of the first link on this way, if it is new; -1 when there is none. Raises OSError."""
    import stat

    fd, parts = os.dup(root), path.split("/")
    for count, name in enumerate(parts):
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            if found.st_ctime >= since - _EARLY:
                return fd, "/".join(parts[:count]), name
            break
        inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    return -1, "", ""


def known_to_git(path: str, workspace: str, since: float = 0.0) -> bool:
    """Whether the index of the repository around it has this very content: git brought it, or somebody has added it for everybody to see.

    A repository inside the workspace that has come into being, or was given another configuration, `since` then speaks for nothing.
    """
    from .gitindex import read_index

    top = os.path.dirname(path)
    while top.startswith(f"{workspace}/") and not os.path.lexists(os.path.join(top, ".git")):
        top = os.path.dirname(top)
    try:
        if top != workspace and os.lstat(os.path.join(top, ".git", "config")).st_ctime >= since - _EARLY:
            return False
    except OSError:
        return False
    entries, _ = read_index(top)
    try:
        files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names] if os.path.isdir(path) else [path]
    except OSError:
        return False
    if not files or len(files) > _MOST_FILES:
        return False
    return all((known := entries.get(os.path.relpath(file, top))) is not None and known.blob == blob_of(file) for file in files)


def blob_of(path: str) -> str:
    """The name that git gives to this file's content as it is; "" for what is no plain, small file."""
    import hashlib

    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = file.read(_MOST_CONTENT + 1)
    except OSError:
        return ""
    if len(content) > _MOST_CONTENT:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def culprits(path: str, runs: Sequence[Window], workspace: str, risky: Sequence[str]) -> list[str]:
    """Of a new path, or of what is in it, what a run made that was not judged to make it."""
    if path.endswith(("/.git", "/modules")):
        return []
    if path.endswith("/hooks") and ("/.git/" in f"{path}/" or is_bare(os.path.dirname(path))):
        return [hook for name in HOOKS if os.path.lexists(hook := f"{path}/{name}") and _unjudged(hook, runs, workspace, exact=False)]
    if _is_config(path):
        return [path] if _is_risky(path, risky) and _unjudged(path, runs, workspace, exact=True) else []
    if not _unjudged(path, runs, workspace, exact=False):
        return []
    return [] if known_to_git(path, workspace, min((run.begun for run in _going_on(path, runs)), default=0.0)) else [path]


def _unjudged(path: str, runs: Sequence[Window], workspace: str, *, exact: bool) -> bool:
    going_on = _going_on(path, runs)
    return bool(going_on) and not any(judged(effect, path, workspace, exact=exact) for run in going_on for effect in run.effects)


def _going_on(path: str, runs: Sequence[Window]) -> list[Window]:
    """The runs in whose time this path was last changed; none for what is gone."""
    try:
        changed = os.lstat(path).st_ctime
    except OSError:
        return []
    return [run for run in runs if run.begun - _EARLY <= changed <= run.ended + _LATE]


def judged(effect: Effect, path: str, workspace: str, *, exact: bool = False) -> bool:
    """Whether this effect makes this path. exact: names it, not a folder above.

    A folder above speaks for what is in it only where the effect is about all that: a copy, an archive, a clone; and never the workspace itself.
    """
    text = effect.target.text
    if effect.target.dynamic or not text:
        return effect.kind is EffectKind.GIT_CONFIG and _is_config(path)
    if effect.kind is EffectKind.GIT_CONFIG:
        return _is_config(path)
    if effect.kind is EffectKind.GIT_HOOK and effect.has("skip"):
        return False
    if effect.kind is EffectKind.GIT_HOOK and "/.git/hooks/" in path:
        return True
    if effect.target.kind is TargetKind.PATTERN:
        from ..shell.patterns import matches

        return effect.kind in MAKES and matches(text, path, path=True)
    if effect.target.kind is not TargetKind.PATH or effect.kind not in MAKES:
        return False
    if path == text:
        return True
    whole = any(effect.has(name) for name in _WHOLE) or (effect.has("folder") and effect.program == "git")
    return whole and not exact and text.startswith(f"{workspace}/") and path.startswith(f"{text}/")


def is_bare(folder: str) -> bool:
    """Whether git takes this folder itself for a repository: it has the shape of one."""
    return all(os.path.lexists(f"{folder}/{name}") for name in ("HEAD", "objects", "refs"))


def _is_config(path: str) -> bool:
    return path.endswith(_CONFIG) and ("/.git/" in path or is_bare(os.path.dirname(path)))


def _is_risky(path: str, risky: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    from .gitconfig import settings

    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = settings(file.read(_MOST_CONFIG))
    except OSError:
        return True
    harmless = _OF_SUBMODULES if "/.git/modules/" in path else ()
    return found is None or any(key not in harmless and fnmatchcase(key, pattern) for key, _ in found for pattern in risky)


def _elsewhere(path: str, workspace: str) -> bool:
    return path[len(workspace) :].lstrip("/") in RUN_ELSEWHERE


def _place(state: str, workspace: str) -> str:
    return os.path.join(state, "guarded", text_digest(workspace)[:16])


def _read(place: str) -> set[str] | None:
    try:
        with open(place, encoding="utf-8", errors="surrogateescape") as file:
            return set(file.read().split("\0")) - {""}
    except OSError:
        return None


def _write(place: str, paths: set[str]) -> None:
    """Whole or not at all; what cannot be kept is compared with an older state next time."""
    draft = f"{place}.{os.getpid()}.{time.monotonic_ns()}"
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\0".join(sorted(paths)))
        os.replace(draft, place)
    except OSError:
        pass  # a full disk: the next command compares with what was before
