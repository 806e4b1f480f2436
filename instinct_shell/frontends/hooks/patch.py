"""The `apply_patch` grammar: which files a patch adds, changes, deletes and moves. Never read as shell text.

    *** Begin Patch
    *** Add File: P        every content line starts with `+`
    *** Delete File: P
    *** Update File: P     then perhaps `*** Move to: Q`, then hunks of ` `, `-` and `+` lines, each after `@@`
    *** End Patch
"""

from __future__ import annotations

from ...errors import IntentError
from ...model.value import Value

BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
ADD, DELETE, UPDATE, MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "


class Change(Value):
    """One file of a patch. kind: add | delete | update. to: where an updated file moves, or "". added: the lines that come in."""

    kind: str
    path: str
    to: str = ""
    added: str = ""


def changes(patch: str) -> tuple[Change, ...]:
    """The files of a patch, in order. Raises IntentError where the text is no patch; half a patch is none."""
    lines = patch.strip("\n").split("\n")
    if not lines or lines[0].strip() != BEGIN:
        raise IntentError(f"the patch does not start with `{BEGIN}`")
    if lines[-1].strip() != END:
        raise IntentError(f"the patch does not end with `{END}`")
    found: list[Change] = []
    current: Change | None = None
    added: list[str] = []
    for number, line in enumerate(lines[1:-1], 2):
        header = next((word for word in (ADD, DELETE, UPDATE) if line.startswith(word)), "")
        if header:
            if current is not None:
                found.append(current.replace(added="\n".join(added)))
            added = []
            current = Change({ADD: "add", DELETE: "delete", UPDATE: "update"}[header], _path(line, header, number))
        elif current is None:
            raise IntentError(f"line {number} of the patch stands before any file")
        elif line.startswith(MOVE) and current.kind == "update" and not current.to:
            current = current.replace(to=_path(line, MOVE, number))
        elif line.startswith("+") and current.kind != "delete":
            added.append(line[1:])
        elif current.kind == "update" and (not line or line[0] in " -@" or line.strip() == END_OF_FILE):
            pass  # context, removed lines, hunk headers
        elif not line.strip():
            pass  # an empty line between files
        else:
            raise IntentError(f"line {number} of the patch is not understood")
    if current is None:
        raise IntentError("the patch names no file")
    return (*found, current.replace(added="\n".join(added)))


def _path(line: str, header: str, number: int) -> str:
    path = line[len(header) :].strip()
    if not path:
        raise IntentError(f"line {number} of the patch names no file")
    return path
