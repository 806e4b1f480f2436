"""Invocations in the making, and what they read: pipes and substitutions fill in their ends while the text is evaluated."""

from __future__ import annotations

from ..model.effect import Span
from . import values
from .invocation import Field, Invocation, Known, Stdin, Stream
from .state import Channel
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


class Record:
    """An invocation in the making: pipes and substitutions fill in their ends later."""

    __slots__ = (
        "assignments", "captured", "certain", "context", "cwd", "defined", "env", "fds", "output", "readers", "span", "stderr", "stdin", "stdout",
        "streams", "words",
    )  # fmt: skip

    def __init__(self, ev: Evaluator, words: tuple[Field, ...], assignments: tuple[tuple[str, Field], ...], span: Span) -> None:
        self.words = words
        self.assignments = assignments
        self.span = span
        self.cwd = ev.cwd_field()
        self.env = ev.env_fields()
        self.certain = ev.certain and not ev.state.dead
        self.context = ev.context
        self.defined = ev.defined
        self.captured = ev.captured
        self.stdin: Channel = ev.state.fds[0]
        self.stdout: Channel = ev.state.fds[1]
        self.stderr: Channel | None = ev.state.fds.get(2)
        self.streams: tuple[Stream, ...] = ()
        self.fds: tuple[tuple[int, Channel], ...] = ()
        self.readers: list[int] = []
        self.output: Text | None = None


def built(made: Record, count: int) -> Invocation:
    """The invocation as those outside see it; count: of all of them, beyond which no origin may point."""
    output = made.output
    return Invocation(
        tuple(_sound(field, count) for field in made.words),
        _sound(made.cwd, count),
        made.span,
        tuple((name, _sound(field, count)) for name, field in made.assignments),
        tuple((name, _sound(field, count)) for name, field in made.env),
        stdin_of(made.stdin, count),
        tuple(each.replace(target=_sound(each.target, count)) for each in made.streams),
        made.certain,
        made.captured,
        tuple(dict.fromkeys(made.readers)),
        made.context,
        made.defined,
        tuple((fd, stdin_of(channel, count)) for fd, channel in made.fds),
        values.to_field(output, made.span) if output is not None and output.known else None,
    )


def _sound(field: Field, count: int) -> Field:
    """The field without producers that a loop's last pass did not have any more."""
    if all(number < count for origin in field.origins for number in origin.producers):
        return field
    origins = tuple(origin.replace(producers=_within(origin.producers, count)) for origin in field.origins)
    return field.replace(origins=origins)


def _within(producers: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(number for number in producers if number < count) if producers and max(producers) >= count else producers


def first_stdin(given: Stdin | None) -> Channel:
    """The channel that a text starts with."""
    if given is None:
        return Channel("inherit")
    channel = Channel(given.kind, field=given.field, text=values.from_field(given.field) if given.kind == "text" and given.field else None)
    channel.producers, channel.outer = given.producers, given.outer
    return channel


def stdin_of(channel: Channel, count: int) -> Stdin:
    """What a command reads, told to those outside."""
    producers = _within(channel.producers, count)
    if channel.kind == "sink":
        return Stdin("inherit")
    text = channel.text
    if text is not None and text.known and not text.glob:
        return Stdin("text", values.to_field(text), producers)
    if channel.kind == "text":
        return Stdin("text", values.to_field(text) if text is not None else Field(Known.DYNAMIC, reason="unknown text"), producers)
    return Stdin(channel.kind, channel.field, producers, channel.outer)
