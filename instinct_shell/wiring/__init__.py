"""The composition root: who, where and under which profile, and the adapters for it. The only file that knows them all.

A `Guard` is what front doors hold. Everything costly in it (ledger, grants, jail) is made by need, since each command starts us cold.
"""

from __future__ import annotations

import os

from ..errors import WorkspaceError
from ..execution.host import Person
from ..execution.workspace import choose_workspace
from .clock import SystemClock
from .guard import Guard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..storage.audit import AuditTrail

__all__ = ["Guard", "SystemClock", "audit_trail", "open_guard", "state_dir"]


def state_dir() -> str:
    """The state directory of the person who runs this process, made when it is missing. Raises StorageError when it cannot be trusted."""
    from ..storage.state import state_directory

    return state_directory(os.environ, Person(os.environ).home, os.getuid())


def audit_trail(*, later: Callable[[str], None] | None = None) -> AuditTrail:
    """The person's audit trail. later: as AuditTrail takes it."""
    from ..storage.audit import AuditTrail

    return AuditTrail(state_dir(), later=later)


def open_guard(
    *,
    profile: str = "",
    workspace: str = "",
    session: str = "",
    cwd: str = "",
    overlay: Mapping[str, str] | None = None,
    one_shot: bool = True,
    dedicated: bool = False,
    upcoming: str = "",
    made: type[Guard] | None = None,
) -> Guard:
    """A guard for this process's surroundings. Raises WorkspaceError, ProfileError and StorageError; each says how to mend it.

    profile, workspace, session: as on the command line, "" for what the environment and the person's configuration say. cwd: where commands
    would run, default here. overlay: variables that the command would see beside this process's own. dedicated: this process exists for one
    command alone (execution/launcher.py). made: another class of guard, which brings its own parser (resident/worker.py).
    upcoming: the text that will be judged first; a parser begins with it at once.
    """
    parser = None
    if upcoming and made is None:
        from ..execution.parsers import WorkerParser

        parser = WorkerParser()
        parser.begin(upcoming)
    try:
        cwd = cwd or os.getcwd()
    except OSError as error:
        raise WorkspaceError("the current directory is gone", hint="cd to a folder that exists") from error
    if not os.path.isdir(cwd):
        raise WorkspaceError(f"`{cwd}` is not a directory", hint="name a folder that exists: as workspace, or as the cwd of the command")
    environ = {**os.environ, **(overlay or {})}
    person = Person(environ)
    state = state_dir()
    session = session or os.environ.get("INSTINCT_SESSION", "")
    place = _workspace(state, session, workspace, cwd, person)
    from ..storage.profiles import ProfileStore

    overrides = {"INSTINCT_PROFILE": os.environ["INSTINCT_PROFILE"]} if os.environ.get("INSTINCT_PROFILE") else {}
    loaded = ProfileStore(home=person.account).load(profile, place, overrides)
    return (made or Guard)(loaded, place, session, person, state, cwd, environ, one_shot=one_shot, dedicated=dedicated, parser=parser)


def _workspace(state: str, session: str, asked: str, cwd: str, person: Person) -> str:
    """The session's workspace when it has one, wherever the agent has gone since; else the one to choose, which stays from now on."""
    if not session:
        return choose_workspace(asked, os.environ, cwd, person.homes)
    from ..storage.sessions import keep_to, recall, remember

    fixed = recall(state, session)
    if not fixed:
        return remember(state, session, choose_workspace(asked, os.environ, cwd, person.homes))
    if asked:
        keep_to(session, fixed, choose_workspace(asked, os.environ, cwd, person.homes))
    return fixed
