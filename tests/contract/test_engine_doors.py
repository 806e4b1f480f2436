"""The drop-in shell and the hooks with an engine: the same answers as without one, and what is not an engine's business stays the caller's."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import termios
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


@pytest.fixture(params=["by Python", "by C"])
def either(request: pytest.FixtureRequest, engines: Engines) -> Iterator[Engines]:
    """With and without a C launcher in the checkout."""
    folder = engines.top / "bin" / "launcher" / "build"
    if request.param == "by C":
        folder.mkdir()
        engines.build_c_launcher(folder)
        (folder / "instinct-shell").symlink_to("instinct-exec")
    yield engines
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.jail
def test_the_c_launcher_is_in_use_where_it_was_built(either: Engines) -> None:
    """What runs beside the command is the launcher: its program is the one that was started."""
    either.start()
    built = (either.top / "bin" / "launcher" / "build").exists()
    with subprocess.Popen(
        [str(either.home.parent / "data" / "shell" / "bash"), "-c", "echo up; read x"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=either.workspace, env=either.env,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == b"up\n"
        program = os.path.basename(os.readlink(f"/proc/{running.pid}/exe"))
        running.communicate(b"\n", timeout=60)
    assert (program == "instinct-exec") is built


@pytest.mark.jail
@pytest.mark.parametrize("words", CALLS.values(), ids=CALLS.keys())
def test_a_shell_answers_the_same(either: Engines, words: list[str]) -> None:
    engines = either
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


def asked_oddly(engines: Engines, how: str, **env: str) -> tuple[int, bytes, bytes]:
    """A hook on `rm -rf ~` whose input or output is not as agents have it."""
    given = hook_clients.inputs("claude", "rm -rf ~", str(engines.workspace))
    if how == "much":
        given["filler"] = "x" * (2 << 20)
    raw = b"no json" if how == "no json" else json.dumps(given).encode()
    argv = [str(engines.home.parent / "data" / "bin" / "instinct-hook"), "--agent", "claude", "pre"]
    if how == "stdout is closed":
        argv = ["sh", "-c", 'exec "$@" >&-', "sh", *argv]
    reader, writer = os.pipe()
    with subprocess.Popen(argv, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**engines.env, **env}) as running:
        with open(writer, "wb", buffering=0) as pipe:
            if how == "in halves":
                pipe.write(raw[:20])
                deadline = time.monotonic() + 30
                while any(fcntl.ioctl(reader, termios.FIONREAD, bytes(4))):  # until it has been taken
                    assert time.monotonic() < deadline
                raw = raw[20:]
            os.close(reader)
            while raw:
                raw = raw[pipe.write(raw) :]
        out, err = running.communicate(timeout=60)
        return running.returncode, out, err


@pytest.mark.parametrize("how", ["in halves", "much", "no json", "stdout is closed"])
def test_a_hook_answers_the_same_however_it_is_asked(engines: Engines, how: str) -> None:
    without = asked_oddly(engines, how, INSTINCT_ENGINE="off")
    assert without[0] == 2
    engines.start()
    assert asked_oddly(engines, how) == without


def test_a_hook_without_an_engine_starts_one(engines: Engines) -> None:
    assert hook(engines, "claude", "rm -rf ~")[0] == 2
    deadline = time.monotonic() + 30
    while not engines.running():
        assert time.monotonic() < deadline
    assert hook(engines, "claude", "rm -rf ~")[0] == 2
