"""Words of the trusted subset from their source text: quotes, escapes, parameters; substitutions come from the caller's tree.

bashlex loses quoting in its own `word`, so the adapter hands over spans only. What stands outside the subset raises `Untrusted`.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Span
from . import escapes, words
from .syntax import CommandSub, Glob, Literal, Param, Part, ProcessSub, Script, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Inner = Callable[[int], tuple[Script, int]]  # start of `$(`, `<(` or `>(` -> its body and the index after its `)`


class Untrusted(Exception):
    """This source is not in the trusted subset after all; the reference parser decides."""


@cache
def _parameter() -> re.Pattern[str]:
    return re.compile(
        r"\{(?P<mark>[#!]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[(?P<index>[\w@*$-]+)\])?(?P<rest>[^}]*)\}|(?P<short>[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])"
    )


_PATTERN_OPS = ("##", "#", "%%", "%", "^^", "^", ",,", ",")
_VALUE_OPS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")


def lex(text: str, start: int, end: int, inner: Inner, *, braces: bool = True, assignment: bool = False) -> Word:
    """The word that stands at text[start:end]. assignment: it is the value of one."""
    span = Span(start, end)
    parts: list[Part] = []
    run = at = start
    while at < end:
        char = text[at]
        if char not in "\\'\"$<>":
            at += 1
            continue
        if char in "<>" and text[at + 1 : at + 2] != "(":
            raise Untrusted
        if at > run and char != "\\":
            parts += escapes.unescape_unquoted(text[run:at], Span(run, at))
        if char == "\\":
            at += 2
            continue
        if char == "'":
            close = text.find("'", at + 1, end)
            if close < 0:
                raise Untrusted
            parts.append(Literal(Span(at, close + 1), text[at + 1 : close], True))
            at = close + 1
        elif char == '"':
            at = _double(text, at + 1, end, inner, parts)
        elif char == "$":
            part, at = _dollar(text, at, end, inner, False)
            parts.append(part)
        else:
            body, after = inner(at)
            parts.append(ProcessSub(Span(at, after), body, char))
            at = after
        run = at
    if at != end:
        raise Untrusted
    if run < end:
        parts += escapes.unescape_unquoted(text[run:end], Span(run, end))
    return Word(span, text[start:end], words.finish(parts, braces=braces, assignment=assignment))


def _double(text: str, at: int, end: int, inner: Inner, parts: list[Part]) -> int:
    first = len(parts)
    opened = run = at
    while at < end:
        char = text[at]
        if char == "\\":
            at += 2
        elif char == '"':
            if at > run:
                parts.append(Literal(Span(run, at), escapes.unescape_double(text[run:at]), True))
            if len(parts) == first:
                parts.append(Literal(Span(opened - 1, at + 1), "", True))
            return at + 1
        elif char == "$":
            if at > run:
                parts.append(Literal(Span(run, at), escapes.unescape_double(text[run:at]), True))
            part, at = _dollar(text, at, end, inner, True)
            parts.append(part)
            run = at
        else:
            at += 1
    raise Untrusted


def _dollar(text: str, at: int, end: int, inner: Inner, quoted: bool) -> tuple[Part, int]:
    following = text[at + 1 : at + 2] if at + 1 < end else ""
    if following == "(":
        body, after = inner(at)
        return CommandSub(Span(at, after), body, quoted), after
    found = _parameter().match(text, at + 1, end)
    if not found:
        if following == "{":
            raise Untrusted
        return Literal(Span(at, at + 1), "$", quoted), at + 1
    span = Span(at, found.end())
    if found["short"]:
        return Param(span, found["short"], quoted), found.end()
    return _braced(found, span, quoted), found.end()


def _braced(found: re.Match[str], span: Span, quoted: bool) -> Part:
    name, rest, mark = found["name"], found["rest"], found["mark"]
    index = _plain(found["index"], span) if found["index"] else None
    if found["index"] and "$" in found["index"]:
        raise Untrusted
    if mark == "#":
        if rest or not name:
            raise Untrusted
        return Param(span, name, quoted, "length", None, None, index)
    op = ""
    if mark == "!":
        if rest in ("*", "@"):
            return Param(span, name, quoted, "names", None, None, index)
        op = "indirect"
    if not rest:
        return Param(span, name, quoted, op, None, None, index)
    if rest[0] == "@" and len(rest) == 2:
        return Param(span, name, quoted, op + rest, None, None, index)
    for candidate in _VALUE_OPS:
        if rest.startswith(candidate):
            argument = rest[len(candidate) :]
            word = _word(argument, span, quoted) if argument else None
            return Param(span, name, quoted, op + candidate, word, None, index)
    for candidate in _PATTERN_OPS:
        if rest.startswith(candidate):
            argument = rest[len(candidate) :]
            return Param(span, name, quoted, op + candidate, _word(argument, span, False) if argument else None, None, index)
    if rest[0] == "/":
        return _replace(rest, name, op, span, quoted, index)
    if rest[0] == ":" and re.fullmatch(r":[\w +*()-]*(?::[\w +*()-]*)?", rest):
        first, colon, second = rest[1:].partition(":")
        return Param(
            span, name, quoted, op + ":", _plain(first, span) if first else None, _plain(second or "0", span) if colon else None, index
        )
    raise Untrusted


def _replace(rest: str, name: str, op: str, span: Span, quoted: bool, index: Word | None) -> Part:
    every = rest.startswith("//")
    pattern, _, replacement = rest[2 if every else 1 :].partition("/")
    operator = "//" if every else "/"
    if not every and pattern[:1] in ("#", "%"):
        operator, pattern = "/" + pattern[0], pattern[1:]
    if not pattern:
        raise Untrusted
    return Param(
        span, name, quoted, op + operator, _word(pattern, span, False), _word(replacement, span, False) if replacement else None, index
    )


def _word(text: str, span: Span, quoted: bool) -> Word:
    parts: list[Part] = [Literal(span, text, quoted)]
    return Word(span, text, tuple(parts) if quoted else words.finish(parts, braces=False, named=False))


def _plain(text: str, span: Span) -> Word:
    return Word(span, text, (Glob(span, text),) if text == "*" else (Literal(span, text, False),))
