"""Near-misses are kept whole, bounded and without secrets."""

from __future__ import annotations

import pytest

from instinct_shell.errors import StorageError
from instinct_shell.model.record import NearMiss
from instinct_shell.storage.nearmiss import NearMisses


def miss(number, summary="rm -rf x"):
    return NearMiss("denied", 1.0 + number, f"run{number}", ("rm", "file.delete"), summary)


def test_they_come_back_in_order(tmp_path):
    kept = NearMisses(str(tmp_path))
    assert list(kept.records()) == []
    for number in range(3):
        kept.append(miss(number))
    assert list(kept.records()) == [miss(number) for number in range(3)]


def test_a_line_cut_short_is_dropped(tmp_path):
    kept = NearMisses(str(tmp_path))
    kept.append(miss(1))
    with (tmp_path / "near-misses").open("ab") as file:
        file.write(b'{"kind":"den')
    assert list(kept.records()) == [miss(1)]
    kept.append(miss(2))
    assert list(kept.records()) == [miss(1), miss(2)]


def test_they_are_bounded(tmp_path):
    kept = NearMisses(str(tmp_path), largest=1000)
    for number in range(50):
        kept.append(miss(number))
    found = list(kept.records())
    assert found[-1] == miss(49)
    assert 5 < len(found) < 25
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000


def test_secrets_are_gone(tmp_path):
    kept = NearMisses(str(tmp_path))
    kept.append(miss(1, "mysql --password hunter2xyz"))
    assert "hunter2xyz" not in (tmp_path / "near-misses").read_text()


@pytest.mark.parametrize("line", [b"rubbish\n", b'{"kind": 3}\n', b"[]\n", b"\xff\n"])
def test_foreign_lines_are_named(tmp_path, line):
    (tmp_path / "near-misses").write_bytes(line)
    with pytest.raises(StorageError):
        list(NearMisses(str(tmp_path)).records())
