"""Escapes in shell text: backslashes outside and inside of double quotes, and `$'..'`."""

from __future__ import annotations

from ..model.effect import Span
from .syntax import Literal, Part

_ANSI = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OCTAL = "01234567"
_REUSED = frozenset(" !\"$&'()*,;<>?[\\]^`{|}")
_HEX = "0123456789abcdefABCDEF"


def unescape_unquoted(text: str, span: Span) -> list[Part]:
    """Unquoted source text as parts: a backslash quotes the next character, backslash-newline vanishes."""
    if "\\" not in text:
        return [Literal(span, text, False)]
    parts: list[Part] = []
    run = ""
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            if text[at + 1] != "\n":
                if run:
                    parts.append(Literal(span, run, False))
                    run = ""
                parts.append(Literal(span, text[at + 1], True))
            at += 2
            continue
        run += char
        at += 1
    if run or not parts:
        parts.append(Literal(span, run, False))
    return parts


def unescape_double(text: str, extra: str = '"') -> str:
    """The text of a double-quoted piece; `extra` names the characters that a backslash quotes besides `$`, backtick and backslash."""
    if "\\" not in text:
        return text
    out = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            following = text[at + 1]
            if following == "\n":
                at += 2
                continue
            if following in "$`\\" or following in extra:
                out.append(following)
                at += 2
                continue
        out.append(char)
        at += 1
    return "".join(out)


def decode_ansi(text: str, *, nul: bool = False) -> str:
    """The value of `$'text'`: C escapes decoded; a NUL ends it, as in bash. Bytes above 127 that are not UTF-8 come as surrogate escapes.

    nul: NULs stay, as printf and `echo -e` write them.
    """
    if "\\" not in text:
        return text
    out = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at >= len(text):
            out += char.encode("utf-8", "surrogateescape")
            continue
        escape = text[at]
        at += 1
        if escape in _ANSI:
            out += _ANSI[escape].encode()
        elif escape in _OCTAL:
            digits, at = _take(text, at - 1, _OCTAL, 3)
            out.append(int(digits, 8) & 0xFF)
        elif escape == "x":
            digits, at = _take(text, at, _HEX, 2)
            out += bytes((int(digits, 16),)) if digits else b"\\x"
        elif escape in "uU":
            digits, at = _take(text, at, _HEX, 4 if escape == "u" else 8)
            out += _code_point(digits) if digits else b"\\" + escape.encode()
        elif escape == "c" and at < len(text):
            out.append(0x7F if text[at] == "?" else ord(text[at].upper()) & 0x1F)
            at += 1
        elif escape in "\\'\"?":
            out += escape.encode()
        else:
            out += b"\\" + escape.encode("utf-8", "surrogateescape")
        if not nul and 0 in out:
            break
    return (bytes(out) if nul else bytes(out).split(b"\0", 1)[0]).decode("utf-8", "surrogateescape")


def _code_point(digits: str) -> bytes:
    number = int(digits, 16)
    return chr(number).encode("utf-8", "surrogatepass") if number <= 0x10FFFF else b""


def _take(text: str, at: int, alphabet: str, most: int) -> tuple[str, int]:
    end = at
    while end < len(text) and end - at < most and text[end] in alphabet:
        end += 1
    return text[at:end], end


def quoted_for_reuse(text: str) -> str:
    """What `printf %q` makes of printable text."""
    if not text:
        return "''"
    out = []
    for at, char in enumerate(text):
        special = char in _REUSED or (char == "#" and at == 0) or (char == "~" and (at == 0 or text[at - 1] in ":="))
        out.append("\\" + char if special else char)
    return "".join(out)
