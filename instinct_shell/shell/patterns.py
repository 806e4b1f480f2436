"""bash's pattern language as regular expressions: `*`, `?`, brackets with classes, and extglobs. Pure, cached."""

from __future__ import annotations

import re
from functools import lru_cache

_MOST_STEPS = 400_000
_LONGEST = 4_096
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "a-zA-Z0-9_",
    "xdigit": "0-9a-fA-F",
}


@lru_cache(maxsize=512)
def compiled(pattern: str, path: bool = False) -> re.Pattern[str]:
    """The expression for a whole string; path: `*` and `?` do not match a slash. A backslash quotes the next character."""
    try:
        return re.compile(translate(pattern, path), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern), re.DOTALL)


def matches(pattern: str, text: str, path: bool = False) -> bool:
    """Whether the whole text matches. Costs at most len(pattern) x len(text) steps for patterns without extglobs."""
    pieces = _pieces(pattern, path)
    if pieces is None:
        return compiled(pattern, path).fullmatch(text) is not None
    return _match(pieces, text, "/" if path else "")


def feasible(pattern: str, text: str, searched: bool = False) -> bool:
    """Whether matching ends soon. searched: the pattern is looked for inside the text, by the regular expression."""
    if searched or _pieces(pattern, False) is None:
        stars = pattern.count("*") + pattern.count("+(")
        return bool(len(text) ** (stars + 1) <= _MOST_STEPS) and len(text) <= _LONGEST
    return len(text) * (len(pattern) + 1) <= _MOST_STEPS


@lru_cache(maxsize=512)
def _pieces(pattern: str, path: bool) -> tuple[re.Pattern[str] | str | None, ...] | None:
    """One entry a character: itself, an expression for a set, None for a star. The whole is None when there is an extglob."""
    out: list[re.Pattern[str] | str | None] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char in "?*+@!" and pattern[at : at + 1] == "(" and _close(pattern, at) > 0:
            return None
        if char == "*":
            if not out or out[-1] is not None:
                out.append(None)
        elif char == "?":
            out.append(re.compile("[^/]" if path else ".", re.DOTALL))
        elif char == "[":
            item, at = _bracket(pattern, at)
            out.append("[" if item == "\\[" else _set(item))
        elif char == "\\" and at < len(pattern):
            out.append(pattern[at])
            at += 1
        else:
            out.append(char)
    return tuple(out)


def _set(item: str) -> re.Pattern[str]:
    try:
        return re.compile(item, re.DOTALL)
    except re.error:  # a range that runs backwards matches nothing
        return re.compile(r"[^\s\S]")


def _match(pieces: tuple[re.Pattern[str] | str | None, ...], text: str, barrier: str) -> bool:
    """Glob matching that goes back to the last star only."""
    at = here = 0
    star = start = -1
    while at < len(text):
        piece = pieces[here] if here < len(pieces) else ""
        if here < len(pieces) and piece is None:
            star, start = here, at
            here += 1
        elif here < len(pieces) and (piece == text[at] if isinstance(piece, str) else piece is not None and piece.match(text[at])):
            at += 1
            here += 1
        elif star >= 0 and not (barrier and text[start] == barrier):
            start += 1
            at, here = start, star + 1
        else:
            return False
    return all(piece is None for piece in pieces[here:])


def translate(pattern: str, path: bool = False) -> str:
    """The source of the regular expression for a pattern."""
    return _translate(pattern, path)


def _translate(pattern: str, path: bool) -> str:
    any_char = "[^/]" if path else "."
    out = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char in "?*+@!" and pattern[at : at + 1] == "(":
            close = _close(pattern, at)
            if close > 0:
                inner = "|".join(_translate(piece, path) for piece in _split(pattern[at + 1 : close]))
                at = close + 1
                if char == "!":
                    out.append(f"(?:(?!(?:{inner})(?:{_translate(pattern[at:], path)})$){any_char}*)")
                else:
                    out.append(f"(?:{inner})" + {"?": "?", "*": "*", "+": "+", "@": ""}[char])
                continue
        if char == "*":
            while pattern[at : at + 1] == "*":
                at += 1
            out.append(any_char + "*")
        elif char == "?":
            out.append(any_char)
        elif char == "[":
            item, at = _bracket(pattern, at)
            out.append(item)
        elif char == "\\" and at < len(pattern):
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    start = at
    negated = pattern[at : at + 1] in ("!", "^")
    if negated:
        at += 1
    out: list[str] = []
    first = True
    while at < len(pattern):
        char = pattern[at]
        if char == "]" and not first:
            body = "".join(out)
            return (f"[^{body}]" if negated else f"[{body}]") if body else "[^\\s\\S]", at + 1
        first = False
        if char == "[" and pattern[at + 1 : at + 2] == ":":
            end = pattern.find(":]", at)
            if end > 0 and pattern[at + 2 : end] in _CLASSES:
                out.append(_CLASSES[pattern[at + 2 : end]])
                at = end + 2
                continue
        if char == "\\" and at + 1 < len(pattern):
            out.append(re.escape(pattern[at + 1]))
            at += 2
            continue
        out.append("\\" + char if char in "[]\\^&~|" else char)
        at += 1
    return "\\[", start


def _close(pattern: str, at: int) -> int:
    depth = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "(":
            depth += 1
        elif pattern[at] == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


def _split(text: str) -> list[str]:
    pieces = [""]
    depth = 0
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            pieces[-1] += text[at : at + 2]
            at += 2
            continue
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += char
        at += 1
    return pieces
