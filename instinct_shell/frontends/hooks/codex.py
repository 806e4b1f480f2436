"""Codex CLI: Claude's input shape, a strict output schema, no "ask".

Seen with 0.171: `additionalProperties: false` at both levels; exit 2 with empty stderr counts as a failed hook and the tool runs; `ask` is read
and not acted on, so an unapproved ask is a denial that says how to approve. `apply_patch <<EOF` in shell text starts no shell.
"""

from __future__ import annotations

from . import tools
from .claude import EVENTS, Claude
from .protocol import Moment

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


DIALECT = Codex()
