"""OpenHands SDK: `event_type` and `working_dir`; only exit 2 or `decision: deny` blocks. From the SDK's source; not run here."""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .claude import EVENTS, outcome
from .protocol import Call, Dialect, Moment, check_event, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "terminal": tools.SHELL,
    "execute_bash": tools.SHELL,
    "bash": tools.SHELL,
    "file_editor": tools.EDITOR,
    "str_replace_editor": tools.EDITOR,
    "planning_file_editor": tools.EDITOR,
    "apply_patch": tools.PATCH,
    "write_file": tools.WRITE,
    "edit": tools.EDIT,
    "read_file": tools.READ,
    "grep": tools.READ,
}


class OpenHands(Dialect):
    """OpenHands."""

    name = "openhands"

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        check_event(moment, text(data, "event_type"), EVENTS)
        session, cwd = text(data, "session_id", needed=False), text(data, "working_dir")
        if not cwd.startswith("/"):
            raise IntentError(f"the hook's `working_dir` is not an absolute path: `{cwd}`")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        name, given = text(data, "tool_name"), mapping(data, "tool_input")
        ended = outcome(data) if moment is Moment.AFTER else ()
        return Call(moment, name, session, cwd, "", tools.lines_for(TOOLS, name, given, cwd), "", ended)


DIALECT = OpenHands()
