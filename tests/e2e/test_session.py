"""A session: its workspace stays, wherever the agent goes; elsewhere it reads."""

from __future__ import annotations

import shutil
import socket
import subprocess

import pytest


@pytest.mark.jail
@pytest.mark.usefixtures("jail_works")
def test_a_later_cd_reads_and_never_writes(programs) -> None:
    other = programs.home / "other"
    other.mkdir()
    (other / "note.txt").write_text("hello\n", encoding="utf-8")
    assert programs.exec("--session", "s1", "--", "echo a > build.txt").returncode == 0
    read = programs.argv("instinct-exec", "--session", "s1", "--", "cat note.txt")
    run = subprocess.run(read, cwd=other, env=programs.env, capture_output=True, check=False)
    assert (run.stdout, run.returncode) == (b"hello\n", 0)
    write = programs.argv("instinct-exec", "--session", "s1", "--", "echo b > note.txt")
    run = subprocess.run(write, cwd="/usr", env=programs.env, capture_output=True, check=False)
    assert run.returncode == 126


def test_another_workspace_for_the_same_session_is_refused(programs, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert programs.instinct("check", "--session", "s1", "-c", "ls").returncode == 0
    run = programs.instinct("check", "--session", "s1", "--workspace", str(tmp_path / "elsewhere"), "-c", "ls")
    assert run.returncode == 125
    assert b"keeps its workspace" in run.stderr


SERVER = """
const fs = require('fs')
let page = fs.readFileSync('page.txt', 'utf8')
fs.watch('.', (_, name) => { if (name === 'page.txt') page = fs.readFileSync('page.txt', 'utf8') })
require('http').createServer((_, answer) => answer.end(page)).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('up'))
"""


@pytest.mark.jail
@pytest.mark.usefixtures("jail_works")
@pytest.mark.skipif(shutil.which("node") is None or shutil.which("curl") is None, reason="needs node and curl")
def test_a_dev_server_of_one_command_is_used_and_ended_by_the_next(programs) -> None:
    """It sees an edit that the host made meanwhile, as hot reload needs."""

    def run(text: str) -> bytes:
        done = programs.exec("--session", "dev", "--", text)
        assert (done.returncode, done.stderr) == (0, b""), (text, done)
        return bytes(done.stdout)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (programs.workspace / "server.js").write_text(SERVER, encoding="utf-8")
    page = programs.workspace / "page.txt"
    page.write_text("first", encoding="utf-8")
    run(f"nohup node server.js {port} >build.log 2>&1 & until grep -q up build.log; do sleep 0.05; done")
    fetch = f"curl -s http://127.0.0.1:{port}/"
    assert run(fetch) == b"first"
    page.write_text("second", encoding="utf-8")
    assert run(f"until {fetch} | grep second; do sleep 0.05; done") == b"second\n"
    run(f"pkill -f '[s]erver.js {port}'; while {fetch}; do sleep 0.05; done")
    assert programs.exec("--session", "dev", "--", fetch).returncode == 7, "curl: nobody listens any more"
    assert programs.instinct("session", "end").returncode == 0
