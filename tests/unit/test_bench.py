"""What of the benchmarks is no timing: each promise stands on the page as in the code, misses and skips are shown, peers that cannot be had say why."""

from __future__ import annotations

import re
from pathlib import Path

import pinned
import pytest
from bench import peers
from bench.clock import Call, trouble
from bench.page import BEGIN, END, measured, replaced
from bench.rows import Row
from bench.table import Table

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "performance.md").read_text(encoding="utf-8")
ENV = {"PATH": "/usr/bin:/bin"}


def cells(part: str) -> list[list[str]]:
    """The rows of a page's table below its head: measured, at most, seen, note."""
    lines = part.partition(BEGIN)[2].partition(END)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")][1:]


def figure(text: str) -> float:
    found = re.match(r"\**(-?[\d.]+)", text)
    assert found, text
    return float(found[1])


def test_the_page_shows_each_row_with_its_promise() -> None:
    shown = [(what, at_most) for what, at_most, *_ in cells(PAGE)]
    assert shown == [(row.what, "" if row.promise is None else f"{row.promise:g} {row.unit}".rstrip()) for row in Row], (
        "run bin/bench --write"
    )


def test_the_page_hides_no_miss() -> None:
    for (what, _, seen, *_), row in zip(cells(PAGE), Row, strict=True):
        if not seen or row.promise is None:
            assert "missed" not in seen, what
        elif figure(seen) > row.promise:
            assert "missed" in seen, what
        elif "missed" in seen:
            assert figure(seen) == row.promise, what  # by less than is shown


def test_the_page_gives_a_reason_for_what_was_not_measured() -> None:
    assert [what for what, _, seen, *note in cells(PAGE) if not seen and not any(note)] == []


def test_every_row_is_measured_somewhere() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (TOP / "tests/bench").glob("*.py") if path.name != "rows.py")
    assert [row for row in Row if f"Row.{row.name}" not in sources] == []


def test_names_tell_the_pinned_versions() -> None:
    for row, pin in ((Row.SRT, peers.SRT), (Row.SAFETY_NET, peers.SAFETY_NET), (Row.SANDLOCK, peers.SANDLOCK)):
        assert row.what.split()[1].rstrip(",") == re.split("@|==", pin)[-1]


def test_a_run_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.row(Row.WARM_CHECK, 2.106, "23.6 ms")
    table.row(Row.COLD_CHECK, 7.0)
    table.row(Row.OVERLAY, -0.001)
    table.row(Row.BASH, 0.5)
    table.skip(Row.SRT, "exit status 1: no `a|b`, see https://registry.example.net/srt")
    shown = capsys.readouterr().out
    assert re.search(r" 2\.11 x +<= 1\.7  MISSED  23\.6 ms\n", shown)
    assert "skipped: exit status 1" in shown
    assert table.missed == [Row.WARM_CHECK.what]
    part = measured(table, "Somewhere.")
    assert f"| {Row.WARM_CHECK.what} | 1.7 x | **2.11 x, missed** | 23.6 ms |\n" in part
    assert f"| {Row.COLD_CHECK.what} | 7 x | 7 x |  |\n" in part
    assert f"| {Row.OVERLAY.what} | 10 ms | 0 ms |  |\n" in part
    assert f"| {Row.BASH.what} |  | 0.5 x |  |\n" in part
    assert f"| {Row.SRT.what} |  |  | skipped: exit status 1: no `a\\|b`, see (an address) |\n" in part
    assert f"| {Row.SMALL.what} |  |  | not measured |\n" in part


def test_only_the_measured_part_is_replaced() -> None:
    part = measured(Table(), "Elsewhere.")
    page = replaced(PAGE, part)
    assert page.partition(BEGIN)[0] == PAGE.partition(BEGIN)[0]
    assert page.partition(END)[2] == PAGE.partition(END)[2]
    assert part in page
    assert replaced(page, part) == page
    with pytest.raises(ValueError, match="needs the lines"):
        replaced("# Performance\n", part)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["true"], ""),
        (["sh", "-c", "cat; echo hello"], ""),
        (["sh", "-c", "echo warning: old >&2; echo Error: no socat >&2; exit 3"], "exit status 3: Error: no socat"),
        (["sh", "-c", "echo on stdout; exit 1"], "exit status 1: on stdout"),
        (["false"], "exit status 1: it said nothing"),
        (["/nowhere/srt"], "[Errno 2] No such file or directory: '/nowhere/srt'"),
    ],
)
def test_a_call_that_fails_is_not_timed(argv: list[str], said: str, tmp_path: Path) -> None:
    assert trouble(Call(argv, ENV, b"given"), str(tmp_path)) == said


def test_peers_that_cannot_be_had_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_folder: Path, _cwd: str) -> Call:
        raise pinned.NotHad("npm is not on PATH\nand more")

    def broken(_folder: Path, _cwd: str) -> Call:
        return Call(["sh", "-c", "echo Error: no namespaces >&2; exit 1"], ENV)

    def good(_folder: Path, _cwd: str) -> Call:
        return Call(["true"], ENV)

    monkeypatch.setattr(peers, "PEERS", {Row.SAFETY_NET: (none, ()), Row.SRT: (broken, ()), Row.SANDLOCK: (good, ())})
    table = Table()
    assert list(peers.had(table, tmp_path, str(tmp_path))) == [Row.SANDLOCK]
    assert {row: seen.note for row, seen in table.seen.items()} == {
        Row.SAFETY_NET: "skipped: npm is not on PATH",
        Row.SRT: "skipped: exit status 1: Error: no namespaces",
    }


def test_an_installation_is_whole_or_not_there(tmp_path: Path) -> None:
    def breaks(draft: Path) -> None:
        (draft / "half").touch()
        raise pinned.NotHad("no network")

    with pytest.raises(pinned.NotHad, match="no network"):
        pinned.kept(tmp_path / "it-1.0", breaks)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    made = pinned.kept(tmp_path / "it-1.0", lambda draft: (draft / "whole").touch())
    assert pinned.kept(tmp_path / "it-1.0", breaks) == made
    assert [path.name for path in made.iterdir()] == ["whole"]


def test_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pinned.NotHad, match="npm is not on PATH"):
        pinned.by_npm(tmp_path, ("anything@1.0.0",))
