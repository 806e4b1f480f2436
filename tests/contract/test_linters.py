"""The project's own linters as a fact: only what is new counts, and a configuration that is a program reaches neither network nor disk."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import sys
import threading
import time
from pathlib import Path

import pytest
from jail_harness import cannot, gone, processes_with

from instinct_shell.execution.jail.probe import probe
from instinct_shell.execution.linters import in_jail, new_findings
from instinct_shell.model.jailspec import JailSpec

TOP = Path(__file__).parents[2]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty one."""
    found = tmp_path / "app"
    found.mkdir()
    return found


@pytest.fixture(autouse=True)
def _jail() -> None:
    if str(probe().level) != "full":
        cannot(f"no full jail here, so no linter runs: {probe().obstacle}")


def program(workspace: Path, place: str, text: str) -> Path:
    path = workspace / place
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def findings(workspace: Path, name: str, before: str, after: str, masked: tuple[str, ...] = ()) -> tuple[str, list[str], str]:
    return new_findings(str(workspace / name), before, after, str(workspace), lambda _: True, lambda: masked)


def test_a_linter_ends_with_who_asked_for_it(workspace: Path) -> None:
    """Killed while it waits: nobody wants the answer any more."""
    marker = f"83{os.getpid()}.{time.monotonic_ns() % 10**6}"
    spec = JailSpec(str(workspace), str(workspace), argv=("/bin/bash", "-c", f"setsid sleep {marker} & exec sleep {marker}"), env=())
    asker = os.fork()
    if asker == 0:
        try:
            in_jail(spec, b"", time.monotonic() + 60)
        finally:
            os._exit(0)
    try:
        deadline = time.monotonic() + 20
        while len(processes_with(f"sleep\0{marker}")) < 2:
            assert time.monotonic() < deadline
    finally:
        os.kill(asker, signal.SIGKILL)
        os.waitpid(asker, 0)
    assert gone(f"sleep\0{marker}")


@pytest.fixture
def ruff(workspace: Path) -> Path:
    """The project's own ruff, in its venv."""
    found = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("ruff is not installed beside this interpreter")
    place = workspace / ".venv/bin/ruff"
    place.parent.mkdir(parents=True)
    shutil.copy(found, place)
    (workspace / "ruff.toml").write_text('[lint]\nselect = ["F"]\n', encoding="utf-8")
    return place


@pytest.mark.jail
def test_only_new_findings_count(workspace: Path, ruff: Path) -> None:
    old = "import os\n"
    assert findings(workspace, "a.py", old, "import os\nx = 1\n") == ("ruff", [], "")
    tool, new, why = findings(workspace, "a.py", old, "import os\nimport sys\nprint(nowhere)\n")
    assert (tool, why) == ("ruff", "")
    assert [message.partition(" `")[0] for message in new] == ["line 2: F401 [*]", "line 3: F821 Undefined name"]
    assert sorted(path.name for path in workspace.iterdir()) == [".venv", "ruff.toml"], "a linter wrote something"


@pytest.mark.jail
def test_it_is_the_projects_own(workspace: Path, ruff: Path) -> None:
    (workspace / "ruff.toml").unlink()
    assert findings(workspace, "a.py", "", "import os\n") == ("", [], ""), "nobody configured it"
    (workspace / "pyproject.toml").write_text("[tool.ruff.lint]\nselect = ['F']\n", encoding="utf-8")
    assert findings(workspace, "pkg/a.py", "", "import os\n")[1]
    assert findings(workspace, "a.txt", "", "import os\n") == ("", [], "")
    assert new_findings(str(workspace / "a.py"), None, "x", str(workspace), lambda _: True, lambda: ()) == ("", [], "")


HOSTILE = """\
#!{python}
import json, os, socket, sys
said = []
for path in ({workspace!r} + "/stolen", os.path.expanduser("~/x"), {workspace!r} + "/eslint.config.js"):
    try:
        with open(path, "w") as file:
            file.write("x")
        said.append("wrote " + path)
    except OSError:
        pass
for family, address in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_UNIX, {unix!r})):
    try:
        with socket.socket(family) as one:
            one.settimeout(0.5)
            one.connect(address)
            said.append("reached " + repr(address))
    except OSError:
        pass
for secret in ({workspace!r} + "/.env",):
    try:
        said += ["read the secret"] if "geheim" in open(secret).read() else []
    except OSError:
        pass
open("/tmp/instinct-linter-was-here", "w").close()  # its own /tmp, gone with it
try:
    os.kill({pid}, 0)
    said.append("sees us")
except OSError:
    pass
text = sys.stdin.read()
said += ["line too long"] if "long" in text else []
print(json.dumps([{{"messages": [{{"line": 1, "ruleId": "x", "message": word}} for word in said]}}]))
"""


@pytest.mark.jail
def test_a_configuration_that_runs_code_reaches_nothing(workspace: Path) -> None:
    (workspace / "eslint.config.js").write_text("export default []\n", encoding="utf-8")
    (workspace / ".env").write_text("TOKEN=geheim-1234\n", encoding="utf-8")
    unix_path = str(workspace / "socket")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(unix_path)
        local.listen()
        reached = threading.Event()

        def listen() -> None:
            try:
                server.accept()
                reached.set()
            except OSError:
                pass  # closed: nobody came

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        text = HOSTILE.format(
            python=os.path.realpath(sys.executable), workspace=str(workspace), port=server.getsockname()[1], unix=unix_path, pid=os.getpid()
        )
        program(workspace, "node_modules/.bin/eslint", text)
        found = findings(workspace, "a.js", "", "long();\n", (str(workspace / ".env"),))
        assert found == ("eslint", ["line 1: x line too long"], "")
        assert not reached.is_set()
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert not (workspace / "stolen").exists()
    assert not Path("/tmp/instinct-linter-was-here").exists()
    assert (workspace / "eslint.config.js").read_text(encoding="utf-8") == "export default []\n"


@pytest.mark.jail
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("import time; time.sleep(60)", "time is up"),
        ("import sys; sys.exit(3)", "eslint ended with status 3"),
        ("print('rubbish')", "its answer cannot be read"),
        ("print('{}')", "its answer cannot be read"),
        ("import os, sys\nif os.fork() == 0: import time; time.sleep(60)\nprint('[{\"messages\": []}]', flush=True)", ""),
    ],
    ids=["hangs", "fails", "talks", "another shape", "leaves a child behind"],
)
def test_no_answer_is_an_answer(workspace: Path, body: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from instinct_shell.execution import linters

    monkeypatch.setattr(linters, "SECONDS", 1.5)
    (workspace / "eslint.config.js").touch()
    program(workspace, "node_modules/.bin/eslint", f"#!{os.path.realpath(sys.executable)}\n{body}\n")
    tool, new, said = findings(workspace, "a.js", "", "x\n")
    assert (tool, new) == ("eslint", [])
    assert said in {why, "time is up"} if not why else said == why


@pytest.mark.jail
def test_a_finding_is_said_in_dev_and_asked_above(workspace: Path, ruff: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from instinct_shell.wiring import open_guard

    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for profile, decision in (("dev", "allow"), ("staging", "ask")):
        guard = open_guard(workspace=str(workspace), cwd=str(workspace), profile=profile)
        line = {"type": "file_write", "target": "a.py", "content": "print(nowhere)\n"}
        verdict = guard.check(guard.intent_from(line, door="check")).verdict
        assert verdict.decision.word == decision
        assert any("ruff finds in `a.py`" in finding.reason for finding in verdict.findings if finding.instinct == "linter")
    assert stat.S_ISDIR((workspace / ".venv").stat().st_mode)
