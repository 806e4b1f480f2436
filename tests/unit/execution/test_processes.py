"""Processes as people hear of them: real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from instinct_shell.execution.processes import above, alive, duration


def test_what_stands_above_is_nearest_first() -> None:
    found = above()
    assert found[0].pid == os.getppid()
    assert len({one.pid for one in found}) == len(found)


def test_an_agent_is_named_by_its_program(tmp_path: Path) -> None:
    agent = tmp_path / "claude"
    shutil.copy("/bin/sleep", agent)
    with subprocess.Popen([agent, "1000"]) as child:
        try:
            found = alive(child.pid)
        finally:
            child.kill()
    assert found is not None
    assert (found.pid, found.name, found.agent) == (child.pid, "claude", "claude")
    assert 0 <= found.seconds < 1000


def test_a_zombie_and_an_ended_process_are_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert alive(child.pid) is None
    child.wait()
    assert alive(child.pid) is None
    assert above(child.pid) == []


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7_199, "1 h"), (86_400, "1 d"), (900_000, "10 d")])
def test_durations(seconds: int, text: str) -> None:
    assert duration(seconds) == text
