"""The words of mvdan/sh's JSON tree as ours: quotes, parameters, substitutions; and the way from byte offsets to code points."""

from __future__ import annotations

import re

from ..errors import LimitError
from ..model.effect import Span
from . import escapes, words
from .syntax import Arith, CommandSub, Glob, Literal, Opaque, OpaquePart, Param, Part, ProcessSub, Script, Word
from .trust import MAX_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Json = dict[str, Any]

# characters that mvdan/sh skips (carriage return) or rejects (bytes that are not UTF-8), and what stands for them while it reads the text
_STAND_INS = {0x0D: 0xE00D, **{code: 0xE000 + code - 0xDC00 for code in range(0xDC80, 0xDD00)}}
_BACKSLASH = "\ue05c"  # for a backslash that ends a comment line, see `parted`
_BACK = {ord(_BACKSLASH): 0x5C, **{stand_in: code for code, stand_in in _STAND_INS.items()}}
_REPLACE = {"#": "/#", "%": "/%"}


def prepared(text: str) -> str:
    """The text to give to mvdan/sh, in which everything that it would not read as bash does is an ordinary character."""
    return text if text.isascii() and "\r" not in text else text.translate(_STAND_INS)


def parted(tree: Json | None, given: str) -> str:
    """The text with the first backslash hidden that ends a comment; the same text when there is none.

    For bash such a comment ends with its line, mvdan/sh joins the next line to the command before the comment. The caller parses again.
    tree: what mvdan/sh made of it, None when it rejected the text: then the first place that looks like such a comment is taken.
    """
    if "\\\n" not in given or "#" not in given:
        return given
    if tree is None:
        found = re.search(r"(?:^|[\s;&|()])#[^\n]*?(\\)\n", given)
        return given[: found.start(1)] + _BACKSLASH + given[found.end(1) :] if found else given
    data = given.encode()
    ends = sorted(end for end in _comment_ends(tree) if data[end - 2 : end] == b"\\\n")
    if not ends:
        return given
    return data[: ends[0] - 2].decode() + _BACKSLASH + data[ends[0] - 1 :].decode()


def hidden_outside_comments(tree: Json, given: str) -> bool:
    """Whether `parted` has hidden a backslash that stands in no comment."""
    data = given.encode()
    ends = set(_comment_ends(tree))
    mark = _BACKSLASH.encode()
    at = data.find(mark)
    while at >= 0:
        if at + len(mark) not in ends:
            return True
        at = data.find(mark, at + 1)
    return False


def _comment_ends(node: Any) -> Iterator[int]:
    """The byte offsets at which the comments of a tree end."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("Comments", "Last"):
                for comment in value or ():
                    yield comment["End"]["Offset"]
            elif isinstance(value, (dict, list)):
                yield from _comment_ends(value)
    elif isinstance(node, list):
        for item in node:
            yield from _comment_ends(item)


class WordAdapter:
    """One conversion: the text, the map from byte offsets to code points, and the counters of the limits."""

    def __init__(self, text: str, given: str) -> None:
        self.text = text
        self.stand_ins = given != text
        self.words = 0
        self.depth = 0
        self.backquotes = 0
        self.reprinted = False  # inside a substitution with a heredoc, which bash writes anew (shell/glued.py)
        self.doubts: list[Opaque] = []  # places where bash reads the text otherwise than the parser did
        if self.stand_ins and not _BACK.keys().isdisjoint(map(ord, text)):
            self.doubt("private-use characters together with carriage returns or bytes that are not UTF-8")
        self.points: list[int] | None = None
        if not given.isascii():
            points = []
            for number, char in enumerate(given):
                points += [number] * len(char.encode())
            points.append(len(text))
            self.points = points

    # ------------------------------------------------------------ positions

    def at(self, position: Json | None) -> int:
        offset: int = position["Offset"] if position else 0
        if self.points is None:
            return offset
        return self.points[min(offset, len(self.points) - 1)]

    def span(self, node: Json) -> Span:
        return Span(self.at(node.get("Pos")), self.at(node.get("End")))

    def source(self, node: Json) -> str:
        return self.text[self.at(node.get("Pos")) : self.at(node.get("End"))]

    def value(self, node: Json) -> str:
        found: str = node.get("Value", "")
        return found.translate(_BACK) if self.stand_ins else found

    def doubt(self, reason: str) -> None:
        """Makes the whole text opaque, beside what was read of it."""
        if not any(found.reason == reason for found in self.doubts):
            self.doubts.append(Opaque(Span(0, len(self.text)), reason, self.text))

    def script(self, stmts: list[Json] | None, span: Span | None = None) -> Script:
        """The commands of a statement list; the adapter of commands says how."""
        raise NotImplementedError

    def index(self, node: Json) -> Word:
        """A subscript as a word: plain words keep their parts, arithmetic keeps its source and what runs inside."""
        if node["Type"] == "Word":
            return self.word(node, braces=False)
        span = self.span(node)
        nested: list[Part] = []
        self.arithmetic_parts(node, nested)
        return Word(span, self.source(node), (Arith(span, self.source(node), True, tuple(nested)),))

    def word(self, node: Json, *, braces: bool = True, assignment: bool = False, quoted: bool = False, named: bool = True) -> Word:
        self.words += 1
        if self.words > MAX_WORDS:
            raise LimitError(f"the command has more than {MAX_WORDS:,} words", hint="split it, or put the data into a file")
        span = self.span(node)
        parts: list[Part] = []
        for part in node.get("Parts") or ():
            parts += self.part(part, quoted)
        raw = self.text[span.start : span.end]
        if "\\\n" in raw:
            raw = raw.replace("\\\n", "")
        return Word(span, raw, tuple(parts) if quoted else words.finish(parts, braces=braces, assignment=assignment, named=named))

    def part(self, node: Json, quoted: bool) -> list[Part]:
        kind = node["Type"]
        span = self.span(node)
        if kind == "Lit":
            text = self.value(node)
            return [Literal(span, escapes.unescape_double(text, '"}'), True)] if quoted else escapes.unescape_unquoted(text, span)
        if kind == "SglQuoted":
            text = self.value(node)
            return [Literal(span, escapes.decode_ansi(text) if node.get("Dollar") else text, True)]
        if kind == "DblQuoted":
            inner: list[Part] = []
            for part in node.get("Parts") or ():
                if part["Type"] == "Lit":
                    inner.append(Literal(self.span(part), escapes.unescape_double(self.value(part)), True))
                else:
                    inner += self.part(part, True)
            return inner or [Literal(span, "", True)]
        if kind == "ParamExp":
            name = (node.get("Param") or {}).get("Value", "")
            if not name.isascii():
                return self._foreign_name(node, name, span, quoted)
            return [self.parameter(node, quoted)]
        if kind == "CmdSubst":
            return [CommandSub(span, self._substituted(node, span), quoted, bool(node.get("Backquotes")))]
        if kind == "ProcSubst":
            return [ProcessSub(span, self._substituted(node, span), node["Op"][0])]
        if kind == "ArithmExp":
            nested: list[Part] = []
            self.arithmetic_parts(node.get("X"), nested)
            return [Arith(span, self.source(node["X"]) if node.get("X") else "", quoted, tuple(nested))]
        if kind == "ExtGlob":
            return [Glob(span, node["Op"] + node["Pattern"]["Value"] + ")")]
        return [OpaquePart(span, f"`{kind}` in a word")]

    def _substituted(self, node: Json, span: Span) -> Script:
        """The commands of a substitution."""
        held = self.reprinted
        self.reprinted = held or "<<" in self.text[span.start : span.end]
        found = self.script(node.get("Stmts"), span)
        self.reprinted = held
        return found

    def _foreign_name(self, node: Json, name: str, span: Span, quoted: bool) -> list[Part]:
        """mvdan/sh lets names hold any letter; in bash `$xé` is `$x` and a letter."""
        if not node.get("Short"):
            return [OpaquePart(span, "a name that is not ASCII")]
        size = next(at for at, char in enumerate(name) if not char.isascii())
        first: Part = Param(Span(span.start, span.start + size + 1), name[:size], quoted) if size else Literal(span, "$", quoted)
        return [first, Literal(Span(span.start + size + 1, span.end), name[size:], quoted)]

    def parameter(self, node: Json, quoted: bool) -> Part:
        span = self.span(node)
        parameter = node.get("Param")
        if not parameter or node.get("Width") or node.get("Flags") or node.get("NestedParam") or node.get("Modifiers"):
            return OpaquePart(span, "unusual parameter expansion")
        name = parameter["Value"]
        index = self.index(node["Index"]) if node.get("Index") else None
        op = ""
        argument = second = None
        if node.get("Length"):
            op = "length"
        elif node.get("Names"):
            op = "names"
        elif node.get("Excl"):
            op = "indirect"
        if piece := node.get("Slice"):
            argument = self.index(piece["Offset"]) if piece.get("Offset") else None
            second = self.index(piece["Length"]) if piece.get("Length") else None
            if second is None and self.source(node).endswith(":}") and argument is not None:  # `${x:1:}`
                second = plain("0", span)
            op = op + ":"
        elif replace := node.get("Repl"):
            argument = self.word(replace["Orig"], braces=False, named=False) if replace.get("Orig") else None
            second = self.word(replace["With"], braces=False, named=False) if replace.get("With") else None
            if replace.get("All") and (argument is None or not argument.parts) and second is not None:
                argument, second = _slash_pattern(second)
            op, argument = _replacement(op, bool(replace.get("All")), argument)
        elif expansion := node.get("Exp"):
            word = expansion.get("Word")
            pattern = expansion["Op"][0] in "#%^,"
            if word and quoted and not pattern:
                word = self._quotes_in_quotes(word)
            argument = self.word(word, braces=False, quoted=quoted and not pattern, named=False) if word else None
            op = op + expansion["Op"]
            if expansion["Op"] == "@":
                op, argument = op + (argument.raw if argument else ""), None
        if not quoted or op.removeprefix("indirect")[:1] in "#%/^,":
            for word in (argument, second):
                if word is not None and ("<(" in word.raw or ">(" in word.raw) and any(_process_inside(part) for part in word.parts):
                    self.doubt("a process substitution inside `${..}`")
        return Param(span, name, quoted, op, argument, second, index)

    def _quotes_in_quotes(self, word: Json) -> Json:
        """In `"${x:-'y'}"` the single quotes are plain characters for bash, which mvdan/sh takes for quotes."""
        parts = []
        for part in word.get("Parts") or ():
            if part["Type"] == "SglQuoted":
                inside = part.get("Value", "")
                if part.get("Dollar") or any(c in inside for c in '}$`"\\'):
                    self.doubt("single quotes inside a quoted `${..}`")
                part = {**part, "Type": "Lit", "Value": f"'{inside}'"}
            parts.append(part)
        return {**word, "Parts": parts}

    def arithmetic_parts(self, node: Json | None, out: list[Part]) -> None:
        """Every part of an arithmetic expression that may run something, in source order."""
        if node is None:
            return
        kind = node["Type"]
        if kind == "Word":
            for part in node.get("Parts") or ():
                if part["Type"] != "Lit":
                    out += self.part(part, True)
            return
        for key in ("X", "Y"):
            self.arithmetic_parts(node.get(key), out)


def plain(text: str, span: Span) -> Word:
    return Word(span, text, (Literal(span, text, False),))


def _process_inside(part: Part) -> bool:
    """Whether plain text holds what bash takes for a process substitution, and mvdan/sh for text."""
    return isinstance(part, Literal) and not part.quoted and ("<(" in part.text or ">(" in part.text)


def _slash_pattern(behind: Word) -> tuple[Word, Word | None]:
    """`${x////-}`: a slash right behind `//` belongs to the pattern, which mvdan/sh takes for empty."""
    first = behind.parts[0] if behind.parts else None
    slash = Literal(behind.span, "/", False)
    if isinstance(first, Literal) and not first.quoted and first.text[:1] == "/":
        rest = (first.replace(text=first.text[1:]), *behind.parts[1:])
        return behind.replace(raw="/", parts=(slash,)), behind.replace(raw=behind.raw[1:], parts=rest)
    return behind.replace(raw="/" + behind.raw, parts=(slash, *behind.parts)), None


def _replacement(op: str, everywhere: bool, pattern: Word | None) -> tuple[str, Word | None]:
    """mvdan keeps the anchor of `${x/#a/b}` inside the pattern; we keep it in the operator."""
    if everywhere:
        return op + "//", pattern
    if pattern is not None and pattern.parts:
        first = pattern.parts[0]
        if isinstance(first, Literal) and not first.quoted and first.text[:1] in ("#", "%"):
            rest = (first.replace(text=first.text[1:]), *pattern.parts[1:])
            return op + _REPLACE[first.text[0]], pattern.replace(parts=rest)
    return op + "/", pattern
