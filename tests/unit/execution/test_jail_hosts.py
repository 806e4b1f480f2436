"""The table of hosts: every reach has its row, and every row but the best says how to get further."""

from __future__ import annotations

from pathlib import Path

import pytest

from instinct_shell.execution.jail.hosts import BEST, FEATURES, KINDS, kind_of, table
from instinct_shell.execution.jail.probe import Reach
from instinct_shell.model.jailspec import JailLevel

REACHES = [
    (Reach(JailLevel.FULL, 7), 0),
    (Reach(JailLevel.FULL, 3), 1),
    (Reach(JailLevel.FULL, 7, "x", "y", "bubblewrap"), 2),
    (Reach(JailLevel.PARTIAL, 7, "x", "y", "landlock"), 3),
    (Reach(JailLevel.PARTIAL, 0), 4),
    (Reach(JailLevel.NONE, 0, "x", "y", "none"), 5),
]


@pytest.mark.parametrize(("reach", "row"), REACHES)
def test_every_reach_has_its_row(reach: Reach, row: int) -> None:
    assert kind_of(reach) is KINDS[row]
    assert kind_of(reach).maker == reach.maker
    assert kind_of(reach).level == reach.level


def test_the_table_is_whole() -> None:
    assert all(len(kind.features) == len(FEATURES) for kind in KINDS)
    assert [kind for kind in KINDS if not kind.advice] == [BEST]
    assert len(table().splitlines()) == len(FEATURES) + 5


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/jail.md"])
def test_the_pages_show_it(page: str) -> None:
    assert table() in (Path(__file__).resolve().parents[3] / page).read_text(encoding="utf-8")
