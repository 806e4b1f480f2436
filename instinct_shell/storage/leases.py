"""Leases: who writes a file now. Taken when a file tool has written a path, for fifteen minutes; another session's write is asked about meanwhile.

    <state>/leases/<digest of the real path>     {"path", "session", "agent", "until"}

A lease is an answer to "does somebody else work on this", never a lock: nothing waits for it, and one that cannot be read does not exist.
"""

from __future__ import annotations

import json
import os

from ..model.digest import text_digest
from ..model.refusal import explain
from ..model.value import Value
from .files import replace
from .state import subdirectory

LIFETIME_S = 15 * 60.0
MOST = 2_000


class Lease(Value):
    """`session` of `agent` wrote `path` and holds it until `until` (seconds since the epoch)."""

    path: str
    session: str
    agent: str
    until: float


class Leases:
    """The leases of one state directory. Paths are real ones: one file has one lease, whatever it is called by."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._folder = os.path.join(state, "leases")

    def any(self) -> bool:
        """Whether there is any at all: most commands need not look further."""
        return os.path.isdir(self._folder)

    def holder(self, path: str, now: float) -> Lease | None:
        """Who holds the path now."""
        try:
            with open(self._file(path), encoding="utf-8") as file:
                data = json.load(file)
            lease = Lease(data["path"], data["session"], data["agent"], float(data["until"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None
        # A clock that was set back must not make one last for years.
        return lease if lease.path == path and now < lease.until <= now + LIFETIME_S + 1 else None

    def other(self, path: str, session: str, now: float) -> tuple[str, str, float] | None:
        """(session, agent, seconds left) when another session holds the path. A caller without a session is told nothing: nobody knows who it is."""
        if not session:
            return None
        lease = self.holder(path, now)
        return None if lease is None or lease.session == session else (lease.session, lease.agent, lease.until - now)

    def take(self, path: str, session: str, agent: str, now: float) -> None:
        """This session has written the path, or is about to. Raises StorageError."""
        if session:
            self._expire(now)
            body = {"path": path, "session": session, "agent": agent, "until": now + LIFETIME_S}
            replace(self._file(path), json.dumps(body).encode())

    def _file(self, path: str) -> str:
        return os.path.join(self._folder, text_digest(path)[:32])

    def _expire(self, now: float) -> None:
        """Forget old ones, when there are many."""
        folder = subdirectory(self._state, "leases")
        names = os.listdir(folder)
        if len(names) < MOST:
            return
        for name in names:
            file = os.path.join(folder, name)
            try:
                if os.stat(file).st_mtime + LIFETIME_S < now:
                    os.unlink(file)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise explain(error, file) from error
