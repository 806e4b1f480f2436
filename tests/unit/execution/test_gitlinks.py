"""A linked worktree's and a submodule's repository is found, and a `.git` file that lies is not believed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import GIT_IDENTITY, git_environment

from instinct_shell.execution.gitlinks import Repository, linked


def git(folder: Path, *words: str) -> None:
    options = [*GIT_IDENTITY, "-c", "protocol.file.allow=always"]
    subprocess.run(["git", "-C", str(folder), *options, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture
def worktree(workspace: Path) -> Path:
    git(workspace, "worktree", "add", "-q", str(workspace.parent / "wt"), "-b", "other")
    return workspace.parent / "wt"


def test_a_linked_worktree(workspace: Path, worktree: Path) -> None:
    data = workspace / ".git" / "worktrees" / "wt"
    found = linked(str(worktree))
    assert found.folders == (str(workspace / ".git"),)
    assert set(found.held) == {str(data / "commondir"), str(data / "gitdir")}


def test_a_submodule_as_the_workspace(workspace: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "start")
    git(workspace, "submodule", "add", "-q", str(library), "vendor/lib")
    assert linked(str(workspace / "vendor" / "lib")) == Repository((str(workspace / ".git" / "modules" / "vendor" / "lib"),))


def test_a_plain_repository_and_a_plain_folder(workspace: Path, tmp_path: Path) -> None:
    assert linked(str(workspace)) == linked(str(tmp_path)) == Repository()


LIES = {
    "the folder of another worktree": "gitdir: {data}\n",
    "a whole repository": "gitdir: {repository}\n",
    "a folder that is none": "gitdir: /etc\n",
    "nothing": "\n",
    "not text": "gitdir: \0\udcff\n",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_git_file_that_lies(workspace: Path, worktree: Path, tmp_path: Path, lie: str) -> None:
    """Else a command could make the next one's jail writable anywhere."""
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    text = LIES[lie].format(data=workspace / ".git" / "worktrees" / "wt", repository=workspace / ".git")
    (hostile / ".git").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert linked(str(hostile)) == Repository()


def test_a_link_for_a_git_file(worktree: Path, tmp_path: Path) -> None:
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile" / ".git").symlink_to(worktree / ".git")
    assert linked(str(tmp_path / "hostile")) == Repository()


def test_data_of_its_own_making(tmp_path: Path) -> None:
    """A worktree's folder inside the workspace may say what it likes: what it opens lies in the workspace too."""
    hostile = tmp_path / "hostile"
    data = hostile / "r" / "worktrees" / "x"
    data.mkdir(parents=True)
    (hostile / ".git").write_text(f"gitdir: {data}\n", encoding="utf-8")
    (data / "commondir").write_text("/etc\n", encoding="utf-8")
    (data / "gitdir").write_text(f"{hostile / '.git'}\n", encoding="utf-8")
    assert linked(str(hostile)) == Repository()
