"""`instinct install`, `uninstall`, `pending`, `approve` and `deny` as a person meets them; and that nobody inside a jail is that person."""

from __future__ import annotations

import io
import json
import os
import subprocess
import time
from pathlib import Path

import hook_clients
import pytest
from shell_harness import Shell, needs_jail

from instinct_shell.frontends.cli.main import main
from instinct_shell.storage.grants import GrantBook
from instinct_shell.wiring import audit_trail, state_dir


@pytest.fixture
def home(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home. The profile is one that does not let commands write in /tmp, where the tests' folders lie."""
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("INSTINCT_PROFILE", "staging")
    monkeypatch.chdir(workspace)
    return found


def test_a_dry_run_shows_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "claude", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "+++ " in said.out
    assert "instinct-hook --agent claude --shell-held pre" in said.out
    assert "jail: level " in said.err
    assert "not covered: " in said.err
    assert not list(home.iterdir())


def test_install_works_and_uninstall_leaves_nothing(home: Path, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "gemini"]) == 0
    assert main(["install", "gemini"]) == 0
    capsys.readouterr()
    configured = json.loads((home / ".gemini" / "settings.json").read_text(encoding="utf-8"))
    ((entry,),) = [configured["hooks"]["BeforeTool"]]
    call = entry["hooks"][0]["command"]
    data = hook_clients.inputs("gemini", "rm -rf ~", str(workspace))
    done = subprocess.run(["sh", "-c", call], input=json.dumps(data).encode(), capture_output=True, check=False)
    assert hook_clients.gemini(done.returncode, done.stdout.decode(), done.stderr.decode())[0] == "blocked"
    assert main(["uninstall", "gemini"]) == 0
    assert "removed" in capsys.readouterr().out
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not (home / ".local" / "share" / "instinct-shell").exists()


@pytest.mark.parametrize("variable", ["HOME", "XDG_STATE_HOME", "INSTINCT_STATE"])
def test_a_caller_cannot_choose_other_books(home: Path, workspace: Path, tmp_path: Path, variable: str) -> None:
    assert main(["install", "gemini"]) == 0
    before = sum(str(record.kind) == "judged" for record in audit_trail().records())
    configured = json.loads((home / ".gemini" / "settings.json").read_text(encoding="utf-8"))
    call = configured["hooks"]["BeforeTool"][0]["hooks"][0]["command"]
    data = hook_clients.inputs("gemini", "rm -rf ~", str(workspace))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {**os.environ, variable: str(elsewhere)}
    done = subprocess.run(["sh", "-c", call], input=json.dumps(data).encode(), capture_output=True, check=False, env=env)
    assert hook_clients.gemini(done.returncode, done.stdout.decode(), done.stderr.decode())[0] == "blocked"
    assert sum(str(record.kind) == "judged" for record in audit_trail().records()) == before + 1
    assert list(elsewhere.rglob("*")) == []


def test_a_project_installation_stays_in_the_project(home: Path, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "cursor", "--project", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["files"] == [{"path": str(workspace / ".cursor" / "hooks.json"), "changed": True}]
    hooks = json.loads((workspace / ".cursor" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert all(entry["failClosed"] for entries in hooks.values() for entry in entries)
    assert main(["uninstall", "cursor", "--json"]) == 0
    assert not (workspace / ".cursor").exists()


def test_our_programs_stay_until_the_last_agent_goes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in ("claude", "qwen"):
        assert main(["install", agent]) == 0
    hook = home / ".local" / "share" / "instinct-shell" / "bin" / "instinct-hook"
    assert main(["uninstall", "claude"]) == 0
    assert hook.exists()
    assert main(["uninstall", "qwen"]) == 0
    assert not hook.exists()
    assert main(["uninstall", "qwen"]) == 0
    assert "is not installed" in capsys.readouterr().err


def test_programs_are_not_put_where_commands_may_write(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/tmp/somewhere")
    monkeypatch.delenv("INSTINCT_PROFILE")
    assert main(["install", "claude"]) == 2
    assert "commands may write" in capsys.readouterr().err


@pytest.fixture
def asked(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a request that an agent's hook left behind."""
    from instinct_shell.frontends.hooks.judging import HookOptions, answer
    from instinct_shell.frontends.hooks.protocol import Moment
    from instinct_shell.frontends.hooks.registry import dialect

    monkeypatch.delenv("INSTINCT_PROFILE")
    book = GrantBook(state_dir())
    book.set_passphrase("correct horse")
    answer(dialect("codex"), hook_clients.inputs("codex", "git branch -D feature", str(workspace)), HookOptions("codex", Moment.BEFORE))
    return book.pending(time.time())[0].id


def say(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(words + "\n"))


def test_pending_approve_and_the_record_of_it(asked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pending", "--json"]) == 0
    (shown,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert shown["id"] == asked
    assert "feature" in shown["summary"]
    say("wrong horse", monkeypatch)
    assert main(["approve", asked]) != 0
    assert "not the passphrase" in capsys.readouterr().err
    say("correct horse", monkeypatch)
    assert main(["approve", asked.lower()]) == 0
    assert "may run once" in capsys.readouterr().out
    (grant,) = GrantBook(state_dir()).live(time.time())
    answers = [record.get("answer") for record in audit_trail().records() if str(record.kind) == "granted"]
    assert answers == ["approved"]
    assert grant.id == asked
    assert main(["pending"]) == 0
    assert "nothing waits" in capsys.readouterr().err


def test_deny_takes_it_off_the_list(asked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deny", asked]) == 0
    assert main(["deny", asked]) != 0
    assert "there is no request" in capsys.readouterr().err
    say("correct horse", monkeypatch)
    assert main(["approve", asked]) != 0


@pytest.mark.jail
@pytest.mark.parametrize("verb", ["approve ABCD", "deny ABCD", "pending", "install claude", "uninstall claude"])
def test_inside_a_jail_nobody_is_that_person(verb: str, tmp_path: Path, workspace: Path) -> None:
    shell = Shell(tmp_path, workspace)
    needs_jail(shell)
    # Judged as a command it is refused already; here the program itself is asked, by words that nobody could read before.
    (workspace / "words.json").write_text(json.dumps([str(shell.data / "bin" / "instinct"), *verb.split()]), encoding="utf-8")
    (workspace / "tool.py").write_text("import json, subprocess, sys\nsys.exit(subprocess.run(json.load(open('words.json'))).returncode)\n", encoding="utf-8")
    done = shell.run("-c", "python3 tool.py", given=b"correct horse\n")
    assert done.returncode not in (0, 2)
    assert b"from inside a jail" in done.stderr
