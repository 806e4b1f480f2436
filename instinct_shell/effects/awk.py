"""What an awk program touches: `system()`, pipes, output redirects and `getline`. Everything else only prints."""

from __future__ import annotations

import re
from functools import cache

from ..model.value import Value
from ..shell.escapes import decode_ansi


class Touch(Value):
    """One thing a program does outside its output. kind: "run" | "write" | "append" | "read"; known: whether `text` is the whole of it.

    feeds: text is printed into the command that runs; fed: that text, when it is known.
    """

    kind: str
    text: str
    known: bool
    feeds: bool = False
    fed: str | None = None


@cache
def _token() -> re.Pattern[str]:
    return re.compile(r'\s+|#[^\n]*|"(?:\\.|[^"\\])*"?|\\\n|>>|\|&|&&|\|\||[<>=!]=|[A-Za-z_]\w*|\d[\w.]*|.', re.DOTALL)


def _tokens(program: str) -> list[str]:
    """Tokens without blanks and comments; a newline stays as ";". A regular expression is one token that begins with a slash."""
    out: list[str] = []
    at = 0
    while at < len(program):
        if program[at] == "/" and (
            not out or out[-1] in "(,{};!~&&||=?:" or out[-1] in ("&&", "||", "!=", "==", "~", "case", "return", "in")
        ):
            end = at + 1
            in_class = False
            while end < len(program) and (program[end] != "/" or in_class):
                in_class = program[end] == "[" or (in_class and program[end] != "]")
                end += 2 if program[end] == "\\" else 1
            out.append(program[at : end + 1])
            at = end + 1
            continue
        match = _token().match(program, at)
        if match is None:
            break
        text = match.group()
        at = match.end()
        if text.isspace():
            if "\n" in text:
                out.append(";")
        elif text[0] not in "#\\":
            out.append(text)
    return out


_ENDS = frozenset((";", "}", "{"))
MOST_LINES = 20  # of known input that are followed


def touches(program: str, given: dict[str, str] | None = None, lines: tuple[str, ...] = (), separator: str = "") -> list[Touch]:
    """What the program does outside its output. given: variables set by `-v`. lines: what it reads, when that is known; separator: -F."""
    tokens = _tokens(program)
    found: list[Touch] = []
    if lines and "$" in tokens:
        for line in lines[:MOST_LINES]:
            found += _touches(_filled(tokens, line, separator), given)
        return list(dict.fromkeys(found))
    return _touches(tokens, given)


def _filled(tokens: list[str], line: str, separator: str) -> list[str]:
    """The tokens with `$0`, `$1` ... replaced by what they are for this line."""
    parts = line.split(separator or None)
    out: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "$" and at + 1 < len(tokens) and (tokens[at + 1].isdigit() or tokens[at + 1] == "NF"):
            number = len(parts) if tokens[at + 1] == "NF" else int(tokens[at + 1])
            value = line if number == 0 else parts[number - 1] if number <= len(parts) else ""
            out.append('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"')
            at += 2
            continue
        out.append(tokens[at])
        at += 1
    return out


def _touches(tokens: list[str], given: dict[str, str] | None) -> list[Touch]:
    constants = {name: f'"{value}"' for name, value in (given or {}).items()} | _constants(tokens)
    found: list[Touch] = []
    printing, depth, printed = False, 0, 0
    for at, token in enumerate(tokens):
        if token in ("print", "printf"):
            printing, depth, printed = True, 0, at + 1
        elif token in _ENDS:
            printing = False
        elif token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
        elif token == "system" and tokens[at + 1 : at + 2] == ["("]:
            continue
        if token == "(" and at and tokens[at - 1] == "system":
            found.append(_touch("run", _until(tokens, at + 1, frozenset((")",))), constants))
        elif token in (">", ">>") and printing and depth <= 0:
            found.append(_touch("append" if token == ">>" else "write", _until(tokens, at + 1, _ENDS), constants))
        elif token in ("|", "|&") and tokens[at + 1 : at + 2] == ["getline"]:
            found.append(_touch("run", _before(tokens, at), constants))
        elif token in ("|", "|&"):
            run = _touch("run", _until(tokens, at + 1, _ENDS), constants)
            text = _touch("", tokens[printed:at], constants) if printing else None
            found.append(run.replace(feeds=printing, fed=text.text if text is not None and text.known else None))
        elif token == "ARGV" and tokens[at + 1 : at + 2] == ["["]:
            closing = next((index for index in range(at, len(tokens)) if tokens[index] == "]"), at)
            if tokens[closing + 1 : closing + 2] == ["="]:
                found.append(_touch("read", _until(tokens, closing + 2, _ENDS), constants))
        elif token == "<" and at and _gets_line(tokens, at):
            found.append(_touch("read", _until(tokens, at + 1, _ENDS | {")", "&&", "||"})[:1], constants))
    return found


def _gets_line(tokens: list[str], at: int) -> bool:
    return tokens[at - 1] == "getline" or (at > 1 and tokens[at - 2] == "getline")


def _until(tokens: list[str], start: int, ends: frozenset[str]) -> list[str]:
    out: list[str] = []
    depth = 0
    for token in tokens[start:]:
        if depth == 0 and token in ends:
            break
        depth += (token in "([") - (token in ")]")
        if depth < 0:
            break
        out.append(token)
    return out


def _before(tokens: list[str], at: int) -> list[str]:
    out: list[str] = []
    for token in reversed(tokens[:at]):
        if token in _ENDS or token in ("(", "while", "if", "&&", "||", "=", ","):
            break
        out.insert(0, token)
    return out


def _constants(tokens: list[str]) -> dict[str, str]:
    """Variables that are only ever given one string."""
    seen: dict[str, set[str]] = {}
    for at, token in enumerate(tokens[:-2]):
        if tokens[at + 1] == "=" and re.fullmatch(r"[A-Za-z_]\w*", token):
            following = tokens[at + 3] if at + 3 < len(tokens) else ";"
            value = tokens[at + 2] if tokens[at + 2][0] == '"' and following in (";", "}", ")", ",") else ""
            seen.setdefault(token, set()).add(value)
    return {name: next(iter(values)) for name, values in seen.items() if len(values) == 1 and next(iter(values))}


def _touch(kind: str, expression: list[str], constants: dict[str, str]) -> Touch:
    """A touch whose text is the known beginning of a concatenation of strings."""
    text, known = "", bool(expression)
    while len(expression) > 2 and expression[0] == "(" and expression[-1] == ")":
        expression = expression[1:-1]
    for token in expression:
        token = constants.get(token, token)
        if token[0] != '"':
            known = False
            break
        body = token[1:-1] if len(token) > 1 and token.endswith('"') else token[1:]
        text += decode_ansi(body)
    return Touch(kind, text, known)
