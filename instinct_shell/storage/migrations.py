"""The ledger's schema, one step after the other. A step that was released is never changed: a new one is added below."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3


def m001_ledger(connection: sqlite3.Connection) -> None:
    """Accounts with what was spent and what is held, holds with their owner, ceilings set by a person, and the latest time seen.

    Amounts are integer micro-dollars. A hold is open, committed, released or swept (its owner ended; settled in full).
    """
    for statement in (
        """CREATE TABLE account(
             scope TEXT NOT NULL, key TEXT NOT NULL,
             committed INTEGER NOT NULL DEFAULT 0 CHECK(typeof(committed) = 'integer' AND committed >= 0),
             reserved INTEGER NOT NULL DEFAULT 0 CHECK(typeof(reserved) = 'integer' AND reserved >= 0),
             PRIMARY KEY(scope, key)) WITHOUT ROWID""",
        """CREATE TABLE hold(
             id TEXT PRIMARY KEY, idempotency TEXT UNIQUE, session TEXT NOT NULL,
             amount INTEGER NOT NULL CHECK(typeof(amount) = 'integer' AND amount >= 0),
             state TEXT NOT NULL DEFAULT 'open' CHECK(state IN ('open', 'committed', 'released', 'swept')),
             actual INTEGER NOT NULL DEFAULT 0 CHECK(actual >= 0), at REAL NOT NULL, settled REAL,
             owner_pid INTEGER NOT NULL, owner_start TEXT NOT NULL, owner_namespace TEXT NOT NULL, owner_boot TEXT NOT NULL) WITHOUT ROWID""",
        "CREATE INDEX hold_open ON hold(at) WHERE state = 'open'",
        """CREATE TABLE hold_account(
             hold TEXT NOT NULL REFERENCES hold(id), scope TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(hold, scope, key)) WITHOUT ROWID""",
        "CREATE TABLE ceiling(scope TEXT PRIMARY KEY, micros INTEGER NOT NULL CHECK(micros >= 0)) WITHOUT ROWID",
        "CREATE TABLE clock(one INTEGER PRIMARY KEY CHECK(one = 1), latest REAL NOT NULL)",
        "INSERT INTO clock VALUES(1, 0)",
    ):
        connection.execute(statement)


MIGRATIONS = (m001_ledger,)
