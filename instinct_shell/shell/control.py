"""Lists, branches, loops, functions and traps: which commands run, in what order, and with which state."""

from __future__ import annotations

from ..model.effect import Span
from . import patterns, simple, values
from .state import Channel, State, merge, same
from .syntax import (
    AndOr,
    Background,
    Case,
    Command,
    Coproc,
    Group,
    If,
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

_COPROC_READ, _COPROC_WRITE = 63, 60  # the descriptors that bash takes first
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
        if right_failed is None and ev.state is succeeded and succeeded.version == version and same(failed, succeeded):
            if failed.last is succeeded.last:
                return None
            failed.last = None
            return failed
        return _apart(ev, merge(failed, right_failed or ev.state))
    ev.state = failed if failed is not None else succeeded.copy()
    out = ev.out
    right_failed = _branch(ev, node.right, False)
    ev.out = values.join(out, ev.out)
    after = ev.state
    ev.state = merge(succeeded, after)
    return _apart(ev, right_failed if right_failed is not None else after)


def _apart(ev: Evaluator, failed: State) -> State:
    """The state of failure as one of its own: what the state of success becomes must not change it."""
    return failed.copy() if failed is ev.state else failed


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
    channel = Channel("pipe")
    channel.feeds = True

    def body() -> None:
        ev.state.fds[0] = channel
        ev.node(node.body)

    compound(ev, node.redirects, node.span, lambda: ev.apart(body, "coproc"))
    ev.state.fds = {**ev.state.fds, _COPROC_READ: Channel("pipe"), _COPROC_WRITE: channel}
    numbers = {"0": Text((str(_COPROC_READ),)), "1": Text((str(_COPROC_WRITE),))}
    ev.state.assign(node.name, values.Array(numbers, False, values.unknown("coproc", "variable", node.name)))


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
        if any(p.text is not None and not patterns.feasible(p.text, v) for p in found for v in word.values):
            found = [Text((), "pattern on a long value")]
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
        if terminator == ";;" and ((hit and sure) or any(pattern.text == "*" for pattern in found)):
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
