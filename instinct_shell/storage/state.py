"""The state directory: found, made and checked before anything else of ours is written.

Everything below it (audit trail, ledger, grants, pre-images) trusts that only its owner can write there. So the checks run each time, they
cost two `lstat` calls, and none of them is a warning.
"""

from __future__ import annotations

import os
import stat

from ..errors import StorageError
from ..model.refusal import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "instinct-shell"
PINNED = "INSTINCT_STATE"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def state_path(env: Mapping[str, str], home: str) -> str:
    """Where the state directory lies: where the installation said, else `$XDG_STATE_HOME/instinct-shell`, else `~/.local/state/instinct-shell`.
    Touches no disk.

    Installed launchers set PINNED to the place that was the person's when they installed: whoever sets HOME or XDG_STATE_HOME for an agent's
    command gets the same ledger, trail and passphrase. A relative `XDG_STATE_HOME` is ignored, as the XDG base directory specification asks.
    """
    pinned = env.get(PINNED, "")
    if pinned.startswith("/"):
        return os.path.normpath(pinned)
    base = env.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = os.path.join(home, ".local", "state")
    return os.path.join(os.path.normpath(base), NAME)


def state_directory(env: Mapping[str, str], home: str, uid: int) -> str:
    """The state directory's path, made with mode 0700 when it was missing. Raises StorageError when it cannot be trusted."""
    path = state_path(env, home)
    if not os.path.isabs(path):
        raise StorageError(f"no place for the state directory: home is `{home}`", hint="set HOME or XDG_STATE_HOME to an absolute path")
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        found = _make(path)
    except OSError as error:
        raise explain(error, path) from error
    check_private(path, found, uid)
    _check_parent(os.path.dirname(path))
    return path


def subdirectory(state: str, name: str) -> str:
    """A directory of ours inside the state directory, made 0700 when it was missing."""
    path = os.path.join(state, name)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise StorageError(f"`{path}` is not a directory", hint=f"move it away: mv {path} {path}.aside") from None
    except OSError as error:
        raise explain(error, path) from error
    return path


def check_private(path: str, found: os.stat_result, uid: int) -> None:
    """Raise StorageError unless this is a directory of ours that nobody else may write."""
    if stat.S_ISLNK(found.st_mode):
        raise StorageError(
            f"state directory `{path}` is a symlink, so what lies behind it can be swapped",
            hint="set XDG_STATE_HOME to the real place and remove the symlink",
        )
    if not stat.S_ISDIR(found.st_mode):
        raise StorageError(f"state directory `{path}` is not a directory", hint=f"move it away: mv {path} {path}.aside")
    if found.st_uid != uid:
        raise StorageError(
            f"state directory `{path}` belongs to uid {found.st_uid}, not to you (uid {uid})",
            hint=f"chown -R {uid} {path}, or set XDG_STATE_HOME to a directory of your own",
        )
    if found.st_mode & OTHERS_WRITE:
        raise StorageError(
            f"state directory `{path}` can be written by others (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=f"look at what is in it, then: chmod 700 {path}",
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        try:
            os.chmod(path, 0o700)  # only readable too widely (an old umask, a restored backup): mended without a word
        except OSError as error:
            raise explain(error, path) from error


def _make(path: str) -> os.stat_result:
    parent = os.path.dirname(path)
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass  # another launcher was quicker
        return os.lstat(path)
    except OSError as error:
        raise explain(error, path) from error


def _check_parent(parent: str) -> None:
    """Whoever may write the parent may swap the directory, unless the sticky bit forbids it."""
    found = os.stat(parent)
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        raise StorageError(
            f"anyone may replace the state directory: its parent `{parent}` can be written by everyone", hint=f"chmod o-w {parent}"
        )
