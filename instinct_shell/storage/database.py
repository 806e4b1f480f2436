"""SQLite files of ours: made whole or not at all, checked when opened, never silently begun anew.

A new file is built under another name and renamed into place, and a mark beside it (`<file>.made`) remembers that it was there: a ledger that
vanished would otherwise come back with nothing spent. What SQLite cannot read is a StorageError that names the file and how to mend it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager

from ..errors import StorageError
from ..model.refusal import explain
from .lock import lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Migration = Callable[[sqlite3.Connection], None]

BUSY_S = 10.0


def exists(path: str) -> bool:
    """Whether the file is there. Raises StorageError when it was made once and is gone."""
    if os.path.lexists(path):
        return True
    # The mark is made after the file, so whoever sees the mark and then no file knows; another launcher may be making both just now.
    if os.path.lexists(f"{path}.made") and not os.path.lexists(path):
        raise StorageError(f"`{path}` is gone", hint=f"restore it from a backup; to start from zero instead: rm {path}.made")
    return False


def connect(path: str, migrations: tuple[Migration, ...], *, durable: bool = False) -> sqlite3.Connection:
    """An open connection in autocommit mode, the file made or brought up to date when needed. Raises StorageError.

    durable: every commit waits for the disk; else a power cut may take the newest commits (never a crash of ours).
    """
    if not exists(path):
        with exclusive(path):
            if not exists(path):
                _create(path, migrations)
    if not os.path.lexists(f"{path}.made"):
        _mark(path)
    with guarded(path):
        connection = _open(path)
        try:
            connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise damaged(path, str(problem))
            version = _version(connection, path, migrations)
            if not version:  # ours are born with a schema: an empty file was emptied
                raise damaged(path, "it holds no tables")
            if version < len(migrations):
                with exclusive(path):
                    _migrate(connection, migrations)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """One writer at a time (`flock` first: SQLite's own waiting has a tail of seconds), all of it or nothing."""
    with exclusive(path), guarded(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


@contextmanager
def exclusive(path: str) -> Iterator[None]:
    """Hold `<path>.lock`."""
    name = f"{path}.lock"
    try:
        fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise explain(error, name) from error
    try:
        lock(fd, name)
        yield
    finally:
        os.close(fd)


@contextmanager
def guarded(path: str) -> Iterator[None]:
    """Turn what SQLite says into a StorageError that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(error, path) from error


def damaged(path: str, what: str) -> StorageError:
    """The file's contents cannot be trusted."""
    return StorageError(
        f"`{path}` is damaged: {what}",
        hint=f"restore it from a backup; to start from zero instead: mv {path} {path}.damaged && rm -f {path}-wal {path}-shm {path}.made",
    )


def _explain(error: sqlite3.Error, path: str) -> StorageError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return StorageError(f"no space left to write `{path}`", hint="free some space on that disk (or raise the quota), then try again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_AUTH")):
        return StorageError(f"`{path}` cannot be written: {error}", hint="make it and its folder writable for you, or set XDG_STATE_HOME")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StorageError(f"another program has held `{path}` for {BUSY_S:g} seconds", hint=f"find it: fuser -v {path}")
    if name.startswith("SQLITE_IOERR"):
        return StorageError(f"the disk failed while using `{path}`: {error}", hint="check the disk and its free space, then try again")
    return damaged(path, str(error))


def _open(path: str) -> sqlite3.Connection:
    if not os.path.isfile(path) or os.path.islink(path):
        raise StorageError(f"`{path}` is not a regular file", hint=f"move it away: mv {path} {path}.aside")
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{name}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_S)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _create(path: str, migrations: tuple[Migration, ...]) -> None:
    """Build it under another name, then rename: no launcher ever sees half a database. The caller holds the lock."""
    draft = f"{path}.new"
    _remove(draft)
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with guarded(draft):
            connection = _open(draft)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                _migrate(connection, migrations)
            finally:
                connection.close()
        os.rename(draft, path)
    except OSError as error:
        _remove(draft)
        raise explain(error, path) from error
    except StorageError:
        _remove(draft)
        raise


def _mark(path: str) -> None:
    try:
        os.close(os.open(f"{path}.made", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise explain(error, path) from error


def _remove(draft: str) -> None:
    for name in (draft, f"{draft}-wal", f"{draft}-shm"):
        try:
            os.unlink(name)
        except OSError:
            continue  # not there; if it cannot be removed, making the draft says why


def _version(connection: sqlite3.Connection, path: str, migrations: tuple[Migration, ...]) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(migrations):
        raise StorageError(
            f"`{path}` was written by a newer version (schema {version}, this one knows {len(migrations)})",
            hint="use the newer Instinct Shell",
        )
    return version


def _migrate(connection: sqlite3.Connection, migrations: tuple[Migration, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        for number in range(version, len(migrations)):
            migrations[number](connection)
            connection.execute(f"PRAGMA user_version={number + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
