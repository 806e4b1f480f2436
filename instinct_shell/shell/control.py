"""Lists, branches, loops, functions and traps: which commands run, in what order, and with which state."""

from __future__ import annotations

from ..model.effect import Span
from . import frames, patterns, simple, values
from .calculate import arithmetic
from .invocation import Known
from .state import State, merge
from .syntax import (
    AndOr,
    ArithFor,
    Background,
    Case,
    Command,
    Coproc,
    For,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Script,
    Subshell,
    Test,
)
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

MAX_UNROLLED = 32  # iterations of one loop that are followed one by one
MAX_UNROLLED_ALL = 512
_TESTS = frozenset({"[", "test", "grep", "diff", "cmp", "command", "which", "type", "hash", "pgrep"})


def run_and_or(ev: Evaluator, node: Node) -> State | None:
    """`&&` goes on in the state of success, `||` in that of failure; the two are told apart for cd, true, false, exit."""
    assert isinstance(node, AndOr)
    failed = ev.node(node.left)
    succeeded = ev.state
    if node.op == "&&":
        if failed is None:
            failed = succeeded.copy()
        sure = ev.certain and not _is_test(node.left)
        out = ev.out
        version = succeeded.version
        right_failed = _branch(ev, node.right, sure)
        if not sure:
            ev.out = values.join(out, ev.out)
        if right_failed is None and ev.state is succeeded and succeeded.version == version and not succeeded.dead:
            return None if failed.version == version and failed.cwd is succeeded.cwd and not failed.dead else failed
        return merge(failed, right_failed or ev.state)
    ev.state = failed if failed is not None else succeeded.copy()
    out = ev.out
    right_failed = _branch(ev, node.right, False)
    ev.out = values.join(out, ev.out)
    after = ev.state
    ev.state = merge(succeeded, after)
    return right_failed if right_failed is not None else after


def _branch(ev: Evaluator, node: Node, certain: bool) -> State | None:
    held = ev.certain
    ev.certain = certain
    try:
        return ev.node(node)
    finally:
        ev.certain = held


def _is_test(node: Node) -> bool:
    if isinstance(node, Test):
        return True
    if isinstance(node, Pipeline):
        return node.negated or _is_test(node.commands[-1])
    if isinstance(node, AndOr):
        return _is_test(node.left) or _is_test(node.right)
    if isinstance(node, Command) and node.words:
        return node.words[0].raw in _TESTS
    return False


# ---------------------------------------------------------------- groups


def compound(ev: Evaluator, redirects: tuple[Redirect, ...], span: Span, action: Callable[[], State | None]) -> State | None:
    """Runs a compound command under its redirections, which are an invocation without words."""
    if not redirects:
        return action()
    fds, streams = simple.apply_redirects(ev, redirects)
    index = simple.record(ev, (), (), fds, streams, ev.span(span)) if streams else -1
    held, out, producers, sink = ev.state.fds, ev.out, ev.producers, ev.sink
    own = fds[1] is not held[1] and fds[1].kind == "file"
    if own:
        ev.out, ev.producers, ev.sink = values.EMPTY, [], fds[1]
    ev.state.fds = fds
    try:
        return action()
    finally:
        ev.state.fds = held
        if own:
            if index >= 0:
                ev.records[index].output = ev.out
            ev.out, ev.producers, ev.sink = out, producers, sink


def run_group(ev: Evaluator, node: Node) -> State | None:
    """`{ ..; }`"""
    assert isinstance(node, Group)
    return compound(ev, node.redirects, node.span, lambda: ev.script(node.body))


def run_subshell(ev: Evaluator, node: Node) -> State | None:
    """`( .. )`"""
    assert isinstance(node, Subshell)

    def run() -> None:
        ev.apart(lambda: ev.script(node.body), "subshell")

    return compound(ev, node.redirects, node.span, run)


def run_background(ev: Evaluator, node: Node) -> None:
    """`command &`"""
    assert isinstance(node, Background)
    ev.apart(lambda: ev.node(node.body), "background")


def run_coproc(ev: Evaluator, node: Node) -> None:
    """`coproc`"""
    assert isinstance(node, Coproc)
    compound(ev, node.redirects, node.span, lambda: ev.apart(lambda: ev.node(node.body), "coproc"))
    ev.state.assign(node.name, values.Array({}, False, values.unknown("coproc", "variable", node.name)))


# ---------------------------------------------------------------- branches


def run_if(ev: Evaluator, node: Node) -> State | None:
    """Each branch in the state its condition leaves; afterwards either may have run."""
    assert isinstance(node, If)
    return compound(ev, node.redirects, node.span, lambda: _run_if(ev, node))


def _run_if(ev: Evaluator, node: If) -> None:
    after: State | None = None
    out: Text | None = None

    def arm(body: Script, certain: bool) -> None:
        nonlocal after, out
        start = ev.out
        held, context = ev.certain, ev.context
        ev.certain = held and certain
        ev.context = (*context, "branch")
        failed = ev.script(body)
        if failed is not None:
            ev.state = merge(ev.state, failed)
        ev.certain, ev.context = held, context
        after = ev.state if after is None else merge(after, ev.state)
        out = ev.out if out is None else values.join(out, ev.out)
        ev.out = start

    reached = True
    for condition, body in node.branches:
        held, context = ev.certain, ev.context
        ev.context = (*context, "condition")
        ev.certain = held and reached and body is node.branches[0][1]
        failed = ev.script(condition)
        ev.certain, ev.context = held, context
        if failed is None:
            failed = ev.state.copy()
        arm(body, failed.dead and reached)
        ev.state = failed
        reached = reached and not failed.dead
    arm(node.otherwise or Script(node.span, ()), False)
    assert after is not None
    ev.state = after
    ev.out = out or values.EMPTY


def run_case(ev: Evaluator, node: Node) -> State | None:
    """The arm that matches a known word; else every arm may run."""
    assert isinstance(node, Case)
    return compound(ev, node.redirects, node.span, lambda: _run_case(ev, node))


def _run_case(ev: Evaluator, node: Case) -> None:
    word = ev.expander.single(node.word)
    before = ev.state
    after: State | None = None
    out = start = ev.out
    ran = False
    through = False
    decided = False
    for labels, body, terminator in node.items:
        found = [ev.expander.pattern(label) for label in labels] if not decided else []
        sure = word.text is not None and all(p.text is not None for p in found)
        hit = word.text is not None and any(p.text is not None and patterns.matches(p.text, word.text) for p in found)
        if not through and (decided or (sure and not hit)):
            continue
        if not through and word.known and not word.glob and all(p.text is not None for p in found):
            if not any(patterns.matches(p.text, v) for p in found if p.text is not None for v in word.values):
                continue
        if not through:
            ev.state = before.copy()
            ev.out = start
        held, context = ev.certain, ev.context
        ev.certain = held and (hit or through) and not ran
        ev.context = (*context, "branch")
        failed = ev.script(body)
        if failed is not None:
            ev.state = merge(ev.state, failed)
        ev.certain, ev.context = held, context
        through = terminator == ";&"
        if through:
            continue
        after = ev.state if after is None else merge(after, ev.state)
        out = ev.out if not ran else values.join(out, ev.out)
        ran = True
        if hit and sure and terminator == ";;":
            decided = True
    if through:
        after = ev.state if after is None else merge(after, ev.state)
        out = ev.out if not ran else values.join(out, ev.out)
        ran = True
    if not decided:
        after = before if after is None else merge(after, before)
        out = values.join(out, start) if ran else start
    ev.state = after or before
    ev.out = out


# ---------------------------------------------------------------- loops


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
    run()
    changed = merge(before, ev.state)
    if ev.state.version != before.version or ev.state.cwd is not before.cwd:
        del ev.records[marks[0] :], ev.opaques[marks[1] :], ev.notes[marks[2] :]
        for record in ev.records:
            record.readers = [r for r in record.readers if r < marks[0]]
        ev.out, ev.producers = marks[3], marks[4]
        ev.pending = []
        for name, value in list(changed.variables.items()):
            old = before.variables.get(name)
            if value is not old and isinstance(value, Text) and len(value.values) != 1:
                earlier = old if isinstance(old, Text) else None
                if not value.known or earlier is None or not set(value.values) <= set(earlier.values):
                    changed.variables[name] = _widened(value)
        if not changed.cwd.same(before.cwd):
            changed.cwd = _widened(changed.cwd)
        ev.state = changed
        run()
    ev.state = merge(before, ev.state)
    ev.out = values.join(marks[3], ev.out)


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
    if reads and feed.rest is not None and ev.unrolled < MAX_UNROLLED_ALL:
        rounds = feed.rest.count("\n") + (not feed.rest.endswith("\n"))
        if rounds <= MAX_UNROLLED:
            for _ in range(rounds):
                if not feed.rest:
                    break
                ev.unrolled += 1
                _condition(ev, node.condition)
                breaks += _iteration(ev, node.body, True)
                if ev.state.dead:
                    break
            _after(ev, breaks)
            return
    endless = _always(node.condition, "false" if node.until else "true")

    def run() -> None:
        failed = _condition(ev, node.condition)
        start = ev.state if failed is None or not node.until else failed
        ev.state = start.copy() if start.dead else start
        ev.state.dead = dead
        breaks[:] = _iteration(ev, node.body, endless)
        _after(ev, breaks)

    dead = ev.state.dead
    _passes(ev, run)


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
        items = [(values.from_field(f), f.many or f.known is not Known.STATIC) for f in ev.expander.all_fields(node.words)]
    if node.select:
        joined = values.one_of(["", *(v for t, _ in items for v in t.values)])
        items = [(joined, True)]
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
            ev.state.assign(node.name, items[0][0])
            _after(ev, _iteration(ev, node.body, False))

        _passes(ev, run)
        return
    breaks: list[State] = []
    dead = ev.state.dead
    for text, open_ in items:
        ev.state.assign(node.name, text)
        before = ev.state.copy() if open_ else None
        breaks += _iteration(ev, node.body, not open_)
        if before is not None:
            ev.state = merge(before, ev.state)
        if ev.state.dead and not dead:
            break
    _after(ev, breaks)


def run_arith_for(ev: Evaluator, node: Node) -> State | None:
    """`for ((a; b; c))`: the body may run any number of times; the variables of the header are numbers."""
    assert isinstance(node, ArithFor)
    from .arith import assigned_names

    def run() -> None:
        ev.forget(assigned_names(node.text), "loop counter")
        _after(ev, _iteration(ev, node.body, True))

    def loop() -> None:
        header, _, _ = node.text.partition(";")
        arithmetic(ev, header, node.header, node.span)
        _passes(ev, run)

    return compound(ev, node.redirects, node.span, lambda: loop())
