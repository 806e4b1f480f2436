"""What a session's earlier commands mean for its later ones: functions, aliases, variables and options, kept as source text for the judge.

`f() { rm -rf ~; }` on one line and `f` on the next must be judged together. So each new command is judged with the definitions that still hold in
front of it. Where a value is only known when the command runs, the judge is told just that: the name is read from somewhere.
"""

from __future__ import annotations

from ..errors import LimitError
from ..model.value import Value
from ..shell import syntax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.syntax import Assignment, Node, Script

DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local"))
SETTING = frozenset(("alias", "unalias", "unset", "shopt", "set", "enable", "trap", "source", "."))
READING = frozenset(("read", "mapfile", "readarray", "getopts", "printf"))
MOST = 24_000  # characters; the judge takes 64 KB in all


class Memory:
    """Definitions by name, the latest one each, in the order they were made."""

    def __init__(self) -> None:
        self._functions: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._settings: dict[str, None] = {}

    def prelude(self) -> str:
        """The definitions as shell text, ending in a newline; "" when there are none."""
        parts = [*self._settings, *self._variables.values(), *self._functions.values()]
        return "".join(part + "\n" for part in parts)

    def functions(self) -> frozenset[str]:
        """The names of functions that commands have defined."""
        return frozenset(self._functions)

    def remember(self, text: str, script: Script) -> None:
        """Take in a command that has run. Raises LimitError when the session has come to define more than can be judged."""
        for item in script.items:
            self._take(text, item)
        if len(self.prelude()) > MOST:
            raise LimitError("the session has defined more than can be judged with each command", hint="start a new shell")

    def _take(self, text: str, node: Node) -> None:
        source = text[node.span.start : node.span.end]
        if isinstance(node, syntax.Function):
            self._functions.pop(node.name, None)
            self._functions[node.name] = source
            return
        if isinstance(node, syntax.AndOr):
            self._take(text, node.left)
            self._take(text, node.right)
            return
        if isinstance(node, syntax.Group) and not node.redirects:
            for item in node.body.items:
                self._take(text, item)
            return
        if isinstance(node, syntax.Command) and not node.redirects:
            name = _literal(node.words[0]) if node.words else ""
            if (not node.words and node.assignments) or name in DECLARING:
                self._assign(source, (*node.assignments, *node.assignments_in_words), _declared(node))
                return
            if name in SETTING:
                self._settings.pop(source, None)
                self._settings[source] = None
                return
        for name in _changed(node):
            self._variables.pop(name, None)
            self._variables[name] = f"read -r {name}"

    def _assign(self, source: str, assignments: tuple[Assignment, ...], declared: tuple[str, ...]) -> None:
        names = [assignment.name for assignment in assignments] + list(declared)
        plain = all(not assignment.append and assignment.index is None for assignment in assignments) and not _runs_commands(assignments)
        for name in names:
            # `export NAME` says nothing new about a value that is known already
            if name in declared and name in self._variables:
                continue
            self._variables.pop(name, None)
            self._variables[name] = f"read -r {name}"
        if plain and names:
            self._variables[names[-1]] = source
            for name in names[:-1]:
                self._variables.pop(name, None)


def _declared(command: syntax.Command) -> tuple[str, ...]:
    """Names of a declaration without a value, such as `export NAME`."""
    words = [_literal(word) for word in command.words[1:]]
    return tuple(word for word in words if word.isidentifier())


def _literal(word: syntax.Word) -> str:
    return "".join(part.text for part in word.parts) if all(isinstance(part, syntax.Literal) for part in word.parts) else ""  # type: ignore[attr-defined]  # all are literals


def _runs_commands(value: object) -> bool:
    """Whether a substitution stands inside: its value is known only when it runs, and it must not be judged a second time."""
    return any(isinstance(each, syntax.CommandSub | syntax.ProcessSub | syntax.Arith) for each in _walk(value))


def _changed(node: Node) -> Iterator[str]:
    """Names of variables that this command may have changed, somewhere inside it."""
    for each in _walk(node):
        if isinstance(each, syntax.Assignment):
            yield each.name
        elif isinstance(each, syntax.For):
            yield each.name
        elif isinstance(each, syntax.Function):
            yield from ()
        elif isinstance(each, syntax.Command) and each.words and _literal(each.words[0]) in READING:
            words = [_literal(word) for word in each.words[1:]]
            yield from (word for word in words if word.isidentifier())


def _walk(value: object) -> Iterator[object]:
    """The value and everything in it."""
    todo = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, tuple):
            todo += each
        elif isinstance(each, Value):
            yield each
            todo += [getattr(each, name) for name in each._fields]
