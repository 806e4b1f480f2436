"""Parameters and their operators: `$x`, `${x:-y}`, `${x%/*}`, `"$@"`, arrays, tildes, on known and half-known values."""

from __future__ import annotations

from ..model.effect import NOWHERE
from . import special, traps, values
from .calculate import arithmetic
from .invocation import Origin
from .operators import operate
from .syntax import Param, Word
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

DEFAULTS = frozenset({":-", "-", ":=", "=", ":+", "+"})
OPEN = "unknown number of"
OPTIONAL = f"{OPEN} elements, one or none"  # of a text whose values are known


def lookup(ev: Evaluator, name: str) -> Text | Array | None:
    """What a variable or special parameter holds; None when it is surely unset."""
    state = ev.state
    if state.references:
        alone, name = name, state.stands_for(name)
        if alone in state.doubtful:
            return values.unknown(f"`{alone}` may refer to another variable", "variable", alone)
        if not name:
            return None
    if "[" in name:  # a reference to an element
        return _element_named(ev, name)
    if name in state.variables and not special.is_dynamic(name):
        held = state.variables[name]
        if name in ("PWD", "OLDPWD") and isinstance(held, Text) and held.unset:  # only some ways to this point gave it a value
            return values.join(held, state.cwd if name == "PWD" else state.oldpwd or values.EMPTY)
        return held
    found = ev.environment.get(name)
    if found is not None and name not in ("PWD", "OLDPWD"):
        return found
    return special.lookup(ev, name)


def _element_named(ev: Evaluator, name: str) -> Text | None:
    name, _, index = name.partition("[")
    held = lookup(ev, name)
    if not isinstance(held, Array):
        return held if index == "0]" else None
    key = subscript(ev, held, Text((index.removesuffix("]"),)))
    return held.items.get(key, held.open_) if key is not None else values.unknown(f"an element of `{name}`", "variable", name)


def tilde(ev: Evaluator, user: str) -> Text:
    """The directory that a tilde prefix names."""
    if user == "":
        home = lookup(ev, "HOME")
        if home is None and "HOME" in ev.state.variables:  # unset: the user database says
            return values.unknown("home directory of the user", "variable", "~")
        return home if isinstance(home, Text) else values.known(ev.surroundings.home or "/")
    if user in ("+", "-"):
        held = lookup(ev, "PWD" if user == "+" else "OLDPWD")
        return held if isinstance(held, Text) else values.known("~" + user)
    if user == "root":
        return values.known("/root")
    if user == ev.surroundings.user:
        return values.known(ev.surroundings.home)
    return values.unknown(f"home directory of `{user}`", "variable", "~" + user)


def is_open(text: Text) -> bool:
    """Whether this stands for any number of elements, none as well."""
    return text.reason.startswith(OPEN)


def is_star(part: Param) -> bool:
    """Whether this is `${a[*]}`."""
    return part.index is not None and part.index.raw == "*"


def expand(ev: Evaluator, part: Param) -> tuple[list[Text], bool]:
    """The values of a parameter expansion, and whether they are separate words (`$@`, `${a[@]}`)."""
    op = part.op
    if op.startswith("indirect"):
        return _indirect(ev, part)
    if op == "names":
        return [Text((), f"{OPEN} names that begin with `{part.name}`", (Origin("variable", part.name),))], True
    listed = _list(ev, part)
    if listed is not None:
        return _list_operation(ev, part, listed)
    if op == "length":
        return [_length(scalar(ev, part))], False
    if op in DEFAULTS and part.argument is not None:
        chosen, value = choose(ev, part)
        if chosen == "argument":
            return [ev.expander.single(part.argument)], False
        return [value], False
    if op in (":?", "?"):
        return [_required(ev, part)], False
    return [operate(ev, part, scalar(ev, part))], False


def scalar(ev: Evaluator, part: Param) -> Text:
    """The plain value of the parameter; an unset one is empty and says so."""
    found = _element(ev, part)
    if found is None:
        if "nounset" in ev.state.options and part.op == "":
            ev.note("unset", part.name, part.span)
            traps.may_end(ev)
        return Text(("",), unset=(part.name,))
    return found


def _element(ev: Evaluator, part: Param) -> Text | None:
    found = ev.lookup(part.name)
    if part.index is None:
        return _item(found, "0", part.name) if isinstance(found, Array) else found
    text = ev.expander.single(part.index)
    ev.check_hidden(text.text or "", part.span, "subscript", subscript=True)
    if found is None:
        return None
    if isinstance(found, Text):
        if text.text is None:
            return values.join(Text(("",), unset=(part.name,)), found)
        return found if text.text == "0" else None
    key = subscript(ev, found, text)
    if key is None:
        joined = found.open_
        behind = (text.text or "").removeprefix("-")
        if behind != text.text and text.text and (not behind.isdigit() or int(behind) > len(found.items)):  # perhaps before the first
            joined = Text(("",), unset=(part.name,)) if joined is None else values.join(Text(("",), unset=(part.name,)), joined)
        for item in found.items.values():
            joined = item if joined is None else values.join(joined, item)
        return joined
    return _item(found, key, part.name)


def _item(array: Array, key: str, name: str) -> Text | None:
    """One element; where what else is in the array is known, it may as well be none."""
    if key in array.items or array.open_ is None or not array.open_.known:
        return array.items.get(key, array.open_)
    return values.join(Text(("",), unset=(name,)), array.open_)


def subscript(ev: Evaluator, array: Array, text: Text) -> str | None:
    """The key that a subscript names, None when unknown."""
    if array.keyed or text.text is None:
        return text.text
    number = arithmetic(ev, text.text, (), NOWHERE).text
    if number is not None and number.startswith("-"):
        if array.open_ is not None:
            return None
        behind = max((int(key) for key in array.items if key.isdigit()), default=-1) + 1 + int(number)
        return str(behind) if behind >= 0 else number
    return number


def ordered(array: Array) -> tuple[list[str], list[Text]]:
    """Subscripts and elements as `${a[@]}` lists them: by number; those of an associative array in an order of bash's own."""
    keys, items = list(array.items), list(array.items.values())
    if array.keyed:
        if len(keys) > 1:
            any_ = items[0]
            for item in items[1:]:
                any_ = values.join(any_, item)
            return keys, [any_] * len(keys)
    elif all(key.isdigit() for key in keys):
        keys.sort(key=int)
        items = [array.items[key] for key in keys]
    return keys, items


def _list(ev: Evaluator, part: Param) -> list[Text] | None:
    """The elements, when the parameter stands for a list."""
    if part.name in ("@", "*"):
        found = list(ev.state.positional)
        if ev.state.open_positional:
            found.append(values.unknown(f"{OPEN} arguments", "positional", "@"))
        return found
    if part.index is not None and part.index.raw in ("@", "*"):
        held = ev.lookup(part.name)
        if held is None:
            return []
        if isinstance(held, Text):
            # it has no element when it is not set, and any number of them when it may refer to an array
            surely = held.known and not held.unset and part.name not in ev.state.doubtful
            return [held if surely else Text(held.values, OPTIONAL, held.origins)]
        rest = held.open_
        if held.maybe is not None:
            return [*held.items.values(), *(Text(t.values, OPTIONAL) if "" in t.values else t for t in held.maybe)]
        open_ = [] if rest is None else [Text((), f"{OPEN} elements ({rest.reason})", rest.origins, rest.prefix)]
        return ordered(held)[1] + open_
    return None


def _list_operation(ev: Evaluator, part: Param, listed: list[Text]) -> tuple[list[Text], bool]:
    op = part.op
    if op == "length":
        if any(map(is_open, listed)):
            return [values.unknown("number of elements", "positional", "#")], False
        return [Text((str(len(listed)),))], False
    if op in DEFAULTS or op in (":?", "?"):
        if op in (":-", ":+") and len(listed) == 1 and (not listed[0].known or "" in listed[0].values) and not is_open(listed[0]):
            return [_one_maybe_empty(ev, part, listed[0])], False
        if op in (":+", "+"):
            return ([ev.expander.single(part.argument)] if listed else []), not listed
        if not listed and part.argument is not None and op in (":-", "-"):
            return [ev.expander.single(part.argument)], False
        return listed, True
    if op == ":":
        offset = _number(ev, part.argument)
        length = _number(ev, part.second) if part.second is not None else None
        if offset is None or (part.second is not None and length is None):
            return [Text((), f"{OPEN} elements", ())], True
        if part.name in ("@", "*"):
            listed = [ev.argv0, *listed]
        held = ev.lookup(part.name) if part.index is not None else None
        if isinstance(held, Array) and held.keyed:
            return [Text((), f"{OPEN} elements", tuple(origin for text in listed for origin in text.origins))], True
        if isinstance(held, Array) and held.open_ is None:
            offset = _place(held, offset)
        return _slice(listed, offset, length), True
    if op == "":
        return listed, True
    if op in ("@A", "@K", "@k", "@a"):
        return [Text((), f"{OPEN} words of `{op}`", tuple(origin for text in listed for origin in text.origins))], True
    return [operate(ev, part, text) for text in listed], True


def _one_maybe_empty(ev: Evaluator, part: Param, only: Text) -> Text:
    """`"${a[@]:-d}"` of one element that may be empty."""
    other = ev.expander.single(part.argument)
    empty = only.values == ("",)
    if part.op == ":+":
        return Text(("",)) if empty else values.join(Text(("",)), other)
    return other if empty else values.join(_present(only), other)


def _number(ev: Evaluator, word: Word | None) -> str | None:
    text = ev.expander.single(word).text
    return arithmetic(ev, text, (), word.span if word is not None else NOWHERE).text if text is not None else None


def _place(array: Array, offset: str) -> str:
    """The place in the list of elements at which a subscript begins: an array may have gaps."""
    keys = [int(key) for key in array.items if key.isdigit()]
    try:
        start = int(offset)
    except ValueError:
        return offset
    if start < 0:
        start += max(keys, default=-1) + 1
        if start < 0:
            return str(len(keys))
    return str(sum(key < start for key in keys))


def _slice(listed: list[Text], offset: str, length: str | None) -> list[Text]:
    if any(map(is_open, listed)):
        return [Text((), f"{OPEN} elements", tuple(origin for text in listed for origin in text.origins))]
    try:
        start = int(offset)
        count = None if length is None else int(length)
    except ValueError:
        return [Text((), f"{OPEN} elements", ())]
    if start < 0:
        start += len(listed)
        if start < 0:
            return []
    if count is None:
        return listed[start:]
    return listed[start : start + count] if count >= 0 else []


def choose(ev: Evaluator, part: Param) -> tuple[str, Text]:
    """For `:-` and its kin: ("argument", _) when the argument surely stands, ("value", text) when the value does or both may."""
    found = _element(ev, part)
    if part.name in ("@", "*") or (part.index is not None and part.index.raw in ("@", "*")):
        return "list", values.EMPTY
    colon = part.op.startswith(":")
    bare = part.op.lstrip(":")
    missing = found is None or (colon and found.values == ("",))
    maybe = found is not None and not missing and ((not found.known or "" in found.values) if colon else part.name in found.unset)
    if bare == "+":
        if missing:
            return "value", Text(("",), unset=(part.name,))
        if not maybe:
            return "argument", values.EMPTY
        return "value", values.join(Text(("",)), ev.expander.single(part.argument))
    if bare == "=" and (missing or maybe):
        value = ev.expander.single(part.argument)
        if maybe and found is not None:
            value = values.join(_present(found), value)
        from .setting import give, give_element  # it reads parameters itself

        if part.index is not None:
            return "value", give_element(ev, part.name, ev.expander.single(part.index), value)
        return "value", give(ev, part.name, value)
    if missing:
        return "argument", values.EMPTY
    assert found is not None
    if maybe:
        return "value", values.join(_present(found), ev.expander.single(part.argument))
    ev.expander.commands_inside_quietly(part.argument)
    return "value", found


def _present(found: Text) -> Text:
    """The value without its empty alternatives."""
    if not found.known:
        return found
    kept = tuple(v for v in found.values if v)
    return Text(kept or ("",), glob=found.glob)


def _required(ev: Evaluator, part: Param) -> Text:
    """`${x:?message}`: an unset variable ends the shell, so nothing after it runs."""
    found = _element(ev, part)
    if found is None or (part.op == ":?" and found.values == ("",)):
        ev.expander.single(part.argument)
        ev.aborts = True
        return values.unknown(f"`{part.name}` is unset: bash stops here", "variable", part.name)
    ev.expander.commands_inside_quietly(part.argument)
    if not found.known and not found.reason:
        return found
    return _present(found)


def _indirect(ev: Evaluator, part: Param) -> tuple[list[Text], bool]:
    if part.index is not None and part.index.raw in ("@", "*"):
        held = ev.lookup(part.name)
        if held is None:
            return [], True
        if isinstance(held, Text) and not held.unset:
            return [Text(("0",))], True
        if isinstance(held, Array) and held.open_ is None:
            keys = ordered(held)[0]
            if held.keyed:
                return [values.one_of(keys)] * len(keys), True
            return [Text((key,)) for key in keys], True
        return [Text((), f"{OPEN} subscripts of `{part.name}`", (Origin("variable", part.name),))], True
    if part.name in ev.state.references:
        return [Text((ev.state.references[part.name],))], False
    name = scalar(ev, part.replace(op="")).text
    if not name:  # of an unset variable: bash leaves the line
        ev.may_leave_line()
    if name is not None and (name in ("@", "*") or name.endswith(("[@]", "[*]"))):
        return [Text((), f"{OPEN} values, indirect through `{part.name}`", (Origin("variable", part.name),))], True
    if name is None or not name.replace("_", "a").isalnum():
        return [values.unknown(f"indirect through `{part.name}`", "variable", part.name)], False
    return expand(ev, part.replace(name=name, op=part.op.removeprefix("indirect"), index=None))


def _length(text: Text) -> Text:
    return values.transform(text, lambda v: str(len(v))) if text.known and not text.glob else values.unknown("length", "arithmetic")
