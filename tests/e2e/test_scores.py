"""The labelled cases: no side falls below its recorded floor. `bin/score --misses` shows which cases are missed."""

from __future__ import annotations

import re

import pytest
import quality
import score

PAGE = score.TOP / "docs" / "quality.md"


@pytest.mark.usefixtures("own_mounts")
@pytest.mark.parametrize("name", sorted(score.floors()))
def test_no_side_falls(name: str) -> None:
    found = score.judged(score.CASES / f"{name}.tsv")
    for miss in found.misses:
        print("\t".join(miss))
    assert score.fallen(found) == {}
    assert {side: (claimed, found.scores()[side]) for side, claimed in claims(name).items() if found.scores()[side] < claimed} == {}, (
        "docs/quality.md claims more than is reached: bin/score --write docs/quality.md"
    )


def claims(name: str) -> dict[str, float]:
    """What the published page says of a case file."""
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    return {side: float(match.group()) for side, cell in zip(score.SIDES, cells, strict=True) if (match := re.match(r"[\d.]+", cell))}


def test_every_case_file_has_floors_and_an_origin() -> None:
    files = {
        path.stem for path in score.CASES.glob("*.tsv") if "expect" in score.read_rows(path)[0] or "expected" in score.read_rows(path)[0]
    }
    assert files == set(score.floors()) == set(quality.ORIGIN)


def test_both_sides_have_floors() -> None:
    for name, table in score.floors().items():
        assert "traps" in table, name
        assert {"harms", "bypasses"} & set(table) or name == "everyday", name  # the other side of that one is attack_kinds


def test_a_fall_is_seen() -> None:
    found = score.Scored("commands")
    found.answered = 100.0
    for side in ("traps", "harms", "bypasses", "middle"):
        found.count(side, "class", 1.0)
    assert score.fallen(found) == {}
    found.count("traps", "class", 0.0)
    assert set(score.fallen(found)) == {"traps"}


def test_the_page_shows_both_sides_and_the_misses() -> None:
    found = score.Scored("commands")
    found.count("traps", "git-safe", 1.0)
    found.count("harms", "git-loss", 0.0)
    found.misses.append(("git-loss-001", "git-loss", "harms", "deny", "allow", "-", "git | true"))
    text = quality.page([found])
    assert "| commands | 100.0 (1) | 0.0 (1) |" in text
    assert "git-loss-001" in text
    assert "git \\| true" in text


def test_credit() -> None:
    assert [score.credit("allow", decision) for decision in ("allow", "ask", "deny")] == [1, 0, 0]
    assert [score.credit("deny", decision) for decision in ("allow", "ask", "deny")] == [0, 0, 1]
    assert [score.credit("ask", decision) for decision in ("allow", "ask", "deny", "none")] == [0, 1, 0.5, 0]
    assert score.credit("contain", "none") == 0
