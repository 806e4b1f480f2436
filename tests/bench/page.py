"""The measured part of docs/performance.md, between two marks; the words around it are written by hand and stay."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime

from bench.rows import Row
from bench.table import Seen, Table, state

BEGIN = "<!-- written by bin/bench --write: measure again instead of editing -->"
END = "<!-- end of what bin/bench wrote -->"


def machine(rounds: int, *, quick: bool) -> str:
    """When and where a run begins, in one sentence; whether it was a look only."""
    kind = f"A quick look ({rounds} rounds), no measurement" if quick else f"One run ({rounds} rounds of processes)"
    return (
        f"{kind}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Linux {platform.release()}, Python {platform.python_version()}, "
        f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} when it began."
    )


def measured(table: Table, where: str) -> str:
    """All rows, those that missed and those that were skipped too. where: the sentence of `machine`."""
    lines = [BEGIN, where, "", "| measured | at most | seen | |", "|---|---|---|---|"]
    for row in Row:
        seen = table.seen.get(row, Seen(None, "not measured"))
        promise = "" if row.promise is None else _with_unit(f"{row.promise:g}", row)
        lines.append(f"| {_cell(row.what)} | {promise} | {_figure(row, seen)} | {_cell(seen.note)} |")
    return "\n".join([*lines, END]) + "\n"


def replaced(page: str, part: str) -> str:
    """The page with its measured part exchanged. Raises ValueError when its marks are gone."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END + "\n")
    if not begin or not end:
        raise ValueError(f"a page needs the lines `{BEGIN}` and `{END}`")
    return before + part + after


def _figure(row: Row, seen: Seen) -> str:
    if seen.value is None:
        return ""
    value = _with_unit(f"{round(seen.value, 2) + 0.0:g}", row)
    return f"**{value}, missed**" if state(row, seen) == "MISSED" else value


def _with_unit(value: str, row: Row) -> str:
    return f"{value} {row.unit}".rstrip()


def _cell(text: str) -> str:
    """Text for a cell. What a peer or its installer had to say may name addresses of this machine's registries, which are no matter of the page."""
    return re.sub(r"\b\w+://\S+", "(an address)", text).replace("|", "\\|")
