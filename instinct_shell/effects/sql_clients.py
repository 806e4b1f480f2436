"""Client commands inside SQL text: psql's backslash commands, sqlite3's dot commands, mysql's `system`, `source`, `\\!`.

They never reach the server, and some run a shell or write a file.
"""

from __future__ import annotations

import re

from .sql_values import FILE_READ, FILE_WRITE, NEUTRAL, READ, SCRIPT, SHELL, SWITCH, UNKNOWN, WRITE, Statement


def is_client_line(line: str, dialect: str, fresh: bool) -> bool:
    """Whether the line, at this place, is for the client. `fresh`: a statement would begin here."""
    head = line.lstrip()
    if dialect == "postgres":
        return head.startswith("\\") and len(head) > 1
    if dialect in ("sqlite", "duckdb"):
        return fresh and re.match(r"\.[a-z]", head) is not None
    if dialect == "mysql":
        return head.startswith(("\\!", "\\.", "\\T", "\\P", "\\u", "\\s")) or (
            fresh and re.match(r"(system|source|tee|pager|status|use)\b", head, re.IGNORECASE) is not None
        )
    if dialect == "tsql":
        return fresh and head.startswith(("!!", ":r", ":out", ":connect"))
    if dialect == "oracle":
        return fresh and re.match(r"(host|!|@|start|spool)", head, re.IGNORECASE) is not None
    return False


def client_command(line: str, dialect: str) -> list[Statement]:
    """What one client line does."""
    short = line[:80]
    line = line.rstrip(";").strip()
    if dialect == "postgres":
        return [s.replace(text=short) for s in _psql(line)]
    if dialect in ("sqlite", "duckdb"):
        return [s.replace(text=short) for s in _sqlite(line)]
    if dialect == "mysql":
        return [s.replace(text=short) for s in _mysql(line)]
    head, _, rest = line.partition(" ")
    if head.startswith(("!!", "!")) or head.lower() == "host":
        return [Statement(SHELL, head, line.lstrip("!") if head.startswith("!") else rest, text=short, where="client")]
    if head.lower() in (":r", "start") or head.startswith("@"):
        return [Statement(SCRIPT, head, rest or head.lstrip("@"), text=short)]
    if head.lower() in (":out", "spool"):
        return [Statement(FILE_WRITE, head, rest, text=short, where="client")]
    return [Statement(SWITCH, head, rest, text=short)]


def _psql(line: str) -> list[Statement]:
    match = re.match(r"\\(!|[a-zA-Z_?]+\+?)\s*(.*)", line, re.DOTALL)
    if not match:
        return [Statement(UNKNOWN, line[:2])]
    name, rest = match[1].rstrip("+"), match[2].strip()
    if name == "!":
        return [Statement(SHELL, "\\!", rest, where="client")]
    if name in ("g", "gx", "o", "out", "w", "write", "s"):
        if rest.startswith("|"):
            return [Statement(SHELL, "\\" + name, rest[1:], where="client")]
        return [Statement(FILE_WRITE, "\\" + name, _unquote(rest), where="client")] if rest else [Statement(NEUTRAL, "\\" + name)]
    if name == "copy":
        return _psql_copy(rest)
    if name in ("i", "ir", "include", "include_relative"):
        return [Statement(SCRIPT, "\\" + name, _unquote(rest))]
    if name in ("c", "connect"):
        return [Statement(SWITCH, "\\c", _unquote(rest.split()[0]) if rest else "")]
    if name == "gexec":
        return [Statement(UNKNOWN, "\\gexec")]
    if name == "lo_unlink":
        return [Statement(WRITE, "\\lo_unlink", rest)]
    if name in ("e", "edit", "ef", "ev"):
        return [Statement(UNKNOWN, "\\e")]
    if "`" in rest:
        return [Statement(SHELL, "backticks", part, where="client") for part in re.findall(r"`([^`]*)`", rest)]
    return [Statement(READ if name[:1] in "dlz" else NEUTRAL, "\\" + name)]


def _psql_copy(rest: str) -> list[Statement]:
    program = re.search(r"\b(?:to|from)\s+program\s+'((?:[^']|'')*)'", rest, re.IGNORECASE)
    if program:
        return [Statement(SHELL, "\\copy", program[1].replace("''", "'"), where="client")]
    # What stands in parentheses is a query, whose own FROM names no file.
    match = re.search(r"\b(to|from)\s+('(?:[^']|'')*'|\S+)", re.sub(r"^\((?:[^()']|'[^']*'|\([^()]*\))*\)", "query", rest), re.IGNORECASE)
    if not match:
        return [Statement(UNKNOWN, "\\copy")]
    name = _unquote(match[2])
    incoming = match[1].lower() == "from"
    table = rest.split(maxsplit=1)[0] if rest else ""
    found = [Statement(WRITE if incoming else READ, "\\copy", table)]
    if name.lower() not in ("stdin", "stdout", "pstdin", "pstdout"):
        found.append(Statement(FILE_READ if incoming else FILE_WRITE, "\\copy", name, where="client"))
    return found


def _sqlite(line: str) -> list[Statement]:
    name, _, rest = line.partition(" ")
    name, rest = name[1:].lower(), rest.strip()
    if name in ("shell", "system", "sh"):
        return [Statement(SHELL, "." + name, _unquote(rest), where="client")]
    words = [_unquote(w) for w in re.findall(r"\"[^\"]*\"|'[^']*'|\S+", rest)]
    last = words[-1] if words else ""
    first = next((w for w in words if not w.startswith("-")), "")
    if name in ("read", "import", "output", "once", "o") and first.startswith("|"):
        return [Statement(SHELL, "." + name, rest.strip("\"'").lstrip("|"), where="client")]
    if name == "read":
        return [Statement(SCRIPT, ".read", first)]
    if name in ("output", "once", "log", "trace", "backup", "save", "clone"):
        quiet = not last or last in ("stdout", "stderr", "on", "off")
        return [Statement(NEUTRAL, "." + name)] if quiet else [Statement(FILE_WRITE, "." + name, last, where="client")]
    if name == "import":
        return [Statement(FILE_READ, ".import", first, where="client"), Statement(WRITE, ".import", last)]
    if name == "restore":
        return [Statement(FILE_READ, ".restore", last, where="client"), Statement("drop", ".restore", "main")]
    if name == "open":
        return [Statement(SWITCH, ".open", last)]
    if name in ("load", "archive", "ar"):
        return [Statement(UNKNOWN, "." + name)]
    return [Statement(READ if name in ("tables", "schema", "dump", "indexes", "indices", "databases", "dbinfo") else NEUTRAL, "." + name)]


def _mysql(line: str) -> list[Statement]:
    match = re.match(r"(\\!|\\\.|\\T|\\P|\\u|\\s|\w+)\s*(.*)", line, re.DOTALL)
    if not match:
        return [Statement(UNKNOWN, line[:2])]
    name, rest = match[1].lower() if match[1][0] != "\\" else match[1], match[2].strip()
    if name in ("\\!", "system", "pager", "\\P"):
        return [Statement(SHELL, name, rest, where="client")]
    if name in ("\\.", "source"):
        return [Statement(SCRIPT, name, _unquote(rest))]
    if name in ("\\T", "tee"):
        return [Statement(FILE_WRITE, name, _unquote(rest), where="client")]
    if name in ("\\u", "use"):
        return [Statement(SWITCH, name, _unquote(rest))]
    return [Statement(READ, name)]


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"`" else text


_SET = r"^[ \t]*\\set[ \t]+(\w+)[ \t]+(.*?)[ \t]*$"


def variables_filled(text: str, given: list[str]) -> str:
    """psql's text with its variables in place: `:name`, `:'name'`, `:"name"`, as `\\set` and `-v` define them."""
    known = {name: value for name, _, value in (each.partition("=") for each in given)}
    for match in re.finditer(_SET, text, re.MULTILINE):
        if "`" not in match[2]:
            # Pieces are put together without blanks between them.
            known[match[1]] = "".join(a or b or c for a, b, c in re.findall(r"'((?:[^']|'')*)'|\"([^\"]*)\"|(\S+)", match[2]))
    for name, value in known.items():
        if name:
            quoted = "'" + value.replace("'", "''") + "'"
            text = re.sub(rf"(?<![:\w]):'{re.escape(name)}'", quoted.replace("\\", "\\\\"), text)
            text = re.sub(rf"(?<![:\w]):(?:\"{re.escape(name)}\"|{re.escape(name)}\b)", value.replace("\\", "\\\\"), text)
    return text
