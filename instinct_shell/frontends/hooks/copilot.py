"""Copilot CLI: the case of the event's name in its configuration selects the dialect; both are read and answered.

Seen with 1.0.102: `PreToolUse` sends Claude's shape and honours Claude's nested answer; `preToolUse` sends `toolName` and honours the flat one.
Exit 2 blocks but hides the reason from the model, so a denial is JSON with exit 0. A crash blocks, a time-out does not.
"""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .claude import EVENTS, Claude, decision, outcome, rewritten
from .protocol import Answer, Call, Moment, json_answer, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "bash": tools.SHELL,
    "shell": tools.SHELL,
    "create": tools.WRITE,
    "write": tools.WRITE,
    "edit": tools.EDIT,
    "str_replace_editor": tools.EDITOR,
    "apply_patch": tools.PATCH,
    "view": tools.READ,
    "read": tools.READ,
    "grep": tools.READ,
    "rg": tools.READ,
}


class Copilot(Claude):
    """Copilot CLI."""

    name = "copilot"
    replaces = False
    tools = TOOLS
    events = EVENTS

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        if not _flat(data):
            return super().read(moment, data)
        session, cwd = text(data, "sessionId", needed=False), text(data, "cwd")
        if not cwd.startswith("/"):
            raise IntentError(f"the hook's `cwd` is not an absolute path: `{cwd}`")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        name, given = text(data, "toolName"), mapping(data, "toolArgs")
        return Call(
            moment, name, session, cwd, "", tools.lines_for(TOOLS, name, given, cwd), tools.shell_text(TOOLS, name, given),
            outcome(data) if moment is Moment.AFTER else (),
        )  # fmt: skip

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        if data is None or not {"hook_event_name", "toolName", "sessionId"} & set(data):
            # Nothing says which of the two is spoken: exit 2 blocks in both, at the price of the reason.
            return Answer(stderr=reason, status=2)
        return _flat_decision("deny", reason) if _flat(data) else decision("deny", reason)

    def ask(self, data: Mapping[str, object], reason: str) -> Answer:
        return _flat_decision("ask", reason) if _flat(data) else decision("ask", reason)

    def rewrite(self, data: Mapping[str, object], command: str) -> Answer:
        if _flat(data):
            return json_answer({"permissionDecision": "allow", "modifiedArgs": {**mapping(data, "toolArgs"), "command": command}})
        return rewritten(data, command)


def _flat(data: Mapping[str, object]) -> bool:
    return "hook_event_name" not in data


def _flat_decision(word: str, reason: str) -> Answer:
    return json_answer({"permissionDecision": word, "permissionDecisionReason": reason})


DIALECT = Copilot()
