"""One builtin call, and how it is written down."""

from __future__ import annotations

from ..model.effect import Span
from . import simple, values
from .invocation import Field, Stream
from .state import Channel
from .syntax import Assignment
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


class Call:
    """One builtin and what it was given. args: its fields without the name; words: all fields of the command."""

    __slots__ = ("args", "declared", "fds", "name", "span", "streams", "temporary", "words")

    def __init__(
        self,
        name: str,
        args: tuple[Field, ...],
        words: tuple[Field, ...],
        declared: tuple[Assignment, ...],
        fds: dict[int, Channel],
        streams: tuple[Stream, ...],
        temporary: tuple[tuple[str, Field], ...],
        span: Span,
    ) -> None:
        self.name = name
        self.args = args
        self.words = words
        self.declared = declared
        self.fds = fds
        self.streams = streams
        self.temporary = temporary
        self.span = span

    def record(self, ev: Evaluator, output: Text | None = values.EMPTY) -> int:
        """Writes the invocation down; `output` is what it prints, None when unknown."""
        pairs = self.temporary
        index = simple.record(ev, self.words, pairs, self.fds, self.streams, self.span)
        made = ev.records[index]
        if simple.complains_into_value(ev, made):
            output = None
        made.output = output
        if made.stdout is ev.sink and (output is None or output.values != ("",)):
            ev.emit(index, output)
        return index
