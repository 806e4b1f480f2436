"""The stated task: the session's before the workspace's, never half-read, never silently lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from instinct_shell.errors import StorageError
from instinct_shell.storage.tasks import Task, clear, current, keep

TASK = Task("mend it", ("src",), ("file.*",), 12.5)


@pytest.fixture
def state(tmp_path: Path) -> str:
    (tmp_path / "state").mkdir(mode=0o700)
    return str(tmp_path / "state")


def test_kept_for_a_workspace(state: str) -> None:
    assert current(state, "", "/w") is None
    keep(state, "", "/w", TASK)
    assert current(state, "", "/w") == TASK
    assert current(state, "any", "/w") == TASK
    assert current(state, "", "/other") is None
    assert clear(state, "", "/w")
    assert not clear(state, "", "/w")
    assert current(state, "", "/w") is None


def test_the_sessions_task_wins(state: str) -> None:
    keep(state, "", "/w", TASK)
    keep(state, "s", "/w", TASK.replace(text="another"))
    assert current(state, "s", "/w") == TASK.replace(text="another")
    assert current(state, "t", "/w") == TASK


def test_files_are_private_and_whole(state: str) -> None:
    keep(state, "s", "/w", TASK)
    files = [path for path in Path(state).rglob("*") if path.is_file()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"text": "", "paths": [], "operations": [], "at": 1}', '{"text": "x", "paths": [1], "operations": [], "at": 1}'])
def test_a_spoilt_task_is_a_refusal(state: str, body: str) -> None:
    keep(state, "s", "/w", TASK)
    next(path for path in Path(state).rglob("*") if path.is_file()).write_text(body)
    with pytest.raises(StorageError, match="cannot be read"):
        current(state, "s", "/w")


def test_session_names_are_only_names(state: str) -> None:
    keep(state, "../../x\n", "/w", TASK)
    assert json.loads(next(path for path in Path(state).rglob("*") if path.is_file()).read_text())["text"] == "mend it"
    assert {path.parent.name for path in Path(state).rglob("*") if path.is_file()} == {"tasks"}
