"""Patches of many files: the `apply_patch` grammar of coding agents, and unified diffs. Never read as shell text. Pure.

*** Begin Patch
*** Add File: P        every content line starts with `+`
*** Delete File: P
*** Update File: P     then perhaps `*** Move to: Q`, then hunks of ` `, `-` and `+` lines, each after `@@`
*** End Patch
"""

from __future__ import annotations

from ..errors import IntentError
from ..model.value import Value
from .edits import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
ADD, DELETE, UPDATE, MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "
NO_END = "\\ No newline at end of file"


class Change(Value):
    """One file of a patch. kind: add | delete | update. to: where an updated file moves, or "". added: the lines that come in.

    hunks: of an update. bare: an added file's last line has no line end.
    """

    kind: str
    path: str
    to: str = ""
    added: str = ""
    hunks: tuple[Hunk, ...] = ()
    bare: bool = False

    @property
    def content(self) -> str:
        """The whole text of an added file."""
        return self.added + ("" if self.bare or not self.added else "\n")


def changes(patch: str) -> tuple[Change, ...]:
    """The files of a patch in either grammar, in order. Raises IntentError where the text is no patch; half a patch is none."""
    lines = patch.strip("\n").split("\n")
    if any(line.startswith("--- ") for line in lines) and lines[0].strip() != BEGIN:
        return _unified(lines)
    return _enveloped(lines)


# ---------------------------------------------------------------- *** Begin Patch


def _enveloped(lines: Sequence[str]) -> tuple[Change, ...]:
    if not lines or lines[0].strip() != BEGIN:
        raise IntentError(f"the patch does not start with `{BEGIN}`", hint="a unified diff (`--- a/x`, `+++ b/x`, `@@`) is understood too")
    if lines[-1].strip() != END:
        raise IntentError(f"the patch does not end with `{END}`")
    found: list[Change] = []
    current: Change | None = None
    body: list[str] = []
    for number, line in enumerate(lines[1:-1], 2):
        header = next((word for word in (ADD, DELETE, UPDATE) if line.startswith(word)), "")
        if header:
            if current is not None:
                found.append(_whole(current, body))
            body = []
            current = Change({ADD: "add", DELETE: "delete", UPDATE: "update"}[header], _path(line, header, number))
        elif current is None:
            raise IntentError(f"line {number} of the patch stands before any file")
        elif line.startswith(MOVE) and current.kind == "update" and not current.to:
            current = current.replace(to=_path(line, MOVE, number))
        elif (line.startswith("+") and current.kind != "delete") or (
            current.kind == "update" and (not line or line[0] in " -@" or line.strip() == END_OF_FILE)
        ):
            body.append(line)
        elif not line.strip():
            pass  # an empty line between files
        else:
            raise IntentError(f"line {number} of the patch is not understood")
    if current is None:
        raise IntentError("the patch names no file")
    return (*found, _whole(current, body))


def _whole(change: Change, body: Sequence[str]) -> Change:
    added = "\n".join(line[1:] for line in body if line.startswith("+"))
    return change.replace(added=added, hunks=_hunks(body) if change.kind == "update" else ())


def _hunks(body: Sequence[str]) -> tuple[Hunk, ...]:
    found: list[Hunk] = []
    lines: list[str] = []
    anchor = ""

    def close(*, at_end: bool = False) -> None:
        nonlocal lines, anchor
        while lines and lines[-1] == " ":
            lines.pop()  # empty lines between hunks or files
        if lines:
            found.append(Hunk(tuple(lines), -1, anchor, at_end))
        lines, anchor = [], ""

    for line in body:
        if line.startswith("@@"):
            close()
            anchor = line[2:].strip()
            if anchor.endswith("@@"):  # `@@ def f(): @@`
                anchor = anchor[:-2].strip()
            if anchor.startswith("-") and "+" in anchor and anchor.split()[0][1:2].isdigit():
                anchor = ""  # line numbers of a unified diff, which this grammar does not have
        elif line.strip() == END_OF_FILE:
            close(at_end=True)
        else:
            lines.append(line or " ")
    close()
    return tuple(found)


def _path(line: str, header: str, number: int) -> str:
    path = line[len(header) :].strip()
    if not path:
        raise IntentError(f"line {number} of the patch names no file")
    return path


# ---------------------------------------------------------------- unified diffs


def _unified(lines: Sequence[str]) -> tuple[Change, ...]:
    found: list[Change] = []
    git_paths = _GitPaths()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            found += git_paths.renamed()
            git_paths = _GitPaths()
        elif line.startswith(("rename from ", "rename to ", "copy to ", "GIT binary patch", "Binary files ")):
            git_paths.note(line, at + 1)
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            change, at = _one_file(lines, at, git_paths)
            git_paths = _GitPaths()
            found.append(change)
            continue
        elif line.startswith("@@"):
            raise IntentError(f"line {at + 1} of the patch is a hunk without a file before it")
        at += 1
    found += git_paths.renamed()
    if not found:
        raise IntentError("the patch names no file")
    return tuple(found)


class _GitPaths:
    """What git's own lines say of the file whose hunks follow."""

    def __init__(self) -> None:
        self.source = self.target = ""

    def note(self, line: str, number: int) -> None:
        if line.startswith("rename from "):
            self.source = line[12:].strip()
        elif line.startswith("rename to "):
            self.target = line[10:].strip()
        else:
            raise IntentError(f"line {number} of the patch is not text that can be applied: {line.split(maxsplit=1)[0]}")

    def renamed(self) -> list[Change]:
        """A move without any hunk."""
        return [Change("update", self.source, self.target)] if self.source and self.target else []


def _one_file(lines: Sequence[str], at: int, git_paths: _GitPaths) -> tuple[Change, int]:
    """The file whose `---` line stands here, and the line after its last hunk."""
    old, new = _file_name(lines[at][4:], "a/"), _file_name(lines[at + 1][4:], "b/")
    number = at + 1
    at += 2
    hunks: list[Hunk] = []
    while at < len(lines) and lines[at].startswith("@@"):
        hunk, at = _unified_hunk(lines, at)
        hunks.append(hunk)
    if not hunks:
        raise IntentError(f"line {number} of the patch names a file that nothing happens to")
    added = "\n".join(line[1:] for hunk in hunks for line in hunk.lines if line[0] == "+")
    if not old and not new:
        raise IntentError(f"line {number} of the patch names no file")
    if not old:
        return Change("add", new, added=added, bare=hunks[-1].bare_new), at
    if not new:
        return Change("delete", old), at
    moved = git_paths.target or (new if new != old else "")
    return Change("update", old, moved if moved != old else "", added, tuple(hunks)), at


def _file_name(text: str, prefix: str) -> str:
    name = text.partition("\t")[0].strip()
    return "" if name == "/dev/null" else name.removeprefix(prefix)


def _unified_hunk(lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    start, old_left, new_left = _ranges(lines[at], at + 1)
    at += 1
    body: list[str] = []
    bare_old = bare_new = False
    while at < len(lines):
        line = lines[at] or " "
        if line.startswith("\\"):
            last = body[-1][0] if body else " "
            bare_old, bare_new = bare_old or last in " -", bare_new or last in " +"
            at += 1
            continue
        if old_left <= 0 and new_left <= 0:
            break
        if line[0] not in " -+":
            raise IntentError(f"line {at + 1} of the patch is not understood")
        old_left -= line[0] in " -"
        new_left -= line[0] in " +"
        body.append(line)
        at += 1
    if old_left or new_left:
        raise IntentError(f"the hunk that ends at line {at} of the patch does not have as many lines as it says")
    # `@@ -5,0 +6 @@` adds after line 5, so that the place is told by the line itself.
    return Hunk(tuple(body), start, "", bare_old=bare_old, bare_new=bare_new), at


def _ranges(line: str, number: int) -> tuple[int, int, int]:
    """(first line, lines before, lines after) of `@@ -1,3 +1,4 @@`."""
    words = line.split()
    try:
        if words[0] != "@@" or words[1][0] != "-" or words[2][0] != "+":
            raise ValueError(line)
        first, _, count = words[1][1:].partition(",")
        _, _, after = words[2][1:].partition(",")
        return int(first), int(count or 1), int(after or 1)
    except (ValueError, IndexError):
        raise IntentError(f"line {number} of the patch is no hunk header: it needs `@@ -first,count +first,count @@`") from None
