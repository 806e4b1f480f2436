"""What the real agents do with a hook's answer, as it was seen with each of them (docs/integrations.md, "what was observed").

Each function takes exit status, stdout and stderr and says what became of the tool call: "ran", "blocked", "asked" or "rewritten", and what the
model got to read. They are deliberately as forgiving towards the tool as the agents are: whatever an agent ignores, runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable

Seen = tuple[str, str]  # outcome, reason that the model reads (or the new command)
CLAUDE_FIELDS = {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}


def _object(stdout: str) -> dict[str, object] | None:
    try:
        found = json.loads(stdout)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def claude(status: int, stdout: str, stderr: str, *, asks: bool = True, rewrites: bool = True) -> Seen:
    """Exit 2 blocks with stderr; exact JSON decides; any unknown field, exit 1 and a time-out let it run."""
    if status == 2:
        return "blocked", stderr
    said = _object(stdout)
    if status != 0 or said is None or set(said) != {"hookSpecificOutput"}:
        return "ran", ""
    inner = said["hookSpecificOutput"]
    if not isinstance(inner, dict) or set(inner) - CLAUDE_FIELDS or inner.get("hookEventName") != "PreToolUse":
        return "ran", ""
    word = inner.get("permissionDecision")
    if word == "deny":
        return "blocked", inner["permissionDecisionReason"]
    if word == "ask":
        return ("asked", inner["permissionDecisionReason"]) if asks else ("ran", "")
    if word == "allow" and "updatedInput" in inner and rewrites:
        return "rewritten", inner["updatedInput"]["command"]
    return "ran", ""


def codex(status: int, stdout: str, stderr: str) -> Seen:
    """As Claude, but "ask" runs, and exit 2 without words is a failed hook."""
    if status == 2 and not stderr.strip():
        return "ran", ""
    return claude(status, stdout, stderr, asks=False)


def gemini(status: int, stdout: str, stderr: str) -> Seen:
    """Exit 2 or decision deny blocks; a rewrite is merged into the input."""
    if status == 2:
        return "blocked", stderr
    said = _object(stdout) if status == 0 else None
    if said is None:
        return "ran", ""
    if said.get("decision") in {"deny", "block"}:
        return "blocked", str(said.get("reason"))
    inner = said.get("hookSpecificOutput")
    if isinstance(inner, dict) and isinstance(inner.get("tool_input"), dict):
        return "rewritten", inner["tool_input"]["command"]
    return "ran", ""


def qwen(status: int, stdout: str, stderr: str) -> Seen:
    """As Claude; `updatedInput` has no effect."""
    return claude(status, stdout, stderr, asks=False, rewrites=False)


def copilot_flat(status: int, stdout: str, stderr: str) -> Seen:
    """camelCase events: top-level decisions only; exit 2 and a crash block without the reason."""
    if status != 0:
        return "blocked", ""
    said = _object(stdout) or {}
    word = said.get("permissionDecision")
    if word in {"deny", "ask"}:
        return {"deny": "blocked", "ask": "asked"}[str(word)], str(said.get("permissionDecisionReason"))
    if word == "allow" and isinstance(said.get("modifiedArgs"), dict):
        return "rewritten", said["modifiedArgs"]["command"]  # type: ignore[index]  # checked above
    return "ran", ""


def copilot(status: int, stdout: str, stderr: str) -> Seen:
    """PascalCase events: Claude's nested answer; exit 2 and a crash block without the reason."""
    return ("blocked", "") if status != 0 else claude(status, stdout, stderr)


def opencode(status: int, stdout: str, stderr: str) -> Seen:
    """Our own plugin: everything but a clear allow throws."""
    said = _object(stdout) if status == 0 else None
    if said is not None and said.get("decision") == "allow":
        return ("rewritten", said["args"]["command"]) if "args" in said else ("ran", "")  # type: ignore[index]  # our own shape
    return "blocked", str((said or {}).get("reason", ""))


def cursor(status: int, stdout: str, stderr: str) -> Seen:
    """Flat, `failClosed`: exit 2 and failures block, silence too."""
    said = _object(stdout) if status == 0 else None
    if said is None or said.get("permission") not in {"allow", "ask"} or set(said) - {"permission", "user_message", "agent_message"}:
        return "blocked", str((said or {}).get("agent_message", stderr))
    return "ran", ""


def cline(status: int, stdout: str, stderr: str) -> Seen:
    """Only `cancel: true` blocks."""
    said = _object(stdout)
    if said is not None and said.get("cancel") is True and not set(said) - {"cancel", "errorMessage", "contextModification"}:
        return "blocked", str(said.get("errorMessage"))
    return "ran", ""


def exit_two(status: int, stdout: str, stderr: str) -> Seen:
    """Windsurf, Kiro, OpenHands: exit 2 blocks, the reason is stderr."""
    return ("blocked", stderr) if status == 2 else ("ran", "")


def goose(status: int, stdout: str, stderr: str) -> Seen:
    """Exit 2 denies; empty stdout with exit 0 allows; anything else is no decision, which `on_failure: block` denies."""
    return ("ran", "") if status == 0 and not stdout else ("blocked", stderr)


def droid(status: int, stdout: str, stderr: str) -> Seen:
    """Claude's shape; an "ask" is unverified, so it counts as run."""
    return claude(status, stdout, stderr, asks=False)


def vscode(status: int, stdout: str, stderr: str) -> Seen:
    """Claude's nested shape."""
    return claude(status, stdout, stderr)


AGENTS: dict[str, Callable[[int, str, str], Seen]] = {
    "claude": claude, "codex": codex, "gemini": gemini, "qwen": qwen, "copilot": copilot, "opencode": opencode, "vscode": vscode, "cursor": cursor,
    "cline": cline, "windsurf": exit_two, "kiro": exit_two, "openhands": exit_two, "droid": droid, "goose": goose,
}  # fmt: skip


def inputs(agent: str, command: str, cwd: str) -> dict[str, object]:
    """A shell call as this agent's hook tells it."""
    shell = {"claude": "Bash", "codex": "Bash", "copilot": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "vscode": "run_in_terminal", "droid": "Execute", "kiro": "execute_bash"}  # one table
    if agent in shell:
        event = {"gemini": "BeforeTool", "kiro": "preToolUse"}.get(agent, "PreToolUse")
        return {"session_id": "s-1", "cwd": cwd, "hook_event_name": event, "tool_name": shell[agent], "tool_input": {"command": command, "description": "d"}}
    return {
        "opencode": {"input": {"tool": "bash", "sessionID": "s-1", "callID": "c"}, "args": {"command": command}, "cwd": cwd},
        "cursor": {"conversation_id": "s-1", "hook_event_name": "beforeShellExecution", "command": command, "cwd": cwd, "workspace_roots": [cwd]},
        "cline": {"hookName": "PreToolUse", "taskId": "s-1", "workspaceRoots": [cwd], "preToolUse": {"toolName": "execute_command", "parameters": {"command": command}}},  # one table
        "windsurf": {"agent_action_name": "pre_run_command", "trajectory_id": "s-1", "tool_info": {"command_line": command, "cwd": cwd}},
        "openhands": {"event_type": "PreToolUse", "tool_name": "terminal", "tool_input": {"command": command}, "session_id": "s-1", "working_dir": cwd},
        "goose": {"event": "PreToolUse", "session_id": "s-1", "tool_name": "developer__shell", "tool_input": {"command": command}, "working_dir": cwd},
    }[agent]  # type: ignore[return-value]  # a table of plain dictionaries
