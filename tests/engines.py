"""An engine of a test's own, and the ways to ask it. Nothing of it outlives the test."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PYTHON = TOP / ".venv" / "bin" / "python3"
LAUNCHERS = ("python", "c")


class Engines:
    """The engines of one state directory, started from one checkout."""

    def __init__(self, top: Path, workspace: Path, folder: Path) -> None:
        self.top = top
        self.workspace = workspace
        self.state = folder / "state"
        self.home = folder / "home"
        for path in (self.state, self.home):
            path.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("INSTINCT_", "GIT_", "XDG_"))}
        self.env = {**kept, "HOME": str(self.home), "XDG_STATE_HOME": str(self.state), "LC_ALL": "C.UTF-8"}
        self.runtime = self.state / "instinct-shell" / "run"
        self.c_launcher: Path | None = None

    def program(self, name: str, *words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        """One of the programs, to its end."""
        whole = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 60, "cwd": self.workspace, "env": self.env, **options}
        return subprocess.run(self.argv(name, *words), check=False, **whole)  # type: ignore[call-overload, no-any-return]

    def argv(self, name: str, *words: str) -> list[str]:
        """The command line of a program; `instinct-exec-c` is the C launcher."""
        if name == "instinct-exec-c":
            assert self.c_launcher is not None
            return [str(self.c_launcher), *words]
        return [str(self.top / "bin" / name), *words]

    def start(self) -> int:
        """Start one and wait until it answers; its process id."""
        done = self.program("instinct", "engine", "start", "--json")
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        return int(said["about"].split()[1].rstrip(","))

    def running(self) -> str:
        """What an engine says of itself; "" when none answers."""
        return str(json.loads(self.program("instinct", "engine", "status", "--json").stdout)["about"])

    def processes(self) -> list[int]:
        """Every process of every engine of this checkout."""
        marker = f"{self.top}/bin/launch.py\0instinct\0engine\0serve".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if marker in (entry / "cmdline").read_bytes() and self._ours(entry):
                        found.append(int(entry.name))
        return found

    def _ours(self, entry: Path) -> bool:
        return f"XDG_STATE_HOME={self.state}\0".encode() in (entry / "environ").read_bytes()

    def end(self) -> None:
        """End every process of theirs, by number."""
        while found := self.processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def records(self) -> list[dict[str, object]]:
        """The audit trail, oldest first."""
        lines = [
            line for path in sorted((self.state / "instinct-shell" / "audit").glob("*.jsonl")) for line in path.read_text().splitlines()
        ]
        return [json.loads(line) for line in lines]

    def build_c_launcher(self, folder: Path) -> None:
        """Compile it for this checkout; skips where there is no compiler."""
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            if os.environ.get("INSTINCT_JAIL_MUST_WORK"):
                pytest.fail("no C compiler, and everything must work here")
            pytest.skip("no C compiler on this machine: the Python launcher is the one in use")
        self.c_launcher = folder / "instinct-exec"
        subprocess.run([TOP / "bin" / "launcher" / "build.sh", PYTHON, self.top, self.c_launcher], check=True, capture_output=True)


def own_engines(workspace: Path, folder: Path, top: Path = TOP) -> Iterator[Engines]:
    """The body of a fixture: engines of this test alone, ended afterwards."""
    engines = Engines(top, workspace, folder)
    yield engines
    engines.end()


def copied_checkout(folder: Path) -> Path:
    """A copy of the programs that may be changed, or that nobody else changes meanwhile."""
    top = folder / "checkout"
    top.mkdir(parents=True)
    for name in ("bin", "instinct_shell", "profiles"):
        shutil.copytree(TOP / name, top / name, ignore=shutil.ignore_patterns("build"))
    (top / ".venv").symlink_to(TOP / ".venv")
    return top
