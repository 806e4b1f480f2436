"""What a jail keeps read-only in the workspace, whatever else a command has put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instinct_shell.errors import JailError
from instinct_shell.execution import protect
from instinct_shell.execution.protect import MOST_GUARDED, MOST_PATHS, on_disk
from instinct_shell.model.profile import Profile
from instinct_shell.model.situation import Situation
from instinct_shell.storage.profiles import ProfileStore


@pytest.fixture
def dev(tmp_path: Path) -> Profile:
    return ProfileStore(home=str(tmp_path / "home"), cache=False).load("dev", "", {})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "ws"
    make(place, ".git/config", ".git/hooks/pre-commit.sample", ".github/workflows/ci.yml", ".claude/settings.json", ".cursor/hooks.json")
    return place


def make(place: Path, *names: str) -> None:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()


def protected(profile: Profile, workspace: Path) -> set[str]:
    situation = Situation(0.0, home=str(workspace.parent / "home"), uid=os.getuid(), workspace=str(workspace))
    return {os.path.relpath(path, workspace) for path in on_disk(profile, situation).protected}


WANTED = {".git/config", ".git/hooks", ".github/workflows", ".claude/settings.json", ".cursor/hooks.json"}


def test_what_the_host_runs_or_trusts_is_protected(dev: Profile, workspace: Path) -> None:
    assert protected(dev, workspace) == WANTED


@pytest.mark.parametrize("decoy", ["{}.pem", "a/{}.env", "{}/package-lock.json", "a/{}/.envrc", ".cursor/hooks{}", "{}/.envrc"])
def test_no_number_of_decoys_crowds_it_out(dev: Profile, workspace: Path, decoy: str) -> None:
    make(workspace, *(decoy.format(number) for number in range(MOST_PATHS + MOST_GUARDED)))
    assert protected(dev, workspace) >= WANTED


def test_no_number_of_folders_hides_it(dev: Profile, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protect, "MOST_FOLDERS", 50)
    for number in range(100):
        (workspace / f".{number}").mkdir()
    assert protected(dev, workspace) >= WANTED


def test_too_much_near_the_top_is_refused(dev: Profile, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protect, "MOST_NEAR", 50)
    make(workspace, *(f"{number}/.envrc" for number in range(51)))
    with pytest.raises(JailError, match="more than a jail can hold"):
        protected(dev, workspace)


def test_submodules_are_repositories_too(dev: Profile, workspace: Path) -> None:
    make(
        workspace,
        *(f".git/modules/{name}" for name in ("a/HEAD", "a/config", "a/hooks/x", "libs/b/HEAD", "libs/b/config", "a/modules/c/HEAD")),
    )
    make(workspace, ".git/modules/a/modules/c/config", ".git/commondir")
    assert protected(dev, workspace) - WANTED == {
        ".git/commondir", ".git/modules/a/config", ".git/modules/a/hooks", ".git/modules/a/modules/c/config", ".git/modules/libs/b/config",
    }  # fmt: skip


def test_linked_worktrees_believe_what_lies_here(dev: Profile, workspace: Path) -> None:
    """git in a worktree, wherever its folder is, takes its configuration from where these lead."""
    make(workspace, ".git/worktrees/a/commondir", ".git/worktrees/a/HEAD", ".git/worktrees/b/commondir", ".git/worktrees/b/config.worktree")
    held = {".git/worktrees/a/commondir", ".git/worktrees/b/commondir", ".git/worktrees/b/config.worktree"}
    assert protected(dev, workspace) == WANTED | held
    make(workspace, *(f".git/worktrees/{number}/commondir" for number in range(MOST_GUARDED + MOST_PATHS)))
    assert protected(dev, workspace) >= WANTED | held
    situation = Situation(0.0, home=str(workspace.parent / "home"), uid=os.getuid(), workspace=str(workspace))
    assert not [path for path in on_disk(dev, situation).guarded if path.endswith("worktrees/a/commondir")]  # a new one is nobody's yet
