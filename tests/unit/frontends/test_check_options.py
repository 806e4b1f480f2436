"""The hand-written reading of `instinct check` agrees with click's, and leaves to click what it does not know."""

from __future__ import annotations

import pytest

from instinct_shell.frontends.cli import check
from instinct_shell.frontends.cli.check import CheckOptions, options_from

USUAL = {
    "text": ["-c", "git status"],
    "file": ["x.sh"],
    "batch": ["--batch"],
    "all options": [
        "--profile",
        "prod",
        "--workspace",
        "/w",
        "--cwd=/w/a",
        "--session",
        "s",
        "--env",
        "A=1",
        "--env=B=2=3",
        "--json",
        "-c",
        "x",
    ],
    "option after": ["-c", "x", "--json"],
    "text that looks like an option": ["-c", "--help"],
    "empty text": ["-c", ""],
}
UNUSUAL = {
    "help": ["--help"],
    "nothing": [],
    "unknown": ["--jsno", "-c", "x"],
    "two inputs": ["-c", "x", "file"],
    "text and batch": ["-c", "x", "--batch"],
    "value missing": ["--profile"],
    "two files": ["a", "b"],
}


@pytest.mark.parametrize("arguments", USUAL.values(), ids=USUAL.keys())
def test_both_ways_read_the_same(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CheckOptions] = []
    monkeypatch.setattr(check, "run", lambda options: seen.append(options) or 0)
    by_hand = options_from(arguments)
    check.command().main(arguments, standalone_mode=False)
    assert by_hand is not None
    assert [by_hand] == seen


@pytest.mark.parametrize("arguments", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_leaves_the_unusual_to_click(arguments: list[str]) -> None:
    assert options_from(arguments) is None
