"""Goose: plugin hooks after the Open Plugins specification; `PreToolUse` is the event that can block. From its documentation; not run here.

Exit 2 denies with stderr as the reason, empty stdout with exit 0 allows; everything else is "no decision", which `on_failure: block` turns into a
denial. Its command line is the configured one; the shell itself is `GOOSE_SHELL`.
"""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .claude import EVENTS, outcome
from .protocol import Call, Dialect, Moment, check_event, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "developer__shell": tools.SHELL,
    "developer__write": tools.WRITE,
    "developer__edit": tools.EDIT,
    "developer__text_editor": tools.EDITOR,
    "developer__read_image": tools.READ.replace(subject=("source", "path")),
    "developer__tree": tools.NONE,
}


class Goose(Dialect):
    """Goose."""

    name = "goose"

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        check_event(moment, text(data, "event"), EVENTS)
        session = text(data, "session_id", needed=False)
        cwd = text(data, "working_dir", needed=moment in (Moment.BEFORE, Moment.AFTER))
        if cwd and not cwd.startswith("/"):
            raise IntentError(f"the hook's `working_dir` is not an absolute path: `{cwd}`")
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session, cwd=cwd)
        name = text(data, "tool_name")
        given = mapping(data, "tool_input") if data.get("tool_input") is not None else {}
        ended = outcome(data) if moment is Moment.AFTER else ()
        return Call(moment, name, session, cwd, text(data, "tool_call_id", needed=False), tools.lines_for(TOOLS, name, given, cwd), "", ended)


DIALECT = Goose()
