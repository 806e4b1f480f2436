"""Windsurf (Cascade): one event a kind of action, exit 2 blocks a `pre_*` one; no "ask", no rewriting. From its documentation; not run here."""

from __future__ import annotations

from ...errors import IntentError
from . import tools
from .protocol import Call, Dialect, Moment, check_event, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ACTIONS = ("run_command", "write_code", "read_code", "mcp_tool_use")
EVENTS = {
    **{f"pre_{action}": Moment.BEFORE for action in ACTIONS},
    **{f"post_{action}": Moment.AFTER for action in ACTIONS},
    "pre_user_prompt": Moment.OTHER,
    "post_cascade_response": Moment.OTHER,
    "post_setup_worktree": Moment.OTHER,
}
TOOLS = {
    "run_command": tools.Tool("shell", ("command_line",)),
    "write_code": tools.EDIT,
    "read_code": tools.READ,
}


class Windsurf(Dialect):
    """Windsurf. The hook's process stands in the workspace; `tool_info.cwd` wins where it is given."""

    name = "windsurf"

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        event = text(data, "agent_action_name")
        check_event(moment, event, EVENTS)
        session = text(data, "trajectory_id", needed=False)
        if moment not in (Moment.BEFORE, Moment.AFTER):
            return Call(moment, session=session)
        given = mapping(data, "tool_info")
        cwd = text(given, "cwd", needed=False)
        if cwd and not cwd.startswith("/"):
            raise IntentError(f"the hook's `cwd` is not an absolute path: `{cwd}`")
        name = event.partition("_")[2]
        if name == "mcp_tool_use":
            name = f"mcp__{text(given, 'mcp_server_name')}__{text(given, 'mcp_tool_name')}"
        ended = (("event", event),) if moment is Moment.AFTER else ()
        place = cwd or _here()
        return Call(moment, name, session, place, text(data, "execution_id", needed=False), tools.lines_for(TOOLS, name, given, place), "", ended)


def _here() -> str:
    import os

    return os.getcwd()


DIALECT = Windsurf()
