"""Cline: an executable file named after the event; JSON in, `{"cancel": ...}` out. Parameters cannot be changed. From its documentation; not run here."""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .protocol import Answer, Call, Dialect, Moment, check_event, first_root, json_answer, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = {
    "PreToolUse": Moment.BEFORE,
    "PostToolUse": Moment.AFTER,
    "TaskStart": Moment.START,
    "TaskResume": Moment.START,
    "TaskCancel": Moment.OTHER,
    "TaskComplete": Moment.OTHER,
    "UserPromptSubmit": Moment.OTHER,
    "PreCompact": Moment.OTHER,
}
TOOLS = {
    "execute_command": tools.SHELL,
    "write_to_file": tools.WRITE,
    "replace_in_file": tools.EDIT,
    "new_rule": tools.WRITE,
    "apply_patch": tools.PATCH,
    "read_file": tools.READ,
    "search_files": tools.READ,
}


class Cline(Dialect):
    """Cline."""

    name = "cline"

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        check_event(moment, text(data, "hookName"), EVENTS)
        session, cwd = text(data, "taskId", needed=False), first_root(data, "workspaceRoots")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        if not cwd.startswith("/"):
            raise IntentError("the hook's input names no folder: `workspaceRoots` is empty")
        said = mapping(data, "preToolUse" if moment is Moment.BEFORE else "postToolUse")
        name, given = text(said, "toolName", "tool"), mapping(said, "parameters")
        if name == "use_mcp_tool":
            name = f"mcp__{text(given, 'server_name')}__{text(given, 'tool_name')}"
        ended = (("success", said.get("success")),) if moment is Moment.AFTER and isinstance(said.get("success"), bool) else ()
        return Call(moment, name, session, cwd, "", tools.lines_for(TOOLS, name, given, cwd), "", ended)

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        return json_answer({"cancel": True, "errorMessage": reason})

    def allow(self, data: Mapping[str, object]) -> Answer:
        return json_answer({"cancel": False})


DIALECT = Cline()
