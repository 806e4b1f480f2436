"""What `printf` writes: its format on known arguments."""

from __future__ import annotations

import re

from . import values
from .escapes import decode_ansi, quoted_for_reuse
from .invocation import Field
from .values import Text


def part(field: Field) -> Text:
    """One word of the output."""
    if field.glob:
        return values.unknown("names that match a pattern", "glob", field.values[0])
    return values.from_field(field)


def echo_escapes(text: str) -> str:
    """Backslashes as `echo -e` and `%b` read them."""
    text = text.split("\\c", maxsplit=1)[0]
    return decode_ansi(re.sub(r"\\0([0-7]{0,3})", lambda m: "\\" + (m[1] or "0"), text), nul=True)


def printf(fields: tuple[Field, ...]) -> Text | None:
    """What `printf format arguments` writes; None when the format is not known."""
    if fields and fields[0].text == "--":
        fields = fields[1:]
    if not fields or fields[0].text is None:
        return None
    form = fields[0].text
    arguments = [part(field) for field in fields[1:]]
    if any(f.many for f in fields[1:]):  # the format is used once more for each, and for none that is missing
        return Text((), "arguments of printf are not known", tuple(origin for text in arguments for origin in text.origins))
    out = values.EMPTY
    pieces = re.split(r"(%[-+ #0]*\d{0,4}(?:\.\d{1,4})?[a-zA-Z%])", form)
    for _ in range(64):
        used = False
        for number, piece in enumerate(pieces):
            if number % 2:
                letter = piece[-1]
                if letter == "%":
                    out = values.concat(out, Text(("%",)))
                    continue
                value = arguments.pop(0) if arguments else Text(("0" if letter in "dioxXu" else "",))
                used = True
                out = values.concat(out, _formatted(piece, letter, value))
            elif "%" in piece:
                return None  # a directive that is not modelled
            elif piece:
                out = values.concat(out, Text((decode_ansi(piece, nul=True),)))
        if not arguments or not used:
            break
    return out


def _formatted(piece: str, letter: str, value: Text) -> Text:
    unknown = values.unknown("printf", "opaque")
    if letter == "s":
        return value if piece == "%s" else values.transform(value, lambda v: piece % v)
    if letter == "b":
        return values.transform(value, echo_escapes)
    if letter == "c":
        return values.transform(value, lambda v: v[:1])
    if letter == "q":
        return values.transform(value, quoted_for_reuse) if piece == "%q" and all(v.isascii() and v.isprintable() for v in value.values) else unknown
    if letter in "dioxXu":
        return values.transform(value, lambda v: (piece[:-1] + ("d" if letter in "iu" else letter)) % _number(v))
    return unknown


def _number(text: str) -> int:
    """As bash reads it: what begins like a number counts as far as it goes, and what does not is 0."""
    if text[:1] in ("'", '"') and len(text) > 1:
        return ord(text[1])
    found = re.match(r"\s*([-+]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))", text, re.ASCII)
    if not found:
        return 0
    sign, sixteen, eight, ten = found.groups()
    number = int(sixteen, 16) if sixteen else int(eight, 8) if eight else int(ten)
    return -number if sign == "-" else number
