"""`name=value` in all its forms: plain, appended, array elements, in front of a command."""

from __future__ import annotations

from . import arith, values
from .calculate import arithmetic
from .invocation import Field
from .parameters import subscript
from .syntax import Assignment
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def temporary_assignment(ev: Evaluator, node: Assignment) -> tuple[str, Field]:
    """`name=value` in front of a command."""
    return (node.name, values.to_field(ev.expander.single(node.value), ev.span(node.span)))


def assign(ev: Evaluator, node: Assignment, local: bool = False) -> Text:
    """Carries out an assignment; what was assigned is returned (for an array, its elements as one text)."""
    if node.array is not None:
        return _assign_array(ev, node)
    text = ev.expander.single(node.value)
    if node.value is None and local:
        return text
    letters = ev.state.attributes.get(node.name, "")
    if "i" in letters:
        text = arithmetic(ev, text.text, (), node.span) if text.text is not None else values.unknown("arithmetic", "arithmetic", node.name)
    elif "u" in letters or "l" in letters:
        text = values.transform(text, str.upper if "u" in letters else str.lower)
    if "n" in letters:
        ev.note("nameref", node.name, node.span)
    if node.name == "PS4" and any("$(" in v or "`" in v for v in text.values):
        for value in text.values:
            ev.check_hidden(value, node.span, "PS4", subscript=True)
    if node.index is not None:
        return _assign_element(ev, node, text)
    if node.append:
        old = ev.lookup(node.name)
        if isinstance(old, Array):
            old = old.items.get("0")
        if old is not None:
            text = values.concat(old, text) if "i" not in letters else values.unknown("arithmetic", "arithmetic", node.name)
    ev.state.assign(node.name, text)
    if node.value is not None and (made := arith.assigned_names(node.value.raw)):
        ev.assigning[node.name] = (*ev.assigning.get(node.name, ()), *made)
    if node.name in ev.environment:
        ev.state.exported |= {node.name}
    if node.name == "PATH":
        ev.note("path", text.text or "", node.span)
    return text


def _assign_array(ev: Evaluator, node: Assignment) -> Text:
    old = ev.lookup(node.name)
    keyed = (isinstance(old, Array) and old.keyed) or "A" in ev.state.attributes.get(node.name, "")
    array = old.copy() if node.append and isinstance(old, Array) else Array({}, keyed)
    if node.append and isinstance(old, Text):
        array.items["0"] = old
    number = max((int(k) for k in array.items if k.isdigit()), default=-1) + 1
    seen: list[Text] = []
    for index, word in node.array or ():
        if index is not None:
            key = ev.expander.single(index).text
            value = ev.expander.single(word)
            seen.append(value)
            if key is None:
                array.loose(value, sure=False)
                continue
            array.items[key] = value
            array.maybe = None
            number = int(key) + 1 if key.isdigit() else number
            continue
        for field in ev.expander.fields(word):
            value = values.word_of(field)
            seen.append(value)
            if field.many or array.open_ is not None:  # behind an unknown number of elements no place is known
                array.loose(value, sure=not field.many)
                continue
            array.items[str(number)] = value
            number += 1
    ev.state.assign(node.name, array)
    joined = values.EMPTY
    for at, value in enumerate(seen):
        joined = values.concat(values.concat(joined, Text((" ",))) if at else joined, value)
    return joined


def _assign_element(ev: Evaluator, node: Assignment, text: Text) -> Text:
    index = ev.expander.single(node.index)
    ev.check_hidden(index.text or "", node.span, "subscript", subscript=True)
    old = ev.lookup(node.name)
    array = (
        old.copy()
        if isinstance(old, Array)
        else Array({"0": old} if isinstance(old, Text) else {}, "A" in ev.state.attributes.get(node.name, ""))
    )
    key = subscript(ev, array, index)
    if node.append and key is not None and key in array.items:
        text = values.concat(array.items[key], text)
    behind = array.open_ is not None and key is not None and not array.keyed and key not in array.items and key != str(len(array.items))
    if key is None or behind:  # the order is not known
        array.loose(text, sure=False)
    else:
        array.items[key] = text
        array.maybe = None
    ev.state.assign(node.name, array)
    return text
