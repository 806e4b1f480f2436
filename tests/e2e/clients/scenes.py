"""A throw-away home, workspace and state in which a real agent is installed under guard by `instinct install`, and driven."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from e2e.clients.packages import cache, programs

from instinct_shell.frontends.proof.clients import CLIENTS
from instinct_shell.frontends.proof.drive import Driven, drive
from instinct_shell.frontends.proof.wires import ToolCall
from instinct_shell.model.record import AuditRecord
from instinct_shell.storage.audit import AuditTrail

TOP = Path(__file__).resolve().parents[3]

# Stands in front of the installed launcher's own lines: each call of a hook before a tool meets the next fault of the list.
FAULTS = """
import os as _os, sys as _sys, time as _time
if _sys.argv[1:2] == ["hook"] and "pre" in _sys.argv:
    with open({path!r}, "r+", encoding="ascii") as _file:
        _fault, *_rest = _file.read().split() or ["none"]
        _file.seek(0)
        _file.truncate()
        _file.write(" ".join(_rest))
    if _fault == "crash":
        _os.kill(_os.getpid(), 9)
    if _fault == "hang":
        _time.sleep(600)
    if _fault == "judge-hangs":
        _sys.path += {paths!r}
        from instinct_shell.frontends.hooks import entry as _entry
        _entry.answer = lambda *_: _time.sleep(600)
        import posix as _posix
        _posix.environ[b"INSTINCT_ENGINE"] = b"off"
"""


class Scene:
    """One agent in a home of its own. `said` is what `instinct install` printed, canary and all."""

    def __init__(self, agent: str, *, proof: bool = True) -> None:
        self.client = CLIENTS[agent]
        found = programs(agent)
        self.base = Path(tempfile.mkdtemp(prefix="scene-", dir=cache()))
        self.home, self.workspace, self.folder = self.base / "home", self.base / "app", self.base / "model"
        for each in (self.home, self.workspace, self.folder):
            each.mkdir(mode=0o700)
        self.env = {"HOME": str(self.home), "PATH": f"{found}:{os.defpath}", "LANG": "C.UTF-8", "TERM": "dumb", "INSTINCT_ENGINE": "off"}
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.workspace)], env=self.env, check=True)
        self.program = [str(found / self.client.program)]
        if self.client.by_starter:
            self.program.insert(0, str(self.data / "bin" / "instinct-with"))
        self.said = self.instinct("install", agent, "--json", *([] if proof else ["--no-proof"]))

    @property
    def data(self) -> Path:
        """Where our programs were installed."""
        return self.home / ".local" / "share" / "instinct-shell"

    def instinct(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`instinct` of this checkout, in the scene."""
        argv = [str(TOP / "bin" / "instinct"), *words]
        return subprocess.run(argv, cwd=self.workspace, env=self.env, capture_output=True, text=True, timeout=120, check=False)

    def drive(self, *calls: ToolCall) -> Driven:
        """One start of the agent, whose model makes these calls."""
        driven = drive(self.client, self.program, calls, cwd=str(self.workspace), folder=str(self.folder), environ=self.env)
        assert len(driven.results) == len(calls), (
            f"{len(driven.results)} of {len(calls)} calls answered; the agent said:\n{driven.output[-3000:]}"
        )
        return driven

    def records(self) -> list[AuditRecord]:
        """The trail, oldest first."""
        return list(AuditTrail(str(self.home / ".local" / "state" / "instinct-shell")).records())

    def judged(self, text: str) -> list[dict[str, object]]:
        """The bodies of the judgements on exactly this command or path."""
        bodies = [dict(record.body) for record in self.records() if str(record.kind) == "judged"]
        return [body for body in bodies if text in {dict(body["intent"]).get(name) for name in ("content", "target")}]  # type: ignore[call-overload]  # a plain object

    def break_hook(self, *faults: str) -> None:
        """From now on each call of a hook before a tool meets the next of these: crash, hang, judge-hangs."""
        path, launch = self.base / "faults", self.data / "launch.py"
        path.write_text(" ".join(faults), encoding="ascii")
        launch.write_text(FAULTS.format(path=str(path), paths=[str(TOP)]) + launch.read_text(encoding="utf-8"), encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """The configuration in the home directory that `instinct install` would touch, by path; the agents' own files change by themselves."""
        listed = json.loads(self.instinct("install", self.client.agent, "--dry-run", "--json").stdout)["files"]
        return {each["path"]: Path(each["path"]).read_bytes() for each in listed if Path(each["path"]).exists()}

    def close(self) -> None:
        """Ends the jail's sessions and removes everything. Some agents hand no INSTINCT_ENGINE to their hooks: then there is an engine too."""
        self.instinct("session", "end")
        self.instinct("engine", "stop")
        shutil.rmtree(self.base, ignore_errors=True)
