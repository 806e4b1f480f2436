"""Patterns under `shopt -s dotglob` and `nocaseglob`: they match more names, so each stands for more patterns."""

from __future__ import annotations

from .values import Text

WIDER = frozenset(("dotglob", "nocaseglob"))


def widened(text: Text, options: frozenset[str]) -> Text:
    """Patterns as they match under dotglob (also names that begin with a dot) and nocaseglob (letters of either case)."""
    patterns = list(text.values)
    if "dotglob" in options:
        for pattern in text.values:
            parts = pattern.split("/")
            for at, part in enumerate(parts):
                if part[:1] in ("*", "?", "["):
                    rest = part if part[0] == "*" else part[1:] if part[0] == "?" else part[part.find("]", 2) + 1 :]
                    patterns.append("/".join((*parts[:at], "." + rest, *parts[at + 1 :])))
    if "nocaseglob" in options:
        patterns = [either_case(pattern) for pattern in patterns]
    return Text(tuple(dict.fromkeys(patterns)), text.reason, text.origins, text.prefix, text.suffix, text.glob, text.unset)


def either_case(pattern: str) -> str:
    """The pattern that matches letters of either case."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            out.append(pattern[at : at + 2])
            at += 2
            continue
        if character == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end]
            out.append(f"[{inner}{inner.swapcase().lstrip('!^')}]")
            at = end + 1
            continue
        out.append(f"[{character.lower()}{character.upper()}]" if character.isalpha() and character.isascii() else character)
        at += 1
    return "".join(out)


def live_patterns(found: tuple[str, ...]) -> tuple[str, ...]:
    """Values as patterns: a backslash in one quotes what follows it, and stays when no name matches."""
    return tuple(dict.fromkeys(p for value in found for p in (value, value.replace("\\", "\\\\"))))
