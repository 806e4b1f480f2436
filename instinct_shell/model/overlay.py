"""What a command changed on a copy-on-write view of the workspace, as plain values: listed, judged, kept, committed or thrown away."""

from __future__ import annotations

from .digest import text_digest
from .value import Value

MOST_CHANGES = 5_000
MOST_BYTES = 200 * 1024 * 1024  # of new content, and again of what it takes the place of
WALL_SECONDS = 120.0
KEPT_S = 24 * 3600.0


class Was(Value):
    """How the workspace's own entry looked when the command had ended: a commit acts only while it still does.

    kind: file | dir | link. digest: sha256 of a file's content, "" where it could not be read. to: where a link leads.
    """

    kind: str
    mode: int
    size: int = 0
    mtime_ns: int = 0
    device: int = 0
    inode: int = 0
    digest: str = ""
    to: str = ""


class Change(Value):
    """One path, relative to the workspace ("" is the workspace itself), and what is there after the command.

    what: created | modified (other content, or another kind of thing) | deleted | metadata (mode or time of a file, mode of a folder).
    kind: file | dir | link; of a deleted one, what it was. was: None for a created one. moved_from: a deleted path with this very content.
    """

    path: str
    what: str
    kind: str
    mode: int = 0
    size: int = 0
    mtime_ns: int = 0
    digest: str = ""
    to: str = ""
    was: Was | None = None
    moved_from: str = ""


class ChangeSet(Value):
    """All that one command changed, sorted by path.

    device, inode: the workspace's own. folders: folders that were there before and below which something changes, with the mode they end up with.
    obstacles: why this cannot be committed, in words; empty when it can.
    """

    workspace: str
    device: int
    inode: int
    changes: tuple[Change, ...] = ()
    folders: tuple[tuple[str, int], ...] = ()
    obstacles: tuple[str, ...] = ()

    def digest(self) -> str:
        """What a person approves: exactly this change of exactly these files."""
        return text_digest(repr(self))

    def replaces(self) -> bool:
        """Whether it takes the place of anything that was there."""
        return any(change.was is not None for change in self.changes)

    def new_bytes(self) -> int:
        """Bytes of new content."""
        return sum(change.size for change in self.changes if change.what in ("created", "modified"))


class Kept(Value):
    """A change that waits. run: the run that made it, and its name. needs: why a person has to commit it; "" when nobody has to.

    request: the id that a person approves. command: the text that ran, clipped. status: how the command ended.
    """

    run: str
    at: float
    expires: float
    change: ChangeSet
    command: str = ""
    status: int = 0
    needs: str = ""
    request: str = ""


class Apart(Value):
    """What became of a command that ran apart, for front doors. fate: kept | committed | discarded | refused.

    lines: the list of changes; diff: the differences of texts, both cut to what a reader can use. needs, request: as in Kept.
    why: of a change that was to be committed and was not. replaces: it takes the place of something, which `instinct undo` gives back.
    """

    run: str
    fate: str
    lines: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()
    changes: int = 0
    needs: str = ""
    request: str = ""
    why: str = ""
    status: int = 0
    replaces: bool = False
