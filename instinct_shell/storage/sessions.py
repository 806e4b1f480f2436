"""What stays fixed for an agent session: its workspace. Kept as one small file a session in the state directory."""

from __future__ import annotations

import os

from ..errors import WorkspaceError
from ..model.digest import text_digest
from ..model.refusal import explain
from .state import subdirectory

LONGEST_PATH = 8192


def recall(state: str, session: str) -> str:
    """The workspace of this session; "" when it has none yet. Raises WorkspaceError when that folder is gone, and StorageError."""
    path = _path(state, session)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            fixed = file.read(LONGEST_PATH)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise explain(error, path) from error
    if not os.path.isdir(fixed):
        raise WorkspaceError(f"the workspace `{fixed}` of session `{session}` is gone", hint="start another session with --session ID")
    return fixed


def remember(state: str, session: str, workspace: str) -> str:
    """Fix the workspace of this session and return it: the one that was there first, when two commands start it at once."""
    path = _path(state, session)
    draft = f"{path}.{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(workspace)
        try:
            os.link(draft, path)  # atomic
        except FileExistsError:
            return recall(state, session)
        finally:
            os.unlink(draft)
    except OSError as error:
        raise explain(error, path) from error
    return workspace


def keep_to(session: str, fixed: str, asked: str) -> None:
    """Raise WorkspaceError when another workspace than the session's was asked for."""
    if asked != fixed:
        raise WorkspaceError(
            f"session `{session}` works in `{fixed}`, not in `{asked}`: a session keeps its workspace",
            hint="drop --workspace, or start another session with --session ID",
        )


def _path(state: str, session: str) -> str:
    return os.path.join(subdirectory(state, "sessions"), text_digest(session)[:32])
