"""Every hook call that was recorded from a real agent, and every row of the table of what agents do with answers."""

from __future__ import annotations

import json
from pathlib import Path

import hook_clients
import pytest

from instinct_shell.engine.replay import replay, same
from instinct_shell.frontends.hooks.judging import HookOptions, answer
from instinct_shell.frontends.hooks.protocol import MOMENTS, Answer, Moment
from instinct_shell.frontends.hooks.registry import AGENTS, dialect
from instinct_shell.frontends.rewriting import original
from instinct_shell.model.record import RecordKind
from instinct_shell.storage.grants import GrantBook
from instinct_shell.wiring import audit_trail, open_guard, state_dir

CASES = Path(__file__).resolve().parent.parent / "cases" / "client-hook-calls.jsonl"
RECORDED = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
NAMES = {"claude-code": "claude", "codex": "codex", "copilot": "copilot", "gemini-cli": "gemini", "opencode": "opencode", "qwen-code": "qwen"}
EXEC = "/opt/instinct/bin/instinct-exec"
HARMFUL = "rm -rf ~"
ASKED = "git branch -D feature"
HARMLESS = "git status"


def agent_of(row: dict[str, object]) -> str:
    return NAMES[str(row["client"]).split(" ")[0]]


def at_home(row: dict[str, object], workspace: Path, tmp_path: Path) -> dict[str, object]:
    """The recorded input, moved into this test's own folders."""
    text = json.dumps(row["stdin"]).replace("/srv/work/app/sub", str(workspace)).replace("/srv/work/app", str(workspace))
    found: dict[str, object] = json.loads(text.replace("/home/dev", str(tmp_path / "home")))
    return found


def moment_of(row: dict[str, object]) -> Moment:
    (registered,) = row["registered_as"]  # type: ignore[misc]  # always one
    return MOMENTS[{"before": "pre"}.get(registered, registered)]


def ask(agent: str, data: dict[str, object], moment: Moment = Moment.BEFORE, **options: object) -> Answer:
    return answer(dialect(agent), data, HookOptions(agent, moment, **options))  # type: ignore[arg-type]  # options by name


def seen(agent: str, said: Answer, data: dict[str, object]) -> hook_clients.Seen:
    client = hook_clients.copilot_flat if agent == "copilot" and "toolName" in data else hook_clients.AGENTS[agent]
    return client(said.status, said.stdout, said.stderr)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    return found


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{agent_of(row)}-{row['registered_as'][0]}")
def test_each_recorded_call_is_read_and_passes(row: dict[str, object], workspace: Path, tmp_path: Path, home: Path) -> None:
    agent, moment, data = agent_of(row), moment_of(row), at_home(row, workspace, tmp_path)
    given = data.get("tool_input") or {}
    said = ask(agent, data, moment)
    if moment is Moment.BEFORE and isinstance(given, dict) and str(given.get("file_path", "")).startswith("/opt/"):
        assert seen(agent, said, data)[0] == "blocked", "a write outside the workspace asks, and this agent shows no question"
        return
    assert said.status == 0
    assert said.stderr == ""
    if moment is Moment.BEFORE:
        assert seen(agent, said, data) == ("ran", "")


@pytest.mark.parametrize("row", [row for row in RECORDED if moment_of(row) is Moment.BEFORE], ids=agent_of)
def test_the_same_call_with_harm_in_it_is_blocked_with_reason_and_alternative(
    row: dict[str, object], workspace: Path, tmp_path: Path, home: Path
) -> None:
    agent, data = agent_of(row), at_home(row, workspace, tmp_path)
    given = data.get("tool_input") or data.get("toolArgs") or data.get("args")
    assert isinstance(given, dict)
    if "command" in given and "*** Begin Patch" not in str(given["command"]):
        given["command"] = HARMFUL
    elif "command" in given:
        given["command"] = str(given["command"]).replace("File: ", "File: .env.").replace(".txt", "")
    else:
        given[next(name for name in ("file_path", "path") if name in given)] = str(workspace / ".env")
    outcome, reason = seen(agent, ask(agent, data), data)
    assert outcome == "blocked"
    assert reason.startswith("instinct: denied by ")


@pytest.mark.parametrize("agent", AGENTS)
def test_harmful_is_blocked_and_the_model_reads_why_and_what_instead(agent: str, workspace: Path, home: Path) -> None:
    data = hook_clients.inputs(agent, HARMFUL, str(workspace))
    outcome, reason = seen(agent, ask(agent, data), data)
    assert outcome == "blocked"
    assert "deletes the home directory" in reason
    assert "instead: " in reason


@pytest.mark.parametrize("agent", AGENTS)
def test_harmless_runs(agent: str, workspace: Path, home: Path) -> None:
    data = hook_clients.inputs(agent, HARMLESS, str(workspace))
    assert seen(agent, ask(agent, data), data) == ("ran", "")


MCP_HARM = [
    ("mcp__shell__run", {"command": "rm -rf ~"}),
    ("mcp__shell__run", {"command": "rm -rf .", "cwd": "~"}),
    ("mcp__shell__batch", {"calls": [{"command": "exit"}, {"command": "rm -rf ~"}]}),
    ("mcp__shell__run", {"command": "rm -rf ~\nit's"}),
    ("mcp__postgres__query", {"sql": "DROP TABLE users;"}),
    ("mcp__postgres__query", {"query": "DELETE FROM users"}),
    ("mcp__postgres__query", {"query": "UPDATE users SET admin = true"}),
    ("mcp__db__execute_sql", {"sql": "DROP DATABASE prod"}),
    ("mcp__filesystem__write_file", {"path": "/etc/profile", "content": "x"}),
    ("mcp__filesystem__read_file", {"path": ".env"}),
    ("mcp__filesystem__move_file", {"source": "a", "destination": "/etc/profile"}),
    ("mcp__filesystem__delete_file", {"path": "/etc/profile"}),
    ("mcp__web__fetch", {"url": "file:///etc/shadow"}),
]
MCP_HARMLESS = [
    ("mcp__shell__run", {"command": "git status"}),
    ("mcp__postgres__query", {"sql": "SELECT * FROM users"}),
    ("mcp__postgres__query", {"query": "SELECT name FROM users WHERE id = 3"}),
    ("mcp__web__search", {"query": "drop table users"}),
    ("mcp__web__fetch", {"url": "https://example.org/"}),
    ("mcp__filesystem__write_file", {"path": "src/a.txt", "content": "x"}),
    ("mcp__filesystem__read_file", {"path": "README.md"}),
    ("mcp__filesystem__list_directory", {"path": "."}),
    ("mcp__linear__create_issue", {"title": "rm -rf ~"}),
]


def mcp_call(tool: str, given: object, workspace: Path) -> dict[str, object]:
    common = {"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": str(workspace), "permission_mode": "default"}
    return {**common, "tool_name": tool, "tool_input": given}


@pytest.mark.parametrize(("tool", "given"), MCP_HARM)
def test_a_call_of_an_mcp_tool_is_judged_by_its_arguments(tool: str, given: object, workspace: Path, home: Path) -> None:
    data = mcp_call(tool, given, workspace)
    outcome, reason = seen("claude", ask("claude", data), data)
    assert outcome == "blocked"
    assert reason.startswith("instinct: denied by ")
    records = [record for record in audit_trail().records() if record.kind is RecordKind.JUDGED]
    body, profile = dict(records[-1].body), open_guard(cwd=str(workspace)).profile
    assert same(replay(body, profile), body), "the record does not judge to the same again"


@pytest.mark.parametrize(("tool", "given"), MCP_HARMLESS)
def test_a_harmless_call_of_an_mcp_tool_runs(tool: str, given: object, workspace: Path, home: Path) -> None:
    data = mcp_call(tool, given, workspace)
    assert seen("claude", ask("claude", data), data) == ("ran", "")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_ask_never_runs_by_itself(agent: str, workspace: Path, home: Path) -> None:
    GrantBook(state_dir()).set_passphrase("correct horse")
    data = hook_clients.inputs(agent, ASKED, str(workspace))
    outcome, reason = seen(agent, ask(agent, data), data)
    assert outcome == ("asked" if dialect(agent).can_ask else "blocked")
    assert "instinct approve " in reason


@pytest.mark.parametrize("agent", AGENTS)
def test_where_the_shell_is_ours_an_ask_is_not_left_to_the_agents_dialogue(agent: str, workspace: Path, home: Path) -> None:
    data = hook_clients.inputs(agent, ASKED, str(workspace))
    assert seen(agent, ask(agent, data, shell_held=True), data)[0] == "blocked"


@pytest.mark.parametrize("agent", AGENTS)
def test_allowed_calls_are_rewritten_where_the_agent_honours_it(agent: str, workspace: Path, home: Path) -> None:
    command = "echo 'it''s' && git status"
    data = hook_clients.inputs(agent, command, str(workspace))
    outcome, new = seen(agent, ask(agent, data, exec_path=EXEC), data)
    if dialect(agent).rewrites:
        assert outcome == "rewritten"
        assert new.startswith(f"{EXEC} --session s-1 -c '")
        assert original(new, EXEC) == command
    else:
        assert outcome == "ran"


@pytest.mark.parametrize("agent", AGENTS)
def test_our_own_failures_deny_in_the_agents_dialect(agent: str, workspace: Path) -> None:
    data = hook_clients.inputs(agent, HARMLESS, str(workspace))
    for known in (data, None):
        said = dialect(agent).failed(Moment.BEFORE, known, "instinct: denied, because it could not be judged: test")
        assert seen(agent, said, data)[0] == "blocked"


def test_an_approval_serves_hook_and_run_and_only_the_run_uses_it_up(workspace: Path, home: Path) -> None:
    book = GrantBook(state_dir())
    book.set_passphrase("correct horse")
    data = hook_clients.inputs("claude", ASKED, str(workspace))
    ask("claude", data, shell_held=True)
    (request,) = book.pending(1.0)
    import time

    book.approve(request.id, "correct horse", time.time())
    for _ in range(2):
        assert seen("claude", ask("claude", data, shell_held=True), data) == ("ran", "")
    assert len(book.live(time.time())) == 1
    after = {**data, "hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}
    ask("claude", after, Moment.AFTER, shell_held=True)
    assert len(book.live(time.time())) == 1, "the run consumes it, not the event after it"
    ask("claude", after, Moment.AFTER)
    assert book.live(time.time()) == (), "where nothing of ours runs it, the event after it does"


@pytest.mark.parametrize("named", [True, False], ids=["call ids", "no call ids"])
def test_where_nothing_of_ours_runs_it_an_approval_lets_one_call_through(workspace: Path, home: Path, named: bool) -> None:
    import time

    book = GrantBook(state_dir())
    book.set_passphrase("correct horse")
    data = hook_clients.inputs("claude", ASKED, str(workspace))

    def call(name: str) -> dict[str, object]:
        return {**data, "tool_use_id": name} if named else data

    ask("claude", call("t-1"))
    (request,) = book.pending(1.0)
    book.approve(request.id, "correct horse", time.time())
    assert seen("claude", ask("claude", call("t-1")), data) == ("ran", "")
    assert seen("claude", ask("claude", call("t-2")), data)[0] == "asked", "another call while the first one runs"
    if named:
        assert seen("claude", ask("claude", call("t-1")), data) == ("ran", ""), "the same call, asked for once more"
    ask("claude", {**call("t-1"), "hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}, Moment.AFTER)
    assert book.live(time.time()) == ()
    assert seen("claude", ask("claude", call("t-3")), data)[0] == "asked"


def test_the_event_after_writes_a_record_that_names_the_judged_intent(workspace: Path, home: Path) -> None:
    data = hook_clients.inputs("claude", "echo hi", str(workspace))
    ask("claude", {**data, "tool_use_id": "t-1"})
    ask("claude", {**data, "tool_use_id": "t-1", "hook_event_name": "PostToolUse", "tool_response": {"stdout": "hi", "interrupted": False}}, Moment.AFTER)
    judged, reported = [record for record in audit_trail().records() if record.kind in (RecordKind.JUDGED, RecordKind.REPORTED)]
    assert judged.get("agent") == "claude"
    assert judged.get("session") == "s-1"
    assert reported.get("intent_digests") == [judged.get("intent_digest")]
    assert reported.get("call_id") == "t-1"
    assert reported.get("outcome") == {"event": "PostToolUse", "interrupted": False, "output_characters": 2}


def test_a_patch_inside_shell_text_is_judged_file_by_file(workspace: Path, home: Path) -> None:
    patch = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: ok.txt\n+x\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch\nE\n"
    data = hook_clients.inputs("codex", patch, str(workspace))
    outcome, reason = seen("codex", ask("codex", data, exec_path=EXEC), data)
    assert outcome == "blocked"
    assert ".env" in reason
    fine = hook_clients.inputs("codex", patch.replace(".env", "b.txt"), str(workspace))
    assert seen("codex", ask("codex", fine, exec_path=EXEC), fine) == ("ran", ""), "no shell starts, so there is nothing to rewrite"


FILE_CALLS = {
    "claude write": ("claude", "Write", {"file_path": "{w}/.env", "content": "A=1"}, "blocked"),
    "claude read": ("claude", "Read", {"file_path": "{w}/.env"}, "blocked"),
    "claude read of an example": ("claude", "Read", {"file_path": "{w}/.env.example"}, "ran"),
    "claude edit": ("claude", "Edit", {"file_path": "{w}/src/a.py", "old_string": "a", "new_string": "b"}, "ran"),
    "claude grep in a secret": ("claude", "Grep", {"pattern": "KEY", "path": "{w}/.env"}, "blocked"),
    "claude grep": ("claude", "Grep", {"pattern": "KEY"}, "ran"),
    "claude notebook": ("claude", "NotebookEdit", {"notebook_path": "{w}/n.ipynb", "new_source": "x"}, "ran"),
    "claude configuration": ("claude", "Write", {"file_path": "~/.claude/settings.json", "content": "{}"}, "blocked"),
    "claude todo": ("claude", "TodoWrite", {"todos": []}, "ran"),
    "claude mcp": ("claude", "mcp__notes__add", {"text": "x"}, "ran"),
    "claude monitor": ("claude", "Monitor", {"command": "rm -rf ~"}, "blocked"),
    "gemini relative path": ("gemini", "write_file", {"file_path": ".env", "content": "A=1"}, "blocked"),
    "gemini read many": ("gemini", "read_many_files", {"paths": ["a.txt", ".env"]}, "blocked"),
    "qwen write": ("qwen", "write_file", {"file_path": "{w}/a.txt", "content": "x"}, "ran"),
    "copilot create": ("copilot", "create", {"path": ".env", "file_text": "x"}, "blocked"),
    "droid patch": ("droid", "ApplyPatch", {"input": "*** Begin Patch\n*** Delete File: .env\n*** End Patch"}, "blocked"),
    "kiro editor": ("kiro", "fs_write", {"command": "create", "path": ".env", "file_text": "x"}, "blocked"),
    "vscode files": ("vscode", "editFiles", {"files": ["a.ts", ".env"]}, "blocked"),
    "vscode create": ("vscode", "create_file", {"filePath": "{w}/a.ts", "content": "x"}, "ran"),
}


@pytest.mark.parametrize(("agent", "tool", "given", "expected"), FILE_CALLS.values(), ids=FILE_CALLS.keys())
def test_file_tools(agent: str, tool: str, given: dict[str, object], expected: str, workspace: Path, home: Path) -> None:
    data = hook_clients.inputs(agent, "", str(workspace))
    data |= {"tool_name": tool, "tool_input": json.loads(json.dumps(given).replace("{w}", str(workspace)).replace("~/", f"{home}/"))}
    assert seen(agent, ask(agent, data), data)[0] == expected


CURSOR_EVENTS = {
    "shell": ({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "rm -rf ~"}}, "blocked"),
    "write": ({"hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": {"file_path": ".env", "content": "x"}}, "blocked"),
    "delete": ({"hook_event_name": "preToolUse", "tool_name": "Delete", "tool_input": {"path": "a.txt"}}, "ran"),
    "read": ({"hook_event_name": "beforeReadFile", "file_path": ".env", "content": "A=1"}, "blocked"),
    "mcp": ({"hook_event_name": "beforeMCPExecution", "tool_name": "search", "tool_input": '{"q": "x"}'}, "ran"),
    "no folder": ({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "", "workspace_roots": []}, "refused"),
}


@pytest.mark.parametrize(("event", "expected"), CURSOR_EVENTS.values(), ids=CURSOR_EVENTS.keys())
def test_cursor_events(event: dict[str, object], expected: str, workspace: Path, home: Path) -> None:
    from instinct_shell.errors import IntentError

    data = {"conversation_id": "c", "cwd": "", "workspace_roots": [str(workspace)]} | event
    if expected == "refused":
        with pytest.raises(IntentError):
            ask("cursor", data)
    else:
        assert seen("cursor", ask("cursor", data), data)[0] == expected
