"""Claude Code: `PreToolUse` and `PostToolUse`; also the shape that Codex, Qwen, droid and Copilot took over.

Seen with 2.1.332: exit 2 with the reason on stderr blocks and the model reads it; a JSON object with one unknown field is ignored and the
command runs; an `allow` would suppress the person's own permission prompt, so silence is the answer to harmless calls.
"""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .protocol import Answer, Call, Dialect, Moment, check_event, json_answer, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = {
    "PreToolUse": Moment.BEFORE,
    "PostToolUse": Moment.AFTER,
    "PostToolUseFailure": Moment.AFTER,
    "SessionStart": Moment.START,
    "SessionEnd": Moment.OTHER,
    "UserPromptSubmit": Moment.OTHER,
    "Stop": Moment.OTHER,
    "SubagentStart": Moment.OTHER,
    "SubagentStop": Moment.OTHER,
    "Notification": Moment.OTHER,
    "PreCompact": Moment.OTHER,
}
TOOLS = {
    "bash": tools.SHELL,
    "monitor": tools.SHELL,
    "write": tools.WRITE,
    "edit": tools.EDIT,
    "multiedit": tools.EDIT,
    "notebookedit": tools.EDIT,
    "read": tools.READ,
    "notebookread": tools.READ,
    "grep": tools.READ,
}
# Modes in which Claude Code keeps to a hook's "ask". In `bypassPermissions` it forgets the ask for files that it holds to be sensitive itself
# (`.git`, its own settings) and writes them; modes that we do not know are not trusted either.
ASKING = frozenset(("", "default", "acceptEdits", "plan"))
# What a PostToolUse says about the outcome; the output itself is not kept.
OUTCOME = ("interrupted", "duration_ms", "exit_code", "is_error", "error")


class Claude(Dialect):
    """Claude Code."""

    name = "claude"
    can_ask = True
    rewrites = True
    replaces = True
    tools: Mapping[str, tools.Tool] = TOOLS
    events: Mapping[str, Moment] = EVENTS

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        check_event(moment, text(data, "hook_event_name"), self.events)
        session, cwd = text(data, "session_id", needed=False), text(data, "cwd")
        if not cwd.startswith("/"):
            raise IntentError(f"the hook's `cwd` is not an absolute path: `{cwd}`")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        name, given = text(data, "tool_name"), mapping(data, "tool_input")
        return Call(
            moment, name, session, cwd, text(data, "tool_use_id", "tool_call_id", needed=False), tools.lines_for(self.tools, name, given, cwd),
            tools.shell_text(self.tools, name, given), outcome(data) if moment is Moment.AFTER else (),
        )  # fmt: skip

    def ask(self, data: Mapping[str, object], reason: str) -> Answer:
        return decision("ask", reason) if text(data, "permission_mode", needed=False) in ASKING else self.deny(data, reason)

    def rewrite(self, data: Mapping[str, object], command: str) -> Answer:
        return rewritten(data, command)

    def output(self, data: Mapping[str, object]) -> object:
        return data.get("tool_response")

    def replace(self, data: Mapping[str, object], output: object) -> Answer:
        return json_answer({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}})


def decision(word: str, reason: str) -> Answer:
    """Claude's nested answer for one decision."""
    return json_answer(
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason}}
    )


def rewritten(data: Mapping[str, object], command: str) -> Answer:
    """Claude's nested answer that replaces the command and leaves the other fields as they were."""
    given = {**mapping(data, "tool_input"), "command": command}
    return json_answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": given}})


def outcome(data: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """What the agent said about how the tool ended: small plain values only."""
    found: list[tuple[str, object]] = [("event", data.get("hook_event_name", ""))]
    response = data.get("tool_response", data.get("tool_result", data.get("tool_output")))
    for source in (data, response if isinstance(response, dict) else {}):
        found += [(name, source[name]) for name in OUTCOME if isinstance(source.get(name), bool | int | float)]
    texts = response.values() if isinstance(response, dict) else (response,)
    return (*found, ("output_characters", sum(len(value) for value in texts if isinstance(value, str))))


DIALECT = Claude()
