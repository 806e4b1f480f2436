"""`kill -9` of the wrapper: the run reads as "outcome unknown", and nothing of it stays: no process, no mount, no file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.jail, pytest.mark.usefixtures("jail_works")]


def processes_with(marker: str) -> list[str]:
    """The pids of processes whose command line holds the marker, this test's own not counted."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:  # it ended meanwhile
                continue
    return found


def gone_in_time(marker: str, seconds: float = 20) -> bool:
    """Whether all processes with the marker end within this time."""
    end = time.monotonic() + seconds
    while processes_with(marker) and time.monotonic() < end:
        time.sleep(0.02)
    return not processes_with(marker)


@pytest.mark.parametrize(
    "text", ["echo ready; exec sleep {n}", "(sleep {n} & setsid sleep {n} & trap '' TERM HUP; sleep {n} & wait) & echo ready; wait"]
)
def test_nothing_outlives_a_killed_wrapper(programs, text: str) -> None:
    number = f"{30000 + os.getpid() % 10000}.{time.monotonic_ns() % 1000:03d}"
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    process = subprocess.Popen(
        programs.argv("instinct-exec", "--", text.format(n=number)),
        cwd=programs.workspace,
        env=programs.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        process.kill()
        assert process.wait(timeout=20) == -signal.SIGKILL
        assert gone_in_time(f"sleep\0{number}")
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == mounts
    listed = [json.loads(line) for line in programs.instinct("audit", "list", "--json").stdout.splitlines()]
    assert listed[-1]["outcome"] == "outcome unknown"
    assert programs.instinct("audit", "verify", "--replay").returncode == 0
    assert programs.sh("echo still fine").stdout == b"still fine\n"


def test_killed_at_any_moment(programs) -> None:
    """The wrapper is killed at 24 different moments of its life; after each the trail is whole and nothing is left running."""
    number = f"{40000 + os.getpid() % 10000}.5"
    for step in range(24):
        process = subprocess.Popen(
            programs.argv("instinct-exec", "--", f"sleep {number}"),
            cwd=programs.workspace,
            env=programs.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=step * 0.005)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(timeout=20)
    assert gone_in_time(f"sleep\0{number}")
    run = programs.instinct("audit", "verify")
    assert run.returncode == 0, run.stdout + run.stderr
    assert sorted(path.name for path in programs.workspace.iterdir()) == [".env", ".git", ".gitignore", "README.md"]
