"""Redirections: the descriptors behind them, and the files that they open or write through."""

from __future__ import annotations

from ..model.effect import Span
from . import values
from .invocation import Field, Known, Stream
from .state import Channel
from .syntax import ProcessSub, Redirect, Word
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

_NUMBERED = {"/dev/stdin": "0", "/dev/stdout": "1", "/dev/stderr": "2"}
_INPUT = frozenset({"<", "<>", "<<", "<<-", "<<<", "<&"})


def apply_redirects(ev: Evaluator, redirects: tuple[Redirect, ...]) -> tuple[dict[int, Channel], tuple[Stream, ...]]:
    """The descriptors after these redirections, and the files that they open or write through."""
    fds = dict(ev.state.fds)
    streams: list[Stream] = []
    for node in redirects:
        span = ev.span(node.span)
        op = node.op
        fd = node.fd if node.fd is not None else 0 if op in _INPUT else 1
        if node.var:
            fd = 10
            while fd in fds:
                fd += 1
            ev.state.assign(node.var, Text((str(fd),)))
        if node.heredoc is not None:
            fds[fd] = Channel("text", text=ev.expander.single(node.heredoc.body), span=span)
            continue
        if op == "<<<":
            fds[fd] = Channel("text", text=values.concat(ev.expander.single(node.target), Text(("\n",))), span=span)
            continue
        assert node.target is not None
        parts = node.target.parts
        if len(parts) == 1 and isinstance(parts[0], ProcessSub):
            fds[fd] = _process_channel(ev, parts[0])
            continue
        field = _target(ev, node.target)
        name = field.text
        if op in ("<&", ">&"):
            if name is not None and _duplicate(fds, fd, name, span, streams):
                continue
            op = "&>" if op == ">&" else "<"
        if name is not None:
            name = _NUMBERED.get(name) or (name.removeprefix("/dev/fd/") if name.startswith("/dev/fd/") else name)
            if name.isdigit() and int(name) in fds and field.text != name:
                fds[fd] = fds[int(name)]
                continue
        channel = Channel("null" if field.text == "/dev/null" else "file", op=op, field=field, span=span)
        fds[fd] = channel
        if op in ("&>", "&>>"):
            fds[2] = channel
        streams.append(Stream(op, fd, field, span))
    return fds, tuple(streams)


def _target(ev: Evaluator, word: Word) -> Field:
    fields = ev.expander.fields(word)
    if len(fields) == 1:
        return fields[0]
    span = ev.span(word.span)
    if not fields:
        return Field(Known.STATIC, ("",), span=span)
    return Field(Known.DYNAMIC, reason="the redirection names several files", span=span)


def _process_channel(ev: Evaluator, part: ProcessSub) -> Channel:
    text = ev.expander._value(part)
    if part.direction == ">":
        return ev.pending[-1][0] if ev.pending else Channel("pipe")
    producers = text.origins[0].producers if text.origins else ()  # `<()` runs nothing
    channel = Channel("pipe", text=certain_text(ev.process_texts.get(producers)))
    channel.producers = producers
    return channel


def certain_text(text: Text | None) -> Text | None:
    """The text when all of it is known."""
    return text if text is not None and text.known and not text.glob else None


def _duplicate(fds: dict[int, Channel], fd: int, name: str, span: Span, streams: list[Stream]) -> bool:
    """`n>&m`, `n>&m-`, `n>&-`; False when the word is a file name."""
    if name == "-":
        fds[fd] = Channel("closed")
        return True
    number = name.removesuffix("-")
    if not number.isdigit():
        return False
    source = fds.get(int(number)) or Channel("inherit")
    fds[fd] = source
    if number != name:
        fds[int(number)] = Channel("closed")
    if source.kind == "file" and source.field is not None and fd != int(number) and int(number) > 2:
        streams.append(Stream(source.op, fd, source.field, span))
    return True
