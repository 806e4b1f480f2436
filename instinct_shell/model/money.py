"""Micro-dollars as people write them. Money is an integer everywhere; these two functions are the only way in and out."""

from __future__ import annotations

from ..errors import UsageError

MICROS = 1_000_000
LARGEST = 2**53


def dollars(micros: int) -> str:
    """`$10.00`, `$0.000001`, `-$2.50`: never rounded, at least two decimals."""
    sign = "-" if micros < 0 else ""
    whole, rest = divmod(abs(micros), MICROS)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{sign}${whole}.{decimals}"


def parse_dollars(text: str) -> int:
    """Micro-dollars of `10`, `$10.50` or `0.000001`. Raises UsageError for anything else, also for what a micro-dollar cannot hold."""
    plain = text.strip().removeprefix("$").replace("_", "")
    whole, _, decimals = plain.partition(".")
    if not (whole + decimals).isascii() or not (whole + decimals).isdigit() or len(decimals) > 6 or len(whole) > 10:
        raise UsageError(f"`{text}` is not an amount of dollars", hint="write it like 10, 0.25 or $3.999999 (at most six decimals)")
    return int(whole or "0") * MICROS + int(decimals.ljust(6, "0"))
