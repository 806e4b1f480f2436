"""The drop-in shell and the hooks with an engine: the same answers as without one, and what is not an engine's business stays the caller's."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import hook_clients
import pytest
from engines import Engines, copied_checkout, own_engines

from instinct_shell.frontends.install import launchers

AGENTS = tuple(hook_clients.AGENTS)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the programs: an engine ends when its own files change, and somebody may be at work on these."""
    return copied_checkout(tmp_path_factory.mktemp("engine"))


@pytest.fixture
def engines(checkout: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    """Engines, and launchers of an installation that belong to the same programs."""
    packages = launchers._import_path()[0]
    monkeypatch.setattr(launchers, "_import_path", lambda: [packages, str(checkout)])
    launchers.write(str(tmp_path / "data"))
    for made in own_engines(workspace, tmp_path, checkout):
        yield made
        made.program("instinct", "engine", "stop")  # also one that an installed launcher started


def shell(engines: Engines, *words: str, given: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    data = engines.home.parent / "data"
    argv = [str(data / "shell" / "bash"), *words]
    return subprocess.run(
        argv, input=given, capture_output=True, cwd=engines.workspace, env={**engines.env, **env}, check=False, timeout=60
    )


def hook(engines: Engines, agent: str, command: str, **env: str) -> tuple[int, bytes, bytes]:
    raw = json.dumps(hook_clients.inputs(agent, command, str(engines.workspace))).encode()
    argv = [str(engines.home.parent / "data" / "bin" / "instinct-hook"), "--agent", agent, "pre"]
    done = subprocess.run(argv, input=raw, capture_output=True, env={**engines.env, **env}, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


CALLS = {
    "output, arguments, status": ["-c", 'echo "$0" "$1"; echo err >&2; exit 7', "name", "one"],
    "set up by options": ["-euo", "pipefail", "-c", "echo $-; false | true; echo no"],
    "denied": ["-c", "rm -rf ~"],
    "no such option": ["-Z", "-c", "true"],
    "version": ["--version"],
    "stdin": [],
    "a script": ["script.sh", "one"],
    "a syntax error": ["-c", "if then"],
}


@pytest.mark.jail
@pytest.mark.parametrize("words", CALLS.values(), ids=CALLS.keys())
def test_a_shell_answers_the_same(engines: Engines, words: list[str]) -> None:
    (engines.workspace / "script.sh").write_text('echo "$0" "$1"\n', encoding="utf-8")
    given = b"cd /; pwd\n" if not words else b""
    without = shell(engines, *words, given=given, INSTINCT_ENGINE="off")
    engines.start()
    found = shell(engines, *words, given=given)
    assert (found.returncode, found.stdout, found.stderr) == (without.returncode, without.stdout, without.stderr)


@pytest.mark.jail
def test_the_signal_that_ended_a_command_ends_the_shell(engines: Engines) -> None:
    engines.start()
    assert shell(engines, "-c", "kill -TERM $$").returncode == -15


@pytest.mark.jail
def test_the_trackers_of_an_agent_work(engines: Engines, tmp_path: Path) -> None:
    engines.start()
    tracker = Path(f"/tmp/claude-{os.urandom(4).hex()}-cwd")  # the agent's choice of place
    (engines.workspace / "sub").mkdir()
    text = f"eval 'cd sub' < /dev/null && pwd -P >| {tracker}"
    try:
        assert shell(engines, "-c", text, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s-1", INSTINCT_PROFILE="staging").returncode == 0
        assert tracker.read_text(encoding="utf-8") == f"{engines.workspace / 'sub'}\n"
    finally:
        tracker.unlink(missing_ok=True)
    judged = [dict(record["body"]) for record in engines.records() if record["kind"] == "judged"]
    assert [body["intent"]["content"] for body in judged] == ["cd sub"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_hook_answers_the_same(engines: Engines, agent: str) -> None:
    commands = ("git status", "rm -rf ~", "git clean -fd", "if then")
    without = [hook(engines, agent, command, INSTINCT_ENGINE="off") for command in commands]
    engines.start()
    before = len(engines.records())
    assert [hook(engines, agent, command) for command in commands] == without
    assert len(engines.records()) - before == len(commands)


def test_a_hook_without_an_engine_starts_one(engines: Engines) -> None:
    assert hook(engines, "claude", "rm -rf ~")[0] == 2
    deadline = time.monotonic() + 30
    while not engines.running():
        assert time.monotonic() < deadline
    assert hook(engines, "claude", "rm -rf ~")[0] == 2
