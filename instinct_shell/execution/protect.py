"""What is there to protect on this disk: the paths below a writable folder that must stay as they are, and the secrets that must not be seen.

Names matter, content does not: the walk looks at folder entries only, a few levels deep, and leaves build output out. INVARIANT: nothing that a
command can make, however much of it, leaves what the host runs or trusts unprotected: fixed names are looked up and not searched for, and what
matters most and lies nearest to the top comes first.
"""

from __future__ import annotations

import os
from functools import lru_cache

from ..engine.confine import OnDisk
from ..errors import JailError
from ..instincts.ground import ground_for
from .looking import possible
from .unjudged import is_bare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..instincts.ground import Ground
    from ..model.profile import Profile
    from ..model.situation import Situation

    _Places = tuple[tuple[str, tuple[str, ...]], ...]

MOST_FOLDERS = 3_000
MOST_PATHS = 128  # secrets and lockfiles, which can be many
MOST_GUARDED = 512  # what the host runs or trusts, more than NEAR below the top
MOST_NEAR = 2_048
NEAR = 2  # names below the workspace: `.git/config`, `.claude/settings.json`
DEPTH = 6
# Below `.git` only these matter, whatever the walk's depth.
_GIT = ("config", "config.worktree", "commondir", "hooks", "info/attributes")
_WORKTREE = ("commondir", "config.worktree")  # of each linked worktree: git there believes these, wherever its folder is
_MODULES = 4  # levels of names below `.git/modules`: a submodule is called by its path
_GIT_DATA, _TRUSTED, _HOST_RUN, _CONTENT = range(4)  # what is protected first when there is too much


def on_disk(profile: Profile, situation: Situation, *, cache: str = "") -> OnDisk:
    """The existing protected paths and secrets. A folder that cannot be read is left out: the command cannot read it either. Raises JailError."""
    ground = _ground(profile, situation)
    protected, hidden, guarded = _in_workspace(ground)
    masked = _secrets(ground)
    if profile.mask_env_files:
        masked += hidden
    from .gitlinks import linked

    elsewhere = linked(ground.workspace)
    protected += [*elsewhere.held, *(path for folder in elsewhere.folders for path in _git_data(folder))]
    return OnDisk(tuple(protected), tuple(dict.fromkeys(masked)), cache, elsewhere.folders, guarded=guarded)


def secrets_on_disk(profile: Profile, situation: Situation) -> tuple[str, ...]:
    """The existing secrets of the situation's home and of the machine, without a look at the workspace."""
    return tuple(_secrets(_ground(profile, situation)))


def _ground(profile: Profile, situation: Situation) -> Ground:
    homes = (situation.home.rstrip("/"),) if situation.home != "/" else ()
    return ground_for(profile, situation.workspace, homes, situation.guard_paths)


def _in_workspace(ground: Ground) -> tuple[list[str], list[str], tuple[str, ...]]:
    """(paths to keep read-only, `.env*` files, what the host runs or trusts) of the workspace, what matters most first.

    Raises JailError when too much of that is near the top.
    """
    top = ground.workspace.rstrip("/")
    found: dict[str, int] = {}
    env_files: list[str] = []
    ranks, first = _fixed(ground)
    for name in possible(ground.workspace, tuple(ranks)):
        path = f"{top}/{name}"
        if os.path.lexists(path):
            found[path] = ranks[name]
    level = [ground.workspace]
    seen = 0
    for _ in range(DEPTH):
        following: list[str] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS:
                return _chosen(found, top), env_files, _guarded(found)
            asked = ground.worth_asking(folder)
            try:
                with os.scandir(folder) as entries:
                    listed = list(entries)
            except OSError:
                continue
            for entry in listed:
                name, path = entry.name, entry.path
                if name == ".git":
                    # a file says where the repository is, and so what git runs
                    found.update(dict.fromkeys(_git_data(path) if entry.is_dir(follow_symlinks=False) else [path], _GIT_DATA))
                elif name == "HEAD" and is_bare(folder):
                    # git takes a folder of this shape for a repository, also below another one, and does what its configuration says
                    found.update(dict.fromkeys((each for each in (f"{folder}/config", f"{folder}/hooks") if os.path.lexists(each)), _GIT_DATA))
                elif asked is not None and not asked(name):
                    if entry.is_dir(follow_symlinks=False) and not ground.rebuildable(path):
                        following.append(path)
                elif ground.protected(path):
                    found.setdefault(path, _CONTENT)
                    if name.startswith(".env"):
                        env_files.append(path)
                elif ground.never_write(path):
                    found.setdefault(path, _TRUSTED)
                elif ground.host_executed(path):
                    found.setdefault(path, _HOST_RUN)
                elif ground.lockfile(path):
                    found.setdefault(path, _CONTENT)
                elif entry.is_dir(follow_symlinks=False) and not ground.rebuildable(path):
                    following.append(path)
        level = sorted(following, key=lambda path: path.rpartition("/")[2] not in first)
    return _chosen(found, top), env_files, _guarded(found)


@lru_cache(maxsize=16)
def _fixed(ground: Ground) -> tuple[dict[str, int], frozenset[str]]:
    """The names that are looked up and not searched for, with their ranks, in the order of what matters; and the folders that these begin with."""
    never, host = ground.fixed_names()
    ranks = {**dict.fromkeys(never, _TRUSTED), **{name: _HOST_RUN for name in host if name not in never}}
    ranks |= {name: _GIT_DATA for name in ranks if name.startswith(".git/")}
    return ranks, frozenset(name.partition("/")[0] for name in ranks)


def _git_data(folder: str) -> list[str]:
    """What makes git run something: of a repository, of its linked worktrees, and of the submodules whose repositories lie in it."""
    found = [path for part in _GIT if os.path.lexists(path := f"{folder}/{part}")]
    try:
        worktrees = os.listdir(f"{folder}/worktrees")
    except OSError:
        worktrees = []  # none
    found += [path for name in worktrees for part in _WORKTREE if os.path.lexists(path := f"{folder}/worktrees/{name}/{part}")]
    level = [f"{folder}/modules"]
    for _ in range(_MODULES):
        following: list[str] = []
        for place in level[:MOST_PATHS]:
            try:
                inner = [entry.path for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue  # no submodules here
            for path in inner:
                if os.path.lexists(f"{path}/HEAD"):
                    found += [each for part in _GIT if os.path.lexists(each := f"{path}/{part}")]
                    following.append(f"{path}/modules")
                else:
                    following.append(path)
        level = following
    return found


def _guarded(found: dict[str, int]) -> tuple[str, ...]:
    """What must not come into being unjudged. A new linked worktree is nothing: no folder outside leads to it yet."""
    return tuple(path for path, rank in found.items() if rank != _CONTENT and not ("/.git/worktrees/" in path and path.endswith("/commondir")))


def _chosen(found: dict[str, int], top: str) -> list[str]:
    def depth(path: str) -> int:
        return path.count("/") - top.count("/")

    guarded = sorted((path for path, rank in found.items() if rank != _CONTENT), key=lambda path: (found[path], depth(path)))
    near = [path for path in guarded if depth(path) <= NEAR or path.startswith(f"{top}/.git/worktrees/")]
    if len(near) > MOST_NEAR:
        raise JailError(
            f"`{top}` holds {len(near)} files that the host runs or that guard this session, more than a jail can hold read-only",
            hint=f"see what made so many of them, such as `{near[-1]}`, and remove what is not wanted",
        )
    chosen = frozenset(near)
    further = [path for path in guarded if path not in chosen][:MOST_GUARDED]
    return [*near, *further, *[path for path, rank in found.items() if rank == _CONTENT][:MOST_PATHS]]


def _secrets(ground: Ground) -> list[str]:
    """Existing secrets: fixed places as they are, `folder/*` by what lies in the folder, exceptions left out."""
    found: list[str] = []
    listed = {home: _names_in(home) for home in ground.homes}
    fixed, starred = _secret_places(ground)
    for folder, starts in starred:
        if folder not in listed:
            listed[folder] = _names_in(folder)
        paths = [f"{folder}/{name}" for name in sorted(name for name in listed[folder] if name.startswith(starts))]  # a full match costs much more
        found += [path for path in paths if _is_secret(ground, path)]
    for folder, names in fixed:  # most of them lie in folders of the home that are not there
        at = f"{folder}/" if folder else ""
        found += [path for name in (possible(folder, names) if folder else names) if os.path.lexists(path := f"{at}{name}")]
    return found


@lru_cache(maxsize=16)
def _secret_places(ground: Ground) -> tuple[_Places, _Places]:
    """Where secrets may be: (a home, names from there on) with ("", whole paths) at last; (folder, beginnings of names) for the patterns with stars."""
    patterns = [pattern for pattern in ground.secret_patterns() if not pattern.startswith("/proc/")]  # what a jail shows of it holds no secret
    starred: dict[str, tuple[str, ...]] = {}
    for pattern in (pattern for pattern in patterns if "*" in pattern):
        folder, _, start = pattern.partition("*")[0].rpartition("/")
        starred[folder] = (*starred.get(folder, ()), start)
    left = [pattern for pattern in patterns if "*" not in pattern]
    fixed = []
    for home in ground.homes:
        fixed.append((home, tuple(path[len(home) + 1 :] for path in left if path.startswith(f"{home}/"))))
        left = [path for path in left if not path.startswith(f"{home}/")]
    return (*fixed, ("", tuple(left))), tuple(starred.items())


@lru_cache(maxsize=512)
def _is_secret(ground: Ground, path: str) -> bool:
    return bool(ground.secret(path))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder or "/")
    except OSError:
        return []  # not there, or closed to the command as well
