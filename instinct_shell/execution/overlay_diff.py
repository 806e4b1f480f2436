"""The differences of a change's texts, cut to what somebody reads before they decide."""

from __future__ import annotations

import os

from .beneath import FOLDER, open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.overlay import Change, ChangeSet

MOST_LINES = 200
_MOST_BYTES = 1 << 16  # of one file: what is longer is told by its size
_WORTH = ("created", "modified")


def diff(change: ChangeSet, upper: str, most: int = MOST_LINES) -> tuple[str, ...]:
    """Unified diff lines, without their newlines. The workspace must be as it was before the change."""
    lines: list[str] = []
    try:
        top, below = os.open(upper, FOLDER), os.open(change.workspace, FOLDER)
    except OSError:
        return ()
    try:
        for one in change.changes:
            if one.kind == "file" and one.what in _WORTH and one.moved_from == "":
                for line in _of(one, top, below):
                    if len(lines) == most:
                        return (*lines, "... (more lines)")
                    lines.append(line)
    finally:
        os.close(top)
        os.close(below)
    return tuple(lines)


def _of(one: Change, top: int, below: int) -> Iterator[str]:
    import difflib

    was_file = one.was is not None and one.was.kind == "file"
    before, after = _text(below, one.path) if was_file else "", _text(top, one.path)
    if before is None or after is None:
        yield f"--- {one.path}: no text, or too long to show"
        return
    old, new = f"a/{one.path}" if was_file else "/dev/null", f"b/{one.path}"
    yield from difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")


def _text(root: int, path: str) -> str | None:
    try:
        fd = open_file(root, path)
    except OSError:
        return None
    with open(fd, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
