"""What stays fixed for an agent session: its workspace. Kept as one small file a session in the state directory."""

from __future__ import annotations

import os

from ..errors import WorkspaceError
from ..model.digest import text_digest
from ..model.refusal import explain
from .state import subdirectory


def fixed_workspace(state: str, session: str, chosen: str, *, asked: bool) -> str:
    """The workspace of this session: the first one it was opened with. `asked`: `chosen` was named explicitly, so another one is an error.

    A later `cd` elsewhere thus reads there and never writes. Raises WorkspaceError and StorageError.
    """
    path = os.path.join(subdirectory(state, "sessions"), text_digest(session)[:32])
    draft = f"{path}.{os.getpid()}"
    try:
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                fixed = file.read()
        except FileNotFoundError:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(chosen)
            try:
                os.link(draft, path)  # atomic, and the first one wins
                return chosen
            except FileExistsError:
                return fixed_workspace(state, session, chosen, asked=asked)
            finally:
                os.unlink(draft)
    except OSError as error:
        raise explain(error, path) from error
    if asked and fixed != chosen:
        raise WorkspaceError(
            f"session `{session}` works in `{fixed}`, not in `{chosen}`: a session keeps its workspace",
            hint="drop --workspace, or start another session with --session ID",
        )
    return fixed
