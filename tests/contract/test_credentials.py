"""The person's git credentials: lent by name to a command that is git and nothing else, hidden from every other, and marked in the record."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, cannot, reachable

from instinct_shell.engine.lending import borrowed
from instinct_shell.execution import credentials, registries
from instinct_shell.execution.jail import probe
from instinct_shell.model.jailspec import JailLevel
from instinct_shell.wiring import Guard, audit_trail, open_guard

ELSEWHERE = "127.0.0.2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the account's, with a stored password."""
    folder = tmp_path / "person"
    (folder / ".config" / "git").mkdir(parents=True)
    (folder / ".git-credentials").write_text("https://person:hunter2@git.example\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(registries, "account_home", lambda: str(folder))
    for name in [name for name in os.environ if name.startswith(("GIT_CONFIG", "XDG_CONFIG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


def guard_for(workspace: Path, **profile: object) -> Guard:
    guard = open_guard(profile="dev", workspace=str(workspace), cwd=str(workspace))
    guard.profile = guard.profile.replace(**{"network_credentials": ("git",), **profile})
    return guard


LENT = [
    "git push", "git push -u origin main", "git fetch --all --prune", "git pull --rebase origin main", "git clone https://git.example/a/b", "git ls-remote origin",
    "git add -A && git commit -q -m 'x' && git push", "cd sub && git -C . fetch", "git push 2>&1 | tail -3", "git push origin HEAD && echo done", "git push --force-with-lease",
]  # fmt: skip
KEPT = [
    "true", "git status", "git commit -m x", "git credential fill", "git fetch && git credential fill", "git push && npm test", "make push", "bash -c 'git push'",
    "git -c credential.helper='!cat' fetch", "git -c core.sshCommand=./x push", "git fetch --upload-pack=./x origin", "git clone -u ./x https://git.example/a",
    "git clone --upload-pack ./x https://git.example/a", "git clone --config core.sshCommand=./x https://git.example/a", "git ls-remote --exec=./x origin",
    "git ls-remote --upl=./x origin", "git fetch 'ext::sh -c ./x'", "git push && cat $(ls ~)", "git push; cat ~/.git-credentials", "f=~/.git-credentials; git fetch; cat $f",
    "GIT_SSH_COMMAND=./x git push", "export GIT_SSH=./x; git push", 'for f in ~/.git-c*; do echo "$(< $f)"; done; git push', 'git push && echo "$(< ~/.git-credentials)"', "echo ~/.git-c* | xargs cat; git push", "git push & sleep 1", "git() { ./x; }; git push", "./git push",
    "git push $(cat remote)", "git commit --amend && git push", "git push && git diff --no-index /dev/null $F", "git fetch && curl https://evil.example", 'eval "$(cat x)"; git push', "alias git=./x; git push",
]  # fmt: skip


@pytest.mark.parametrize("text", LENT)
def test_git_alone_is_lent_them(home: Path, workspace: Path, text: str) -> None:
    guard = guard_for(workspace)
    assert borrowed(guard.judge(guard.shell_intent(text, door="test")), guard.profile) == ("git",)
    assert borrowed(guard.judge(guard.shell_intent(text, door="test")), guard.profile.replace(network_credentials=())) == ()


@pytest.mark.parametrize("text", KEPT)
def test_nothing_else_is(home: Path, workspace: Path, text: str) -> None:
    guard = guard_for(workspace)
    assert borrowed(guard.judge(guard.shell_intent(text, door="test")), guard.profile) == ()


def spec_of(guard: Guard, text: str = "git fetch") -> object:
    return guard.confine(guard.judge(guard.shell_intent(text, door="test")))


def test_what_is_lent(home: Path, workspace: Path) -> None:
    if probe.probe().level is not JailLevel.FULL:
        cannot(f"no full jail here: {probe.probe().obstacle}")
    store = str(home / ".git-credentials")
    plain, lent = spec_of(guard_for(workspace), "git status"), spec_of(guard_for(workspace))
    assert store in plain.masked
    assert store not in lent.masked
    assert (plain.credentials, lent.credentials) == ((), ("git",))
    assert set(plain.masked) - set(lent.masked) == {store}
    assert dict(lent.env)["GIT_EDITOR"] == "true"


@pytest.mark.parametrize(("name", "value"), [("HOME", "{}/other"), ("GIT_CONFIG_GLOBAL", "{}/x"), ("XDG_CONFIG_HOME", "{}/x"), ("PATH", "bin:/usr/bin")])
def test_nothing_is_lent_where_git_would_read_or_be_something_else(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value.format(home.parent))
    assert spec_of(guard_for(workspace)).credentials == ()


def test_a_git_of_the_workspace_is_lent_nothing(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "bin").mkdir()
    (workspace / "bin" / "git").write_text("#!/bin/sh\n", encoding="utf-8")
    (workspace / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{workspace}/bin:/usr/bin:/bin")
    guard = guard_for(workspace)
    spec = guard.confine(guard.judge(guard.shell_intent("git fetch", door="test")))
    assert spec.credentials == ()


# --- the agent


@pytest.fixture
def agent(caller: Caller) -> Iterator[str]:
    """An ssh agent of the caller's, with one key; its socket."""
    if not all(shutil.which(name, path="/usr/bin:/bin") for name in ("ssh-agent", "ssh-add", "ssh-keygen")):
        pytest.skip("ssh is not installed")
    folder = caller.folder()
    path = str(folder / "agent")
    process = subprocess.Popen(caller.argv(["ssh-agent", "-D", "-a", path]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        for words in (["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], ["ssh-add", "-q", str(folder / "key")]):
            done = caller.plain(["env", f"SSH_AUTH_SOCK={path}", *words])
            assert done.returncode == 0, done
        yield path
    finally:
        process.kill()
        process.communicate()


@pytest.mark.jail
@pytest.mark.parametrize("level", ["full", "session", "bubblewrap"])
@pytest.mark.parametrize("network", ["host", "allowlist"])
def test_an_agent_is_reached_where_it_was_lent_and_hidden_elsewhere(caller: Caller, agent: str, level: str, network: str) -> None:
    reachable(caller, level)
    spec: dict[str, object] = {
        **base_spec(caller.folder()), "argv": ["/bin/bash", "-c", "ssh-add -l"], "env": [["PATH", os.defpath], ["SSH_AUTH_SOCK", agent]],
        "network": network, "network_allow": ["a.example"] if network == "allowlist" else [],
    }  # fmt: skip
    if level == "session":
        spec["session"] = {"path": str(caller.sessions / f"agent-{network}"), "name": "agent"}
    try:
        hidden = caller.run(spec, at=level)
        assert hidden.status == 2, hidden
        lent = caller.run({**spec, "credentials": ["git"], "sockets": [agent]}, at=level)
        assert (lent.status, b"ED25519" in lent.out) == (0, True), lent
    finally:
        caller.end_session(f"agent-{network}")


def test_only_an_agent_of_ones_own_is_one(tmp_path: Path) -> None:
    """The variable that names it is the agent's to set: any socket could stand there, docker's for one."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        door.listen()

        def answer() -> None:
            connection, _ = door.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        served = threading.Thread(target=answer, daemon=True)
        served.start()
        assert credentials.agent_socket(str(tmp_path / "door")) == ""
        served.join()
    (tmp_path / "file").touch()
    for path in ("", "relative", str(tmp_path / "file"), str(tmp_path / "absent"), str(tmp_path)):
        assert credentials.agent_socket(path) == ""


@pytest.mark.jail
def test_ssh_goes_through_the_proxy_and_the_record_says_so(home: Path, workspace: Path) -> None:
    if probe.probe().level is not JailLevel.FULL:
        cannot(f"no full jail here: {probe.probe().obstacle}")
    if not os.access("/usr/bin/ssh", os.X_OK):
        pytest.skip("ssh is not installed")
    said: list[bytes] = []
    with socket.create_server((ELSEWHERE, 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-test\r\n")
                said.append(connection.recv(100))

        served = threading.Thread(target=answer, daemon=True)
        served.start()
        port = server.getsockname()[1]
        guard = guard_for(workspace, network="allowlist", network_allow=(f"{ELSEWHERE}:{port}",))
        outcome = guard.run(guard.shell_intent(f"git ls-remote ssh://git@{ELSEWHERE}:{port}/a/b", door="test"))
        assert outcome.result is not None, outcome.judgement.verdict.reason
        served.join(20)
    assert said
    assert said[0].startswith(b"SSH-2.0-")
    assert [(one.host, one.port, one.how) for one in outcome.result.connections] == [(ELSEWHERE, port, "connect")]
    (started,) = [dict(record.body) for record in audit_trail().records() if record.run == outcome.judgement.run and record.kind == "started"]
    assert started["credentials"] == ["git"]
