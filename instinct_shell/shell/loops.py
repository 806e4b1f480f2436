"""Loops: followed pass by pass while what they loop over is known and short, else once for "some pass" with widened variables."""

from __future__ import annotations

import re

from . import frames, values
from .calculate import arithmetic, touched
from .control import compound
from .invocation import Known
from .setting import give
from .state import State, merge
from .syntax import AndOr, ArithFor, Command, For, Loop, Node, Script
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

MAX_UNROLLED = 32  # iterations of one loop that are followed one by one
MAX_UNROLLED_ALL = 512


def _iteration(ev: Evaluator, body: Script, certain: bool) -> list[State]:
    """One pass over a body; the states in which it broke off the loop are returned, `state` is where the next pass starts."""
    held, context = ev.certain, ev.context
    ev.certain = held and certain
    ev.context = (*context, "loop")
    frame = frames.Frame(True)
    ev.frames.append(frame)
    failed = ev.script(body)
    if failed is not None:
        ev.state = merge(ev.state, failed)
    ev.frames.pop()
    for left in frame.continues:
        ev.state = merge(ev.state, left)
    ev.certain, ev.context = held, context
    return frame.breaks


def _after(ev: Evaluator, breaks: list[State]) -> None:
    """The state behind a loop: its own end, or any break."""
    for left in breaks:
        ev.state = merge(ev.state, left)


def _passes(ev: Evaluator, run: Callable[[], None]) -> None:
    """A loop of unknown length: one silent pass finds what it changes; then a pass from "before or after an earlier pass" is kept."""
    before = ev.state.copy()
    marks = len(ev.records), len(ev.opaques), len(ev.notes), ev.out, list(ev.producers)

    def forget() -> None:
        del ev.records[marks[0] :], ev.opaques[marks[1] :], ev.notes[marks[2] :]
        for record in ev.records:
            record.readers = [r for r in record.readers if r < marks[0]]
        ev.late = [pair for pair in ev.late if pair[1] < marks[0]]
        ev.out, ev.producers = marks[3], list(marks[4])
        ev.pending = []

    run()
    changed = merge(before, ev.state)
    if ev.state.last is not before.last:
        ev.state.last = None  # the body may have run or not
    if ev.state.version != before.version or ev.state.cwd is not before.cwd:
        forget()
        for name, value in list(changed.variables.items()):
            old = before.variables.get(name)
            if isinstance(value, values.Array) and value.maybe is not None and value is not old:  # each pass adds to it
                changed.variables[name] = values.Array(value.items, value.keyed, value.open_)
            if value is not old and isinstance(value, Text) and len(value.values) != 1:
                earlier = old if isinstance(old, Text) else None
                if not value.known or earlier is None or not set(value.values) <= set(earlier.values):
                    changed.variables[name] = _widened(value)
        if not changed.cwd.same(before.cwd):
            changed.cwd = _widened(changed.cwd)
        start = changed.copy()  # `before` is what stands when the body never runs
        ev.state = changed.copy()
        run()
        _grow(ev, start, forget, run)
    ev.state = merge(before, ev.state)
    ev.out = values.join(marks[3], ev.out)


def _grow(ev: Evaluator, start: State, forget: Callable[[], None], run: Callable[[], None]) -> None:
    """More passes while each gives a variable or the directory other values than the one before: `x+=more`, `x=$y; y=$z`, `cd ..`."""
    for last in (False, True):
        grown = [name for name, value in ev.state.variables.items() if _grows(start.variables.get(name), value)]
        moved = _grows(start.cwd, ev.state.cwd)
        if not grown and not moved:
            return
        forget()
        start = start.copy()
        for name in grown:
            start.variables[name] = Text((), "changed in a loop", (), "" if last else _beginning(start.variables[name], ev.state.variables[name]))
        if moved:
            start.cwd = _upwards(start.cwd, ev.state.cwd)
        ev.state = start.copy()
        run()


def _grows(old: object, new: object) -> bool:
    """Whether one more pass gives a variable values that it did not have before."""
    if not isinstance(old, Text) or not isinstance(new, Text):
        return False
    if not old.known:
        ends = [(value, value) for value in new.values] or [(new.prefix, new.suffix)]
        return not all(first.startswith(old.prefix) and last.endswith(old.suffix) for first, last in ends)
    return not new.known or not set(new.values) <= set(old.values)


def _beginning(old: object, new: object) -> str:
    heads: list[str] = []
    for text in (old, new):
        assert isinstance(text, Text)  # as _grows found them
        heads += map(values.literal_head, text.values) if text.glob else text.values or (text.prefix,)
    return values.common_prefix(tuple(heads))


def _upwards(old: Text, new: Text) -> Text:
    """The directories of a loop that goes up and up: all that are above; unknown when it goes elsewhere."""
    above = [value[:at] or "/" for value in old.values for at, mark in enumerate(value) if mark == "/"]
    if new.known and not old.glob and set(new.values) <= {*old.values, *above}:
        return values.one_of([*old.values, *above])
    return Text((), "changed in a loop", new.origins, _beginning(old, new))


def _widened(text: Text) -> Text:
    """A value that a loop changes in each pass: only what it begins with is sure."""
    if not text.known:
        return text
    literal = [v for v in text.values if len(v) <= 1 or v.lstrip("-").isdigit()]
    if len(literal) == len(text.values):
        return values.unknown("changed in a loop", "arithmetic")
    if len(text.values) <= 4:
        return text
    return Text((), "changed in a loop", (), values.common_prefix(text.values))


def run_loop(ev: Evaluator, node: Node) -> State | None:
    """`while` and `until`; a body that reads known text line by line is followed line by line."""
    assert isinstance(node, Loop)
    return compound(ev, node.redirects, node.span, lambda: _run_loop(ev, node))


def _run_loop(ev: Evaluator, node: Loop) -> None:
    feed = ev.state.fds[0]
    breaks: list[State] = []
    reads = _reads_lines(node.condition)
    rest = ev.state.rest(feed)
    end = _delimiter(node.condition) if reads else "\n"
    if reads and not node.until and _whole_lines(node.condition) and rest is not None and ev.unrolled < MAX_UNROLLED_ALL:
        rounds = rest.count(end) + (not rest.endswith(end))
        if rounds <= MAX_UNROLLED:
            for _ in range(rounds):
                rest = ev.state.rest(feed)
                if rest == "":
                    break
                ev.unrolled += 1
                whole = rest is not None and end in rest  # `read` fails on a last line without its newline, though it sets the variable
                _condition(ev, node.condition)
                breaks += _iteration(ev, node.body, whole)
                if ev.state.dead:
                    break
            if not ev.state.dead:
                _condition(ev, node.condition)  # the read that finds no more
            _after(ev, breaks)
            return
    endless = _always(node.condition, "false" if node.until else "true")

    def run() -> None:
        failed = _condition(ev, node.condition)
        ended = (ev.state if failed is None or node.until else failed).copy()  # the condition's own end, should the body leave the shell
        start = ev.state if failed is None or not node.until else failed
        ev.state = start.copy() if start.dead else start
        ev.state.dead = dead
        breaks[:] = _iteration(ev, node.body, endless)
        _after(ev, breaks if endless else [*breaks, ended])

    dead = ev.state.dead
    _passes(ev, run)
    if reads and not node.until:
        _found_no_more(ev, node.condition)


def _found_no_more(ev: Evaluator, condition: Script) -> None:
    """The read that ends a loop empties its variables, whatever the body gave them: `while read x; do x=y; done; rm -rf "/$x"`."""
    item = condition.items[0]
    while isinstance(item, AndOr):
        item = item.left
    assert isinstance(item, Command)  # as _reads_lines found it
    for word in item.words[1:]:
        held = ev.lookup(word.raw) if word.raw.isidentifier() else None
        if isinstance(held, Text) and held.known and "" not in held.values:
            ev.state.assign(word.raw, values.one_of([*held.values, ""]))


def _condition(ev: Evaluator, condition: Script) -> State | None:
    held = ev.context
    ev.context = (*held, "condition")
    try:
        return ev.script(condition)
    finally:
        ev.context = held


def _reads_lines(condition: Script) -> bool:
    if len(condition.items) != 1:
        return False
    item = condition.items[0]
    while isinstance(item, AndOr):
        item = item.left
    return isinstance(item, Command) and bool(item.words) and item.words[0].raw == "read"


def _delimiter(condition: Script) -> str:
    """What ends a line for the `read` of a condition: a newline, or what its -d names."""
    item = condition.items[0]
    while isinstance(item, AndOr):
        item = item.left
    words = [word.raw for word in item.words] if isinstance(item, Command) else []
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if re.fullmatch(r"-[rs]*d", word):
            plain = value.removeprefix("$").strip("'\"")
            return plain[:1] if plain and not plain.startswith("\\") else "\0"
        if re.fullmatch(r"-[rs]*d.+", word):
            return word[word.index("d") + 1 :].strip("'\"")[:1] or "\0"
    return "\n"


def _whole_lines(condition: Script) -> bool:
    """Whether the `read` of a condition takes line after line of its input."""
    item = condition.items[0]
    while isinstance(item, AndOr):
        item = item.left
    assert isinstance(item, Command)  # as _reads_lines found it
    return not item.redirects and not any(re.match(r"-[a-ce-zA-Z]*[nNtu]", word.raw) for word in item.words[1:])


def _always(condition: Script, name: str) -> bool:
    if len(condition.items) != 1:
        return False
    item = condition.items[0]
    return isinstance(item, Command) and bool(item.words) and item.words[0].raw in (name, ":" if name == "true" else name)


def run_for(ev: Evaluator, node: Node) -> State | None:
    """Each listed value in turn while they are few; as a set when they are many; once for words that are not known."""
    assert isinstance(node, For)
    return compound(ev, node.redirects, node.span, lambda: _run_for(ev, node))


def _run_for(ev: Evaluator, node: For) -> None:
    if node.words is None:
        items = [(text, not text.known) for text in ev.state.positional]
        if ev.state.open_positional:
            items.append((values.unknown("arguments are not known", "positional", "@"), True))
    else:
        items = [(values.word_of(f), f.many or f.known is not Known.STATIC) for f in ev.expander.all_fields(node.words)]
    if node.select:
        joined = values.one_of(["", *(v for t, _ in items for v in t.values)])
        items = [(joined, True)]
        ev.state.unread = {**ev.state.unread, ev.state.fds[0]: None}  # the answers are read from there
        ev.state.assign("REPLY", values.unknown("an answer", "read"))
    if len(items) > MAX_UNROLLED or ev.unrolled + len(items) > MAX_UNROLLED_ALL:
        texts = [t for t, _ in items]
        if all(t.known and not t.glob for t in texts):
            items = [(values.one_of([v for t in texts for v in t.values], f"one of {len(texts)} values"), True)]
        else:
            items = [(Text((), f"one of {len(texts)} values"), True)]
    repeated = len(items) == 1 and items[0][1]
    ev.unrolled += len(items)
    if repeated:

        def run() -> None:
            _bind(ev, node.name, items[0][0])
            _after(ev, _iteration(ev, node.body, False))

        _passes(ev, run)
        return
    breaks: list[State] = []
    dead = ev.state.dead
    for text, open_ in items:
        before = ev.state.copy() if open_ else None
        _bind(ev, node.name, text)
        breaks += _iteration(ev, node.body, not open_)
        if before is not None:
            ev.state = merge(before, ev.state)
        if ev.state.dead and not dead:
            break
    _after(ev, breaks)


def _bind(ev: Evaluator, name: str, text: Text) -> None:
    """The loop's variable; a reference gets another variable at each turn."""
    if name in ev.state.references:
        ev.state.refer(name, text.text)
    else:
        give(ev, name, text)


def run_arith_for(ev: Evaluator, node: Node) -> State | None:
    """`for ((a; b; c))`: the body may run any number of times; the variables of the header are numbers."""
    assert isinstance(node, ArithFor)

    header, _, rest = node.text.partition(";")

    def run() -> None:
        ev.forget(touched(ev, node.text), "loop counter")
        breaks = _iteration(ev, node.body, True)
        ev.forget(touched(ev, rest), "loop counter")  # `y++` comes behind what the body made of y
        _after(ev, breaks)

    def loop() -> None:
        arithmetic(ev, header, node.header, node.span)
        _passes(ev, run)

    return compound(ev, node.redirects, node.span, loop)
