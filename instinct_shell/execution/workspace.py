"""Where the agent works: the one folder a session may write in (design section 7)."""

from __future__ import annotations

import os

from ..errors import WorkspaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def choose_workspace(asked: str, environ: Mapping[str, str], cwd: str, homes: tuple[str, ...]) -> str:
    """The workspace as a real absolute path: what was asked for, else `INSTINCT_WORKSPACE`, else the git top level of cwd, else cwd.

    `/`, a home directory and whatever contains one are refused. Raises WorkspaceError naming the fix.
    """
    named = asked or environ.get("INSTINCT_WORKSPACE", "")
    source = "--workspace" if asked else "INSTINCT_WORKSPACE" if named else ""
    chosen = os.path.realpath(os.path.join(cwd, named)) if named else git_top_level(os.path.realpath(cwd))
    if not os.path.isdir(chosen):
        raise WorkspaceError(f"workspace `{chosen}` is not a directory", hint="make it first, or name another (--workspace DIR, in Python workspace=DIR)")
    for home in (os.path.realpath(home) for home in homes if home.startswith("/")):
        if chosen == "/" or home == chosen or home.startswith(chosen.rstrip("/") + "/"):
            what = (
                "the whole machine"
                if chosen == "/"
                else "a home directory"
                if chosen == home
                else f"a folder that holds the home directory `{home}`"
            )
            where = f" (from {source})" if source else ""
            raise WorkspaceError(
                f"workspace `{chosen}`{where} is {what}: a command could write all of it",
                hint="go to a project folder, or name one: --workspace DIR (in Python workspace=DIR, also INSTINCT_WORKSPACE)",
            )
    return chosen


def git_top_level(folder: str) -> str:
    """The nearest folder at or above this one that holds `.git`; the folder itself when there is none. Starts no program."""
    place = folder
    while place != "/":
        if os.path.lexists(os.path.join(place, ".git")):
            return place
        place = os.path.dirname(place)
    return folder
