"""Literal data that code unpacks before it runs it: base64, hex, rot13, zlib. Decoding a literal is reading, not running."""

from __future__ import annotations

from .python_values import from_bytes, to_bytes

MOST = 1 << 20  # bytes that one decoding may yield


def decode(how: str, text: str) -> str | None:
    """The decoded text, or None when the literal is not of this coding. how: base64 | b32 | b16 | b85 | a85 | hex | rot13 | zlib | gzip | url | html."""
    import base64
    import binascii
    import zlib

    data = to_bytes(text)
    try:
        if how in ("base64", "urlsafe"):
            clean = data.translate(None, b"\r\n\t ") if how == "base64" else data.replace(b"-", b"+").replace(b"_", b"/")
            return from_bytes(base64.b64decode(clean + b"=" * (-len(clean) % 4)))
        if how == "b32":
            return from_bytes(base64.b32decode(data, casefold=True))
        if how in ("hex", "b16"):
            return from_bytes(binascii.unhexlify(data.translate(None, b" \n\t:")))
        if how == "b85":
            return from_bytes(base64.b85decode(data))
        if how == "a85":
            return from_bytes(base64.a85decode(data))
        if how == "rot13":
            return rot13(text)
        if how in ("zlib", "gzip"):
            return from_bytes(zlib.decompressobj(47).decompress(data, MOST))
        if how == "url":
            return unquote(text)
    except (ValueError, zlib.error, UnicodeError):
        return None
    return None


def rot13(text: str) -> str:
    """Each letter thirteen places on."""
    return "".join(
        chr((ord(c) - base + 13) % 26 + base) if (base := 97 if "a" <= c <= "z" else 65 if "A" <= c <= "Z" else 0) else c for c in text
    )


def unquote(text: str) -> str:
    """`%41` as `A`."""
    import re

    return from_bytes(re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes((int(m[1], 16),)), to_bytes(text)))
