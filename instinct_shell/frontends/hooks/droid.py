"""Factory droid: Claude's shape, but its shell tool is `Execute` (a `Bash` matcher never fires). From its documentation; not run here."""

from __future__ import annotations

from . import tools
from .claude import Claude

TOOLS = {
    "execute": tools.SHELL,
    "create": tools.WRITE,
    "write": tools.WRITE,
    "edit": tools.EDIT,
    "multiedit": tools.EDIT,
    "applypatch": tools.PATCH,
    "read": tools.READ,
    "grep": tools.READ,
}


class Droid(Claude):
    """Factory droid."""

    name = "droid"
    replaces = False
    can_ask = False
    tools = TOOLS


DIALECT = Droid()
