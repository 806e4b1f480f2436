"""Functions, their calls, and what leaves a loop or a call early."""

from __future__ import annotations

from ..model.effect import Span
from . import simple, values
from .invocation import Field, Stream
from .parameters import OPEN
from .state import Channel, State, merge
from .syntax import Function, Node
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

MAX_CALLS = 24  # nested calls
MAX_SAME = 3  # nested calls of one function


class Frame:
    """A running loop or call: the states in which it is left early."""

    __slots__ = ("breaks", "continues", "given", "loop")

    def __init__(self, loop: bool, given: tuple[str, ...] = ()) -> None:
        self.loop = loop
        self.given = given  # names of the assignments in front of the call
        self.breaks: list[State] = []
        self.continues: list[State] = []


def leave(ev: Evaluator, name: str, level: int) -> bool:
    """break, continue and return: the state goes to the frame that is left. False when there is none: bash complains and goes on."""
    if name == "return":
        for frame in reversed(ev.frames):
            if not frame.loop:
                frame.breaks.append(ev.state.copy())
                return True
        return False
    loops = []
    for frame in reversed(ev.frames):
        if not frame.loop:
            break
        loops.append(frame)
    if loops:
        frame = loops[min(max(level, 1), len(loops)) - 1]
        left = ev.state.copy()
        left.last = None  # `break` itself, or its number
        (frame.breaks if name == "break" else frame.continues).append(left)
    return bool(loops)


def run_function(ev: Evaluator, node: Node) -> None:
    """A definition; the body runs where it is called."""
    assert isinstance(node, Function)
    ev.function_names[node.name] = None
    ev.state.functions[node.name] = ((node.body,), True)
    ev.bodies[id(node.body)] = (node.name, node.body, ev.nested_span)
    ev.state.version += 1
    if node.name == "command_not_found_handle":
        ev.note("not-found-handle", node.name, node.span)


def call(
    ev: Evaluator,
    name: str,
    body: Node,
    fields: tuple[Field, ...],
    fds: dict[int, Channel],
    streams: tuple[Stream, ...],
    span: Span,
    given: tuple[str, ...] = (),
) -> State | None:
    """A call of a function that this text defines: its body with the arguments in place."""
    ev.called.add(id(body))
    from . import recursion  # texts without functions never need it

    depth = ev.calls.count(name)
    if depth >= MAX_SAME:  # the pass before this one stands for all further ones
        fork = "background" in ev.context or "pipeline" in ev.context
        ev.note("fork-bomb" if fork else "recursion", name, span)
        return None
    if len(ev.calls) >= MAX_CALLS:
        ev.opaque(span, f"functions that call each other more than {MAX_CALLS} deep", name)
        return None
    if streams:
        simple.record(ev, (), (), fds, streams, span)
    state = ev.state
    held = state.positional, state.open_positional, state.fds
    references = state.references
    state.positional, state.open_positional = arguments(fields[1:])
    state.fds = fds
    state.locals = (*state.locals, {})
    repeated = depth == MAX_SAME - 1
    if repeated:
        recursion.widen(state, next(entry for entry in reversed(ev.entries) if entry.name == name))
    ev.entries.append(recursion.Entry(name, state))
    ev.calls.append(name)
    frame = Frame(False, given)
    ev.frames.append(frame)
    context = ev.context
    ev.context = (*context, "function")
    nested = ev.nested_span
    try:
        failed = ev.node(body)
    finally:
        entry = ev.entries.pop()
        ev.calls.pop()
        ev.context = context
        ev.nested_span = nested
        ev.frames.pop()
    for left in frame.breaks:
        ev.state = merge(ev.state, left)
    for after in (ev.state, failed):
        if after is not None and repeated:
            recursion.forget_changes(after, entry)
        if after is not None and after.locals:
            for variable, hidden in after.locals[-1].items():
                after.restore(variable, hidden)
            after.locals = after.locals[:-1]
            after.references = references
            after.positional, after.open_positional, after.fds = held
    return failed


def arguments(fields: tuple[Field, ...]) -> tuple[tuple[Text, ...], bool]:
    """Fields as positional parameters, and whether their number is unknown."""
    known: list[Text] = []
    for field in fields:
        if field.many and not field.glob:
            text = values.word_of(field)
            if not text.known or "" in text.values:  # it may be no argument at all
                text = Text((), f"{OPEN} arguments ({text.reason})", text.origins, text.prefix, text.suffix, no_number=text.no_number)
            return (*known, text), True
        known.append(values.from_field(field))
    return tuple(known), False


def run_uncalled(ev: Evaluator) -> None:
    """Bodies of functions that this text defines and never calls: what they would do, marked as such."""
    for _ in range(3):
        waiting = [entry for key, entry in ev.bodies.items() if key not in ev.called]
        if not waiting:
            return
        for name, body, span in waiting:
            ev.called.add(id(body))
            ev.defined = name != "command_not_found_handle"
            ev.state = ev.state.copy()
            ev.state.dead = False
            ev.state.positional, ev.state.open_positional = (), True
            ev.frames.append(Frame(False))
            held, ev.nested_span = ev.nested_span, span
            ev.calls.append(name)
            try:
                ev.uncertain(lambda body=body: ev.apart(lambda: ev.node(body)), "function")  # type: ignore[misc]
            finally:
                ev.calls.pop()
                ev.frames.pop()
                ev.nested_span = held
                ev.defined = False
