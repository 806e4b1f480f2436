"""The repository of a workspace that is a linked worktree or a submodule: its data lies elsewhere, and the commands have to write it there.

The `.git` file that says where is a file of the workspace, which a command may have written. So it is believed only when the other side says the same:
the worktree's folder in the repository names this `.git` file, the submodule's configuration names this folder. No command can write that there.
"""

from __future__ import annotations

import os
import re

from ..model.value import Value

MOST_BYTES = 1 << 16


class Repository(Value):
    """Where the data is. folders: to be writable. held: files there, existing ones, that must stay as they are."""

    folders: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


def linked(workspace: str) -> Repository:
    """What the workspace's `.git` file leads to; empty without one, or when the other side does not agree."""
    link = os.path.join(workspace, ".git")
    if os.path.islink(link) or not os.path.isfile(link):
        return Repository()
    said = _read(link)
    if not said.startswith("gitdir: "):
        return Repository()
    data = os.path.realpath(os.path.join(workspace, said[8:].strip()))
    common = _read(os.path.join(data, "commondir")).strip()
    if common:
        whole = os.path.realpath(os.path.join(data, common))
        back = os.path.realpath(os.path.join(data, _read(os.path.join(data, "gitdir")).strip()))
        if os.path.dirname(data) != os.path.join(whole, "worktrees") or back != os.path.realpath(link):
            return Repository()
        own = [os.path.join(data, name) for name in ("commondir", "gitdir", "config.worktree")]
        return Repository((whole,), tuple(path for path in own if os.path.lexists(path)))
    setting = re.search(r"^\s*worktree\s*=\s*(.+?)\s*$", _read(os.path.join(data, "config")), re.MULTILINE)
    if setting is None or os.path.realpath(os.path.join(data, setting[1].strip('"'))) != os.path.realpath(workspace):
        return Repository()
    return Repository((data,))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(MOST_BYTES)
    except (OSError, ValueError):
        return ""
    return "" if "\0" in text else text  # no path
