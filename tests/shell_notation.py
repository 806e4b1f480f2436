"""A short way to write expanded words down in tests."""

from __future__ import annotations

from instinct_shell.shell.invocation import Field, Known


def written(field: Field) -> str:
    """A field in short: its value, `a|b` for a set, `prefix<reason>suffix` for dynamic; `*` marks a glob, `+` one that may be many."""
    text = "|".join(field.values) if field.known is not Known.DYNAMIC else f"{field.prefix}<{field.reason}>{field.suffix}"
    return text + ("*" if field.glob else "") + ("+" if field.many and not field.glob else "")
