"""Kiro: exit 2 blocks and the model reads stderr; no "ask", no rewriting. The CLI's events are camelCase, the editor's PascalCase; not run here."""

from __future__ import annotations

from . import tools
from .claude import EVENTS, Claude
from .protocol import Moment

TOOLS = {
    "execute_bash": tools.SHELL,
    "executebash": tools.SHELL,
    "shell": tools.SHELL,
    "fs_write": tools.EDITOR,
    "fswrite": tools.WRITE,
    "write": tools.EDITOR,
    "fsappend": tools.WRITE,
    "strreplace": tools.EDIT,
    "deletefile": tools.DELETE,
    "fs_read": tools.READ,
    "read": tools.READ,
    "readfile": tools.READ,
    "readmultiplefiles": tools.READ,
    "grepsearch": tools.READ,
}


class Kiro(Claude):
    """Kiro, CLI and editor."""

    name = "kiro"
    replaces = False
    can_ask = False
    rewrites = False
    tools = TOOLS
    events = EVENTS | {
        "preToolUse": Moment.BEFORE,
        "postToolUse": Moment.AFTER,
        "agentSpawn": Moment.START,
        "userPromptSubmit": Moment.OTHER,
        "stop": Moment.OTHER,
    }


DIALECT = Kiro()
