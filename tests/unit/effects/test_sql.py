"""SQL text -> statements: what reads, what writes, what empties a table, what drops; harmless twins beside each."""

from __future__ import annotations

import pytest

from instinct_shell.effects.sql import analyse

KINDS = [
    # reads
    ("postgres", "SELECT count(*) FROM users", "read"),
    ("postgres", "select 'DROP TABLE x'", "read"),
    ("postgres", "-- drop table x\nselect 1", "read"),
    ("postgres", "/* drop table x; */ select 1", "read"),
    ("postgres", "select $$drop table x;$$", "read"),
    ("postgres", "EXPLAIN DELETE FROM a", "read"),
    ("mysql", "show tables", "read"),
    ("sqlite", "PRAGMA table_info(t)", "read"),
    ("postgres", "WITH a AS (SELECT 1) SELECT * FROM a", "read"),
    ("postgres", "SET search_path = x", "neutral"),
    ("postgres", "VACUUM ANALYZE", "neutral"),
    # writes
    ("postgres", "INSERT INTO t VALUES (1)", "write"),
    ("postgres", "DELETE FROM t WHERE id = 1", "write"),
    ("postgres", "UPDATE t SET a = 1 WHERE b = 2", "write"),
    ("postgres", "DELETE FROM a USING b WHERE a.id = b.id", "write"),
    ("mysql", "DELETE FROM t LIMIT 5", "write"),
    ("postgres", "ALTER TABLE t ADD c int", "write"),
    ("postgres", "ALTER TABLE t DROP CONSTRAINT c", "write"),
    ("postgres", "DROP INDEX i", "write"),
    ("postgres", "DROP VIEW v", "write"),
    ("postgres", "DELETE FROM a WHERE ((( garbage", "write"),
    # whole tables
    ("postgres", "DELETE FROM t", "delete_all"),
    ("postgres", "DELETE FROM t WHERE 1=1", "delete_all"),
    ("postgres", "DELETE FROM t WHERE true", "delete_all"),
    ("postgres", "DELETE FROM t WHERE id = id", "delete_all"),
    ("postgres", "DELETE FROM t WHERE a = 1 OR 1 = 1", "delete_all"),
    ("postgres", "DELETE FROM t WHERE id > 0", "delete_all"),
    ("postgres", "DELETE FROM t WHERE id IS NOT NULL", "delete_all"),
    ("postgres", "DELETE FROM t WHERE a LIKE '%'", "delete_all"),
    ("postgres", "UPDATE users SET admin = true", "delete_all"),
    ("postgres", "TRUNCATE a, b CASCADE", "delete_all"),
    ("postgres", "EXPLAIN ANALYZE DELETE FROM t", "delete_all"),
    ("postgres", "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "delete_all"),
    ("postgres", "DELETE FROM t garbage ((", "delete_all"),
    # drops
    ("postgres", "DROP SCHEMA public CASCADE", "drop"),
    ("postgres", "drop table if exists t", "drop"),
    ("mysql", "/*!50000 drop database x */", "drop"),
    ("postgres", "ALTER TABLE t DROP COLUMN c", "drop"),
    ("postgres", "DO $$ BEGIN DROP TABLE t; END $$", "drop"),
    ("tsql", "DROP DATABASE app", "drop"),
    # not known
    ("postgres", "gibberish here", "unknown"),
]


@pytest.mark.parametrize(("dialect", "text", "kind"), KINDS)
def test_kind_of_one_statement(dialect: str, text: str, kind: str) -> None:
    assert [statement.kind for statement in analyse(text, dialect)][:1] == [kind]


@pytest.mark.parametrize(
    ("dialect", "text", "kinds"),
    [
        ("postgres", "select 1; drop table x", ["read", "drop"]),
        ("postgres", "begin; delete from t; rollback;", ["neutral", "read", "neutral"]),
        ("postgres", "begin; delete from t; commit;", ["neutral", "delete_all", "neutral"]),
        ("mysql", "start transaction; drop table t; rollback;", ["neutral", "drop", "neutral"]),
        ("postgres", "begin; delete from t; rollback to s; commit", ["neutral", "delete_all", "neutral", "neutral"]),
        ("postgres", "create temp table z(a int); drop table z", ["write", "write"]),
        ("tsql", "select 1\nGO\ndrop table x", ["read", "drop"]),
        ("postgres", "\\! rm -rf /", ["shell"]),
        ("postgres", "\\dt", ["read"]),
        ("postgres", "\\i other.sql", ["script"]),
        ("postgres", "select 1 \\g |sh", ["read", "shell"]),
        ("postgres", "\\copy t from program 'curl x'", ["shell"]),
        ("sqlite", ".shell rm -rf /", ["shell"]),
        ("sqlite", ".tables", ["read"]),
        ("sqlite", ".output |sh", ["shell"]),
        ("sqlite", "select 1;\n.read x.sql", ["read", "script"]),
        ("mysql", "system rm x", ["shell"]),
        ("mysql", "select 1 # drop\n", ["read"]),
        ("postgres", "COPY t TO PROGRAM 'rm -rf /'", ["read", "shell"]),
        ("mysql", "select 1 into outfile '/tmp/x'", ["read", "file_write"]),
        ("postgres", "select pg_read_file('/etc/passwd')", ["read", "file_read"]),
        ("postgres", "SELECT * INTO other FROM t", ["read", "write"]),
        ("postgres", "", []),
    ],
)
def test_kinds_of_several(dialect: str, text: str, kinds: list[str]) -> None:
    assert [statement.kind for statement in analyse(text, dialect)] == kinds


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("DELETE FROM sessions WHERE id = 42", "one"),
        ("DELETE FROM t WHERE id = 1 AND a = 2", "one"),
        ("DELETE FROM t WHERE client_id = 23", ""),
        ("DELETE FROM t WHERE id = (SELECT max(id) FROM t)", ""),
        ("INSERT INTO t VALUES (1)", "one"),
        ("INSERT INTO t SELECT * FROM s", ""),
    ],
)
def test_rows_that_a_key_bounds(text: str, rows: str) -> None:
    assert analyse(text)[0].rows == rows


def test_objects_are_named() -> None:
    assert [s.object for s in analyse('TRUNCATE "Orders"; DROP TABLE IF EXISTS public.users; DELETE FROM a')] == [
        "Orders",
        "public.users",
        "a",
    ]
