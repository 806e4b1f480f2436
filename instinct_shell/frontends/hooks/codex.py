"""Codex CLI: Claude's input shape, a strict output schema, no "ask".

Seen with 0.171: `additionalProperties: false` at both levels; exit 2 with empty stderr counts as a failed hook and the tool runs; `ask` is read
and not acted on, so an unapproved ask is a denial that says how to approve. `apply_patch <<EOF` in shell text starts no shell.
"""

from __future__ import annotations

from . import tools
from .claude import EVENTS, Claude
from .protocol import Answer, Moment, json_answer, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "bash": tools.SHELL,
    "shell": tools.SHELL,
    "shell_command": tools.SHELL,
    "local_shell": tools.SHELL,
    "exec_command": tools.Tool("shell", ("cmd", "command")),
    "apply_patch": tools.PATCH,
    "view_image": tools.READ,
}


class Codex(Claude):
    """Codex CLI."""

    name = "codex"
    can_ask = False
    tools = TOOLS
    events = EVENTS | {"PermissionRequest": Moment.BEFORE}

    def replace(self, data: Mapping[str, object], output: object) -> Answer:
        # Its schema knows no other output; a result that is blocked is replaced by the reason.
        return json_answer({"decision": "block", "reason": plain(output)})


DIALECT = Codex()
