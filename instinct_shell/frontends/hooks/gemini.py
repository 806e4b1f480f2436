"""Gemini CLI: `BeforeTool` and `AfterTool`, no "ask". Seen with 0.61: exit 2 blocks and the model reads the reason; time-outs are in milliseconds."""

from __future__ import annotations

from . import tools
from .claude import Claude
from .protocol import Answer, Moment, json_answer, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = {
    "BeforeTool": Moment.BEFORE,
    "AfterTool": Moment.AFTER,
    "SessionStart": Moment.START,
    "SessionEnd": Moment.OTHER,
    "BeforeAgent": Moment.OTHER,
    "AfterAgent": Moment.OTHER,
    "BeforeModel": Moment.OTHER,
    "AfterModel": Moment.OTHER,
    "BeforeToolSelection": Moment.OTHER,
    "Notification": Moment.OTHER,
    "PreCompress": Moment.OTHER,
}
TOOLS = {
    "run_shell_command": tools.SHELL,
    "write_file": tools.WRITE,
    "replace": tools.EDIT,
    "edit": tools.EDIT,
    "notebook_edit": tools.EDIT,
    "read_file": tools.READ,
    "read_many_files": tools.READ,
    "search_file_content": tools.READ,
    "grep_search": tools.READ,
    "grep": tools.READ,
}


class Gemini(Claude):
    """Gemini CLI."""

    name = "gemini"
    can_ask = False
    tools = TOOLS
    events = EVENTS

    def rewrite(self, data: Mapping[str, object], command: str) -> Answer:
        # Gemini merges this into the tool's input.
        return json_answer({"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": command}}})

    def output(self, data: Mapping[str, object]) -> object:
        response = data.get("tool_response")
        return response.get("llmContent") if isinstance(response, dict) else None

    def replace(self, data: Mapping[str, object], output: object) -> Answer:
        return json_answer({"decision": "deny", "reason": plain(output)})


DIALECT = Gemini()
