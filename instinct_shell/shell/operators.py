"""Operators of parameter expansion on one value: `#` `%` `/` `^` `:` `@`, with patterns, also on half-known text and on names from a glob."""

from __future__ import annotations

import re

from . import patterns, values
from .calculate import arithmetic
from .syntax import Param
from .values import Text
from .wider import either_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

_CUT_STEPS = 8_000_000
_SUBJECT = 2_048  # characters that a pattern is matched against; above, the result is unknown


def operate(ev: Evaluator, part: Param, text: Text) -> Text:
    """The operator of the expansion on one value."""
    op = part.op
    if op == "":
        return text
    if op.startswith("@"):
        return _at_operator(ev, op, text, part)
    if op == ":":
        return _substring(ev, part, text)
    pattern = ev.expander.pattern(part.argument)
    if op in ("/", "//", "/#", "/%"):
        replacement = ev.expander.replacement(part.second)
        if pattern.text is None or replacement.text is None:
            return Text((), pattern.reason or replacement.reason or "replacement", pattern.origins + replacement.origins)
        changed = _matched(text, pattern.text, _replacer(op, pattern.text, replacement.text), searched=True)
        if "nocasematch" in ev.state.options:
            wide = either_case(pattern.text)
            changed = values.join(changed, _matched(text, wide, _replacer(op, wide, replacement.text), searched=True))
        if "&" in replacement.text and "no_patsub_replacement" in ev.state.options:
            plain = re.sub(r"\\([&\\])", r"\1", replacement.text).replace("\\", "\\\\").replace("&", "\\&")
            changed = values.join(changed, _matched(text, pattern.text, _replacer(op, pattern.text, plain), searched=True))
        return values.join(Text(("",), unset=text.unset), changed) if text.unset else changed  # of what is unset nothing is made
    if pattern.text is None:
        return Text((), pattern.reason or "pattern", text.origins + pattern.origins)
    if op in ("#", "##", "%", "%%"):
        if not text.known:
            return _cut_unknown(text, op, pattern.text)
        if text.glob:
            return _cut_glob(text, op, pattern.text)
        if any(len(value) ** 2 * (len(pattern.text) + 1) > _CUT_STEPS for value in text.values):
            return values.unknown("pattern on a long value", "opaque")
        return _matched(text, pattern.text, _remover(op, pattern.text))
    if op in ("^", "^^", ",", ",,"):
        changed = _matched(text, pattern.text, _caser(op, pattern.text, str.isascii))
        if all(value.isascii() for value in text.values):
            return changed
        return values.join(changed, _matched(text, pattern.text, _caser(op, pattern.text, lambda _: True)))  # the locale decides
    return values.unknown(f"`{op}` is not modelled", "opaque")


def _matched(text: Text, pattern: str, change: Callable[[str], str], searched: bool = False) -> Text:
    if any(len(v) > _SUBJECT or not patterns.feasible(pattern, v, searched) for v in text.values):
        return values.unknown("pattern on a long value", "opaque")
    return values.transform(text, change)


def _remover(op: str, pattern: str) -> Callable[[str], str]:
    def change(value: str) -> str:
        size = len(value)
        ends = range(size + 1) if op in ("#", "%%") else range(size, -1, -1)
        for end in ends:
            piece = value[:end] if op[0] == "#" else value[end:]
            if patterns.matches(pattern, piece):
                return value[end:] if op[0] == "#" else value[:end]
        return value

    return change


def _cut_unknown(text: Text, op: str, pattern: str) -> Text:
    """Half-known text keeps the end that the operator does not touch."""
    if op[0] == "#":
        return Text((), text.reason, text.origins, "", text.suffix, unset=text.unset)
    suffix = ""
    prefix = text.prefix
    if op == "%%" or "*" in pattern:
        head = _remover(op, pattern)(text.prefix + "\0")
        prefix = head if len(head) < len(prefix) else prefix
    return Text((), text.reason, text.origins, prefix, suffix, unset=text.unset)


def _cut_glob(text: Text, op: str, pattern: str) -> Text:
    """A pattern of names: cut at a slash or at a literal end, which the names share."""
    out = []
    for value in text.values:
        if pattern == "*/" and op in ("#", "##") and "/" in value:
            out.append(value.split("/", 1)[1] if op == "#" else value.rsplit("/", 1)[1])
        elif pattern == "/*" and op in ("%", "%%") and "/" in value:
            out.append(value.rsplit("/", 1)[0] if op == "%" else value.split("/", 1)[0])
        elif op[0] == "%" and "*" not in pattern and value.endswith(pattern):
            out.append(value.removesuffix(pattern))
        elif op[0] == "#" and "*" not in pattern and value.startswith(pattern):
            out.append(value.removeprefix(pattern))
        else:
            return Text((), "part of a file name", text.origins, unset=text.unset)
    return values.one_of(out, glob=True)


def _replacer(op: str, pattern: str, replacement: str) -> Callable[[str], str]:
    source = patterns.compiled(pattern).pattern

    def put(found: re.Match[str]) -> str:
        if op == "//" and found.string and found.start() == len(found.string):
            return ""  # bash looks for no match behind the end
        return re.sub(r"\\(.)|&", lambda m: (m[1] if m[1] in "&\\" else m[0]) if m[1] else found[0], replacement, flags=re.DOTALL)

    def change(value: str) -> str:
        if not pattern and op in ("/", "//"):
            return value
        expression = {"/#": rf"\A(?:{source})", "/%": rf"(?:{source})\Z"}.get(op, source)
        return re.sub(expression, put, value, count=0 if op == "//" else 1, flags=re.DOTALL)

    return change


def _caser(op: str, pattern: str, may: Callable[[str], bool]) -> Callable[[str], str]:
    upper = op[0] == "^"

    def one(char: str) -> str:
        if not may(char):
            return char
        if pattern and not patterns.matches(pattern, char):
            return char
        return char.upper() if upper else char.lower()

    def change(value: str) -> str:
        return "".join(map(one, value)) if len(op) == 2 else one(value[:1]) + value[1:] if value else value

    return change


def _substring(ev: Evaluator, part: Param, text: Text) -> Text:
    offset = ev.expander.single(part.argument).text if part.argument is not None else "0"
    length = ev.expander.single(part.second).text if part.second is not None else None
    if offset is None or (part.second is not None and length is None):
        return values.unknown("part of a value", "arithmetic")
    first = arithmetic(ev, offset, (), part.span).text
    last = arithmetic(ev, length, (), part.span).text if length is not None else None
    if first is None or (length is not None and last is None) or not text.known:
        return Text((), text.reason or "part of a value", text.origins)

    def change(value: str) -> str:
        start = int(first)
        if start < 0:
            start += len(value)
            if start < 0:
                return ""
        if last is None:
            return value[start:]
        count = int(last)
        return value[start : start + count] if count >= 0 else value[start : len(value) + count]

    return values.transform(text, change)


def _at_operator(ev: Evaluator, op: str, text: Text, part: Param) -> Text:
    kind = op[1:]
    if kind == "U":
        return values.transform(text, str.upper)
    if kind == "L":
        return values.transform(text, str.lower)
    if kind == "u":
        return values.transform(text, lambda v: v[:1].upper() + v[1:])
    if kind == "Q":
        if any(not (v.isprintable() and v.isascii()) for v in text.values):
            return values.unknown("a quoted value with characters that bash may escape", "opaque")
        quoted = values.transform(text, lambda v: "'" + v.replace("'", "'\\''") + "'")
        return (
            values.join(Text(("",), unset=text.unset), quoted) if text.unset else quoted
        )  # of what is unset nothing is left, not even quotes
    if kind == "E":
        from .escapes import decode_ansi

        return values.transform(text, decode_ansi)
    if kind == "P":
        if not text.known:
            ev.opaque(part.span, f"`${{{part.name}@P}}` runs what the value holds", part.name)
            return values.unknown("prompt expansion", "opaque")
        if not any(c in v for v in text.values for c in "$`\\"):
            return text
        for value in text.values:
            ev.check_hidden(value, part.span, f"${{{part.name}@P}}", subscript=True)
        return values.unknown("prompt expansion", "opaque")
    return values.unknown(f"`@{kind}` is not modelled", "opaque")
