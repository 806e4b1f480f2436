"""The public lines that were judged by hand keep the verdict that was judged, and nearly all of what is stopped is stopped rightly."""

from __future__ import annotations

import collections

import pytest
import review


@pytest.mark.usefixtures("own_mounts")
def test_no_judged_verdict_changes() -> None:
    assert review.changed() == [], "look at each: is the new verdict right? then write it and its label into tests/cases/false_alarms.tsv"


def test_the_labels() -> None:
    rows = review.rows()
    stopped = [row for row in rows if row["side"] == "stopped" and row["verdict"] != "allow"]
    assert {row["label"] for row in rows} == {"justified", "unjustified"}
    assert all(row["why"] for row in rows)
    assert len({row["id"] for row in rows}) == len(rows) == 600
    counted = collections.Counter(row["label"] for row in stopped)
    assert counted["justified"] >= 0.95 * len(stopped)
