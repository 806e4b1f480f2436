"""Trees and invocations as plain dicts and lists, for `instinct explain` and `--json`. Nothing is lost but what is empty."""

from __future__ import annotations

from ..model.effect import Span
from ..model.value import Value
from .invocation import Evaluation, Field, Invocation, Known
from .syntax import Parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def tree(parsed: Parsed) -> dict[str, Any]:
    """The parse result: parser, syntax error, and the nodes with their kind and span."""
    shown: dict[str, Any] = {"parser": parsed.parser, "script": _plain(parsed.script)}
    if parsed.syntax_error:
        shown["syntax_error"] = parsed.syntax_error
    if parsed.disagreement:
        shown["disagreement"] = True
    return shown


def invocations(evaluation: Evaluation) -> dict[str, Any]:
    """What would run: each invocation with its expanded words, then what could not be read and what must be judged apart."""
    return {
        "invocations": [invocation(one, number) for number, one in enumerate(evaluation.invocations)],
        "opaque": [{"reason": piece.reason, "text": piece.text, "span": _span(piece.span)} for piece in evaluation.opaque],
        "functions": list(evaluation.functions),
        "notes": [{"kind": kind, "detail": detail, "span": _span(span)} for kind, detail, span in evaluation.notes],
    }


def invocation(one: Invocation, number: int) -> dict[str, Any]:
    """One invocation; `index` is what readers and producers refer to."""
    shown: dict[str, Any] = {
        "index": number,
        "words": [field(word) for word in one.words],
        "cwd": field(one.cwd),
        "certain": one.certain,
        "span": _span(one.span),
    }
    if one.assignments:
        shown["assignments"] = {name: field(value) for name, value in one.assignments}
    if one.env:
        shown["env"] = {name: field(value) for name, value in one.env}
    if one.stdin.kind != "inherit":
        shown["stdin"] = {"kind": one.stdin.kind}
        if one.stdin.field is not None:
            shown["stdin"]["value"] = field(one.stdin.field)
        if one.stdin.producers:
            shown["stdin"]["from"] = list(one.stdin.producers)
    if one.streams:
        shown["streams"] = [{"op": stream.op, "fd": stream.fd, "target": field(stream.target)} for stream in one.streams]
    if one.readers:
        shown["readers"] = list(one.readers)
    if one.context:
        shown["context"] = list(one.context)
    if one.output is not None:
        shown["output"] = field(one.output)
    for flag in ("captured", "defined"):
        if getattr(one, flag):
            shown[flag] = True
    return shown


def field(word: Field) -> dict[str, Any]:
    """One word: its value or values, or what is known of it and why not more."""
    shown: dict[str, Any] = {"known": word.known.value}
    if word.known is Known.STATIC:
        shown["value"] = word.values[0]
    elif word.known is Known.SET:
        shown["values"] = list(word.values)
    else:
        shown["reason"] = word.reason
        if word.prefix:
            shown["prefix"] = word.prefix
        if word.suffix:
            shown["suffix"] = word.suffix
    if word.origins:
        shown["origins"] = [{"kind": o.kind, "detail": o.detail, "producers": list(o.producers)} for o in word.origins]
    if word.unset:
        shown["unset"] = list(word.unset)
    for flag in ("glob", "many"):
        if getattr(word, flag):
            shown[flag] = True
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Span):
        return _span(value)
    if isinstance(value, Value):
        shown: dict[str, Any] = {"node": type(value).__name__}
        for name in value._fields:
            found = getattr(value, name)
            if found not in (None, "", (), False) or name in ("text", "quoted"):
                shown[name] = _plain(found)
        return shown
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _span(span: Span) -> list[int]:
    return [span.start, span.end]
