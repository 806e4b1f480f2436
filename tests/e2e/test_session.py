"""A session: its workspace stays, wherever the agent goes; elsewhere it reads."""

from __future__ import annotations

import subprocess

import pytest


@pytest.mark.jail
@pytest.mark.usefixtures("jail_works")
def test_a_later_cd_reads_and_never_writes(programs) -> None:
    other = programs.home / "other"
    other.mkdir()
    (other / "note.txt").write_text("hello\n", encoding="utf-8")
    assert programs.exec("--session", "s1", "--", "echo a > build.txt").returncode == 0
    read = programs.argv("instinct-exec", "--session", "s1", "--", "cat note.txt")
    run = subprocess.run(read, cwd=other, env=programs.env, capture_output=True, check=False)
    assert (run.stdout, run.returncode) == (b"hello\n", 0)
    write = programs.argv("instinct-exec", "--session", "s1", "--", "echo b > note.txt")
    run = subprocess.run(write, cwd="/usr", env=programs.env, capture_output=True, check=False)
    assert run.returncode == 126


def test_another_workspace_for_the_same_session_is_refused(programs, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert programs.instinct("check", "--session", "s1", "-c", "ls").returncode == 0
    run = programs.instinct("check", "--session", "s1", "--workspace", str(tmp_path / "elsewhere"), "-c", "ls")
    assert run.returncode == 125
    assert b"keeps its workspace" in run.stderr
