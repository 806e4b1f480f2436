"""The drop-in shell as agents start it: its own launchers, home and state below a test's folder, the real bash beside it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from instinct_shell.frontends.install import launchers

REAL = "/bin/bash"


class Shell:
    """Runs the drop-in shell in a workspace."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.workspace = workspace
        self.home, self.state, self.data = folder / "home", folder / "state", folder / "data"
        for each in (self.home, self.state):
            each.mkdir(parents=True, exist_ok=True)
        launchers.write(str(self.data))
        self.path = str(self.data / "shell" / "bash")
        self.env = {"HOME": str(self.home), "XDG_STATE_HOME": str(self.state), "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "INSTINCT_ENGINE": "off"}

    def run(self, *arguments: str, given: bytes = b"", shell: str = "", cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([shell or self.path, *arguments], input=given, capture_output=True, check=False, cwd=cwd or self.workspace, env=self.env | env)

    def records(self) -> list[dict[str, object]]:
        """The audit records, oldest first, as plain dictionaries."""
        from instinct_shell.storage.audit import AuditTrail

        trail = AuditTrail(str(self.state / "instinct-shell"))
        return [{"kind": str(record.kind), **dict(record.body)} for record in trail.records()]


def needs_jail(shell: Shell) -> None:
    """Skips where this machine gives no jail at all; fails instead where INSTINCT_JAIL_MUST_WORK is set."""
    done = shell.run("-c", "true")
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        if os.environ.get("INSTINCT_JAIL_MUST_WORK"):
            pytest.fail(f"the jail must work here and does not: {said}")
        pytest.skip(f"no jail on this machine: {said}")
