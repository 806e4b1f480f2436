"""What is known of a string: one value, a few, or only its ends and why the rest is unknown. The evaluator's variables hold these."""

from __future__ import annotations

from ..model.effect import NOWHERE, Span
from . import arith
from .invocation import Field, Known, Origin
from .words import escape_glob

MAX_VALUES = 64  # members of a set; above, the value is dynamic
MAX_LENGTH = 128 * 1024  # characters of one value; above, only its beginning is kept

_NEVER = frozenset("{};.'\\")  # no expression of arithmetic holds these

_NO_STRINGS: tuple[str, ...] = ()
_NO_ORIGINS: tuple[Origin, ...] = ()
AGAIN = Origin("again")


class Text:
    """Knowledge about one string; never changed after it was made.

    values: what it may be, empty when unknown; then `prefix`, `suffix`, `reason` and `origins` tell the rest. glob: the values are patterns
    of file names (what `for f in *.c` puts into f). unset: unset variables that shaped it. no_number: an unknown text of which something is
    known that no expression of arithmetic holds.
    """

    __slots__ = ("glob", "no_number", "origins", "prefix", "reason", "suffix", "unset", "values")

    def __init__(
        self,
        values: tuple[str, ...],
        reason: str = "",
        origins: tuple[Origin, ...] = _NO_ORIGINS,
        prefix: str = "",
        suffix: str = "",
        glob: bool = False,
        unset: tuple[str, ...] = _NO_STRINGS,
        no_number: bool = False,
    ) -> None:
        self.values = values
        self.reason = reason
        self.origins = origins
        self.prefix = prefix
        self.suffix = suffix
        self.glob = glob
        self.unset = unset
        self.no_number = no_number

    @property
    def known(self) -> bool:
        """Whether the values are all that it can be."""
        return bool(self.values)

    @property
    def text(self) -> str | None:
        """The one value, or None."""
        return self.values[0] if len(self.values) == 1 and not self.glob else None

    def same(self, other: Text) -> bool:
        """Whether both say the same."""
        return self is other or (
            self.values == other.values
            and self.glob == other.glob
            and self.prefix == other.prefix
            and self.suffix == other.suffix
            and self.reason == other.reason
            and self.unset == other.unset
            and self.no_number == other.no_number
        )


EMPTY = Text(("",))


class Array:
    """An array variable: items by subscript in order. Unknown contents: `open_` says why, and holds for every other subscript.

    maybe: the elements behind the items, each of which may be missing when "" is among its values; None when they are not known one by one.
    """

    __slots__ = ("items", "keyed", "maybe", "open_")

    def __init__(self, items: dict[str, Text], keyed: bool = False, open_: Text | None = None, maybe: tuple[Text, ...] | None = None) -> None:
        self.items = items
        self.keyed = keyed
        self.open_ = open_
        self.maybe = maybe

    def copy(self) -> Array:
        """An array whose items can be changed apart."""
        return Array(dict(self.items), self.keyed, self.open_, self.maybe)

    def loose(self, value: Text, *, sure: bool) -> None:
        """One more element behind those whose number is not known. sure: it is exactly one."""
        self.open_ = value if self.open_ is None else join(self.open_, value)
        listed = self.maybe is not None and sure and value.known and not value.glob
        self.maybe = (*self.maybe, value) if listed and self.maybe is not None else None


def known(text: str) -> Text:
    """A string that is exactly this."""
    return Text((text,))


def unknown(reason: str, kind: str, detail: str = "", *, prefix: str = "", producers: tuple[int, ...] = ()) -> Text:
    """A string of which only the origin is known (see `Origin` for the kinds)."""
    return Text((), reason, (Origin(kind, detail, producers),), prefix)


def one_of(
    values: tuple[str, ...] | list[str], reason: str = "too many possible values", glob: bool = False, unset: tuple[str, ...] = ()
) -> Text:
    """A string that is one of these; dynamic with their common ends when they are too many."""
    distinct = tuple(dict.fromkeys(values))
    if any(len(value) > MAX_LENGTH for value in distinct):
        return Text(
            (), "a value that is too long", (), "" if glob else common_prefix(tuple(value[:1024] for value in distinct)), unset=unset
        )
    if 0 < len(distinct) <= MAX_VALUES:
        return Text(distinct, glob=glob, unset=unset)
    prefix = "" if glob else common_prefix(distinct)
    suffix = "" if glob else common_prefix(tuple(v[::-1] for v in distinct))[::-1]
    return Text((), reason, (), prefix, suffix, unset=unset)


def join(first: Text, second: Text) -> Text:
    """A string that is one or the other."""
    if first is second or first.same(second):
        return first
    unset = _union(first.unset, second.unset)
    if first.values and second.values:
        if first.glob == second.glob:
            return one_of(first.values + second.values, glob=first.glob, unset=unset)
        return one_of(_patterns(first) + _patterns(second), glob=True, unset=unset)
    dynamic, other = (first, second) if not first.values else (second, first)
    ends_before = (other.prefix,) if not other.values else other.values
    ends_after = (other.suffix,) if not other.values else other.values
    prefix = "" if other.glob else common_prefix((dynamic.prefix, *ends_before))
    suffix = "" if other.glob else common_prefix(tuple(v[::-1] for v in (dynamic.suffix, *ends_after)))[::-1]
    origins = dynamic.origins + tuple(o for o in other.origins if o not in dynamic.origins)
    odd = dynamic.no_number or other.no_number or any(map(arith.is_none, other.values))
    return Text((), dynamic.reason or other.reason, origins, prefix, suffix, unset=unset, no_number=odd)


def concat(first: Text, second: Text) -> Text:
    """One string after the other."""
    if not first.glob and first.values == ("",) and not first.unset:
        return second
    if not second.glob and second.values == ("",) and not second.unset:
        return first
    unset = _union(first.unset, second.unset)
    if first.values and second.values:
        if first.glob or second.glob:
            left, right = _patterns(first), _patterns(second)
        else:
            left, right = first.values, second.values
        if len(left) * len(right) > MAX_VALUES**2 or (
            len(left) * len(right) > 1 and max(map(len, left)) + max(map(len, right)) > MAX_LENGTH // MAX_VALUES
        ):
            return Text((), "too many possible values", (), common_prefix(left) if not first.glob else "", unset=unset)
        return one_of([a + b for a in left for b in right], glob=first.glob or second.glob, unset=unset)
    prefix = first.prefix
    if first.values:
        prefix = common_prefix(tuple(literal_head(v) for v in first.values) if first.glob else first.values)
        if len(first.values) == 1 and not first.glob:
            prefix += second.prefix
    suffix = second.suffix
    if second.values:
        suffix = "" if second.glob else common_prefix(tuple(v[::-1] for v in second.values))[::-1]
        if len(second.values) == 1 and not second.glob:
            suffix = first.suffix + suffix
    origins = first.origins + tuple(o for o in second.origins if o not in first.origins)
    if len(origins) < len(first.origins) + len(second.origins) and AGAIN not in origins:
        origins += (AGAIN,)  # two holes of one origin, and text between them that is not kept
    odd = first.no_number or second.no_number or any(not _NEVER.isdisjoint(piece) for text in (first, second) for piece in _pieces(text))
    return Text((), first.reason or second.reason, origins, prefix, suffix, unset=unset, no_number=odd)


def _pieces(text: Text) -> tuple[str, ...]:
    return text.values or (text.prefix, text.suffix)


def transform(text: Text, change: object, reason: str = "") -> Text:
    """The string after a pure function on each value; unknown text stays unknown, without its ends."""
    if not text.values:
        return Text((), text.reason, text.origins, unset=text.unset)
    if text.glob:
        return Text((), reason or "changed file name", unset=text.unset)
    assert callable(change)
    return one_of([change(value) for value in text.values], unset=text.unset)


def chomped(text: Text) -> Text:
    """Known text as a substitution gives it: without the newlines at its end and without NULs."""
    if text.values == ("",):
        return text
    if text.glob:
        return Text(tuple(value.rstrip("\n") for value in text.values), glob=True, unset=text.unset)
    return transform(text, lambda value: value.rstrip("\n").replace("\0", ""))


def to_field(text: Text, span: Span = NOWHERE, *, quoted: bool = True, many: bool = False) -> Field:
    """The same knowledge in the form that invocations carry."""
    values = text.values
    if not values:
        return Field(
            Known.DYNAMIC, (), text.prefix, text.suffix, text.reason or "unknown", text.origins, False, many, quoted, text.unset, span, text.no_number
        )
    state = Known.STATIC if len(values) == 1 else Known.SET
    return Field(state, values, "", "", "", text.origins, text.glob, many or text.glob, quoted, text.unset, span)


def from_field(field: Field) -> Text:
    """The knowledge that a field carries."""
    return Text(field.values, field.reason, field.origins, field.prefix, field.suffix, field.glob, field.unset, field.no_number)


def word_of(field: Field) -> Text:
    """One of the words that a field becomes: of several, none needs to begin or end as the whole does."""
    text = from_field(field)
    return Text((), text.reason, text.origins, unset=text.unset, no_number=text.no_number) if field.many and not text.known else text


def common_prefix(values: tuple[str, ...]) -> str:
    """The longest text that all begin with."""
    if not values:
        return ""
    low, high = min(values), max(values)
    for at, char in enumerate(low):
        if at >= len(high) or high[at] != char:
            return low[:at]
    return low


def literal_head(pattern: str) -> str:
    """The text that every name matching this pattern begins with."""
    out = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            out.append(pattern[at + 1])
            at += 2
            continue
        if char in "*?[" or pattern[at + 1 : at + 2] == "(":
            break
        out.append(char)
        at += 1
    return "".join(out)


def _patterns(text: Text) -> tuple[str, ...]:
    return text.values if text.glob else tuple(escape_glob(value) for value in text.values)


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return first if not second or first == second else first + tuple(s for s in second if s not in first)
