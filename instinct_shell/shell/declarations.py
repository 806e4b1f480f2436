"""declare and its kin, and unset: names, attributes and values of variables."""

from __future__ import annotations

import re

from . import assignments, values
from .call import Call
from .invocation import Field, Known
from .parameters import subscript
from .setting import appended, give, literal_name
from .state import MISSING, State, merge
from .syntax import Assignment
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
    if call.name == "readonly":
        letters += "r"
    outermost = "g" in letters and bool(ev.state.locals)
    if "g" in letters:
        local = False
    variables = not {"f", "F", "p"} & set(letters)
    shaping = letters.replace("r", "")  # what makes it read-only comes behind the value
    every = (*names, *(n for n, _, _ in deferred), *(a.name for a in call.declared)) if variables else ()
    given: list[tuple[Assignment, Text | None]] = []  # values are expanded before anything is set
    for assignment in call.declared:
        texts = ev.expander.singles(assignment.value) if assignment.array is None else [None]
        if "r" in letters:
            texts = texts[:1]  # the first makes it read-only
        given += [(assignment, text) for text in texts]
    for name in every:
        if local and ev.state.locals:
            _hide(ev, name, shaping, fresh=name in names)
        _attributes(ev, name, shaping, plus, call)
    for name in names if variables else ():
        if set("aA") & set(letters) and not isinstance(ev.state.variables.get(name), Array):
            ev.state.assign(name, Array({}, "A" in letters))
        elif name in dict(call.temporary):  # `x=1 export x`
            ev.state.assign(name, values.from_field(dict(call.temporary)[name]))
    if "n" in letters and call.name != "export":
        _refer(ev, names, deferred, call)
        return None
    for name, append, value in deferred:
        value = _give(ev, call, name, _appended(ev, name, value, bool(append), call), outermost)
        pairs.append((name, values.to_field(value)))
        _changed(ev, name)
    for assignment, value_given in given:
        if assignment.array is None and assignment.index is None and (outermost or _refused(ev, call)):
            value = _appended(ev, assignment.name, value_given or values.EMPTY, assignment.append, call)
            value = _give(ev, call, assignment.name, value, outermost)
        elif assignment.array is not None and _refused(ev, call):
            before = ev.state.copy()
            value = assignments.assign(ev, assignment, local=True)
            ev.state = merge(before, ev.state)
        else:
            value = assignments.assign(ev, assignment, local=True, given=value_given)
        pairs.append((assignment.name, values.to_field(value, ev.span(assignment.span))))
    if "r" in letters:
        for name in every:
            _attributes(ev, name, "r", "", call)
    if "f" in letters or "F" in letters:
        names = []
    if (call.name == "export" and "n" not in letters) or "x" in letters:
        ev.state.exported |= frozenset([*names, *(n for n, _ in pairs)])
    if call.name == "export" and "n" in letters:
        ev.state.exported -= frozenset(names)
    words = call.words + tuple(_assigned_word(name, field) for name, field in pairs if any(a.name == name for a in call.declared))
    call.words = words
    call.record(ev, values.EMPTY if (pairs or names) and variables else None)
    return None


def _hide(ev: Evaluator, name: str, letters: str, fresh: bool) -> None:
    """A local variable: what it hides comes back when the call ends. fresh: it begins without a value."""
    state = ev.state
    frame = state.locals[-1]
    hidden = frame.get(name)
    before = state.attributes.get(name, "")
    if hidden is not None and hidden[2]:
        return
    value = state.variables.get(name, MISSING)
    if hidden is not None:  # only some ways to this point made it local
        state.restore(name, hidden)
        frame[name] = (state.variables.get(name, MISSING), state.attributes.get(name, ""), True)
        fresh = False
        state.variables[name] = value
    else:
        frame[name] = (value, before, True)
        state.attributes = {**state.attributes, name: "r" if "r" in before else ""}
    state.version += 1
    if fresh and "n" not in letters:
        state.references = {other: to for other, to in state.references.items() if other != name}
        if not any(name in one.given for one in ev.frames if not one.loop):  # `x=1 f`: there the local x has that value
            state.variables[name] = Array({}, "A" in letters) if set("aA") & set(letters) else None


def _refused(ev: Evaluator, call: Call) -> bool:
    """Whether this is `local` outside of functions, which bash does not carry out."""
    return call.name == "local" and not ev.calls


def _appended(ev: Evaluator, name: str, value: Text, append: bool, call: Call) -> Text:
    old = ev.lookup(name)
    return appended(ev, ev.state.letters(name), old, value, call.span) if append and isinstance(old, Text) else value


def _give(ev: Evaluator, call: Call, name: str, value: Text, outermost: bool) -> Text:
    hides = next((frame for frame in ev.state.locals if name in frame), None) if outermost else None
    if hides is not None:  # `declare -g` of a name that a local variable hides
        old, letters, sure = hides[name]
        hides[name] = (values.join(old, value) if isinstance(old, Text) and not sure else value, letters, sure)
        ev.state.version += 1
        return value
    if _refused(ev, call) or (outermost and any(name in frame.given for frame in ev.frames)):
        held = ev.lookup(name)
        value = values.join(held if isinstance(held, Text) else Text(("",), unset=(name,)), value)
    return give(ev, name, value, call.span)


def _refer(ev: Evaluator, names: list[str], deferred: list[tuple[str, str, Text]], call: Call) -> None:
    """`declare -n`: names that stand for other variables."""
    given = [(name, "") for name in names] + [(name, value.text) for name, _, value in deferred]
    given += [(assignment.name, ev.expander.single(assignment.value).text) for assignment in call.declared]
    for name, target in given:
        if not isinstance(ev.state.variables.get(name), Array):  # of an array bash makes no reference
            ev.state.refer(name, target)
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
    held = set(ev.state.attributes.get(name, ""))
    if set("ulc") & set(letters):
        held -= set("ulc") if {"i", "r"} & held else set("ulc?")
    kept = "".join(sorted((held | set(letters)) - set(plus)))
    if kept != ev.state.attributes.get(name, ""):
        ev.state.attributes = {**ev.state.attributes, name: kept}
    if "n" in letters:
        ev.note("nameref", name, call.span)


def unset(ev: Evaluator, call: Call) -> State | None:
    functions = any(f.text == "-f" for f in call.args)
    for field in call.args:
        text = literal_name(field)
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
            _unset_element(ev, text)
        else:
            _unset(ev, text)
    call.record(ev)
    return None


def _unset_element(ev: Evaluator, text: str) -> None:
    name, _, index = text.partition("[")
    held = ev.lookup(name)
    if not isinstance(held, Array):
        return
    array = held.copy()
    key = subscript(ev, array, Text((index.removesuffix("]"),)))
    if key is None or "r" in ev.state.letters(name):
        array = Array({}, held.keyed, values.unknown("element unset", "variable", text))
    else:
        array.items.pop(key, None)
    ev.state.assign(name, array)


def _unset(ev: Evaluator, name: str) -> None:
    """A variable; when it is local to a caller, what that has hidden comes to light."""
    state = ev.state
    name = state.stands_for(name) or name
    if "r" in state.letters(name):
        held = state.variables.get(name, MISSING)
        if not isinstance(held, Array) and "?" in state.letters(name):
            state.assign(name, values.join(held, Text(("",), unset=(name,))) if held is not None else None)
        return
    for frame in reversed(state.locals[:-1]) if state.locals and name not in state.locals[-1] else ():
        if name in frame:
            state.restore(name, frame.pop(name))
            state.version += 1
            return
    state.assign(name, None)
    if state.attributes.get(name):
        state.attributes = {**state.attributes, name: ""}
