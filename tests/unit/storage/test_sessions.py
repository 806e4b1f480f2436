"""A session keeps its workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from instinct_shell.errors import WorkspaceError
from instinct_shell.storage.sessions import keep_to, recall, remember


@pytest.fixture
def state(tmp_path: Path) -> str:
    (tmp_path / "state").mkdir(mode=0o700)
    return str(tmp_path / "state")


def test_the_first_workspace_stays(state: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    assert recall(state, "s") == ""
    assert remember(state, "s", str(one)) == str(one)
    assert remember(state, "s", str(two)) == str(one)
    assert recall(state, "s") == str(one)
    assert recall(state, "another") == ""


def test_session_ids_are_only_names(state: str, tmp_path: Path) -> None:
    assert remember(state, "../../etc/passwd\n", str(tmp_path)) == str(tmp_path)
    assert [path.parent.name for path in Path(state).rglob("*") if path.is_file()] == ["sessions"]


def test_a_workspace_that_is_gone_is_said(state: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    remember(state, "s", str(tmp_path / "one"))
    (tmp_path / "one").rmdir()
    with pytest.raises(WorkspaceError, match="is gone"):
        recall(state, "s")


def test_another_one_is_refused() -> None:
    keep_to("s", "/a", "/a")
    with pytest.raises(WorkspaceError, match="keeps its workspace"):
        keep_to("s", "/a", "/b")
