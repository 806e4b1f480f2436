"""opencode: its hook is a JavaScript plugin (install/opencode.js) that starts this program and throws on everything but a clear allow.

So the shape is ours: in `{"event", "input": {tool, sessionID, callID}, "args", "cwd", "output"?}`, out
`{"decision": "allow" | "deny", "reason"?, "args"?, "output"?}`.
"""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .protocol import Answer, Call, Dialect, Moment, json_answer, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "bash": tools.SHELL,
    "write": tools.WRITE,
    "edit": tools.EDIT,
    "multiedit": tools.EDIT,
    "patch": tools.PATCH,
    "apply_patch": tools.PATCH,
    "read": tools.READ,
    "grep": tools.READ,
}


class OpenCode(Dialect):
    """opencode."""

    name = "opencode"
    rewrites = True
    replaces = True

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        said, cwd = mapping(data, "input"), text(data, "cwd", needed=False) or _here()
        if not cwd.startswith("/"):
            raise IntentError(f"the hook's `cwd` is not an absolute path: `{cwd}`")
        session = text(said, "sessionID", needed=False)
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        name, given = text(said, "tool"), mapping(data, "args")
        lines, command = tools.lines_for(TOOLS, name, given, cwd), tools.shell_text(TOOLS, name, given)
        return Call(moment, name, session, cwd, text(said, "callID", needed=False), lines, command)

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        return json_answer({"decision": "deny", "reason": reason})

    def allow(self, data: Mapping[str, object]) -> Answer:
        return json_answer({"decision": "allow"})

    def rewrite(self, data: Mapping[str, object], command: str) -> Answer:
        return json_answer({"decision": "allow", "args": {**mapping(data, "args"), "command": command}})

    def output(self, data: Mapping[str, object]) -> object:
        return data.get("output")

    def replace(self, data: Mapping[str, object], output: object) -> Answer:
        return json_answer({"decision": "allow", "output": output})


def _here() -> str:
    import os

    return os.getcwd()


DIALECT = OpenCode()
