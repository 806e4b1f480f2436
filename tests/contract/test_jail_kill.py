"""SIGKILL of the launcher, of its whole group, or of the attendant, at any moment: no process and no mount is left, and nothing half-made runs."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, processes_with

pytestmark = pytest.mark.jail
ROUNDS = 30


def _mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


def _spec(workspace: Path, marker: str) -> dict[str, object]:
    text = f"setsid sleep {marker} & (setsid sleep {marker} &); sleep {marker}"
    return {**base_spec(workspace), "protected": [str(workspace / ".env")], "argv": ["/bin/bash", "-c", text]}


def _gone(marker: str, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while processes_with(marker):
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.01)
    return True


@pytest.mark.parametrize("whole_group", [False, True], ids=["launcher", "group"])
def test_kill_at_a_random_moment(caller: Caller, level: str, whole_group: bool) -> None:
    """Moments from before the first fork to well into the run; about 30 for each caller and level."""
    workspace = caller.folder()
    (workspace / ".env").write_text("KEY=1", encoding="utf-8")
    before, mounts = sorted(os.listdir(workspace)), _mounts()
    chance = random.Random(20260729 + whole_group)  # the same moments each time
    for round_number in range(ROUNDS // 2):
        marker = f"59{os.getpid()}.{round_number}{int(whole_group)}{time.monotonic_ns() % 10**6}"
        with subprocess.Popen(caller.driver(_spec(workspace, marker), at=level), start_new_session=True, stderr=subprocess.DEVNULL) as running:
            select.select([], [], [], chance.uniform(0.0, 0.12))
            os.killpg(running.pid, signal.SIGKILL) if whole_group else running.kill()
        assert _gone(marker), f"round {round_number}: {processes_with(marker)} live on"
    assert sorted(os.listdir(workspace)) == before
    assert _mounts() == mounts


def test_kill_of_the_attendant_ends_the_command(caller: Caller, level: str) -> None:
    """Then the outcome is unknown, and the launcher says so instead of claiming that nothing ran."""
    marker = f"61{os.getpid()}.{time.monotonic_ns() % 10**6}"
    spec = _spec(caller.folder(), marker)
    with subprocess.Popen(caller.driver(spec, at=level), stderr=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        attendant = _attendant_of(running.pid)
        os.kill(attendant, signal.SIGKILL)
        assert running.wait(20) == 125
    assert _gone(marker)


def _attendant_of(launcher: int) -> int:
    """The launcher's child that has itself a child running something else."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for child in _children(launcher):
            if any(b"sleep" in _command_line(grandchild) for grandchild in _children(child)):
                return child
        select.select([], [], [], 0.01)
    raise AssertionError("no attendant appeared")


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
