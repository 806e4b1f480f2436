"""What is there to protect on this disk: the paths below a writable folder that must stay as they are, and the secrets that must not be seen.

Names matter, content does not: the walk looks at folder entries only, a few levels deep, and leaves build output out.
"""

from __future__ import annotations

import os

from ..engine.confine import OnDisk
from ..instincts.ground import ground_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..instincts.ground import Ground
    from ..model.profile import Profile
    from ..model.situation import Situation

MOST_FOLDERS = 3_000
MOST_PATHS = 128
DEPTH = 6
# Below `.git` only these matter, whatever the walk's depth.
_GIT = ("config", "config.worktree", "hooks", "info/attributes")


def on_disk(profile: Profile, situation: Situation, *, cache: str = "") -> OnDisk:
    """The existing protected paths and secrets. A folder that cannot be read is left out: the command cannot read it either."""
    homes = (situation.home.rstrip("/"),) if situation.home != "/" else ()
    ground = ground_for(profile, situation.workspace, homes, situation.guard_paths)
    protected, hidden = _in_workspace(ground)
    masked = _secrets(ground)
    if profile.mask_env_files:
        masked += hidden
    return OnDisk(tuple(protected[:MOST_PATHS]), tuple(dict.fromkeys(masked)), cache)


def _in_workspace(ground: Ground) -> tuple[list[str], list[str]]:
    """(paths to keep read-only, `.env*` files) of the workspace, the shallow ones first."""
    protected: list[str] = []
    env_files: list[str] = []
    level = [ground.workspace]
    seen = 0
    for _ in range(DEPTH):
        following: list[str] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS:
                return protected, env_files
            try:
                with os.scandir(folder) as entries:
                    listed = [(entry.name, entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
            except OSError:
                continue
            for name, path, is_folder in listed:
                if name == ".git":
                    protected += [each for each in (os.path.join(path, part) for part in _GIT) if os.path.lexists(each)]
                elif ground.protected(path):
                    protected.append(path)
                    if name.startswith(".env"):
                        env_files.append(path)
                elif ground.lockfile(path) or ground.never_write(path) or ground.host_executed(path):
                    protected.append(path)
                elif is_folder and not ground.rebuildable(path):
                    following.append(path)
        level = following
    return protected, env_files


def _secrets(ground: Ground) -> list[str]:
    """Existing secrets: fixed places as they are, `folder/*` by what lies in the folder, exceptions left out."""
    found: list[str] = []
    for pattern in ground.secret_patterns():
        if pattern.startswith("/proc/"):
            continue  # a process sees its own environment; the jail's holds no secret
        if "*" not in pattern:
            if os.path.lexists(pattern):
                found.append(pattern)
            continue
        folder, start = os.path.split(pattern.partition("*")[0])
        try:
            names = sorted(name for name in os.listdir(folder) if name.startswith(start))  # a full match costs much more
        except OSError:
            continue
        found += [path for path in (os.path.join(folder, name) for name in names) if ground.secret(path)]
    return found
