"""Cursor: one answer shape for many events. From its documentation; not run here.

`failClosed: true` stands beside each hook that `instinct install` writes, and every permission event gets an explicit answer, since with it
silence is a refusal. Its CLI ignores "ask" and sends an empty `cwd`, so the first workspace root stands in.
"""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .protocol import QUIET, Answer, Call, Dialect, Moment, check_event, first_root, json_answer, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import Line

EVENTS = {
    "preToolUse": Moment.BEFORE,
    "beforeShellExecution": Moment.BEFORE,
    "beforeMCPExecution": Moment.BEFORE,
    "beforeReadFile": Moment.BEFORE,
    "postToolUse": Moment.AFTER,
    "postToolUseFailure": Moment.AFTER,
    "afterShellExecution": Moment.AFTER,
    "afterMCPExecution": Moment.AFTER,
    "afterFileEdit": Moment.AFTER,
    "sessionStart": Moment.START,
    "sessionEnd": Moment.OTHER,
    "beforeSubmitPrompt": Moment.OTHER,
    "subagentStart": Moment.OTHER,
    "subagentStop": Moment.OTHER,
    "stop": Moment.OTHER,
}
TOOLS = {
    "shell": tools.SHELL,
    "write": tools.EDIT.replace(content=("content", "contents", "new_string", "code_edit")),
    "edit": tools.EDIT,
    "delete": tools.DELETE,
    "read": tools.READ,
    "grep": tools.READ,
    "task": tools.NONE,
}


class Cursor(Dialect):
    """Cursor, editor and CLI."""

    name = "cursor"

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        event = text(data, "hook_event_name")
        check_event(moment, event, EVENTS)
        session = text(data, "conversation_id", "session_id", needed=False)
        cwd = text(data, "cwd", needed=False) or first_root(data, "workspace_roots")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        if not cwd.startswith("/"):
            raise IntentError("the hook's input names no folder: neither `cwd` nor `workspace_roots`")
        name, lines = _what(event, data, cwd)
        ended = (("event", event),) if moment is Moment.AFTER else ()
        return Call(moment, name, session, cwd, text(data, "tool_use_id", "generation_id", needed=False), lines, "", ended)

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        return json_answer({"permission": "deny", "user_message": reason, "agent_message": reason})

    def allow(self, data: Mapping[str, object]) -> Answer:
        known = EVENTS.get(str(data.get("hook_event_name")))
        return json_answer({"permission": "allow"}) if known is Moment.BEFORE else QUIET


def _what(event: str, data: Mapping[str, object], cwd: str) -> tuple[str, tuple[Line, ...]]:
    """The tool's name and the intents of one event."""
    if event in {"beforeShellExecution", "afterShellExecution"}:
        return "Shell", tools.lines_for(TOOLS, "Shell", {"command": text(data, "command")}, cwd)
    if event in {"beforeReadFile", "afterFileEdit"}:
        name = "Read" if event == "beforeReadFile" else "Edit"
        return name, tools.lines_for(TOOLS, name, {"path": text(data, "file_path")}, cwd)
    name, given = text(data, "tool_name"), data.get("tool_input") or {}
    if isinstance(given, str) or not isinstance(given, dict):
        given = mapping(data, "tool_input")
    return name, tools.lines_for(TOOLS, name, given, cwd)


DIALECT = Cursor()
