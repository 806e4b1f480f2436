"""SQL text cut into statements: quotes, comments, dollar quotes, client commands."""

from __future__ import annotations

import re
from functools import cache

from .sql_values import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def statements(text: str, dialect: str) -> list[str | Statement]:
    """The text cut at its semicolons (and T-SQL's GO), comments removed; client commands such as `\\!` or `.shell` come out as statements."""
    from .sql_clients import client_command, is_client_line

    pieces: list[str | Statement] = []
    buffer: list[str] = []
    at = 0
    fresh = True  # at the start of a statement
    while at < len(text):
        if fresh or text[at] == "\\":
            line_end = text.find("\n", at)
            line = text[at : line_end if line_end >= 0 else len(text)]
            if is_client_line(line, dialect, fresh):
                if line.lstrip().startswith("\\g") and buffer:
                    pieces.append("".join(buffer))
                    buffer = []
                pieces.extend(client_command(line.strip(), dialect))
                at += len(line) + 1
                continue
        char = text[at]
        token = _token(text, at, dialect)
        if token == ";":
            pieces.append("".join(buffer))
            buffer, fresh = [], True
        elif token.startswith(("--", "/*")) or (token.startswith("#") and dialect == "mysql"):
            if token.startswith("/*!") and dialect == "mysql":  # MySQL runs what stands in these
                buffer.append(re.sub(r"^/\*!\d*|\*/$", " ", token))
            else:
                buffer.append(" ")
        else:
            buffer.append(token)
            fresh = fresh and char.isspace()
        at += len(token)
    pieces.append("".join(buffer))
    cut: list[str | Statement] = []
    for piece in pieces:
        if isinstance(piece, str) and dialect == "tsql":
            cut.extend(re.split(r"(?im)^\s*go\s*$", piece))
        else:
            cut.append(piece)
    return [piece for piece in cut if isinstance(piece, Statement) or piece.strip()]


def _token(text: str, at: int, dialect: str) -> str:
    """The lexical unit at this place: a quoted string, a comment, a dollar-quoted body, or one character."""
    char = text[at]
    if char in "'\"`":
        end = at + 1
        while end < len(text):
            if text[end] == "\\" and dialect in ("mysql", "bigquery", "clickhouse", "hive") and char != "`":
                end += 2
                continue
            if text[end] == char:
                if text[end + 1 : end + 2] == char:
                    end += 2
                    continue
                return text[at : end + 1]
            end += 1
        return text[at:]
    if text.startswith("--", at) or (char == "#" and dialect == "mysql"):
        end = text.find("\n", at)
        return text[at : end if end >= 0 else len(text)]
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return text[at : end + 2 if end >= 0 else len(text)]
    if char == "$" and dialect == "postgres":
        match = re.match(r"\$(\w*)\$", text[at:])
        if match:
            end = text.find(match[0], at + len(match[0]))
            return text[at : end + len(match[0]) if end >= 0 else len(text)]
    return char


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[\w ]+\]|[\w.$@*]+|[=<>!]+|.", re.DOTALL)


def words_of(statement: str) -> list[str]:
    """Lower-case tokens, identifiers unquoted, strings kept with their quotes, blanks dropped."""
    words = []
    for token in _word_pattern().findall(statement):
        if token[:1] in '"`[' and len(token) > 1:
            words.append(token[1:-1])
        elif not token.isspace():
            words.append(token if token[:1] == "'" else token.lower())
    while words and words[0] == "(":
        words.pop(0)
    return words
