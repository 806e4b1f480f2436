"""What a run has measured: shown at once, kept for the page."""

from __future__ import annotations

from typing import NamedTuple

from bench.rows import Row


class Seen(NamedTuple):
    """One figure. value: None when it could not be had; the note then says why."""

    value: float | None
    note: str


class Table:
    """The rows of one run; knows which promises were missed."""

    def __init__(self) -> None:
        self.seen: dict[Row, Seen] = {}

    def row(self, row: Row, value: float, note: str = "") -> None:
        """One figure."""
        self._show(row, Seen(value, note))

    def skip(self, row: Row, why: str) -> None:
        """One figure that cannot be had here, and why, in one line."""
        self._show(row, Seen(None, f"skipped: {why}"))

    def _show(self, row: Row, seen: Seen) -> None:
        self.seen[row] = seen
        shown = "" if row.promise is None else f"<= {row.promise:g}"
        value, unit = ("", "") if seen.value is None else (f"{seen.value:.2f}", row.unit)
        print(f"{row.what:<46} {value:>9} {unit:<3} {shown:>8}  {state(row, seen):<7} {seen.note}".rstrip(), flush=True)

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept."""
        return [row.what for row, seen in self.seen.items() if state(row, seen) == "MISSED"]


def state(row: Row, seen: Seen) -> str:
    """`ok`, `MISSED`, or `-` where nothing is promised or nothing was measured."""
    if row.promise is None or seen.value is None:
        return "-"
    return "ok" if seen.value <= row.promise else "MISSED"
