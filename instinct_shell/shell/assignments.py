"""`name=value` in all its forms: plain, appended, array elements, in front of a command."""

from __future__ import annotations

from . import arith, values
from .invocation import Field
from .parameters import subscript
from .setting import appended, give, give_element, shaped
from .syntax import Assignment, Literal, Tilde, Word
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def temporary_assignment(ev: Evaluator, node: Assignment) -> tuple[str, Field]:
    """`name=value` in front of a command."""
    text = ev.expander.single(node.value)
    letters = ev.state.letters(node.name)
    if node.append:
        old = ev.lookup(node.name)
        text = appended(ev, letters, old.items.get("0", old.open_) if isinstance(old, Array) else old, text, node.span)
    return (node.name, values.to_field(text, ev.span(node.span)))


def assign(ev: Evaluator, node: Assignment, local: bool = False, given: Text | None = None) -> Text:
    """Carries out an assignment; what was assigned is returned (for an array, its elements as one text). given: the value, when it is expanded."""
    if node.array is not None:
        return _assign_array(ev, node)
    text = ev.expander.single(node.value) if given is None else given
    if node.value is None and local:
        return text
    letters = ev.state.letters(node.name)
    if "n" in letters:
        ev.note("nameref", node.name, node.span)
    if node.name == "PS4" and any("$(" in v or "`" in v for v in text.values):
        for value in text.values:
            ev.check_hidden(value, node.span, "PS4", subscript=True)
    if node.index is not None:
        index = ev.expander.single(node.index)
        ev.check_hidden(index.text or "", node.span, "subscript", subscript=True)
        return give_element(ev, node.name, index, text, node.span, node.append)
    if node.append:
        old = ev.lookup(node.name)
        if isinstance(old, Array):
            old = old.items.get("0", old.open_)
        text = appended(ev, letters, old, text, node.span)
    text = give(ev, node.name, text, node.span)
    plain = "".join(part.text for part in node.value.parts if isinstance(part, Literal)) if node.value is not None else ""
    if made := tuple(name for piece in (plain, *text.values[:8]) for name in arith.assigned_names(piece)):
        ev.assigning[node.name] = (*ev.assigning.get(node.name, ()), *made)
    if node.name in ev.environment:
        ev.state.exported |= {node.name}
    if node.name == "PATH":
        ev.note("path", text.text or "", node.span)
    return text


def _keyed(ev: Evaluator, word: Word | None) -> Text:
    """A word of an associative array's list: not every bash expands a tilde there."""
    text = ev.expander.single(word)
    if word is None or not any(isinstance(part, Tilde) for part in word.parts):
        return text
    parts = tuple(Literal(part.span, "~" + part.user, True) if isinstance(part, Tilde) else part for part in word.parts)
    return values.join(text, ev.expander.single(word.replace(parts=parts)))


def _assign_array(ev: Evaluator, node: Assignment) -> Text:
    old = ev.lookup(node.name)
    letters = ev.state.letters(node.name)
    keyed = (isinstance(old, Array) and old.keyed) or "A" in letters
    array = old.copy() if node.append and isinstance(old, Array) else Array({}, keyed)
    if node.append and isinstance(old, Text):
        array.items["0"] = old
    number = max((int(k) for k in array.items if k.isdigit()), default=-1) + 1
    seen: list[Text] = []
    elements = node.array or ()
    if keyed and elements and all(index is None for index, _ in elements):
        words: list[Word | None] = [word for _, word in elements]  # key, value, key, value
        pairs = zip(words[::2], [*words[1::2], None], strict=False)
        for key_word, value_word in pairs:
            key = _keyed(ev, key_word).text
            value = shaped(ev, letters, _keyed(ev, value_word), node.span)
            seen.append(value)
            if key is None:
                array.loose(value, sure=False)
            else:
                array.items[key] = value
        elements = ()
    for index, word in elements:
        if index is not None:
            key = subscript(ev, array, ev.expander.single(index))
            value = shaped(ev, letters, _keyed(ev, word) if keyed else ev.expander.single(word), node.span)
            seen.append(value)
            if key is None:
                array.loose(value, sure=False)
                continue
            array.items[key] = value
            array.maybe = None
            number = int(key) + 1 if key.isdigit() else number
            continue
        for field in ev.expander.fields(word):
            value = shaped(ev, letters, values.word_of(field), node.span)
            seen.append(value)
            if field.many or array.open_ is not None:  # behind an unknown number of elements no place is known
                array.loose(value, sure=not field.many)
                continue
            array.items[str(number)] = value
            number += 1
    if "r" in letters:
        ev.may_leave_line()
        array = Array({}, keyed, values.unknown("a read-only array", "variable", node.name))
    ev.state.assign(node.name, array)
    joined = values.EMPTY
    for at, value in enumerate(seen):
        joined = values.concat(values.concat(joined, Text((" ",))) if at else joined, value)
    return joined
