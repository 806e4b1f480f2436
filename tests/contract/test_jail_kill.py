"""SIGKILL of the launcher, of its whole group, of the attendant or of a session's holder, at any moment: no process, no mount and no file is left,
nothing half-made runs, and the next command works. INSTINCT_KILLS says how many moments (200 before a release)."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jail_harness import Caller, Running, base_spec, gone, reachable, told_of

pytestmark = pytest.mark.jail
ROUNDS = int(os.environ.get("INSTINCT_KILLS", "40"))


def _mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


def _spec(workspace: Path, marker: str) -> dict[str, object]:
    text = f"setsid sleep {marker} & (setsid sleep {marker} &); sleep {marker}"
    return {**base_spec(workspace), "protected": [str(workspace / ".env")], "argv": ["/bin/bash", "-c", text]}


@pytest.mark.parametrize("victim", ["launcher", "group", "holder"])
def test_kill_at_a_random_moment(caller: Caller, level: str, victim: str) -> None:
    """Moments from before the first fork to well into the run."""
    if victim == "holder" and level != "session":
        return  # only a session has one
    workspace = caller.folder()
    (workspace / ".env").write_text("KEY=1", encoding="utf-8")
    asked = caller.folder()
    before, mounts = sorted(os.listdir(workspace)), _mounts()
    chance = random.Random(f"{victim} 20260729")  # the same moments each time
    for round_number in range(ROUNDS // 2):
        marker = f"59{os.getpid()}.{round_number}{len(victim)}{time.monotonic_ns() % 10**6}"
        if level == "session" and round_number % 3 == 0:
            caller.end_session()  # so that some moments lie in the making of a session
        judged = {"exec_log": str(asked / "asked")} if round_number % 2 else {}  # every other time its execs are judged
        with Running(caller.driver({**_spec(workspace, marker), **judged}, at=level), start_new_session=True, stderr=subprocess.DEVNULL) as running:
            select.select([], [], [], chance.uniform(0.0, 0.12))
            if victim == "holder":
                caller.end_session()
                select.select([], [], [], chance.uniform(0.0, 0.02))
                running.kill()  # a command that came too early for the session's end would sleep on
            elif victim == "group":
                os.killpg(running.pid, signal.SIGKILL)
            else:
                running.kill()
        assert gone(marker), f"round {round_number}: {told_of(marker)} live on"
        if round_number % 5 == 0:
            assert caller.shell(workspace, "echo next", at=level).out == b"next\n"
    assert caller.shell(workspace, "echo next", at=level).out == b"next\n"
    assert sorted(os.listdir(workspace)) == before
    assert _mounts() == mounts


def test_bubblewrap_leaves_nothing_that_waits_for_it(caller: Caller) -> None:
    """Its child waits for a word of its parent's before it asks for a death signal: the launcher dies right then."""
    reachable(caller, "bubblewrap")
    workspace = caller.folder()
    inside = str(caller.code / "instinct_shell" / "execution" / "jail" / "stage.py")  # on the command lines of bubblewrap and of its child
    chance = random.Random("bubblewrap 20261130")
    for round_number in range(ROUNDS):
        spec = {**base_spec(workspace), "argv": ["/bin/sleep", "61"]}
        with Running(caller.driver(spec, at="bubblewrap"), start_new_session=True, stderr=subprocess.DEVNULL) as running:
            deadline = time.monotonic() + 20
            while not (programs := [each for beside in _children(running.pid) for each in _children(beside)]):
                assert time.monotonic() < deadline
            if round_number % 2:
                while not _children(programs[0]) and time.monotonic() < deadline:
                    pass  # it is a matter of microseconds
            else:
                select.select([], [], [], chance.uniform(0.0, 0.004))
            running.kill()
        assert gone(inside), f"round {round_number}: {told_of(inside)} live on"


_VICTIMS = ("launcher", "child", "child and launcher", "next", "next and launcher")
_CHAINS = [*((where, victim) for where in ("bubblewrap", "partial") for victim in _VICTIMS), *(("session", victim) for victim in _VICTIMS[:3])]


@pytest.mark.parametrize(("where", "victim"), _CHAINS)
def test_whoever_is_killed_while_a_jail_is_made_no_command_is_left(caller: Caller, where: str, victim: str) -> None:
    """Of the chain launcher, its child, bubblewrap or the attendant: the others end, and the command with them. In a session the child is the attendant."""
    reachable(caller, where)
    workspace = caller.folder()
    inside = str(caller.code / "instinct_shell" / "execution" / "jail" / "stage.py")
    chance = random.Random(f"{where} {victim} 20261130")
    for round_number in range(ROUNDS // 4):
        marker = f"67{os.getpid()}.{round_number}{time.monotonic_ns() % 10**6}"
        spec = {**base_spec(workspace), "argv": ["/bin/bash", "-c", f"setsid sleep {marker} & sleep {marker}"]}
        with Running(caller.driver(spec, at=where), start_new_session=True, stderr=subprocess.DEVNULL) as running:
            child = _awaited_child(running.pid)
            follower = _awaited_child(child) if "next" in victim else 0
            _let_pass(chance.uniform(0.0, 0.02 if round_number % 4 else 0.1))  # every fourth may be well into the run
            for name in victim.split(" and "):
                os.kill({"launcher": running.pid, "child": child, "next": follower}[name], signal.SIGKILL)
            assert running.wait(20), f"round {round_number}: it ended well"
        assert gone(marker), f"round {round_number}: {told_of(marker)} live on"
        assert gone(inside), f"round {round_number}: {told_of(inside)} live on"
    assert caller.shell(workspace, "echo next", at=where).out == b"next\n"


def test_a_host_program_keeps_nothing_of_a_killed_attendant(caller: Caller) -> None:
    """At partial nothing ends by itself, and a program that is not there for one command does not take in orphans."""
    workspace, marker = caller.folder(), f"71{os.getpid()}.{time.monotonic_ns() % 10**6}"
    code = (
        f"import sys\nsys.path.insert(0, {str(caller.code)!r})\n"
        "from instinct_shell.execution.launcher import Launcher\nfrom instinct_shell.model.jailspec import JailLevel, JailSpec\n"
        f"words = ('/bin/bash', '-c', 'setsid sleep {marker} & exec sleep {marker}')\n"
        f"spec = JailSpec(workspace={str(workspace)!r}, cwd={str(workspace)!r}, argv=words, env=(), least_level=JailLevel.PARTIAL)\n"
        "print(Launcher(at=JailLevel.PARTIAL).run(spec).status, flush=True)\n"
    )
    with Running(caller.argv([caller.python, "-I", "-c", code]), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        os.kill(_attendant_of(program.pid), signal.SIGKILL)
        assert program.communicate(timeout=20)[0] == b"125\n"
        assert gone(f"sleep\0{marker}")


def _awaited_child(pid: int) -> int:
    """The first child of this process, within microseconds of its birth."""
    deadline = time.monotonic() + 20
    while not (found := _children(pid)):
        assert time.monotonic() < deadline
    return found[0]


def _let_pass(seconds: float) -> None:
    """Some time, more exactly than `select` does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_kill_of_the_attendant_ends_the_command(caller: Caller, level: str) -> None:
    """Then the outcome is unknown, and the launcher says so instead of claiming that nothing ran."""
    marker = f"61{os.getpid()}.{time.monotonic_ns() % 10**6}"
    spec = _spec(caller.folder(), marker)
    with Running(caller.driver(spec, at=level), stderr=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        attendant = _attendant_of(running.pid)
        os.kill(attendant, signal.SIGKILL)
        assert running.wait(20) == 125
    assert gone(marker)


def _attendant_of(launcher: int) -> int:
    """The launcher's child, or the child of the one that stays beside, or that of bubblewrap there: whose own child runs something else."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        below = _children(launcher)
        second = [each for beside in below for each in _children(beside)]
        forks = [each for each in second if _command_line(each) == _command_line(launcher)]  # no command
        inner = [each for program in second if b"bwrap" in _command_line(program) for each in _children(program)]
        for child in [*below, *forks, *inner]:
            if any(_command_line(grandchild).split(b"\0")[0].endswith(b"sleep") for grandchild in _children(child)):  # not a fork of the driver's
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
