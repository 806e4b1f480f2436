"""What a session's earlier commands mean for its later ones: functions, aliases, variables and options, kept as source text for the judge.

`f() { rm -rf ~; }` on one line and `f` on the next must be judged together. So each new command is judged with the definitions that still hold in
front of it. Where a value is only known when the command runs, the judge is told just that: the name is read from somewhere.
"""

from __future__ import annotations

from ..errors import LimitError
from ..model.value import Value
from ..shell import syntax
from ..shell.invocation import literal
from .rewriting import quote_always

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..shell.invocation import Evaluation, Field
    from ..shell.syntax import Assignment, Node, Script

DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local"))
SETTING = frozenset(("alias", "unalias", "unset", "shopt", "set", "enable", "trap", "source", "."))
READING = frozenset(("read", "mapfile", "readarray", "getopts", "printf"))
APART = frozenset(("subshell", "pipeline", "background", "substitution", "coproc"))  # what is assigned there, the session's shell never sees
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

    def remember(self, text: str, script: Script, known: Mapping[str, Field | None]) -> None:
        """Take in a command that has run. known: values that its judgement worked out. Raises LimitError when the session has come to define
        more than can be judged."""
        for item in script.items:
            self._take(text, item, known)
        if len(self.prelude()) > MOST:
            raise LimitError("the session has defined more than can be judged with each command", hint="start a new shell")

    def _take(self, text: str, node: Node, known: Mapping[str, Field | None]) -> None:
        source = text[node.span.start : node.span.end]
        if isinstance(node, syntax.Function):
            self._functions.pop(node.name, None)
            self._functions[node.name] = source
            return
        if isinstance(node, syntax.AndOr):
            self._take(text, node.left, known)
            self._take(text, node.right, known)
            return
        if isinstance(node, syntax.Group) and not node.redirects:
            for item in node.body.items:
                self._take(text, item, known)
            return
        if isinstance(node, syntax.Command) and not node.redirects:
            name = _literal(node.words[0]) if node.words else ""
            if (not node.words and node.assignments) or name in DECLARING:
                self._assign(text, "export " if name == "export" else "", (*node.assignments, *node.assignments_in_words), _declared(node), known)
                return
            if name in SETTING:
                self._settings.pop(source, None)
                self._settings[source] = None
                return
        for name in _changed(node):
            self._set(name, f"read -r {name}")
        if isinstance(node, syntax.For) and node.words and (last := _literal(node.words[-1])):
            self._set(node.name, f"{node.name}={quote_always(last)}")

    def _assign(
        self, text: str, export: str, assignments: tuple[Assignment, ...], declared: tuple[str, ...], known: Mapping[str, Field | None]
    ) -> None:
        for assignment in assignments:
            name = assignment.name
            whole = not assignment.append and assignment.index is None and assignment.array is None
            value = known.get(name) if whole else None
            if value is not None and value.text is not None:
                self._set(name, f"{export}{name}={quote_always(value.text)}")
            elif value is not None and value.origins and all(origin.kind == "mktemp" for origin in value.origins):
                self._set(name, export + text[assignment.span.start : assignment.span.end])  # a fresh scratch name, whatever it turns out to be
            else:
                self._set(name, f"read -r {name}")
        for name in declared:
            self._variables.setdefault(name, f"read -r {name}")  # `export NAME` says nothing new about a value that is known already

    def _set(self, name: str, source: str) -> None:
        self._variables.pop(name, None)
        self._variables[name] = source


def defined_functions(script: Script) -> frozenset[str]:
    """The names of all functions that stand in a script, wherever."""
    return frozenset(each.name for each in _walk(script) if isinstance(each, syntax.Function))


def known_values(evaluation: Evaluation | None) -> dict[str, Field | None]:
    """The values that assignments surely gave in the session's own shell; None for a name that was only perhaps assigned."""
    found: dict[str, Field | None] = {}
    for invocation in evaluation.invocations if evaluation else ():
        if not APART.isdisjoint(invocation.context):
            continue
        values: dict[str, Field | None] = {}
        if not invocation.words:
            values |= dict(invocation.assignments)
        elif invocation.words[0].text in DECLARING:
            for word in invocation.words[1:]:
                name, equals, value = (word.text or word.prefix).partition("=")
                if equals:
                    values[name] = literal(value) if word.text is not None else word
        found |= {name: value if invocation.certain else None for name, value in values.items()}
    return found


def _declared(command: syntax.Command) -> tuple[str, ...]:
    """Names of a declaration without a value, such as `export NAME`."""
    words = [_literal(word) for word in command.words[1:]]
    return tuple(word for word in words if word.isidentifier())


def _literal(word: syntax.Word) -> str:
    return "".join(part.text for part in word.parts) if all(isinstance(part, syntax.Literal) for part in word.parts) else ""  # type: ignore[attr-defined]  # all are literals


def _changed(node: Node) -> Iterator[str]:
    """Names of variables that this command may have changed, somewhere inside it."""
    for each in _walk(node):
        if isinstance(each, syntax.Assignment | syntax.For):
            yield each.name
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
