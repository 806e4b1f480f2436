"""Each known way out of a jail (tests/cases/escapes.tsv) is held by something that a test runs, and its marks are those of what is run.

held_by: `hostile:ID` a program of hostile.toml, run at every level by test_jail_hostile.py; `test:PATH` another test file; `judge` the judgement, as no
kernel can tell; `part:NAME` another part's contract suite. A mark is what must be true (blocked, contained, documented), or `passes` where that
level does not hold it and docs/jail.md says so.
"""

from __future__ import annotations

import csv
import tomllib

import pytest
from jail_harness import TOP

LEVELS = ("full", "session", "bubblewrap", "partial")
TABLE = (TOP / "tests" / "cases" / "escapes.tsv").read_text(encoding="utf-8").splitlines()
ROWS = list(csv.DictReader(TABLE, delimiter="\t", quoting=csv.QUOTE_NONE))
PROGRAMS = {row["id"]: row for row in tomllib.loads((TOP / "tests" / "cases" / "hostile.toml").read_text(encoding="utf-8"))["program"]}


def _said(program: str, level: str) -> str:
    row = PROGRAMS[program]
    return str(row.get(level, "stopped" if level == "partial" else row.get("full", "stopped")))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_an_escape_is_held(row: dict[str, str]) -> None:
    assert row["must"] in {"blocked", "contained", "documented"}
    holders = row["held_by"].split()
    assert holders
    programs = [holder.removeprefix("hostile:") for holder in holders if holder.startswith("hostile:")]
    for holder in holders:
        kind, _, name = holder.partition(":")
        assert kind in {"hostile", "test", "judge", "part"}
        if kind == "hostile":
            assert name in PROGRAMS
        if kind == "test":
            assert (TOP / name).is_file()
    for level in LEVELS:
        passing = [program for program in programs if _said(program, level) == "passes"]
        if row[level] == "passes" or (row["must"] == "documented" and programs):
            assert passing, f"{level}: nothing passes, make the table say so"
            assert all(PROGRAMS[program].get("why") for program in passing), "a limit must be explained"
        else:
            assert row[level] == row["must"]
            assert not passing or row["must"] == "contained"


def test_at_full_nothing_that_must_be_blocked_passes() -> None:
    assert [row["id"] for row in ROWS if "passes" in (row["full"], row["session"], row["bubblewrap"])] == []
