"""SQL text -> typed statements, in order.

`analyse(text, dialect)` splits the text with a lexer of its own (quotes, comments, dollar quotes), names what the first keywords say, and
asks sqlglot only where the shape decides (WITH, DELETE, UPDATE, MERGE): importing it costs as much as ten ordinary judgements. What
sqlglot cannot read is judged by its words, never skipped: a DELETE whose WHERE was not found has none.
"""

from __future__ import annotations

import re

from .sql_lexer import statements, words_of
from .sql_values import DELETE_ALL, DROP, FILE_READ, FILE_WRITE, NEUTRAL, READ, SHELL, UNKNOWN, WRITE, Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_READS = frozenset(
    "select show describe desc explain values table pragma help fetch analyze analyse list print with checkpoint use "
    "check checksum exists".split()
)
_NEUTRAL = frozenset(
    "set reset begin start commit rollback end savepoint release abort declare close discard prepare deallocate lock "
    "unlock listen unlisten "
    "notify delimiter go flush vacuum reindex optimize cluster load attach detach".split()
)
_DEFINITIONS = frozenset(
    "index view function procedure trigger sequence constraint policy rule aggregate operator cast default "
    "statistics event synonym "
    "check primary foreign not identity expression".split()
)  # dropping one loses a definition, no rows
_WRITERS = frozenset(
    "insert replace upsert update delete merge create alter comment grant revoke call exec execute do import copy "
    "rename refresh security "
    "reassign truncate drop kill undrop put remove restore handler install exchange".split()
)

_SERVER_SHELL = re.compile(r"\b(?:to|from)\s+program\s+(?:e)?'((?:[^']|'')*)'", re.IGNORECASE)
_SERVER_WRITE = re.compile(
    r"\binto\s+(?:out|dump)file\s+['\"]([^'\"]+)|\bcopy\b.*?\bto\s+'([^']+)'|\bvacuum\b.*?\binto\s+'([^']+)'", re.IGNORECASE | re.DOTALL
)
_SERVER_READ = re.compile(
    r"\bload\s+data\s+(?:local\s+)?infile\s+['\"]([^'\"]+)|\bcopy\b[^;]*?\bfrom\s+'([^']+)'", re.IGNORECASE | re.DOTALL
)
_READ_FUNCTIONS = re.compile(
    r"\b(?:pg_read_(?:binary_)?file|load_file|readfile|lo_import|read_(?:text|blob|csv|csv_auto|json|json_auto|json_objects|ndjson|parquet|xlsx)|parquet_scan|csv_scan|"
    r"file)\s*\(\s*\[?\s*'([^']+)'",
    re.IGNORECASE,
)
_READ_NAMES = re.compile(r"\b(?:from|join)\s+'([^']+)'", re.IGNORECASE)  # duckdb takes a file for a table
_WRITE_FUNCTIONS = re.compile(r"\b(?:writefile\s*\(\s*'([^']+)'|lo_export\s*\([^,]*,\s*'([^']+)')", re.IGNORECASE)
_DANGEROUS = re.compile(
    r"\b(?:load_extension|xp_cmdshell|sys_exec|sys_eval|pg_terminate_backend|pg_cancel_backend|dblink_exec|query_to_xml|nextval|setval|lo_unlink)\s*\(|"
    r"\bxp_cmdshell\b",
    re.IGNORECASE,
)


def analyse(text: str, dialect: str = "postgres") -> tuple[Statement, ...]:
    """Every statement of the text. dialect: postgres | mysql | sqlite | tsql | oracle | bigquery | snowflake | duckdb | clickhouse | hive.

    Statements between BEGIN and a ROLLBACK that surely undoes them are returned as reads. Drops of tables made in the same text are writes.
    """
    found: list[Statement] = []
    made: set[str] = set()
    open_at = -1
    for piece in statements(text, dialect):
        if isinstance(piece, Statement):
            found.append(piece)
            continue
        words = words_of(piece)
        if not words:
            continue
        if words[0] in ("begin", "start") and _is_transaction(words, dialect):
            open_at = len(found)
        elif words[0] == "commit" or (words[0] == "end" and dialect in ("postgres", "sqlite")):
            open_at = -1
        elif words[0] in ("rollback", "abort") and "to" not in words and open_at >= 0:
            found[open_at:] = [_undone(s, dialect) for s in found[open_at:]]
            open_at = -1
        for statement in _statement(piece, words, dialect):
            if statement.kind == DROP and statement.object and statement.object.lower() in made:
                statement = statement.replace(kind=WRITE)
            found.append(statement)
        if words[0] == "create" and "table" in words[:4] and "exists" not in words[:7]:
            made.add(_named_after(words, "table").lower())
    return tuple(found)


def _is_transaction(words: list[str], dialect: str) -> bool:
    return len(words) == 1 or words[1] in ("transaction", "work", "deferred", "immediate", "exclusive", "isolation", "tran", "read")


def _undone(statement: Statement, dialect: str) -> Statement:
    """What a ROLLBACK gives back: rows everywhere, definitions only where DDL is transactional (not in MySQL, Oracle)."""
    if statement.kind in (WRITE, DELETE_ALL, DROP):
        ddl = statement.verb in ("drop", "create", "alter", "truncate", "rename", "grant", "revoke")
        if not (ddl and dialect in ("mysql", "oracle")):
            return statement.replace(kind=READ, rows="")
    return statement


# ---------------------------------------------------------------- lexing


# ---------------------------------------------------------------- judging one statement


def _statement(text: str, words: list[str], dialect: str) -> list[Statement]:
    verb = words[0]
    short = " ".join(text.split())[:80]
    extra = _host_reach(text, dialect)
    if verb == "from" and dialect == "duckdb":
        verb = "select"  # `FROM 'file'` alone selects all of it
    if verb in ("explain", "desc", "describe"):
        return [_explained(text, words, dialect, short)]
    if verb == "drop":
        what = next((w for w in words[1:] if w not in ("temporary", "temp", "external", "foreign", "materialized", "unique")), "")
        kind = WRITE if what in _DEFINITIONS and "materialized" not in words else DROP
        return [Statement(kind, verb, _named_after(words, what), text=short)]
    if verb == "truncate":
        return [Statement(DELETE_ALL, verb, next((w for w in words[1:] if w not in ("table", "only")), ""), text=short)]
    if verb == "alter":
        return [_altered(words, short)]
    if verb in ("delete", "update", "merge", "with"):
        return [*_shaped(text, words, dialect, short), *extra]
    if verb == "select" or verb in _READS:
        if _DANGEROUS.search(text) or (verb == "select" and "into" in words and not extra and _selects_into(words)):
            extra.append(Statement(WRITE, verb, text=short))
        if verb == "pragma" and "=" in words and any("writable_schema" in w for w in words):
            extra.append(Statement(WRITE, verb, text=short))
        return [Statement(READ, verb, _named_after(words, "from"), text=short), *extra]
    if verb in ("begin", "start") and _is_transaction(words, dialect):
        return [Statement(NEUTRAL, verb, text=short)]
    if verb in ("kill", "shutdown"):
        return [Statement(WRITE, verb, text=short)]
    if verb in ("do", "begin", "declare", "if", "while") or (verb in ("call", "exec", "execute") and dialect == "tsql"):
        return [*_block(text, words, dialect, short), *extra]
    if verb == "copy" and _copies_out(text):
        return [Statement(READ, verb, _object_of(words), text=short), *extra]
    if verb in _WRITERS:
        bound = "one" if verb in ("insert", "replace") and "select" not in words else ""
        return [Statement(WRITE, verb, _object_of(words), bound, short), *extra]
    if verb in _NEUTRAL:
        return [Statement(NEUTRAL, verb, text=short), *extra]
    return [Statement(UNKNOWN, verb, text=short), *extra]


def _copies_out(text: str) -> bool:
    """`COPY x TO ..`, `COPY (SELECT .. FROM ..) TO ..`: what stands in parentheses is a query, whose own FROM says nothing."""
    outside = words_of(re.sub(r"\((?:[^()']|'[^']*'|\((?:[^()']|'[^']*')*\))*\)", " ", text))
    return "to" in outside and "from" not in outside[: outside.index("to")]


def _selects_into(words: list[str]) -> bool:
    """`SELECT .. INTO new_table`, not `SELECT .. INTO @variable`."""
    at = words.index("into")
    return at + 1 < len(words) and not words[at + 1].startswith("@")


def _host_reach(text: str, dialect: str) -> list[Statement]:
    """Files and commands of the database host that a statement touches."""
    found = [Statement(SHELL, "program", m[1].replace("''", "'"), where="server") for m in _SERVER_SHELL.finditer(text)]
    for pattern, kind in (
        (_SERVER_WRITE, FILE_WRITE),
        (_WRITE_FUNCTIONS, FILE_WRITE),
        (_SERVER_READ, FILE_READ),
        (_READ_FUNCTIONS, FILE_READ),
        *(((_READ_NAMES, FILE_READ),) if dialect == "duckdb" else ()),
    ):
        for match in pattern.finditer(text):
            found.append(Statement(kind, "", next(group for group in match.groups() if group), where="server"))
    shell = re.search(r"\bxp_cmdshell\s*\(?\s*N?'((?:[^']|'')*)'", text, re.IGNORECASE)
    if shell:
        found.append(Statement(SHELL, "xp_cmdshell", shell[1].replace("''", "'"), where="server"))
    return found


def _explained(text: str, words: list[str], dialect: str, short: str) -> Statement:
    """EXPLAIN runs nothing, except EXPLAIN ANALYZE of a statement that changes rows."""
    if "analyze" in words[:6] or "analyse" in words[:6]:
        inner = re.search(r"\b(delete|update|insert|merge|truncate|with|select)\b.*", text, re.IGNORECASE | re.DOTALL)
        if inner:
            found = _statement(inner[0], words_of(inner[0]), dialect)
            return found[0].replace(text=short)
    return Statement(READ, words[0], text=short)


def _altered(words: list[str], short: str) -> Statement:
    what = words[1] if len(words) > 1 else ""
    name = _named_after(words, what)
    for at, word in enumerate(words):
        if word == "drop" and at > 1:
            after = words[at + 1] if at + 1 < len(words) else ""
            if after not in _DEFINITIONS:
                column = words[-1] if after not in ("column", "partition", "if") else _named_after(words[at:], after)
                return Statement(DROP, "alter", f"{name}.{column}", text=short)
    return Statement(WRITE, "alter", name, text=short)


def _block(text: str, words: list[str], dialect: str, short: str) -> list[Statement]:
    """Procedural blocks: judged by the worst statement words inside their text."""
    body = re.sub(r"'\s*(?:\|\||\+)\s*'", "", re.sub(r"\$\w*\$", " ", text))  # `'DR' || 'OP TABLE x'` is one text
    found: list[Statement] = []
    for match in re.finditer(r"\b(drop\s+\w+\s+|truncate\s+|delete\s+from\s+|update\s+\w+\s+set\b)[^;']*", body, re.IGNORECASE):
        piece = match[0]
        found += _statement(piece, words_of(piece), dialect)
    if re.search(r"\bexecute\b", body, re.IGNORECASE) and not found:
        found.append(Statement(UNKNOWN, words[0], text=short))
    return found or [Statement(WRITE, words[0], text=short)]


def _object_of(words: list[str]) -> str:
    if words[0] == "copy":
        return words[1] if len(words) > 1 else ""
    for marker in ("into", "table", "from", "on", "view", "index", "database", "schema", "user", "role", "function", "to"):
        if marker in words[:8]:
            return _named_after(words, marker)
    return words[1] if len(words) > 1 else ""


def _named_after(words: list[str], marker: str) -> str:
    """The identifier after a keyword, past IF [NOT] EXISTS, ONLY, CONCURRENTLY."""
    if marker not in words:
        return ""
    for word in words[words.index(marker) + 1 :]:
        if word in ("if", "not", "exists", "only", "concurrently"):
            continue
        return word if re.match(r"[\w.$@]", word) else ""
    return ""


# ---------------------------------------------------------------- sqlglot


def _shaped(text: str, words: list[str], dialect: str, short: str) -> list[Statement]:
    tree = _parse(text, dialect)
    if tree is None:
        return _by_words(words, short)
    from sqlglot import expressions as x

    found = []
    for node in tree.find_all(x.Delete, x.Update, x.Insert, x.Merge):
        table = node.this.sql() if isinstance(node.this, x.Expression) else ""
        if isinstance(node, x.Insert):
            found.append(Statement(WRITE, "insert", table, text=short))
        elif isinstance(node, x.Merge):
            found.append(Statement(WRITE, "merge", table, text=short))
        else:
            verb = "delete" if isinstance(node, x.Delete) else "update"
            where = node.args.get("where")
            if node.args.get("limit") is not None:
                found.append(Statement(WRITE, verb, table, text=short))
            elif (where is None and not _joined(node, x)) or (where is not None and _always(where.this, x)):
                found.append(Statement(DELETE_ALL, verb, table, text=short))
            else:
                found.append(Statement(WRITE, verb, table, "one" if where is not None and _one_row(where.this, x) else "", short))
    return found or [Statement(READ, words[0], _named_after(words, "from"), text=short)]


def _joined(node: Any, x: Any) -> bool:
    """`UPDATE .. FROM` and `DELETE .. USING / JOIN` are bounded by the other table."""
    return bool(node.args.get("using") or node.args.get("from") or node.args.get("from_") or node.find(x.Join))


def _always(condition: Any, x: Any) -> bool:
    """Whether a WHERE surely holds for every row: constants, `1=1`, `a = a`, `x OR true`, `id IS NOT NULL`, `LIKE '%'`, no column at all."""
    if isinstance(condition, x.Paren):
        return _always(condition.this, x)
    if isinstance(condition, x.Or):
        return _always(condition.left, x) or _always(condition.right, x)
    if isinstance(condition, x.And):
        return _always(condition.left, x) and _always(condition.right, x)
    inner = condition.this if isinstance(condition, x.Not) else condition
    if isinstance(inner, x.Is) and isinstance(inner.expression, x.Null):
        negated = inner is not condition or bool(inner.args.get("negate"))  # releases of sqlglot differ
        return negated and isinstance(inner.this, x.Column) and inner.this.name.lower() in ("id", "uuid", "pk", "_id", "rowid")
    if inner is not condition:
        return isinstance(inner, x.Boolean) and not inner.this
    if isinstance(condition, x.Like) and isinstance(condition.expression, x.Literal):
        return str(condition.expression.this).strip("%") == ""
    if isinstance(condition, (x.EQ, x.GTE, x.LTE)) and condition.left == condition.right:
        return True
    if isinstance(condition, (x.GT, x.GTE, x.NEQ)) and isinstance(condition.left, x.Column):
        key = condition.left.name.lower() in ("id", "rowid", "pk")
        return key and condition.right.sql() in ("0", "-1", "''")
    return condition.find(x.Column, x.Subquery, x.Select) is None and condition.sql().upper() not in ("FALSE", "0")


def _one_row(condition: Any, x: Any) -> bool:
    """A conjunction with a key (id, uuid, pk, `*_id` alone does not count) compared with one value."""
    for part in condition.flatten() if isinstance(condition, x.And) else (condition,):
        while isinstance(part, x.Paren):
            part = part.this
        if isinstance(part, x.EQ) and isinstance(part.left, x.Column) and not isinstance(part.right, x.Column):
            if part.left.name.lower() in ("id", "uuid", "pk", "_id", "rowid", "guid", "key", "email", "username", "slug"):
                return not isinstance(part.right, (x.Subquery, x.Select))
    return False


def _parse(text: str, dialect: str) -> Any | None:
    import logging

    import sqlglot
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would talk on the agent's stderr
    try:
        trees = sqlglot.parse(text, read=dialect)
    except (SqlglotError, RecursionError):
        return None
    if len(trees) != 1 or trees[0] is None or type(trees[0]).__name__ == "Command":
        return None
    return trees[0]


def _by_words(words: list[str], short: str) -> list[Statement]:
    """The fallback: every DELETE or UPDATE word counts, and one without a WHERE after it is unbounded."""
    found = []
    for at, word in enumerate(words):
        if word in ("delete", "update") and (at == 0 or words[at - 1] in ("(", "as", "then", ")")):
            if at and words[at - 1] == "then":
                found.append(Statement(WRITE, "merge", text=short))
                continue
            kind = WRITE if "where" in words[at:] else DELETE_ALL
            found.append(Statement(kind, word, _named_after(words[at:], "from" if word == "delete" else "update"), text=short))
        elif word in ("insert", "merge"):
            found.append(Statement(WRITE, word, text=short))
    return found or [Statement(UNKNOWN, words[0], text=short)]
