"""bash's pattern language as regular expressions: `*`, `?`, brackets with classes, and extglobs. Pure, cached."""

from __future__ import annotations

import re
from functools import lru_cache

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
    """Whether the whole text matches."""
    return compiled(pattern, path).fullmatch(text) is not None


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
