"""Lists, branches, loops, functions and traps: which commands run, in what order, and with which state."""

from __future__ import annotations

from ..model.effect import Span
from . import patterns, simple, values
from .redirections import apply_redirects
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
from .wider import either_case

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
    fds, streams = apply_redirects(ev, redirects)
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
    """`entry` is where the next label is tried, `flow` what falls into the next arm behind a `;&`: each a state and the output so far."""
    word = ev.expander.single(node.word)
    entry: tuple[State, Text] | None = (ev.state, ev.out)
    flow: tuple[State, Text] | None = None
    after: tuple[State, Text] | None = None
    entry_sure, flow_sure = True, False
    for labels, body, terminator in node.items:
        found = [ev.expander.pattern(label) for label in labels] if entry is not None else []
        hit, missed, whole = _tried(ev, word, found)
        tried = entry if not missed else None
        if tried is None and flow is None:
            continue
        start = _either(flow, (tried[0].copy(), tried[1]) if tried is not None else None)
        assert start is not None
        held, context = ev.certain, ev.context
        sure = flow_sure if flow is not None else hit and entry_sure
        ev.state, ev.out = start
        ev.certain, ev.context = held and sure, (*context, "branch")
        failed = ev.script(body)
        if failed is not None:
            ev.state = merge(ev.state, failed)
        ev.certain, ev.context = held, context
        end = (ev.state, ev.out)
        if tried is not None:
            entry_sure = entry_sure and hit
            entry = None if whole else entry
        flow, flow_sure = (end, sure) if terminator == ";&" else (None, False)
        if terminator == ";;":
            after = _either(after, end)
        elif terminator == ";;&":
            entry = _either(entry, end)
    after = _either(_either(after, flow), entry)
    assert after is not None
    ev.state, ev.out = after


def _tried(ev: Evaluator, word: Text, labels: list[Text]) -> tuple[bool, bool, bool]:
    """Whether one of the labels surely matches, whether none of them can, and whether no other is looked at behind them."""
    if any(p.text is not None and not patterns.feasible(p.text, v) for p in labels for v in word.values):
        return False, False, False  # a pattern on a long value
    texts = [p.text for p in labels if p.text is not None]
    wide = [either_case(text) for text in texts] if "nocasematch" in ev.state.options else texts
    known = len(texts) == len(labels)
    hit = word.text is not None and any(patterns.matches(text, word.text) for text in texts)
    can = not known or not word.known or word.glob or any(patterns.matches(text, value) for text in wide for value in word.values)
    return hit, not hit and not can, hit or "*" in texts


def _either(first: tuple[State, Text] | None, second: tuple[State, Text] | None) -> tuple[State, Text] | None:
    if first is None or second is None:
        return first or second
    return merge(first[0], second[0]), values.join(first[1], second[1])
