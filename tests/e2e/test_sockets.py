"""A socket of a program outside, opened to every command by the person's own profile: by path, or by the name `docker`."""

from __future__ import annotations

import shutil
import socket

import pytest

from instinct_shell.wiring import open_guard

CONNECTS = "import socket\nwith socket.socket(socket.AF_UNIX) as s:\n    s.connect(open('where').read().strip())\n    print('connected')\n"


@pytest.fixture
def server(tmp_path):
    """A daemon that listens outside the workspace."""
    folder = tmp_path / "daemon"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "docker.sock"))
        listener.listen()
        yield folder / "docker.sock"


def connected(workspace, path, opened) -> tuple[str, tuple[str, ...]]:
    """What a command printed that tried, and the sockets of its jail."""
    (workspace / "connects.py").write_text(CONNECTS, encoding="utf-8")
    (workspace / "where").write_text(str(path), encoding="utf-8")
    (workspace / "out").unlink(missing_ok=True)
    guard = open_guard(workspace=str(workspace), cwd=str(workspace))
    guard.profile = guard.profile.replace(sockets=opened)
    intent = guard.shell_intent("python3 connects.py > out 2>/dev/null", door="tests")
    judgement = guard.judge(intent)
    assert judgement.verdict.allow
    guard.run(intent)
    spec = guard.confine(judgement)
    guard.close()
    return (workspace / "out").read_text(encoding="utf-8"), spec.sockets


def test_only_what_the_profile_opens_is_reached(workspace, server, tmp_path, monkeypatch, jail_works) -> None:
    if not shutil.which("python3"):
        pytest.skip("not on this machine: python3")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert connected(workspace, server, ()) == ("", ())
    assert connected(workspace, server, (str(server),)) == ("connected\n", (str(server),))
    assert connected(workspace, server, (str(tmp_path / "none"),)) == ("", ())
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(server.parent))
    said, sockets = connected(workspace, server, ("docker",))
    assert said == "connected\n"
    assert str(server) in sockets
