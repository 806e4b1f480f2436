"""Traps: texts that run when the shell ends, when it is signalled, and, for DEBUG, ERR, RETURN and CHLD, between any two commands."""

from __future__ import annotations

import re

from ..model.effect import Span
from . import values
from .state import State, merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator
    from .state import Trap

MAX_RUNS = 8  # states that one such text runs in; then it runs with what has changed since the first unknown
MOST_RUNS = 24  # then with nothing known
_BETWEEN = frozenset({"DEBUG", "ERR", "RETURN", "CHLD"})
_ENDS = frozenset({"EXIT", "0"})


class Runs:
    """What is known of the traps that have run between commands so far."""

    __slots__ = ("blurred", "busy", "changes", "counts", "first", "seen", "signalled")

    def __init__(self) -> None:
        self.busy = False  # a trap does not interrupt a trap
        self.signalled = False  # the text sends signals
        self.seen: dict[Trap, tuple[object, ...]] = {}  # what it ran with last
        self.counts: dict[Trap, int] = {}
        self.first: dict[Trap, State] = {}  # what stood when it ran first
        self.blurred: dict[Trap, set[str]] = {}  # variables that were unknown in one of its runs
        self.changes: dict[str, None] = {}  # variables that they have changed


def made(text: str, span: Span, signals: list[str]) -> Trap:
    """A trap, as the state keeps it."""
    return text, span, frozenset(signal.upper().removeprefix("SIG") for signal in signals)


def between(ev: Evaluator) -> None:
    """Runs the traps that may run at this point, between two commands."""
    runs = ev.trapped
    if runs.busy or ev.state.dead:
        return
    inherited = set() if ev.state.options & {"errtrace", "functrace"} else set(map(id, ev.outer_traps))  # one set anew may be equal
    for trap in ev.state.traps:
        if id(trap) not in inherited and (not _BETWEEN.isdisjoint(trap[2]) or (runs.signalled and not trap[2] <= _ENDS)):
            _run_here(ev, trap)


def may_end(ev: Evaluator) -> None:
    """The shell may end here and may go on: under `set -e` when a command fails, under `set -u` when a variable is unset."""
    if ev.state.traps and not ev.trapped.busy and not ev.state.dead and "condition" not in ev.context:
        for trap in ev.state.traps:
            if trap not in ev.outer_traps and not _ENDS.isdisjoint(trap[2]):
                state = ev.state.copy()
                _run_here(ev, trap)
                ev.state = state


def signal(ev: Evaluator) -> None:
    """The text sends a signal: from here on traps for signals may run."""
    ev.trapped.signalled = True


def _run_here(ev: Evaluator, trap: Trap) -> None:
    runs, state = ev.trapped, ev.state
    if runs.seen.get(trap) == _seen(state):
        return
    count = runs.counts[trap] = runs.counts.get(trap, 0) + 1
    inner = state.copy()
    runs.first.setdefault(trap, inner.copy())
    if count > MAX_RUNS:
        ev.forget(tuple(name for name in runs.changes if name not in state.references), "changed by a trap")
        runs.seen[trap] = _seen(ev.state)
        first, blurred = runs.first[trap], runs.blurred.setdefault(trap, set())
        names = {name for name, value in state.variables.items() if value is not first.variables.get(name)}
        if count > MOST_RUNS:
            names |= {*state.variables, *re.findall(r"[A-Za-z_]\w*", trap[0])}
        if names <= blurred:
            return
        blurred |= names
        inner = _blurred(ev, first, blurred)
    held, ev.captured = ev.captured, False
    ev.state, runs.busy = inner, True
    before = dict(inner.variables)
    try:
        ev.uncertain(lambda: ev.nested(trap[0], trap[1]), "trap")
    finally:
        after, ev.state, runs.busy, ev.captured = ev.state, state, False, held
    runs.changes |= dict.fromkeys(name for name, value in after.variables.items() if value is not before.get(name))
    if count <= MAX_RUNS and after.version != state.version:
        ev.state = merge(state, after)
    runs.seen[trap] = _seen(ev.state)


def _seen(state: State) -> tuple[object, ...]:
    return state.version, state.last, state.positional


def _blurred(ev: Evaluator, first: State, names: set[str]) -> State:
    """The current state without what changes from run to run."""
    state = ev.state.copy()
    for name in sorted(names):
        if name not in state.references:
            state.assign(name, values.unknown("changes between the runs of a trap", "variable", name))
    if state.positional != first.positional:
        state.positional, state.open_positional = (), True
    if state.cwd is not first.cwd:
        state.cwd = values.unknown("the directory changes between the runs of a trap", "variable", "PWD")
    return state


def ends(ev: Evaluator) -> None:
    """The shell may end here: its traps run with what stands at this point."""
    if ev.state.traps != ev.outer_traps:
        run_all(ev, ev.outer_traps)


def run_all(ev: Evaluator, outer: tuple[Trap, ...]) -> None:
    """The trap texts set since `outer`, as they run when the shell ends or is signalled."""
    traps = [trap for trap in ev.state.traps if trap not in outer]
    ev.state.traps = outer
    for text, span, _ in traps:
        state = ev.state
        ev.state = state.copy()
        ev.state.dead = False
        ev.state.traps = ()
        held, ev.captured = ev.captured, False
        ev.uncertain(lambda text=text, span=span: ev.nested(text, span), "trap")  # type: ignore[misc]
        ev.captured = held
        ev.state = state
