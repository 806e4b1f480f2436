"""Hostile programs straight in the jail, no judge before them: as root and as an ordinary user, at full and at partial.

The table is tests/cases/hostile.toml. A program is contained when its act did not succeed and nothing outside the workspace changed; where the table
says `passes`, the level does not hold it, and the test holds us to having said so.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pty
import signal
import socket
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_harness import TOP, Caller, Run, base_spec, processes_with

pytestmark = pytest.mark.jail
CASES = TOP / "tests" / "cases"
PROGRAMS = {row["id"]: row for row in tomllib.loads((CASES / "hostile.toml").read_text(encoding="utf-8"))["program"]}
PRELUDE = (CASES / "hostile_prelude.py").read_text(encoding="utf-8")
ACT_WORKED = 10
_libc = ctypes.CDLL(None, use_errno=True)


class Scene:
    """A workspace, an outside with things to attack, secrets, and live targets: a process, sockets, a FIFO, a terminal, shared memory."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.top = caller.folder()
        self.workspace, self.outside, self.secrets = (self.top / name for name in ("ws", "outside", "secrets"))
        files = {
            self.workspace: {"plain": "plain", ".env": "KEY=1", "real.env": "KEY=2", "deep/inner/secret.txt": "s", ".git/hooks/sample": "#", ".git/config": ""},
            self.outside: {"victim": "original", "spare": "spare", "linked": "linked", "folder/file": "x"},
            self.secrets: {"token": "TOPSECRET", "vault/key": "TOPSECRET"},
        }
        for folder, contents in files.items():
            for name, text in contents.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        (self.workspace / "linked.env").symlink_to("real.env")
        os.link(self.outside / "linked", self.workspace / "old-link")
        os.mkfifo(self.outside / "pipe")
        caller.own(*self.top.rglob("*"))
        self.marker = f"47{os.getpid()}.{time.monotonic_ns() % 10**9}"
        self.abstract = f"instinct-test-{self.marker}"

    @contextlib.contextmanager
    def alive(self) -> Iterator[Scene]:
        """With everything that lives: at the end each of it must still be there, and untouched."""
        with contextlib.ExitStack() as stack:
            target = stack.enter_context(
                subprocess.Popen(self.caller.argv(["/bin/sleep", "1000"]), env={**os.environ, "AGENT_KEY": "k"}, stdout=subprocess.DEVNULL)
            )
            stack.callback(target.kill)
            _wait_for_exec(target.pid)
            door = stack.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(str(self.outside / "door"))
            self.caller.own(self.outside / "door")
            hidden = stack.enter_context(socket.socket(socket.AF_UNIX))
            hidden.bind("\0" + self.abstract)
            port = stack.enter_context(socket.socket())
            port.bind(("127.0.0.1", 0))
            for listener in (door, hidden, port):
                listener.listen()
            reader = os.open(self.outside / "pipe", os.O_RDONLY | os.O_NONBLOCK)
            stack.callback(os.close, reader)
            master, slave = pty.openpty()
            stack.callback(os.close, master)
            stack.callback(os.close, slave)
            os.fchown(slave, self.caller.uid, -1)
            key = os.getpid() * 1000 + time.monotonic_ns() % 1000
            segment = _libc.shmget(key, 4096, 0o1666)
            stack.callback(_libc.shmctl, segment, 0, None)
            shared = Path(f"/dev/shm/instinct-{self.marker}")
            shared.write_bytes(b"s")
            self.caller.own(shared)
            stack.callback(shared.unlink)
            self.values = {
                "OUTSIDE": str(self.outside),
                "SECRETS": str(self.secrets),
                "TARGET": target.pid,
                "TERMINAL": os.fstat(slave).st_ino,
                "ABSTRACT": self.abstract,
                "PORT": port.getsockname()[1],
                "SHM_KEY": key,
                "SHM_FILE": str(shared),
                "MARKER": self.marker,
            }
            self.target = target
            yield self

    def spec(self, row: dict[str, object]) -> dict[str, object]:
        """The jail in which the row's program runs."""
        held = (".env", "linked.env", "deep/inner/secret.txt", ".git/hooks", ".git/config")
        return {
            **base_spec(self.workspace),
            "protected": [str(self.workspace / name) for name in held],
            "masked": [str(self.secrets / "token"), str(self.secrets / "vault")],
            "argv": self.argv(row),
            "env": [["PATH", os.defpath], ["HOSTILE_SCENE", json.dumps(self.values)]],
            **row.get("spec", {}),  # type: ignore[dict-item]  # a table in the file
        }

    def argv(self, row: dict[str, object]) -> list[str]:
        return [self.caller.python, "-I", "-S", "-c", f"{PRELUDE}\n{row['code']}"]

    def outside_state(self) -> dict[str, object]:
        """Everything about the outside and the secrets that an attack could change."""
        state: dict[str, object] = {}
        for path in sorted([*self.outside.rglob("*"), *self.secrets.rglob("*")]):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            state[str(path)] = (content, status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink)
        return state


def _wait_for_exec(pid: int) -> None:
    """Until the target is `sleep` and no longer the program that starts it."""
    deadline = time.monotonic() + 10
    while b"sleep" not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]:
        assert time.monotonic() < deadline
        os.sched_yield()


def _standard_input(scene: Scene, row: dict[str, object]) -> int:
    return os.open(scene.workspace / str(row["stdin"]) if "stdin" in row else "/dev/null", os.O_RDONLY)


def _expected(row: dict[str, object], level: str, caller: Caller) -> str:
    if level == "partial" and caller.uid == 0 and "partial_root" in row:
        return str(row["partial_root"])
    if level == "bubblewrap" and caller.uid == 0 and "bubblewrap_root" in row:
        return str(row["bubblewrap_root"])
    if level in ("session", "bubblewrap"):
        return str(row.get(level, row.get("full", "stopped")))
    return str(row.get(level, "stopped"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_contained(caller: Caller, level: str, name: str) -> None:
    row = PROGRAMS[name]
    with Scene(caller).alive() as scene:
        before = scene.outside_state()
        stdin = _standard_input(scene, row)
        left = os.open(scene.top / "left-open", os.O_CREAT | os.O_RDWR)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "capture_output": False} if level == "session" and name == "outlive" else {}
        run = caller.run(scene.spec(row), at=level, stdin=stdin, pass_fds=(left,), **quiet)
        os.close(stdin)
        os.close(left)
        assert run.result.get("started"), run
        if _expected(row, level, caller) == "passes":
            ended_after = run.result["limit"] == "protected_file"  # the watch over protected names saw it, too late to prevent it
            assert run.status == ACT_WORKED or (ended_after and b"ACT WORKED" in run.out), f"the table says this passes at {level}, but it is stopped: make the table say so: {run}"
            return
        assert not any(word in run.err for word in (b"SyntaxError", b"NameError")), run
        assert run.status != ACT_WORKED, run
        assert b"ACT WORKED" not in run.out, run
        assert scene.outside_state() == before
        assert scene.target.poll() is None, "the target outside was killed"
        assert (scene.top / "left-open").read_bytes() == b""
        if level == "session":
            assert caller.holder(), "the session did not survive it"
            caller.end_session()  # what it left in the background may stay until then
        assert processes_with(scene.marker) == [], "something outlived the run"
        _particular(name, run)


def _particular(name: str, run: Run) -> None:
    """What a stopped program looks like where that is part of the contract."""
    if name in ("sleep-for-ever", "stop-itself"):
        assert (run.status, run.result["limit"]) == (124, "wall_seconds")
    if name == "burn-processor":
        assert (run.result["signal"], run.result["limit"]) == (signal.SIGXCPU, "cpu_seconds")
    if name == "endless-output":
        assert (len(run.out), run.result["limit"]) == (65536, "output_bytes")
    if name in ("kill-own-group", "outlive"):
        assert run.status in (0, 1), run


@pytest.mark.parametrize("name", [name for name, row in PROGRAMS.items() if row.get("bare")])
def test_program_is_hostile(caller: Caller, name: str) -> None:
    """Without a jail the act works: the program is a real attack."""
    row = PROGRAMS[name]
    with Scene(caller).alive() as scene:
        stdin = _standard_input(scene, row)
        environment = {"PATH": os.defpath, "HOSTILE_SCENE": json.dumps(scene.values)}
        bare = caller.plain(scene.argv(row), cwd=scene.workspace, env=environment, stdin=stdin)
        os.close(stdin)
        if bare.returncode != ACT_WORKED and "hardened" in row:
            pytest.skip(f"{name}: {row['hardened']} on this machine")
        assert bare.returncode == ACT_WORKED, bare
