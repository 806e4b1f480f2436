"""Linked worktrees: git there believes data that lies in the main repository, so no command changes that unjudged; ordinary work with them goes on."""

from __future__ import annotations

import subprocess

import pytest
from conftest import GIT_IDENTITY, git_environment

# The name comes from a file, so that nobody sees beforehand what is written.
LEADS_ASTRAY = """\
import os
place = open('place').read().strip()
os.makedirs('evil/objects')
os.makedirs('evil/refs')
open('evil/HEAD', 'w').write('ref: refs/heads/other')
open('evil/config', 'w').write('[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch ' + os.path.abspath('harm') + '; false"\\n')
for way in (lambda: open(place, 'w').write(os.path.abspath('evil')), lambda: os.remove(place), lambda: os.rename(os.path.dirname(place), 'gone')):
    try:
        way()
        print('done')
    except OSError as problem:
        print(problem.strerror)
"""


@pytest.fixture
def linked(programs, jail_works, tmp_path):
    """A repository with a linked worktree outside the workspace, where the person works."""
    (programs.workspace / "astray.py").write_text(LEADS_ASTRAY, encoding="utf-8")
    (programs.workspace / "place").write_text(".git/worktrees/other/commondir", encoding="utf-8")
    add = ["git", "-C", programs.workspace, *GIT_IDENTITY, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other")]
    subprocess.run(add, check=True, env=git_environment(), stdin=subprocess.DEVNULL)
    return programs


def test_a_command_leads_no_worktree_astray(linked, tmp_path) -> None:
    run = linked.sh("python3 astray.py")
    assert run.stdout.splitlines() == [b"Read-only file system", b"Device or resource busy", b"Device or resource busy"], run
    status = subprocess.run(["git", "-C", tmp_path / "other", "status", "--short"], env=git_environment(), capture_output=True, check=True)
    assert status.stdout == b""
    assert not (linked.workspace / "harm").exists()


def test_worktrees_come_and_go(linked) -> None:
    steps = (
        "git worktree add -q build/wt -b wt", "cd build/wt && touch x && git add x && git -c user.name=a -c user.email=a@b.c commit -q -m x",
        "git worktree move build/wt build/moved && git -C build/moved status --short", "git worktree lock build/moved && git worktree unlock build/moved",
        "git gc -q && git worktree remove build/moved && git worktree list", "git worktree prune -v", "git branch -D wt",
    )  # fmt: skip
    for step in steps:
        run = linked.sh(step)
        assert run.returncode == (126 if step.startswith("git branch -D") and run.returncode == 126 else 0), (step, run)
        assert b"set aside" not in run.stderr, (step, run)
    assert not (linked.workspace / ".git/worktrees/wt").exists()
    assert (linked.workspace / ".git/worktrees/other").exists()


# A folder that has the shape of a repository is one to git, in the middle of another.
PLANTS = """\
import os
folder = open('folder').read().strip()
for name in ('objects', 'refs', 'hooks'):
    os.makedirs(f'{folder}/{name}', exist_ok=True)
for name, text in (('HEAD', 'ref: refs/heads/main'), ('config', '[core]\\n\\tbare = true\\n\\tpager = "touch harm; cat"\\n'), ('hooks/post-receive', '#!/bin/sh')):
    try:
        open(f'{folder}/{name}', 'w').write(text)
    except OSError as problem:
        print(name, problem.strerror)
"""


def test_a_folder_is_not_made_a_repository_that_runs_something(linked) -> None:
    folder = linked.workspace / "docs"
    folder.mkdir()
    (linked.workspace / "plants.py").write_text(PLANTS, encoding="utf-8")
    (linked.workspace / "folder").write_text("docs", encoding="utf-8")
    assert linked.sh("python3 plants.py").returncode == 0
    run = linked.sh("git init -q --bare good.git && git -C good.git config core.logAllRefUpdates true && git clone -q --bare . copy.git")
    assert run.returncode == 0, run
    assert run.stderr.count(b"set aside") == 2, run
    assert not (folder / "config").exists()
    assert not (folder / "hooks/post-receive").exists()
    run = linked.sh("git -C copy.git remote add more ../more && git -C copy.git log --oneline && git push -q copy.git HEAD:refs/heads/new")
    assert (run.returncode, b"set aside" in run.stderr) == (0, False), run
    (linked.workspace / "folder").write_text("copy.git", encoding="utf-8")
    run = linked.sh("python3 plants.py")
    assert run.stdout.splitlines() == [b"config Read-only file system", b"hooks/post-receive Read-only file system"], run
