"""Giving a variable a value as its attributes have it: a number, letters of one case, or nothing new when it is read-only."""

from __future__ import annotations

from ..model.effect import NOWHERE, Span
from . import values
from .calculate import arithmetic
from .invocation import Field
from .parameters import subscript
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

SHAPING = frozenset("iulcr")
DOUBT = "?"  # a letter beside those of declare: only some ways to this point gave the attributes


def give(ev: Evaluator, name: str, value: Text, span: Span = NOWHERE) -> Text:
    """`name=value`; what the variable then holds is returned."""
    letters = ev.state.letters(name)
    if letters and not SHAPING.isdisjoint(letters):
        value = shaped(ev, letters, value, span)
        if "r" in letters:
            value = values.join(_held(ev, name), value)
            ev.may_leave_line()
    ev.state.assign(name, value)
    return value


def give_at(ev: Evaluator, target: str, value: Text, span: Span = NOWHERE) -> None:
    """The same for a name that may have a subscript, as `read` and `printf -v` take it."""
    name, bracket, index = target.partition("[")
    if bracket:
        give_element(ev, name, Text((index.removesuffix("]"),)), value, span)
    else:
        give(ev, name, value, span)


def give_element(ev: Evaluator, name: str, index: Text, value: Text, span: Span = NOWHERE, append: bool = False) -> Text:
    """`name[index]=value`; what the element then holds is returned."""
    letters = ev.state.letters(name)
    old = ev.lookup(name)
    array = old.copy() if isinstance(old, Array) else Array({"0": old} if isinstance(old, Text) else {}, "A" in letters)
    key = subscript(ev, array, index)
    if key is not None and key.startswith("-") and not array.keyed:  # before the first element: bash complains and goes on
        return value
    before = array.items.get(key) if key is not None else None
    if append:
        value = appended(ev, letters, before, value, span) if before is not None or array.open_ is None else unknown_part(value)
    value = shaped(ev, letters, value, span)
    if "r" in letters:
        ev.may_leave_line()
        array, key = Array({}, array.keyed, values.unknown("a read-only array", "variable", name)), None
    behind = array.open_ is not None and key is not None and not array.keyed and key not in array.items and key != str(len(array.items))
    if key is None or behind:  # the order is not known
        array.loose(value, sure=False)
        if key is None:
            array.items = {known: values.join(item, value) for known, item in array.items.items()}
    else:
        array.items[key] = value
        array.maybe = None
    ev.state.assign(name, array)
    return value


def literal_name(field: Field) -> str | None:
    """The name that a word gives to a builtin: `a[1]` is a pattern as well, which matches no file."""
    return field.values[0] if field.glob and len(field.values) == 1 else field.text


def unknown_part(value: Text) -> Text:
    """What stands behind something that is not known."""
    return Text((), "an element that is not known", value.origins)


def appended(ev: Evaluator, letters: str, old: Text | None, value: Text, span: Span) -> Text:
    """What `+=` makes of a value: a sum under `declare -i`, else the text behind it."""
    if old is None:
        return value
    if "i" not in letters:
        return values.concat(old, value)
    if old.text is None or value.text is None:
        return values.unknown("arithmetic", "arithmetic")
    return arithmetic(ev, f"({old.text or 0})+({value.text or 0})", (), span)


def shaped(ev: Evaluator, letters: str, value: Text, span: Span = NOWHERE) -> Text:
    """The value as the attributes i, u, l and c have it."""
    if DOUBT in letters:
        found = value
        for letter in sorted({"i", "u", "l", "c"} & set(letters)):
            found = values.join(found, shaped(ev, letter, value, span))
        return found
    found = value
    if "i" in letters:
        found = arithmetic(ev, value.text, (), span) if value.text is not None else values.unknown("arithmetic", "arithmetic")
    elif "u" in letters:
        found = values.transform(value, str.upper)
    elif "l" in letters:
        found = values.transform(value, str.lower)
    elif "c" in letters:
        found = values.transform(value, str.capitalize)
    return found


def _held(ev: Evaluator, name: str) -> Text:
    held = ev.lookup(name)
    if isinstance(held, Array):
        held = held.items.get("0", held.open_)
    return held if held is not None else Text(("",), unset=(name,))
