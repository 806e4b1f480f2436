"""The programs as a user calls them: real launchers, a throw-away workspace, state and home."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


class Programs:
    """Calls `bin/instinct` and `bin/instinct-exec` in one workspace with one state directory."""

    def __init__(self, workspace: Path, home: Path, state: Path) -> None:
        self.workspace = workspace
        self.home = home
        self.state = state / "instinct-shell"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("INSTINCT_", "GIT_"))}
        self.env = {**kept, "INSTINCT_ENGINE": "off", "HOME": str(home), "XDG_STATE_HOME": str(state), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        self.env["INSTINCT_ENGINE"] = "off"  # no test leaves an engine behind; those of the engine start their own

    def argv(self, program: str, *words: str) -> list[str]:
        """The command line of one of our programs."""
        return [str(TOP / "bin" / program), *words]

    def exec(
        self, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        """`instinct-exec` with these words."""
        return self._call(self.argv("instinct-exec", *words), stdin, env, timeout)

    def sh(self, text: str, **options: bytes) -> subprocess.CompletedProcess[bytes]:
        """One line of shell text through `instinct-exec`."""
        return self.exec("--", text, **options)  # type: ignore[arg-type]  # only stdin is passed on

    def instinct(
        self, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        """`instinct` with these words."""
        return self._call(self.argv("instinct", *words), stdin, env, timeout)

    def json(self, *words: str) -> object:
        """What an `instinct` call printed, as data."""
        return json.loads(self.instinct(*words).stdout)

    def records(self) -> list[dict[str, object]]:
        """The records of the trail, oldest first."""
        lines = [line for path in sorted((self.state / "audit").glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
        return [json.loads(line) for line in lines]

    def _call(self, argv: list[str], stdin: bytes, env: dict[str, str] | None, timeout: float) -> subprocess.CompletedProcess[bytes]:
        whole = {**self.env, **(env or {})}
        return subprocess.run(argv, input=stdin, capture_output=True, cwd=self.workspace, env=whole, timeout=timeout, check=False)


@pytest.fixture
def programs(workspace: Path, tmp_path: Path) -> Programs:
    """Our programs over a small repository."""
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    state.mkdir()
    (workspace / ".env").write_text("API_KEY=not-a-real-key\n", encoding="utf-8")
    return Programs(workspace, home, state)


@pytest.fixture(scope="session")
def jail_works(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where this machine gives no jail at all; fails instead where INSTINCT_JAIL_MUST_WORK is set."""
    folder = tmp_path_factory.mktemp("probe")
    for name in ("app", "home", "state"):
        (folder / name).mkdir()
    run = Programs(folder / "app", folder / "home", folder / "state").sh("true")
    if run.returncode:
        said = run.stderr.decode(errors="replace")
        if os.environ.get("INSTINCT_JAIL_MUST_WORK"):
            pytest.fail(f"the jail must work here and does not: {said}")
        pytest.skip(f"no jail on this machine: {said}")


@pytest.fixture(scope="module")
def own_mounts() -> None:
    """The world of the cases is made in a mount namespace; skipped where there is none, unless the jail must work here."""
    wrap = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]
    run = subprocess.run([*wrap, "mount", "-t", "tmpfs", "tmpfs", "/srv"], capture_output=True, text=True, check=False)
    if run.returncode:
        if os.environ.get("INSTINCT_JAIL_MUST_WORK"):
            pytest.fail(f"mount namespaces must work here: {run.stderr}")
        pytest.skip(f"no mount namespace for the cases' world: {run.stderr}")
