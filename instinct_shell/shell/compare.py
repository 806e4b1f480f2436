"""What two trees of one text say that would run, comparable: used where both parsers read the same text."""

from __future__ import annotations

from ..model.value import Value
from .syntax import Assignment, Command, Heredoc, Opaque, Redirect, Script, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Line = tuple[tuple[str, ...], ...]


def commands(script: Script) -> tuple[Line, ...]:
    """Each simple command as (words, assignments, redirections) in source text, sorted; substitutions included."""
    return tuple(sorted(_commands(script)))


def agree(first: Script, second: Script) -> bool:
    """Whether two parsers found the same commands."""
    return commands(first) == commands(second)


def union(first: Script, second: Script) -> Script:
    """A script that runs what either tree runs: all of the first, then of the second the commands that the first lacks, as uncertain ones."""
    known = set(_commands(first))
    extra = tuple(
        node
        for node in _nodes(second)
        if isinstance(node, (Command, Opaque)) and (not isinstance(node, Command) or _line(node) not in known)
    )
    return first.replace(items=(*first.items, *extra))


def _commands(script: Script) -> Iterator[Line]:
    for node in _nodes(script):
        if isinstance(node, Command):
            yield _line(node)


def _line(node: Command) -> Line:
    assigned = [_assignment(a) for a in node.assignments]
    words = [_text(w) for w in node.words] + [_assignment(a) for a in node.assignments_in_words]
    return (tuple(words), tuple(assigned), tuple(_redirect(r) for r in node.redirects))


def _assignment(node: Assignment) -> str:
    value = _text(node.value) if node.value is not None else ""
    return f"{node.name}{'+' if node.append else ''}={value}"


def _redirect(node: Redirect) -> str:
    return f"{node.fd if node.fd is not None else ''}{node.op}{_text(node.target) if node.target is not None else ''}"


def _text(word: Word) -> str:
    return word.raw.strip()


def _nodes(value: object) -> Iterator[Value]:
    """Every value of a tree, outermost first."""
    if isinstance(value, Value):
        yield value
        for field in value._fields:
            yield from _nodes(getattr(value, field))
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def has_heredoc_in_backquotes(script: Script) -> bool:
    """Whether a heredoc starts inside backquotes: bash 5.2 ends it elsewhere than every parser (research: fail closed)."""
    from .syntax import CommandSub

    return any(
        isinstance(node, CommandSub) and node.backtick and any(isinstance(inner, Heredoc) for inner in _nodes(node.body))
        for node in _nodes(script)
    )
