"""mvdan/sh's JSON tree (`shfmt --to-json`) to ours. Its offsets count bytes; ours count code points.

Node names are those of mvdan.cc/sh/v3/syntax. An unknown node becomes `Opaque`, never silence. The text of literals is taken from its
`Value`, which has line continuations and the escapes of backquotes removed.
"""

from __future__ import annotations

from ..errors import LimitError
from ..model.effect import Span
from . import escapes
from .shfmt_words import WordAdapter, plain
from .syntax import (
    AndOr,
    ArithFor,
    Arithmetic,
    Assignment,
    Background,
    Case,
    Command,
    Coproc,
    For,
    Function,
    Glob,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Node,
    Opaque,
    OpaquePart,
    Part,
    Pipeline,
    Redirect,
    Script,
    Subshell,
    Test,
    Word,
)
from .trust import MAX_NESTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_HERE = ("<<", "<<-")


def to_script(tree: Json, text: str, given: str) -> Script:
    """Our tree of this text, from mvdan/sh's tree of `given`, what `prepared` and `parted` made of it. Raises LimitError above the limits."""
    return _Adapter(text, given).file(tree)


class _Adapter(WordAdapter):
    """Commands, redirections and assignments of one text."""

    # ------------------------------------------------------------ commands

    def file(self, tree: Json) -> Script:
        found = self.script(tree.get("Stmts"), Span(0, len(self.text)))
        return found.replace(items=(*found.items, *self.doubts)) if self.doubts else found

    def script(self, stmts: list[Json] | None, span: Span | None = None) -> Script:
        items = stmts or []
        if span is None:
            span = Span(self.at(items[0]["Pos"]), self.at(items[-1]["End"])) if items else Span(0, 0)
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitError(f"commands are nested deeper than {MAX_NESTING} levels", hint="split the command into simpler ones")
        glued = tuple(n for n, item in enumerate(items[:-1], 1) if item.get("Semicolon")) if self.reprinted else ()
        found = Script(span, tuple(self.statement(item) for item in items), glued)
        self.depth -= 1
        return found

    def statement(self, stmt: Json) -> Node:
        redirects = tuple(self.redirect(r) for r in stmt.get("Redirs") or ())
        command = stmt.get("Cmd")
        span = self.span(stmt)
        if stmt.get("Semicolon") and (command or redirects):  # `;` and `&` end a statement and are no part of it
            ends = [r.span.end for r in redirects] + ([self.at(command["End"])] if command else [])
            span = Span(span.start, max(ends))
        node: Node = Command(span, (), (), redirects) if command is None else self.command(command, redirects, span)
        if stmt.get("Negated"):
            node = node.replace(negated=True) if isinstance(node, Pipeline) and not node.negated else Pipeline(span, (node,), negated=True)
        if stmt.get("Coprocess"):
            node = Coproc(span, "COPROC", node)
        if stmt.get("Background") or stmt.get("Disown"):
            node = Background(span, node)
        return node

    def command(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        kind = node["Type"]
        method = getattr(self, "_" + kind.lower(), None)
        if method is None:
            return Opaque(span, f"`{kind}` is not understood", self.text[span.start : span.end])
        found: Node = method(node, redirects, span)
        return found

    def _callexpr(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        arguments = node.get("Args") or ()
        if arguments and arguments[0]["Parts"][0]["Type"] == "ExtGlob":
            # without extglob `!(rm x)` is a negated subshell, with it a pattern that names a command
            return Opaque(span, "a command that begins with an extended pattern", self.text[span.start : span.end])
        found = tuple(self.word(w) for w in arguments)
        return Command(span, found, tuple(self.assignment(a) for a in node.get("Assigns") or ()), redirects)

    def _binarycmd(self, node: Json, _: tuple[Redirect, ...], span: Span) -> Node:
        op = node["Op"]
        if op in ("&&", "||"):
            left = self.statement(node["X"])
            return AndOr(span, left, op, self.statement(node["Y"]))
        commands: list[Node] = []
        joined: list[int] = []
        self._flatten_pipe(node, commands, joined)
        return Pipeline(span, tuple(commands), stderr_joined=tuple(joined))

    def _flatten_pipe(self, node: Json, commands: list[Node], joined: list[int]) -> None:
        left = node["X"]
        inner = left.get("Cmd") or {}
        plain = not (left.get("Negated") or left.get("Redirs") or left.get("Background") or left.get("Coprocess"))
        if plain and inner.get("Type") == "BinaryCmd" and inner["Op"] in ("|", "|&"):
            self._flatten_pipe(inner, commands, joined)
        else:
            commands.append(self.statement(left))
        if node["Op"] == "|&":
            joined.append(len(commands) - 1)
        right = node["Y"]
        commands.append(self._time_program(self.statement(right), right.get("Cmd") or {}))

    def _time_program(self, stage: Node, clause: Json) -> Node:
        """After `|` bash does not know `time` as a keyword: the program of that name runs, with all that follows as its words."""
        leading: list[str] = []
        while clause.get("Type") == "TimeClause":
            leading += ("time", "-p") if clause.get("PosixFormat") else ("time",)
            clause = (clause.get("Stmt") or {}).get("Cmd") or {}
        inner = stage.commands[0] if isinstance(stage, Pipeline) and len(stage.commands) == 1 else None
        if leading and isinstance(inner, Command) and not inner.assignments:
            span = Span(stage.span.start, stage.span.start + 4)
            return inner.replace(words=(*(plain(word, span) for word in leading), *inner.words))
        return stage

    def _block(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        return Group(span, self.script(node.get("Stmts")), redirects)

    def _subshell(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        return Subshell(span, self.script(node.get("Stmts")), redirects)

    def _ifclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        branches = []
        otherwise = None
        clause: Json | None = node
        while clause is not None:
            if clause.get("Cond"):
                branches.append((self.script(clause["Cond"]), self.script(clause.get("Then"))))
            else:
                otherwise = self.script(clause.get("Then"))
            clause = clause.get("Else")
        return If(span, tuple(branches), otherwise, redirects)

    def _whileclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        return Loop(span, self.script(node.get("Cond")), self.script(node.get("Do")), bool(node.get("Until")), redirects)

    def _forclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        loop = node["Loop"]
        if loop["Type"] == "CStyleLoop":
            header: list[Part] = []
            for key in ("Init", "Cond", "Post"):
                self.arithmetic_parts(loop.get(key), header)
            text = "; ".join(self.source(loop[key]) if loop.get(key) else "" for key in ("Init", "Cond", "Post"))
            return ArithFor(span, tuple(header), self.script(node.get("Do")), text, redirects)
        items = loop.get("Items")
        listed = tuple(self.word(w) for w in items or ()) if items or _has_position(loop.get("InPos")) else None
        return For(span, loop["Name"]["Value"], listed, self.script(node.get("Do")), bool(node.get("Select")), redirects)

    def _caseclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        items = []
        for item in node.get("Items") or ():
            patterns = tuple(self.word(p, braces=False) for p in item.get("Patterns") or ())
            items.append((patterns, self.script(item.get("Stmts")), item.get("Op", ";;")))
        return Case(span, self.word(node["Word"], braces=False), tuple(items), redirects)

    def _funcdecl(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        name = node.get("Name")
        if not name:
            return Opaque(span, "function with several names", self.text[span.start : span.end])
        body = self.statement(node["Body"])
        if redirects:  # they apply at each call
            body = Group(span, Script(span, (body,)), redirects)
        return _defined(name["Value"], body, span)

    def _arithmcmd(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        nested: list[Part] = []
        self.arithmetic_parts(node.get("X"), nested)
        return Arithmetic(span, self.source(node["X"]) if node.get("X") else "", tuple(nested), redirects)

    def _letclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        nested: list[Part] = []
        texts = []
        for expression in node.get("Exprs") or ():
            self.arithmetic_parts(expression, nested)
            texts.append(self._let_text(expression))
        return Arithmetic(span, ", ".join(texts), tuple(nested), redirects)

    def _let_text(self, expression: Json) -> str:
        """A `let` argument after quote removal; source text where it holds more than quotes."""
        if expression["Type"] == "Word":
            parts = self.word(expression, braces=False).parts
            if all(isinstance(part, (Literal, Glob)) for part in parts):
                return "".join(part.text for part in parts if isinstance(part, (Literal, Glob)))
        return self.source(expression)

    def _testclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        found: list[Word] = []
        self._test_words(node["X"], found)
        return Test(span, tuple(found), redirects)

    def _test_words(self, node: Json, out: list[Word]) -> None:
        kind = node["Type"]
        if kind == "Word":
            out.append(self.word(node, braces=False))
        elif kind == "ParenTest":
            out.append(plain("(", self.span(node)))
            self._test_words(node["X"], out)
            out.append(plain(")", self.span(node)))
        elif kind == "UnaryTest":
            out.append(plain(node["Op"], self.span(node)))
            self._test_words(node["X"], out)
        elif kind == "BinaryTest":
            self._test_words(node["X"], out)
            out.append(plain(node["Op"], self.span(node)))
            self._test_words(node["Y"], out)
        else:
            out.append(Word(self.span(node), self.source(node), (OpaquePart(self.span(node), f"`{kind}` in a test"),)))

    def _declclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        variant = node["Variant"]
        found = [plain(variant["Value"], self.span(variant))]
        assigned = []
        for argument in node.get("Args") or ():
            if not argument.get("Naked"):
                assigned.append(self.assignment(argument, braces=True))
            elif argument.get("Value"):
                found.append(self.word(argument["Value"]))
            elif argument.get("Index"):
                # `declare x[$(..)]`: bash runs code in subscripts, so the subscript is kept as a part of the word
                parts: list[Part] = [Literal(self.span(argument), argument["Name"]["Value"] + "[", True)]
                self.arithmetic_parts(argument["Index"], parts)
                parts.append(Literal(self.span(argument), "]", True))
                found.append(Word(self.span(argument), self.source(argument), tuple(parts)))
            else:
                found.append(plain(argument["Name"]["Value"], self.span(argument)))
        return Command(span, tuple(found), (), redirects, tuple(assigned))

    def _timeclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        inner = node.get("Stmt")
        body = self.statement(inner) if inner else Command(span, (), (), redirects)
        if isinstance(body, Pipeline):
            return body.replace(timed=True)
        return Pipeline(span, (body,), timed=True)

    def _coprocclause(self, node: Json, redirects: tuple[Redirect, ...], span: Span) -> Node:
        name = node.get("Name")
        body = self.statement(node["Stmt"])
        if name and isinstance(body, Command):
            # bash knows a name only in front of a compound command; `coproc a declare b` runs `a`
            if body.assignments_in_words or "=" in self.source(name):
                return Opaque(span, "`coproc` with an assignment", self.text[span.start : span.end])
            return Coproc(span, "COPROC", body.replace(words=(self.word(name), *body.words)), redirects)
        return Coproc(span, self.source(name) if name else "COPROC", body, redirects)

    # ------------------------------------------------------------ redirections and assignments

    def redirect(self, node: Json) -> Redirect:
        number = (node.get("N") or {}).get("Value", "")
        variable = number[1:-1] if number.startswith("{") else ""
        fd = int(number) if number.isdigit() else None
        span = self.span(node)
        op = node["Op"]
        if op in _HERE:
            return Redirect(span, op, fd, None, self.heredoc(node, op), variable)
        return Redirect(span, op, fd, self.word(node["Word"], braces=op != "<<<", named=op != "<<<"), None, variable)

    def heredoc(self, node: Json, op: str) -> Heredoc:
        delimiter = node["Word"]
        quoted = any(p["Type"] != "Lit" or "\\" in p.get("Value", "") for p in delimiter.get("Parts") or ())
        body = node.get("Hdoc")
        if body is None:
            here = self.span(node)
            return Heredoc(here, quoted, Word(here, "", ()))
        span = self.span(body)
        raw = self.text[span.start : span.end]
        parts: list[Part] = []
        for part in body.get("Parts") or ():
            if part["Type"] == "Lit":
                value = self.value(part)
                if op == "<<-":
                    value = _without_tabs(value, not parts)
                parts.append(Literal(self.span(part), value if quoted else escapes.unescape_double(value, ""), True))
            else:
                parts += self.part(part, True)
        return Heredoc(span, quoted, Word(span, raw, tuple(parts)))

    def assignment(self, node: Json, braces: bool = False) -> Assignment:
        span = self.span(node)
        name = node["Name"]["Value"]
        if not name.isascii() or not name.isidentifier():
            self.doubt("what is no name of a variable for bash makes the word a command name")
        append = bool(node.get("Append"))
        index = self.index(node["Index"]) if node.get("Index") else None
        array = node.get("Array")
        if array is not None:
            elements = []
            for element in array.get("Elems") or ():
                at = self.index(element["Index"]) if element.get("Index") else None
                value = element.get("Value")
                elements.append((at, self.word(value, braces=at is None, assignment=at is not None, named=False) if value else plain("", span)))
            return Assignment(span, name, None, append, index, tuple(elements))
        value = node.get("Value")
        return Assignment(span, name, self.word(value, braces=braces, assignment=True) if value else None, append, index)


def _defined(name: str, body: Node, span: Span) -> Node:
    """A definition. mvdan/sh takes what `&&`, `||`, `|` and `&` join to it for a part of its body; for bash only the first command is."""
    if isinstance(body, AndOr):
        return body.replace(left=_defined(name, body.left, span))
    if isinstance(body, Pipeline) and len(body.commands) > 1:
        return body.replace(commands=(_defined(name, body.commands[0], span), *body.commands[1:]))
    if isinstance(body, Background):
        return body.replace(body=_defined(name, body.body, span))
    return Function(Span(span.start, body.span.end), name, body)


def _has_position(position: Json | None) -> bool:
    return bool(position) and (position or {}).get("Line", 0) > 0


def _without_tabs(text: str, line_start: bool) -> str:
    """A `<<-` body piece without the tabs at the start of its lines."""
    lines = text.split("\n")
    kept = [line.lstrip("\t") if number or line_start else line for number, line in enumerate(lines)]
    return "\n".join(kept)
