"""declare and its kin, and unset: names, attributes and values of variables."""

from __future__ import annotations

import re

from . import assignments, values
from .calculate import arithmetic
from .call import Call
from .invocation import Field, Known
from .state import MISSING, State
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def declare(ev: Evaluator, call: Call) -> State | None:
    """declare, typeset, local, export, readonly."""
    letters = ""
    plus = ""
    names: list[str] = []
    pairs: list[tuple[str, Field]] = []
    options = True
    local = call.name == "local" or (call.name in ("declare", "typeset") and bool(ev.state.locals))
    deferred: list[tuple[str, str, Text]] = []
    for field in call.args:
        text = field.text
        if text is None:
            _declare_unknown(ev, field, call)
            continue
        if options and text[:1] in ("-", "+") and len(text) > 1:
            if text == "--":
                options = False
            elif text[0] == "-":
                letters += text[1:]
            else:
                plus += text[1:]
            continue
        found = re.match(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", text, re.DOTALL)
        if found:
            deferred.append((found[1], found[2], Text((found[3],))))
        else:
            ev.check_hidden(text, call.span, call.name, subscript=True)
            names.append(text.split("[")[0])
    if "g" in letters:
        local = False
    for name in (*names, *(n for n, _, _ in deferred), *(a.name for a in call.declared)):
        _attributes(ev, name, letters, plus, call)
        if local and ev.state.locals and name not in ev.state.locals[-1]:
            ev.state.locals[-1][name] = ev.state.variables.get(name, MISSING)
            if name in names and "n" not in letters:
                ev.state.assign(name, Array({}, "A" in letters) if set("aA") & set(letters) else None)
    if "f" not in letters and "F" not in letters and "p" not in letters:
        for name in names:
            if set("aA") & set(letters) and not isinstance(ev.state.variables.get(name), Array):
                ev.state.assign(name, Array({}, "A" in letters))
    if "n" in letters and call.name != "export":
        _refer(ev, names, deferred, call)
        return None
    for name, append, value in deferred:
        old = ev.lookup(name)
        if append and isinstance(old, Text):
            value = values.concat(old, value)
        if "i" in ev.state.attributes.get(name, "") and value.text is not None:
            value = arithmetic(ev, value.text, (), call.span)
        ev.state.assign(name, value)
        pairs.append((name, values.to_field(value)))
        _changed(ev, name)
    for assignment in call.declared:
        value = assignments.assign(ev, assignment, local=True)
        pairs.append((assignment.name, values.to_field(value, ev.span(assignment.span))))
    if "f" in letters or "F" in letters:
        names = []
    if (call.name == "export" and "n" not in letters) or "x" in letters:
        ev.state.exported |= frozenset([*names, *(n for n, _ in pairs)])
    if call.name == "export" and "n" in letters:
        ev.state.exported -= frozenset(names)
    words = call.words + tuple(_assigned_word(name, field) for name, field in pairs if any(a.name == name for a in call.declared))
    call.words = words
    call.record(ev, values.EMPTY if pairs or names else None)
    return None


def _refer(ev: Evaluator, names: list[str], deferred: list[tuple[str, str, Text]], call: Call) -> None:
    """`declare -n`: names that stand for other variables."""
    for name in names:
        ev.state.refer(name, "")
    for name, _, value in deferred:
        ev.state.refer(name, value.text)
    for assignment in call.declared:
        ev.state.refer(assignment.name, ev.expander.single(assignment.value).text)
    call.record(ev, values.EMPTY)


def _assigned_word(name: str, field: Field) -> Field:
    """`name=value` as a word of the declaration, for those who read the words."""
    return values.to_field(values.concat(Text((name + "=",)), values.from_field(field)), field.span)


def _declare_unknown(ev: Evaluator, field: Field, call: Call) -> None:
    name = field.prefix.partition("=")[0]
    if "=" in field.prefix and name.isidentifier():
        value = values.from_field(field)
        ev.state.assign(name, Text((), value.reason, value.origins, value.prefix.partition("=")[2]))
        _changed(ev, name)
        if call.name == "export":
            ev.state.exported |= {name}
    elif field.known is Known.SET:
        for text in field.values:
            name, equals, _ = text.partition("=")
            if equals:
                ev.state.assign(name, values.unknown("declared under one of several names", "variable", name))


def _changed(ev: Evaluator, name: str) -> None:
    if name in ev.environment:
        ev.state.exported |= {name}


def _attributes(ev: Evaluator, name: str, letters: str, plus: str, call: Call) -> None:
    kept = "".join(sorted((set(ev.state.attributes.get(name, "")) | set(letters)) - set(plus)))
    if kept != ev.state.attributes.get(name, ""):
        ev.state.attributes = {**ev.state.attributes, name: kept}
    if "n" in letters:
        ev.note("nameref", name, call.span)


def unset(ev: Evaluator, call: Call) -> State | None:
    functions = any(f.text == "-f" for f in call.args)
    for field in call.args:
        text = field.text
        if text is None or text.startswith("-"):
            continue
        ev.check_hidden(text, call.span, "unset", subscript=True)
        if any(f.text == "-n" for f in call.args) and text in ev.state.references:
            ev.state.references = {name: to for name, to in ev.state.references.items() if name != text}
            ev.state.version += 1
        elif functions or (text in ev.state.functions and ev.lookup(text) is None):
            ev.state.functions.pop(text, None)
            ev.state.version += 1
        elif "[" in text:
            ev.state.assign(text.split("[")[0], Array({}, False, values.unknown("element unset", "variable", text)))
        else:
            ev.state.assign(text, None)
    call.record(ev)
    return None
