"""SIGKILL of the launcher, the engine, one of its workers, or a session's holder, at random moments of whole runs through the product.

No command outlives what it should, no mount and no file is left, no record is lost, and the next command works. INSTINCT_KILLS says how many
moments (200 before a release); `test_jail_kill.py` does the same to the jail alone, at every level.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import LAUNCHERS, Engines, copied_checkout, own_engines
from jail_harness import cannot, gone, told_of

from instinct_shell.execution.jail import session as jail_session
from instinct_shell.execution.sessions import folder_of

pytestmark = pytest.mark.jail
ROUNDS = int(os.environ.get("INSTINCT_KILLS", "24"))
VICTIMS = ("launcher", "engine", "worker", "holder")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_checkout(tmp_path_factory.mktemp("kills"))


@pytest.fixture
def engines(checkout: Path, workspace: Path, tmp_path: Path) -> Iterator[Engines]:
    for engines in own_engines(workspace, tmp_path, checkout):
        probe = engines.program("instinct-exec", "--", "true", env={**engines.env, "INSTINCT_ENGINE": "off"})
        if probe.returncode:
            cannot(f"no jail here: {probe.stderr!r}")
        yield engines
        engines.program("instinct", "session", "end", "kills")
        for pid in _holders(engines):
            os.kill(pid, signal.SIGKILL)


def _holders(engines: Engines) -> list[int]:
    """Whoever listens in this state's folder of sessions."""
    folder = Path(folder_of(str(engines.state / "instinct-shell")))
    if not folder.is_dir():
        return []
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    found = []
    try:
        for name in jail_session.named(fd):
            there = jail_session.connect(fd, name)
            if there is not None:
                found.append(_pid_of(there.holder))
                there.close()
    finally:
        os.close(fd)
    return found


def _pid_of(pidfd: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("profile", ["dev", "staging"])
def test_killed_at_random_moments(engines: Engines, launcher: str, profile: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """dev: the warm way. staging: execs are judged, so the launcher judges and answers by itself."""
    program = "instinct-exec"
    if launcher == "c":
        engines.build_c_launcher(tmp_path_factory.mktemp("built"))
        program = "instinct-exec-c"
    options = ("--profile", profile, "--workspace", str(engines.workspace), "--session", "kills", "--")
    engines.program(program, *options, "true")
    assert _holders(engines)
    mounts, before = _mounts(), sorted(path.name for path in engines.workspace.iterdir())
    chance = random.Random(f"{launcher} {profile}")  # the same moments each time
    for number in range(max(2, ROUNDS // 4)):
        victim = VICTIMS[number % len(VICTIMS)]
        first = engines.start()
        marker = f"73{os.getpid()}.{number}{time.monotonic_ns() % 10**6}"
        text = f"setsid sleep {marker} & (setsid sleep {marker} &); sleep {marker}"
        with subprocess.Popen(
            engines.argv(program, *options, text), cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            select.select([], [], [], chance.uniform(0.0, 0.15 if profile == "dev" else 0.4))
            processes = engines.processes()
            victims = {
                "launcher": [running.pid], "engine": [first], "worker": [pid for pid in processes if pid != first][:2], "holder": _holders(engines),
            }[victim]  # fmt: skip
            for pid in victims:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # ended with another one
            select.select([], [], [], chance.uniform(0.0, 0.05))
            running.kill()  # the engine and its workers are none of a command's parents: it goes on without them
        assert gone(marker), f"round {number}, {victim}: {told_of(marker)} live on"
        assert engines.program(program, *options, "echo next").stdout == b"next\n", (number, victim)
    assert engines.program("instinct", "audit", "verify", "--replay").returncode == 0
    judged = [record for record in engines.records() if record["kind"] == "judged"]
    finished = {record["run"] for record in engines.records() if record["kind"] == "finished"}
    nexts = [record["run"] for record in judged if record["body"]["intent"]["content"] == "echo next"]
    assert len(finished & set(nexts)) == max(2, ROUNDS // 4)  # one that an engine judged before it died was judged again by its launcher
    assert sorted(path.name for path in engines.workspace.iterdir()) == before
    assert _mounts() == mounts
