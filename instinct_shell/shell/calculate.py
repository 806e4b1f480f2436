"""Arithmetic in the evaluator's state: values of variables go in, changed variables come out, code hidden in values is reported."""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Span
from . import arith, values
from .syntax import CommandSub, Literal, Part
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

_DEEPEST = 8  # expressions in variables that name variables


def touched(ev: Evaluator, text: str, depth: int = 0) -> tuple[str, ...]:
    """The variables that an expression may change, also by what its variables hold: with `y='x=1'` `$((y))` sets x."""
    names = list(arith.assigned_names(text))
    for name in arith.names(text) if depth < _DEEPEST else ():
        held = ev.lookup(name)
        names += ev.assigning.get(name, ())  # in a loop such a text may be known no more
        for value in held.values if isinstance(held, Text) else ():
            if not value.isalnum():
                names += touched(ev, value, depth + 1)
    return tuple(dict.fromkeys(names))


@cache
def _plain_parameter() -> re.Pattern[str]:
    return re.compile(r"\$(?:\{([A-Za-z_]\w*|\d+)\}|([A-Za-z_]\w*(?!\[)|\d|#))", re.ASCII)


def _with_values(ev: Evaluator, text: str, span: Span) -> str:
    """The expression with `$x` and `${x}` replaced by their text, where that is known: `$x*2` with x=1+2 is 1+2*2."""

    def put(found: re.Match[str]) -> str:
        held = ev.lookup(found[1] or found[2])
        if isinstance(held, Array):
            held = held.items.get("0", held.open_)
        if held is None:
            return ""
        if held.text is None:
            return found[0]
        ev.check_hidden(held.text, span, f"arithmetic on `{found[1] or found[2]}`")
        return held.text

    return _plain_parameter().sub(put, text)


def arithmetic(ev: Evaluator, text: str, nested: tuple[Part, ...], span: Span) -> Text:
    """The value of an arithmetic expression; variables it changes are changed. Code hidden in its variables is reported as opaque."""
    for part in nested:
        if isinstance(part, Literal):
            ev.check_hidden(part.text, span, "arithmetic", subscript=True)
            continue
        found = ev.expander._joined(part)
        if isinstance(part, CommandSub) and found.text is not None and text.strip() == f"$({text.strip()[2:-1]})":
            text = found.text
    if "$" in text:
        text = _with_values(ev, text, span)
    if any(mark in text for mark in ("$(", "`", "[")):
        ev.forget(touched(ev, text), "arithmetic")
        ev.check_hidden(text.replace("$(", "(") if nested else text, span, "arithmetic")
        return values.unknown("arithmetic", "arithmetic")
    changed: dict[str, int] = {}

    def get(name: str, depth: int = 0) -> int:
        if name in changed:
            return changed[name]
        found = ev.lookup(name)
        if isinstance(found, Array):
            found = found.items.get("0", found.open_)
        if found is None:
            return 0
        if found.text is None:
            for value in found.values:
                ev.check_hidden(value, span, f"arithmetic on `{name}`")
            if not found.no_number and not any(map(arith.is_none, found.values)):
                raise arith.NotKnown
            raise arith.Unknown
        value = found.text.strip()
        if not value:
            return 0
        ev.check_hidden(value, span, f"arithmetic on `{name}`")
        if depth > _DEEPEST:
            raise arith.NotKnown
        return arith.evaluate(value, arith.Names(lambda n: get(n, depth + 1), changed.__setitem__))

    try:
        result = arith.evaluate(text.strip().strip('"'), arith.Names(get, changed.__setitem__))
    except (arith.Unknown, RecursionError) as why:
        if not isinstance(why, arith.NotKnown):
            ev.may_leave_line()
        ev.forget(touched(ev, text), "arithmetic")
        return values.unknown("arithmetic", "arithmetic")
    for name, number in changed.items():
        if "r" in ev.state.letters(name):
            ev.may_leave_line()
            ev.forget((name,), "a read-only variable")
        ev.state.assign(name, Text((str(number),)))
    return Text((str(result),))
