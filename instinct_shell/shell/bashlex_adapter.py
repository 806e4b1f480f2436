"""bashlex's tree to ours. Only for texts that `trust.trusted` lets through; anything unexpected raises `Untrusted`.

Node kinds are bashlex 0.18's. Only kinds and positions are taken from it, words are read again from the source (`lexer`).
"""

from __future__ import annotations

import re

from ..model.effect import Span
from .bashlex_table import load
from .lexer import Untrusted, lex
from .syntax import (
    AndOr,
    Assignment,
    Background,
    Command,
    For,
    Function,
    Group,
    If,
    Literal,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Script,
    Subshell,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
_OPERATORS = frozenset({";", "\n", "&"})


def parse(text: str) -> Script:
    """Our tree of a trusted text. Raises Untrusted for what bashlex rejects or what is outside the subset; may run for ever on others."""
    try:
        trees = load().parse(text)
    except RecursionError:
        raise Untrusted from None
    except Exception:  # noqa: BLE001  # see below
        # bashlex signals what it cannot do by a dozen exception types (ParsingError, NotImplementedError, TypeError, AssertionError,
        # IndexError, AttributeError); all mean the same here: the reference parser has to read this text
        raise Untrusted from None
    adapter = _Adapter(text)
    items: list[Node] = []
    for tree in trees:
        items += adapter.list_items(tree)
    return Script(Span(0, len(text)), tuple(items))


class _Adapter:
    def __init__(self, text: str) -> None:
        self.text = text

    def list_items(self, node: Any) -> list[Node]:
        """The commands of a list node, split at `;`, newline and `&`; `&&` and `||` bind to the left."""
        if node.kind != "list":
            return [self.node(node)]
        items: list[Node] = []
        current: Node | None = None
        pending = ""
        for part in node.parts:
            if part.kind == "operator":
                if part.op not in _OPERATORS:
                    pending = part.op
                    continue
                if current is not None:
                    items.append(Background(current.span, current) if part.op == "&" else current)
                current = None
                continue
            found = self.node(part)
            current = AndOr(Span(current.span.start, found.span.end), current, pending, found) if current is not None else found
        if current is not None:
            items.append(current)
        return items

    def script(self, node: Any) -> Script:
        return Script(self.span(node), tuple(self.list_items(node)))

    def span(self, node: Any) -> Span:
        return Span(node.pos[0], node.pos[1])

    def node(self, node: Any) -> Node:
        kind = node.kind
        if kind == "command":
            return self.command(node)
        if kind == "pipeline":
            return self.pipeline(node)
        if kind == "compound":
            return self.compound(node)
        if kind == "function":
            names = [part for part in node.parts if part.kind == "word"]
            bodies = [part for part in node.parts if part.kind == "compound"]
            if len(names) != 1 or len(bodies) != 1:
                raise Untrusted
            return Function(self.span(node), self.source(names[0]), self.compound(bodies[0]))
        if kind == "list":
            items = self.list_items(node)
            if len(items) == 1:
                return items[0]
        raise Untrusted

    def source(self, node: Any) -> str:
        return self.text[node.pos[0] : node.pos[1]]

    def pipeline(self, node: Any) -> Node:
        commands: list[Node] = []
        joined: list[int] = []
        negated = False
        for part in node.parts:
            if part.kind == "reservedword" and part.word == "!":
                negated = not negated
            elif part.kind == "pipe":
                if part.pipe == "|&":
                    joined.append(len(commands) - 1)
            else:
                commands.append(self.node(part))
        return Pipeline(self.span(node), tuple(commands), negated, False, tuple(joined))

    def compound(self, node: Any) -> Node:
        redirects = tuple(self.redirect(r) for r in node.redirects)
        span = self.span(node)
        first = node.list[0]
        if first.kind == "reservedword":
            if len(node.list) != 3 or first.word not in ("(", "{"):
                raise Untrusted
            body = self.script(node.list[1])
            return Subshell(span, body, redirects) if first.word == "(" else Group(span, body, redirects)
        if len(node.list) != 1:
            raise Untrusted
        inner = first.kind
        if inner == "if":
            return self._if(first, span, redirects)
        if inner in ("while", "until"):
            scripts = [part for part in first.parts if part.kind != "reservedword"]
            if len(scripts) != 2:
                raise Untrusted
            return Loop(span, self.script(scripts[0]), self.script(scripts[1]), inner == "until", redirects)
        if inner == "for":
            return self._for(first, span, redirects)
        raise Untrusted

    def _if(self, node: Any, span: Span, redirects: tuple[Redirect, ...]) -> Node:
        branches = []
        otherwise = None
        condition = None
        state = ""
        for part in node.parts:
            if part.kind == "reservedword":
                state = part.word
            elif state in ("if", "elif"):
                condition = self.script(part)
            elif state == "then" and condition is not None:
                branches.append((condition, self.script(part)))
            elif state == "else":
                otherwise = self.script(part)
            else:
                raise Untrusted
        return If(span, tuple(branches), otherwise, redirects)

    def _for(self, node: Any, span: Span, redirects: tuple[Redirect, ...]) -> Node:
        name = ""
        listed: list[Word] | None = None
        body: Script | None = None
        for part in node.parts:
            if part.kind == "reservedword":
                if part.word == "in":
                    listed = []
            elif part.kind == "word":
                if listed is not None:
                    listed.append(self.word(part))
                else:
                    name = self.source(part)
            else:
                body = self.script(part)
        if not name.isidentifier() or body is None:
            raise Untrusted
        return For(span, name, None if listed is None else tuple(listed), body, False, redirects)

    # ------------------------------------------------------------ simple commands

    def command(self, node: Any) -> Command:
        words: list[Word] = []
        assignments: list[Assignment] = []
        declared: list[Assignment] = []
        redirects: list[Redirect] = []
        declaring = False
        for part in node.parts:
            kind = part.kind
            if kind == "redirect":
                redirects.append(self.redirect(part))
            elif kind == "assignment" and not words:
                assignments.append(self.assignment(part))
            elif kind in ("word", "assignment"):
                if not words and _ASSIGNMENT.match(self.text, part.pos[0], part.pos[1]):
                    raise Untrusted  # behind a redirection bashlex takes `x=1` for the command
                if declaring and _ASSIGNMENT.match(self.text, part.pos[0], part.pos[1]):
                    declared.append(self.assignment(part, braces=True))
                    continue
                word = self.word(part)
                if not words and word.raw in _DECLARING:
                    declaring = True
                elif not words and word.raw == "let":
                    raise Untrusted  # its words are arithmetic
                words.append(word)
            else:
                raise Untrusted
        return Command(self.span(node), tuple(words), tuple(assignments), tuple(redirects), tuple(declared))

    def assignment(self, node: Any, braces: bool = False) -> Assignment:
        start, end = node.pos
        found = _ASSIGNMENT.match(self.text, start, end)
        if not found:
            raise Untrusted
        value = self.word(node, start=found.end(), braces=braces, assignment=True) if found.end() < end else None
        return Assignment(self.span(node), found[1], value, bool(found[2]))

    def redirect(self, node: Any) -> Redirect:
        span = self.span(node)
        output = node.output
        if node.heredoc is not None or (node.type.startswith("<<") and node.type != "<<<"):
            raise Untrusted
        if hasattr(output, "pos"):
            target = self.word(output, braces=node.type != "<<<")
        else:
            text = str(output)
            at = self.text.rfind(text, span.start, span.end)
            place = Span(at, at + len(text))
            target = Word(place, text, (Literal(place, text, False),))
        fd = node.input
        if fd is not None and not isinstance(fd, int):
            raise Untrusted
        return Redirect(span, node.type, fd, target)

    def word(self, node: Any, *, start: int = -1, braces: bool = True, assignment: bool = False) -> Word:
        inner = (
            {part.pos[0]: part for part in node.parts if part.kind in ("commandsubstitution", "processsubstitution")} if node.parts else {}
        )

        def body(at: int) -> tuple[Script, int]:
            found = inner.get(at)
            if found is None or self.text[found.pos[1] - 1] != ")":
                raise Untrusted
            script = self.script(found.command)
            # the first command must start right after the parenthesis and the last end right before it, else something was not read
            if self.text[at + 2 : found.command.pos[0]].strip() or self.text[found.command.pos[1] : found.pos[1] - 1].strip(" \t;"):
                raise Untrusted
            return Script(Span(at, found.pos[1]), script.items), found.pos[1]

        return lex(self.text, start if start >= 0 else node.pos[0], node.pos[1], body, braces=braces, assignment=assignment)
