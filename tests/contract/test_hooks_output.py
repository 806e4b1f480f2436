"""What a tool gave is redacted before the model reads it, in the hooks of agents that let us, and only where there is something to redact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instinct_shell.frontends.hooks.judging import HookOptions, answer
from instinct_shell.frontends.hooks.protocol import Moment
from instinct_shell.frontends.hooks.registry import dialect
from instinct_shell.storage.audit import AuditTrail
from instinct_shell.wiring import state_dir

SECRET = "tr0ub4dor-3xyz"
CLEAN = "<redacted: the value of DB_PASSWORD in .env>"


@pytest.fixture
def place(place: Path) -> Path:
    """A workspace with a secret in it."""
    (place / ".env").write_text(f"DB_PASSWORD={SECRET}\n", encoding="ascii")
    return place


def call(agent: str, place: Path, output: str) -> dict[str, object]:
    base: dict[str, object] = {"session_id": "s", "cwd": str(place), "hook_event_name": "PostToolUse", "tool_input": {"command": "make"}}
    match agent:
        case "claude":
            return {**base, "tool_name": "Bash", "tool_response": {"stdout": output, "stderr": "", "interrupted": False}}
        case "codex":
            return {**base, "tool_name": "Bash", "tool_response": output}
        case "gemini":
            return {
                **base,
                "hook_event_name": "AfterTool",
                "tool_name": "run_shell_command",
                "tool_response": {"llmContent": output, "returnDisplay": output},
            }
        case "opencode":
            return {
                "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
                "args": {"command": "make"},
                "cwd": str(place),
                "output": output,
            }
        case _:
            return {**base, "tool_name": "run_shell_command", "tool_response": {"llmContent": output}}


REPLACED = {
    "claude": {
        "hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": {"stdout": f"is {CLEAN}\n", "stderr": "", "interrupted": False},
        }
    },
    "codex": {"decision": "block", "reason": f"is {CLEAN}\n"},
    "gemini": {"decision": "deny", "reason": f"is {CLEAN}\n"},
    "opencode": {"decision": "allow", "output": f"is {CLEAN}\n"},
}


@pytest.mark.parametrize("agent", REPLACED)
def test_it_is_replaced(agent: str, place: Path) -> None:
    said = answer(dialect(agent), call(agent, place, f"is {SECRET}\n"), HookOptions(agent, Moment.AFTER))
    assert (json.loads(said.stdout), said.stderr, said.status) == (REPLACED[agent], "", 0)
    reported = [record for record in AuditTrail(state_dir()).records() if record.kind == "reported"]
    assert reported[0].get("redacted") == ["the value of DB_PASSWORD in .env"]


@pytest.mark.parametrize("agent", REPLACED)
def test_harmless_output_is_left_alone(agent: str, place: Path) -> None:
    said = answer(dialect(agent), call(agent, place, "is fine\n"), HookOptions(agent, Moment.AFTER))
    assert said == dialect(agent).allow({})


def test_an_agent_that_lets_nobody_replace_it_gets_no_field_it_does_not_know(place: Path) -> None:
    said = answer(dialect("qwen"), call("qwen", place, f"is {SECRET}\n"), HookOptions("qwen", Moment.AFTER))
    assert (said.stdout, said.stderr, said.status) == ("", "", 0)


def test_edits_from_hooks_meet_the_same_gates(place: Path) -> None:
    (place / "a.py").write_text("def f():\n    return 1\n", encoding="ascii")
    data = {
        "session_id": "s", "cwd": str(place), "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "t",
        "tool_input": {"file_path": str(place / "a.py"), "old_string": "return 1", "new_string": "return (1", "replace_all": False},
    }  # fmt: skip
    said = answer(dialect("claude"), data, HookOptions("claude", Moment.BEFORE))
    assert said.status == 2
    assert "file-syntax" in said.stderr
    data["tool_input"] = {**data["tool_input"], "new_string": "return 2"}  # type: ignore[dict-item]  # an object
    assert answer(dialect("claude"), data, HookOptions("claude", Moment.BEFORE)).status == 0
    other = {**data, "session_id": "another"}
    said = answer(
        dialect("gemini"), {**other, "hook_event_name": "BeforeTool", "tool_name": "replace"}, HookOptions("gemini", Moment.BEFORE)
    )
    assert "lease" in said.stderr
    assert "`s` of claude" in said.stderr


def test_a_patch_from_a_hook_is_judged_by_what_it_makes(place: Path) -> None:
    (place / "a.json").write_text('{\n  "a": 1\n}\n', encoding="ascii")
    body = '*** Begin Patch\n*** Update File: a.json\n@@\n-  "a": 1\n+  "a": 1,\n*** End Patch\n'
    data = {
        "session_id": "s", "cwd": str(place), "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": body},
    }  # fmt: skip
    said = answer(dialect("codex"), data, HookOptions("codex", Moment.BEFORE))
    assert said.status == 2
    assert "file-syntax" in said.stderr
