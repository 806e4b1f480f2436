"""Words to fields, in bash's order: braces, tilde, parameters, substitutions, arithmetic, IFS splitting, globs kept as patterns, quotes.

Nothing is read from disk. What is not known becomes a dynamic field that says why and keeps its literal ends.
"""

from __future__ import annotations

from ..model.effect import Span
from . import parameters, values
from .calculate import arithmetic
from .invocation import Field, Known
from .separators import split_ifs
from .syntax import Arith, Brace, CommandSub, Glob, Literal, OpaquePart, Param, Part, ProcessSub, Tilde, Word
from .values import Text
from .wider import WIDER, live_patterns, widened
from .words import escape_glob, split_globs, split_tildes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

MAX_FIELDS = 1_024  # fields that one word may become
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class Expander:
    """Expands words in the evaluator's current state."""

    __slots__ = ("_ev",)

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator

    def fields(self, word: Word) -> list[Field]:
        """The fields that a command word becomes."""
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is Literal:
            return [Field(Known.STATIC, (parts[0].text,), quoted=parts[0].quoted, span=self._ev.span(word.span))]
        span = self._ev.span(word.span)
        out: list[Field] = []
        rows = self._without_braces(parts)
        if len(rows) > 16:
            self._ev.steps += len(rows) // 8
        for flat in rows:
            builder = _Builder(self._ev, span)
            self._add(builder, flat)
            out += builder.finish()
            if len(out) > MAX_FIELDS:
                return [values.to_field(values.unknown("the word becomes too many arguments", "opaque"), span, many=True)]
        return out

    def all_fields(self, words: tuple[Word, ...]) -> list[Field]:
        """The fields of several words in a row."""
        out: list[Field] = []
        for word in words:
            out += self.fields(word)
        return out

    def single(self, word: Word | None) -> Text:
        """The word without splitting and globbing: assignment values, heredocs, here-strings, `case` words."""
        if word is None:
            return values.EMPTY
        found = values.EMPTY
        for part in word.parts:
            found = values.concat(found, self._joined(part))
        return found

    def pattern(self, word: Word | None) -> Text:
        """The word as a pattern: quoted text and quoted values are escaped, the rest is active."""
        if word is None:
            return values.EMPTY
        found = values.EMPTY
        for part in word.parts:
            text = self._joined(part)
            extended = type(part) is Literal and not part.quoted and "extglob" in self._ev.state.options
            if text.known and not text.glob and not extended and (type(part) is Literal or getattr(part, "quoted", False)):
                text = Text(tuple(escape_glob(v) for v in text.values), unset=text.unset)
            found = values.concat(found, text)
        return Text(found.values, found.reason, found.origins, found.prefix, found.suffix, False, found.unset)

    def replacement(self, word: Word | None) -> Text:
        """What `${x/pattern/word}` puts in: quoted text and quoted values have their `&` and backslashes escaped."""
        found = values.EMPTY
        for part in word.parts if word is not None else ():
            text = self._joined(part)
            if text.known and getattr(part, "quoted", False):
                text = Text(tuple(v.replace("\\", "\\\\").replace("&", "\\&") for v in text.values), unset=text.unset)
            found = values.concat(found, text)
        return found

    def commands_inside(self, word: Word | None) -> None:
        """Evaluates what runs inside a word whose value is of no interest."""
        if word is not None and len(word.parts) != sum(type(p) in (Literal, Glob) for p in word.parts):
            self.single(word)

    def commands_inside_quietly(self, word: Word | None) -> None:
        """Evaluates, as possible only, what runs inside a word that bash skips with the values known here."""
        if word is not None and any(type(p) not in (Literal, Glob) for p in word.parts):
            with_state = self._ev.state
            self._ev.state = with_state.copy()
            self._ev.uncertain(lambda: self.single(word), "branch")
            self._ev.state = with_state

    def singles(self, word: Word | None) -> list[Text]:
        """The same for each word that the braces in it make: the values of `declare x={a,b}`."""
        if word is None or not any(type(part) is Brace for part in word.parts):
            return [self.single(word)]
        return [self.single(word.replace(parts=row)) for row in self._without_braces(word.parts)]

    # ------------------------------------------------------------ parts

    def _joined(self, part: Part) -> Text:
        """One part as one string."""
        kind = type(part)
        if kind is Literal or kind is Glob:
            return Text((part.text,))  # type: ignore[attr-defined]  # both have text
        if kind is Param:
            assert isinstance(part, Param)
            found, separate = parameters.expand(self._ev, part)
            if not separate:
                return found[0] if found else values.EMPTY
            return _join_with(found, self._ifs_first() if part.name == "*" or parameters.is_star(part) else " ")
        if isinstance(part, Brace):
            return Text((part_text(part),))
        return self._value(part)

    def _value(self, part: Part) -> Text:
        """The value of a tilde, substitution or arithmetic part."""
        if isinstance(part, Tilde):
            return parameters.tilde(self._ev, part.user)
        if isinstance(part, CommandSub):
            return self._ev.substitute(part)
        if isinstance(part, ProcessSub):
            return self._ev.process(part)
        if isinstance(part, Arith):
            return arithmetic(self._ev, part.text, part.nested, part.span)
        reason = part.reason if isinstance(part, OpaquePart) else "not understood"
        return values.unknown(reason, "opaque")

    def _ifs_first(self) -> str:
        return self._ev.ifs()[:1]

    def _add(self, builder: _Builder, parts: tuple[Part, ...], split_literals: bool = False, more: bool = False) -> None:
        """more: whether the word goes on behind these parts."""
        for number, part in enumerate(parts, 1):
            kind = type(part)
            if kind is Literal:
                assert isinstance(part, Literal)
                if split_literals and not part.quoted:
                    builder.split(Text((part.text,)))
                else:
                    builder.literal(part.text, part.quoted)
            elif kind is Glob:
                assert isinstance(part, Glob)
                builder.glob(part.text)
            elif kind is Param:
                assert isinstance(part, Param)
                self._add_parameter(builder, part, more or number < len(parts))
            else:
                value = self._value(part)
                if kind is OpaquePart:
                    builder.ragged = True
                whole = isinstance(part, Tilde) or (isinstance(part, ProcessSub) and not value.known)
                if whole or getattr(part, "quoted", False):
                    builder.add(value, True)
                else:
                    builder.split(value)

    def _add_parameter(self, builder: _Builder, part: Param, more: bool) -> None:
        if not part.quoted and part.argument is not None and part.op in parameters.DEFAULTS:
            chosen, value = parameters.choose(self._ev, part)
            if chosen == "argument":
                self._add(builder, part.argument.parts, split_literals=True, more=more)
                return
            if chosen == "value":
                quoted = any(getattr(piece, "quoted", False) for piece in part.argument.parts)
                if quoted and any(mark in text for text in value.values for mark in self._ev.ifs()):  # it is split only when it is the value
                    value = Text((), "a value, or quoted text in its place", value.origins, unset=value.unset)
                builder.split(value)
                return
        found, separate = parameters.expand(self._ev, part)
        if not separate:
            for text in found:
                builder.add(text, True) if part.quoted else builder.split(text)
            return
        if part.quoted and (part.name == "*" or parameters.is_star(part)):
            builder.add(_join_with(found, self._ifs_first()), True)
            return
        begun = builder._parts > 0
        for number, text in enumerate(found):
            open_ = parameters.is_open(text)
            if open_ and text.known and (more or begun):  # what stands beside it joins another element each time
                builder.ragged = True
            if number and not (open_ and more):  # what follows is glued to the element before when these are none
                builder.cut()
            builder.add(text, True, many=open_) if part.quoted else builder.split(text)

    # ------------------------------------------------------------ braces

    def _without_braces(self, parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
        if not any(type(part) is Brace for part in parts):
            return [parts]
        if "no_braces" in self._ev.state.options:
            return [(OpaquePart(parts[0].span, "braces that may not be expanded"),)]
        rows: list[tuple[Part, ...]] = [()]
        for part in parts:
            if isinstance(part, Brace):
                tails = [tail for word in part.alternatives for tail in self._raw_rows(word.parts)]
                if len(rows) * len(tails) > MAX_FIELDS:
                    return [(OpaquePart(part.span, "brace expansion with too many results"),)]
                rows = [row + tail for row in rows for tail in tails]
            else:
                rows = [(*row, part) for row in rows]
        return [split_globs(split_tildes(_raw(row), named=False)) for row in rows]

    def _raw_rows(self, parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
        rows: list[tuple[Part, ...]] = [()]
        for part in parts:
            if isinstance(part, Brace):
                tails = [tail for word in part.alternatives for tail in self._raw_rows(word.parts)]
                if len(rows) * len(tails) > MAX_FIELDS:
                    return [(OpaquePart(part.span, "brace expansion with too many results"),)]
                rows = [row + tail for row in rows for tail in tails]
            else:
                rows = [(*row, part) for row in rows]
        return rows


def _raw(parts: tuple[Part, ...]) -> list[Part]:
    """Parts with unquoted text joined again, so that tildes and globs can be found across the pieces of a brace expansion."""
    out: list[Part] = []
    for part in parts:
        if isinstance(part, Glob):
            part = Literal(part.span, part.text, False)
        elif isinstance(part, Tilde):
            part = Literal(part.span, "~" + part.user, False)
        last = out[-1] if out else None
        if isinstance(part, Literal) and not part.quoted and isinstance(last, Param) and _is_short(last):
            # `$x{a,b}` is `$xa $xb`: braces come before parameters
            size = len(part.text) - len(part.text.lstrip(_NAME_CHARACTERS))
            if size:
                out[-1] = last.replace(name=last.name + part.text[:size])
                part = Literal(part.span, part.text[size:], False)
                if not part.text:
                    continue
        if isinstance(part, Literal) and not part.quoted and isinstance(last, Literal) and not last.quoted:
            out[-1] = Literal(last.span, last.text + part.text, False)
        else:
            out.append(part)
    return out


def _is_short(part: Param) -> bool:
    """Whether this is `$name`, without braces."""
    return (
        not part.quoted
        and part.op == ""
        and part.index is None
        and part.name.isidentifier()
        and part.span.end - part.span.start <= len(part.name) + 1
    )


def part_text(part: Part) -> str:
    """Source-like text of a brace part, for places where bash does not expand braces."""
    if isinstance(part, Brace):
        return "{" + ",".join("".join(part_text(p) for p in word.parts) for word in part.alternatives) + "}"
    return part.text if isinstance(part, (Literal, Glob)) else ""


def _join_with(found: list[Text], separator: str) -> Text:
    out = values.EMPTY
    for number, text in enumerate(found):
        if number:
            out = values.concat(out, values.unknown(text.reason, "positional") if parameters.is_open(text) else Text((separator,)))
        out = values.concat(out, text)
    return out


class _Builder:
    """Collects the pieces of fields. A piece is (knowledge, whether its glob characters are active)."""

    __slots__ = ("_ev", "_fields", "_many", "_parts", "_pieces", "_quoted", "_span", "_unset", "ragged")

    def __init__(self, evaluator: Evaluator, span: Span) -> None:
        self._ev = evaluator
        self._span = span
        self._fields: list[Field] = []
        self._pieces: list[tuple[Text, bool]] = []
        self._quoted = False
        self._many = False
        self.ragged = False  # how many fields the word becomes is not known
        self._parts = 0
        self._unset: tuple[str, ...] = ()

    def literal(self, text: str, quoted: bool) -> None:
        self._parts += 1
        if text or not quoted:
            self._pieces.append((Text((text,)), False))
        self._quoted = self._quoted or quoted

    def glob(self, text: str) -> None:
        self._parts += 1
        self._pieces.append((Text((text,)), "noglob" not in self._ev.state.options))

    def add(self, text: Text, quoted: bool, many: bool = False) -> None:
        """A value that is not split."""
        self._parts += 1
        self._unset += text.unset
        if text.values != ("",):
            self._pieces.append((text, text.glob))
        self._quoted = self._quoted or quoted
        self._many = self._many or many

    def split(self, text: Text) -> None:
        """An unquoted value: split at IFS, its glob characters active."""
        self._parts += 1
        live = "noglob" not in self._ev.state.options
        if not text.known:
            self._unset += text.unset
            self._pieces.append((text, False))
            self._many = True
            return
        ifs = self._ev.ifs()
        if text.glob and not any(mark in value for mark in ifs for value in text.values):  # names that match may hold them; the pattern does not
            self._pieces.append((text, True))
            return
        rows = [split_ifs(value, ifs) for value in text.values]
        if not self._ev.ifs_is_known() and any(not value.isalnum() for value in text.values):
            self._pieces.append((Text((), "split at separators that are not known", text.origins, unset=text.unset), False))
            self._many = True
            return
        if all(len(row[0]) == 1 and not row[1] and not row[2] for row in rows):
            self._pieces.append((text, live))
            self._unset += text.unset
            return
        if len(rows) > 1 and all(len(row[0]) <= 1 and not row[1] and not row[2] for row in rows):
            self._many = self._many or not self._pieces  # alone, it may vanish
            self._pieces.append((text, live))
            self._unset += text.unset
            return
        longest = max(len(row[0]) for row in rows)
        self.ragged = self.ragged or any(len(row[0]) != longest or row[1:] != rows[0][1:] for row in rows)
        # A separator that is no blank ends the field that is there, as the empty piece in front of it says; blanks begin a new one.
        if any(row[1] and row[0][:1] != [""] for row in rows):
            self.cut()
        self._unset += text.unset
        if len(rows) > 1 and any(not row[0] for row in rows):
            self._many = True
        for number in range(longest):
            if number:
                self.cut()
            choices = [row[0][number] for row in rows if number < len(row[0])]
            self._pieces.append((values.one_of(choices, glob=text.glob), live))
            if len(choices) < len(rows):
                self._many = True
        if any(row[2] for row in rows):
            self.cut()

    def cut(self) -> None:
        """Ends the current field."""
        if self._pieces or self._quoted:
            self._fields.append(self._field())
        self._pieces = []
        self._quoted = self._many = False
        self._unset = ()

    def finish(self) -> list[Field]:
        """All fields."""
        self.cut()
        if self.ragged and self._parts > 1:
            # what stands beside such a value joins another of its words each time
            return [values.to_field(Text((), "a value with an unknown number of words"), self._span, quoted=False, many=True)]
        return self._fields

    def _field(self) -> Field:
        pieces = self._pieces
        active = any(live and (text.glob or any(_has_glob(v) for v in text.values)) for text, live in pieces)
        if not active and any(live and "[" in value for text, live in pieces for value in text.values):  # `[$x]`: closed by another piece
            active = any("]" in value for text, _ in pieces for value in text.values)
        found = values.EMPTY
        for text, live in pieces:
            if active and text.known and not text.glob:
                patterns = live_patterns(text.values) if live else tuple(escape_glob(v) for v in text.values)
                text = Text(patterns, glob=True, unset=text.unset)
            found = values.concat(found, text)
        if self._unset:
            unset = tuple(dict.fromkeys(self._unset))
            found = Text(found.values, found.reason, found.origins, found.prefix, found.suffix, found.glob, unset)
        if active and found.known and found.glob and self._ev.state.options & WIDER:
            found = widened(found, self._ev.state.options)
        many = self._many or (active and not found.known)  # a pattern of which a part is not known matches several names as well
        return values.to_field(found, self._span, quoted=self._quoted, many=many)


def _has_glob(text: str) -> bool:
    return "*" in text or "?" in text or ("[" in text and "]" in text) or ("(" in text and text[:1] != "(")
