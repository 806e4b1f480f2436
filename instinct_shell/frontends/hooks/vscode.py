"""VS Code's agent mode ("Local" harness, preview): Claude's nested shape, its own tool names. From its hooks reference; not run here."""

from __future__ import annotations

from . import tools
from .claude import Claude, decision
from .protocol import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "run_in_terminal": tools.SHELL,
    "runinterminal": tools.SHELL,
    "runterminalcommand": tools.SHELL,
    "bash": tools.SHELL,
    "create_file": tools.WRITE,
    "createfile": tools.WRITE,
    "editfiles": tools.EDIT,
    "insert_edit_into_file": tools.EDIT.replace(content=("code",)),
    "replace_string_in_file": tools.EDIT,
    "apply_patch": tools.PATCH,
    "read_file": tools.READ,
    "readfile": tools.READ,
    "grep_search": tools.READ,
}


class VSCode(Claude):
    """VS Code agent mode."""

    name = "vscode"
    replaces = False
    tools = TOOLS

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        return decision("deny", reason)


DIALECT = VSCode()
