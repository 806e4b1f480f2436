"""`.git/config` takes git's own notes from commands that were judged to make them, and nothing else that the same command writes there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import GIT_IDENTITY, git_environment
from jail_harness import cannot

from instinct_shell.execution.gitconfig import Vetting, unvetted
from instinct_shell.execution.jail import probe
from instinct_shell.execution.launcher import Launcher
from instinct_shell.frontends.api import InstinctEngine
from instinct_shell.model.jailspec import JailLevel, JailSpec

pytestmark = pytest.mark.jail


@pytest.fixture
def repository(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a remote, a branch to delete and one to rename; the current folder."""
    if probe.probe().level is not JailLevel.FULL:
        cannot(f"no full jail here: {probe.probe().obstacle}")
    bare = tmp_path / "bare"
    for words in (["init", "-q", "--bare", str(bare)], ["-C", str(workspace), "remote", "add", "origin", str(bare)], ["-C", str(workspace), "branch", "feat"]):
        subprocess.run(["git", *GIT_IDENTITY, *words], check=True, env=git_environment(), capture_output=True)
    monkeypatch.chdir(workspace)
    for name, value in git_environment().items():
        monkeypatch.setenv(name, value)
    return workspace


def run(text: str, workspace: Path) -> tuple[int, str]:
    """Exit status of the command through the whole of us, and the configuration afterwards."""
    engine = InstinctEngine.from_profile("dev", workspace=str(workspace))
    outcome = engine.run({"type": "shell_command", "content": text})
    assert outcome.result is not None, outcome.judgement.verdict.reason
    return outcome.result.status, (workspace / ".git" / "config").read_text(encoding="utf-8")


VERBS = [
    ("git branch -d feat", "", "feat"),
    ("git branch -m feat renamed", "", ""),
    ("git push -q -u origin main", "merge = refs/heads/main", ""),
    ("git remote add up ../bare", '[remote "up"]', ""),
    ("git remote rename origin up", '[remote "up"]', '[remote "origin"]'),
    ("git push -q origin main && git checkout -q -b topic --track origin/main", '[branch "topic"]', ""),
    ("git config user.name somebody", "name = somebody", ""),
]


@pytest.mark.parametrize(("text", "there", "absent"), VERBS, ids=[row[0] for row in VERBS])
def test_gits_own_notes_are_kept(repository: Path, capfd: pytest.CaptureFixture[str], text: str, there: str, absent: str) -> None:
    status, config = run(text, repository)
    assert status == 0
    assert there in config
    assert not absent or absent not in config
    assert "could not write config file" not in capfd.readouterr().err


def test_what_else_the_command_writes_is_put_back(repository: Path) -> None:
    """A program that the same line runs, here a hook of the workspace's own, uses the opened file."""
    before = (repository / ".git" / "config").read_text(encoding="utf-8")
    tool = repository / "tool"
    tool.write_bytes(b"#!/bin/sh\nprintf '[core]\\n\\tfsmonitor = id\\n' >> \"$(printf '.gi%s' t/config)\"\n")
    tool.chmod(0o755)
    config, said = str(repository / ".git" / "config"), []
    spec = JailSpec(
        workspace=str(repository), cwd=str(repository), writable=(str(repository),), vetted=(config,), argv=(str(tool),), env=(("PATH", os.defpath),)
    )  # fmt: skip
    result = Vetting(Launcher(), said.append).run(spec)
    assert result.status == 0
    assert (repository / ".git" / "config").read_text(encoding="utf-8") == before
    assert len(said) == 1
    assert "core.fsmonitor" in said[0]
    assert result.put_back == tuple(said)
    allowed = Vetting(Launcher(), said.append).run(spec.replace(vetted_keys=("core.fsmonitor",)))
    assert (allowed.put_back, len(said)) == ((), 1)
    assert "fsmonitor" in (repository / ".git" / "config").read_text(encoding="utf-8")


BASE = b'[core]\n\tbare = false\n[remote "o"]\n\turl = https://example.net/a\n'
CHANGES = [
    (b'[branch "x"]\n\tremote = o\n\tmerge = refs/heads/x\n', True),
    (b'[remote "p"]\n\turl = ../bare\n\tfetch = +refs/heads/*:refs/remotes/p/*\n', True),
    (b'[BRANCH "X"]\n\tREMOTE = o\n', True),
    (b'[remote "p"]\n\turl = ext::sh -c id\n', False),
    (b'[remote "p"]\n\turl = -oProxyCommand=id\n', False),
    (b'[remote "p"]\n\tuploadpack = id\n', False),
    (b"[core]\n\thooksPath = /tmp\n", False),
    (b"[core]\n\tfsmonitor\n", False),
    (b"[CORE]\n\tFSMONITOR = id\n", False),
    (b"[core] hookspath = /tmp\n", False),
    (b'[branch "x"]\n\tremote = o # \\\n[core]\n\tfsmonitor = id\n', False),  # a comment does not go on in the next line
    (b'[branch "x"]\n\tdescription = o \\\n[core]\\\n fsmonitor = id\n', True),  # a value does
    (b'[branch "x"]\n\tdescription = "o # \\\n[core]"\n', True),
    (b'[include]\n\tpath = "evil"\n', False),
    (b'[filter "x"]\n\tclean = id\n', False),
    (b"[alias]\n\tst = !id\n", False),
    (b"\tfsmonitor = id\n", False),
    (b"nonsense [\n", False),
]


@pytest.mark.parametrize(("added", "fine"), CHANGES)
def test_which_changes_are_gits_own(added: bytes, fine: bool) -> None:
    assert (unvetted(BASE, BASE + added) == []) is fine
    assert unvetted(BASE, BASE + added, ("*",)) == []


def test_what_is_taken_away_counts_too() -> None:
    assert unvetted(BASE + b"[transfer]\n\tfsckObjects = true\n", BASE) == ["transfer.fsckobjects"]
    assert unvetted(BASE, None) == ["(all)"]
    assert unvetted(BASE + b'[branch "x"]\n\tremote = o\n', BASE) == []
