"""Quick looks leave nothing out that is there."""

import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from instinct_shell.execution import looking
from instinct_shell.execution.looking import beginning, possible

NAMES = (".git/config", ".git/hooks", ".claude/settings.json", "Makefile", "a/b/c", "a")


def test_a_listing_rules_out_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").write_text("x", encoding="ascii")
    assert possible(str(tmp_path), NAMES) == (".git/config", ".git/hooks", "a/b/c", "a")


def test_names_are_compared_as_a_forgiving_file_system_does(tmp_path: Path) -> None:
    (tmp_path / ".GIT").mkdir()
    assert possible(str(tmp_path), NAMES) == (".git/config", ".git/hooks")


@pytest.mark.parametrize("how", ["absent", "a file", "closed", "long"])
def test_what_cannot_be_listed_rules_out_nothing(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    if how == "a file":
        place.write_text("x", encoding="ascii")
    elif how == "closed":
        if os.getuid() == 0:
            pytest.skip("root lists every folder")
        place.mkdir(mode=0o300)
    elif how == "long":
        place.mkdir()
        monkeypatch.setattr(looking, "_MOST_ENTRIES", 3)
        for number in range(4):
            (place / str(number)).touch()
    assert possible(str(place), NAMES) == NAMES


@given(st.lists(st.sampled_from([*NAMES, ".git", "b", "a/b"]), unique=True))
def test_nothing_that_exists_is_left_out(tmp_path_factory: pytest.TempPathFactory, made: list[str]) -> None:
    top = tmp_path_factory.mktemp("place")
    for name in made:
        try:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).touch()
        except OSError:
            continue  # a file stands where a folder is wanted
    there = [name for name in NAMES if os.path.lexists(top / name)]
    assert [name for name in possible(str(top), NAMES) if os.path.lexists(top / name)] == there


def test_the_beginning_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abcdef")
    assert beginning(str(tmp_path / "file"), 4) == b"abcd"
    with pytest.raises(FileNotFoundError):
        beginning(str(tmp_path / "absent"))
