"""Text that the shell itself reads again: eval, source, trap, and what builtins run."""

from __future__ import annotations

from ..model.effect import Span
from . import frames, simple, traps, values
from .call import Call
from .invocation import Field
from .state import State, merge
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def _joined(arguments: tuple[Field, ...]) -> Text:
    out = values.EMPTY
    for number, field in enumerate(arguments):
        if number:
            out = values.concat(out, Text((" ",)))
        text = values.from_field(field)
        if text.glob:
            text = Text(text.values)  # the pattern is active again when the shell reads the text
        out = values.concat(out, text)
    return out


def run_text(ev: Evaluator, field: Field, span: Span, what: str, added: int) -> None:
    """Text that a builtin runs with `added` words of its own behind it (`RANDOM` stands for a word that is not known)."""
    text = values.from_field(field)
    if not text.known:
        ev.opaque(span, f"text of `{what}` is not known", "")
        return
    for value in text.values:
        ev.uncertain(lambda value=value: ev.nested(value + ' "$RANDOM"' * added, span), "branch")  # type: ignore[misc]


def evaluate_words(ev: Evaluator, call: Call) -> State | None:
    """`eval`: its words joined are read again; when they are not known the invocation stays for the effects to judge."""
    text = _joined(call.args)
    if not text.known or len(text.values) > 8 or len(ev.calls) + ev.depth > 60:
        index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
        simple.finish(ev, index, call.words)
        return None
    if call.streams:
        simple.record(ev, (), (), call.fds, call.streams, call.span)
    held, ev.state.fds = ev.state.fds, call.fds
    failed: State | None = None
    if len(text.values) == 1:
        failed = ev.nested(text.values[0], call.span)
    else:
        before = ev.state
        after: State | None = None
        for value in text.values:
            ev.state = before.copy()
            ev.uncertain(lambda value=value: ev.nested(value, call.span), "branch")  # type: ignore[misc]
            after = ev.state if after is None else merge(after, ev.state)
        ev.state = after or before
    ev.state.fds = held
    if failed is not None:
        failed.fds = held
    return failed


def source(ev: Evaluator, call: Call) -> State | None:
    """`source`: of known text (a process substitution, stdin with known text) it is read here; a file is left to the effects."""
    field = call.args[0] if call.args else None
    text: Text | None = None
    if field is not None:
        for origin in field.origins:
            if origin.kind == "process":
                text = ev.process_texts.get(origin.producers)
        if field.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            channel = call.fds.get(0)
            text = channel.text if channel is not None else None
    call.record(ev, None)
    if text is not None and text.known and not text.glob and len(text.values) <= 8:
        state, own = ev.state, call.args[1:]
        before = state.positional, state.open_positional
        if own:
            state.positional, state.open_positional = frames.arguments(own)
        given = state.positional
        for value in text.values:
            ev.nested(value, call.span)
        if own and ev.state.positional is given:  # else it has set its own, and they stay
            ev.state.positional, ev.state.open_positional = before
    return None


def trap(ev: Evaluator, call: Call) -> State | None:
    words = [f for f in call.args if f.text != "--"]
    call.record(ev, None if not words or words[0].text in ("-l", "-p") else values.EMPTY)
    if len(words) < 2 or words[0].text in ("-", "", "-l", "-p"):
        return None
    text = values.from_field(words[0])
    if not text.known or text.glob:
        ev.note("trap-dynamic", text.reason, call.span)
        return None
    signals = [f.text or "EXIT" for f in words[1:]]
    ev.state.traps += tuple(traps.made(value, ev.span(call.span), signals) for value in text.values)
    ev.state.version += 1
    return None
