"""The workspace: named, else the git top level, else here; never the machine or a home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instinct_shell.errors import WorkspaceError
from instinct_shell.execution.workspace import choose_workspace, git_top_level


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """home/dev/app is a repository with a folder below it; home/dev/wt is a linked worktree (its .git is a file)."""
    (tmp_path / "home/dev/app/.git").mkdir(parents=True)
    (tmp_path / "home/dev/app/src/deep").mkdir(parents=True)
    (tmp_path / "home/dev/wt/src").mkdir(parents=True)
    (tmp_path / "home/dev/wt/.git").write_text("gitdir: ../app/.git/worktrees/wt\n", encoding="utf-8")
    (tmp_path / "home/dev/plain").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home/dev/app")
    return tmp_path.resolve()


def choose(tree: Path, cwd: str, asked: str = "", **environ: str) -> str:
    return os.path.relpath(choose_workspace(asked, environ, str(tree / cwd), (str(tree / "home/dev"),)), tree)


def test_the_git_top_level_of_the_cwd(tree: Path) -> None:
    assert choose(tree, "home/dev/app/src/deep") == "home/dev/app"
    assert choose(tree, "home/dev/wt/src") == "home/dev/wt"
    assert choose(tree, "link/src") == "home/dev/app"


def test_the_cwd_where_there_is_no_git(tree: Path) -> None:
    assert choose(tree, "home/dev/plain") == "home/dev/plain"


def test_what_was_named_wins(tree: Path) -> None:
    assert choose(tree, "home/dev/app/src", asked=str(tree / "home/dev/plain")) == "home/dev/plain"
    assert choose(tree, "home/dev/app/src", asked="deep") == "home/dev/app/src/deep"
    assert choose(tree, "home/dev/app", INSTINCT_WORKSPACE=str(tree / "home/dev/plain")) == "home/dev/plain"
    assert choose(tree, "home/dev/app", asked="src", INSTINCT_WORKSPACE="/nowhere") == "home/dev/app/src"


@pytest.mark.parametrize("asked", ["/", "{tree}/home/dev", "{tree}/home", "{tree}", "{tree}/home/dev/app/..", "{tree}/link/.."])
def test_the_machine_and_homes_are_refused(tree: Path, asked: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        choose(tree, "home/dev/app", asked=asked.format(tree=tree))
    assert "--workspace DIR" in caught.value.hint


def test_a_home_is_refused_as_cwd_too(tree: Path) -> None:
    with pytest.raises(WorkspaceError, match="home directory"):
        choose(tree, "home/dev")


def test_a_missing_folder_is_refused(tree: Path) -> None:
    with pytest.raises(WorkspaceError, match="not a directory"):
        choose(tree, "home/dev/app", asked="gone")


def test_git_top_level_of_a_dangling_git(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/.git").symlink_to("gone")
    assert git_top_level(str(tmp_path / "a/b")) == str(tmp_path / "a")
