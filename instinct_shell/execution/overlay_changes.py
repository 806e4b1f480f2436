"""What a command changed on its copy-on-write view: the upper folder read against the workspace below it.

An overlay writes a deletion as a character device 0/0 (or an empty file with a mark), and a folder whose old contents are gone as one with the mark
`opaque`. A file that was only opened for writing stands in the upper folder too: it is no change unless its content, mode or time differs.
"""

from __future__ import annotations

import errno
import os
import stat

from ..errors import OverlayError
from ..model.digest import sha256
from ..model.overlay import MOST_BYTES, MOST_CHANGES, Change, ChangeSet, Was
from .beneath import FOLDER, folder, look, open_file, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = "user.overlay."
_BLOCK = 1 << 20
_MOST_DEEP, _LONGEST = 200, 3500  # folders, bytes of a path: what one call opens, with room for the workspace's own
_SET_ID = stat.S_ISUID | stat.S_ISGID


def changes(upper: str, workspace: str, since_ns: int) -> ChangeSet:
    """All changes. since_ns: when the view was made, by the clock of file times; what the workspace got since then is a conflict.

    Raises OverlayError when there are more than an overlay holds, OSError.
    """
    top, below = os.open(upper, FOLDER), os.open(workspace, FOLDER)
    try:
        return _Reading(top, below, workspace, since_ns).all()
    finally:
        os.close(top)
        os.close(below)


class _Reading:
    """One reading of an upper folder."""

    def __init__(self, top: int, below: int, workspace: str, since_ns: int) -> None:
        self._top = top
        self._below = below
        self._workspace = workspace
        self._since_ns = since_ns
        self._found: list[Change] = []
        self._folders: dict[str, int] = {}
        self._obstacles: list[str] = []
        self._new_bytes = self._old_bytes = 0

    def all(self) -> ChangeSet:
        """Everything, sorted by path."""
        root, mine = os.fstat(self._below), os.fstat(self._top)
        if stat.S_IMODE(root.st_mode) != stat.S_IMODE(mine.st_mode):
            self._add(Change("", "metadata", "dir", stat.S_IMODE(mine.st_mode), was=self._was("", root)))
        os.fchmod(self._top, 0o700)
        self._visit("", hidden=False)
        # A folder in which nothing else differs than what was made and removed again needs no looking after.
        touched = {path.rpartition("/")[0] for change in self._found for path in [change.path] if path}
        touched |= {change.path for change in self._found if change.kind == "dir" and change.what == "metadata"}
        self._folders[""] = stat.S_IMODE(mine.st_mode)
        folders = tuple((path, mode) for path, mode in sorted(self._folders.items()) if path in touched)
        found = tuple(self._with_moves())
        return ChangeSet(self._workspace, root.st_dev, root.st_ino, found, folders, tuple(dict.fromkeys(self._obstacles)))

    def _visit(self, path: str, *, hidden: bool) -> None:
        """One folder of the upper side. hidden: nothing of the workspace shows through in it."""
        self._check_depth(path)
        names = self._names(path)
        if hidden:
            for name, _ in self._children_below(path):
                if name not in names:
                    self._deleted(f"{path}/{name}")
        for name in names:
            inner = f"{path}/{name}" if path else name
            mine, old = look(self._top, inner), look(self._below, inner)
            if mine is None:
                continue  # nobody else writes here
            if self._is_whiteout(inner, mine):
                if old is not None:
                    self._deleted(inner)
            elif stat.S_ISDIR(mine.st_mode):
                self._folder(inner, mine, old, hidden=hidden)
            elif stat.S_ISREG(mine.st_mode) or stat.S_ISLNK(mine.st_mode):
                self._thing(inner, mine, old)
            else:
                self._obstacles.append(f"`{inner}` is neither a file, a folder nor a link")

    def _folder(self, path: str, mine: os.stat_result, old: os.stat_result | None, *, hidden: bool) -> None:
        mode = stat.S_IMODE(mine.st_mode)
        with folder(self._top, split(path)[0]) as parent:
            os.chmod(split(path)[1], mode | 0o700, dir_fd=parent)  # ours, and to be read
        if old is None or not stat.S_ISDIR(old.st_mode):
            if old is not None:
                self._deleted(path)
            self._add(Change(path, "created", "dir", mode))
            self._visit(path, hidden=True)
            return
        self._folders[path] = mode
        if mode != stat.S_IMODE(old.st_mode):
            self._add(Change(path, "metadata", "dir", mode, was=self._was(path, old)))
        self._visit(path, hidden=hidden or self._mark(path, "opaque") == b"y")

    def _thing(self, path: str, mine: os.stat_result, old: os.stat_result | None) -> None:
        """A file or a link."""
        kind, mode = ("link", 0) if stat.S_ISLNK(mine.st_mode) else ("file", stat.S_IMODE(mine.st_mode))
        new = Change(path, "created", kind, mode, mtime_ns=mine.st_mtime_ns)
        if kind == "link":
            new = new.replace(to=self._read_link(self._top, path))
        elif mine.st_nlink > 1:
            self._obstacles.append(f"`{path}` has got another hard link, which a commit would part")
            return
        else:
            self._new_bytes += mine.st_size
            self._check_size()
            new = new.replace(size=mine.st_size, digest=self._digest_of_ours(path, mode))
        if old is None:
            if self._mark(path, "origin") is not None and self._folder_changed(path):
                self._obstacles.append(f"`{path}` was removed in the workspace while the command ran")
            self._refuse_set_id(path, mode if kind == "file" else 0, 0)
            self._add(new)
            return
        if stat.S_ISDIR(old.st_mode):
            self._deleted(path)
            self._add(new)
            return
        was = self._was(path, old)
        self._refuse_set_id(path, mode if kind == "file" else 0, was.mode)
        if kind == was.kind and (new.to, new.digest, new.size) == (was.to, was.digest, was.size):
            if kind == "file" and self._attributes(self._top, path) != self._attributes(self._below, path):
                self._obstacles.append(f"`{path}` got other extended attributes, which a commit does not set")
            if kind == "file" and (mode, mine.st_mtime_ns) != (was.mode, was.mtime_ns):
                self._changed(new.replace(what="metadata", was=was), old)
        else:
            self._changed(new.replace(what="modified", was=was), old)

    def _changed(self, change: Change, old: os.stat_result) -> None:
        if stat.S_ISREG(old.st_mode) and old.st_nlink > 1:
            self._obstacles.append(f"`{change.path}` has other hard links, which would keep the old content")
        self._refuse_conflict(change.path, old)
        self._add(change)

    def _deleted(self, path: str) -> None:
        """Of the workspace's own, with everything below it."""
        old = look(self._below, path)
        if old is None:
            return
        self._refuse_conflict(path, old)
        self._check_depth(path)
        if stat.S_ISDIR(old.st_mode):
            for name, _ in self._children_below(path):
                self._deleted(f"{path}/{name}")
        was = self._was(path, old)
        self._add(Change(path, "deleted", was.kind, was.mode, was.size, was.mtime_ns, was=was))

    # ------------------------------------------------------------ looking

    def _add(self, change: Change) -> None:
        self._found.append(change)
        if len(self._found) > MOST_CHANGES:
            raise OverlayError(f"it changed more than {MOST_CHANGES:,} files, which an overlay does not hold")

    def _check_size(self) -> None:
        if max(self._new_bytes, self._old_bytes) > MOST_BYTES:
            raise OverlayError(f"it changed more than {MOST_BYTES >> 20} MiB, which an overlay does not hold")

    def _check_depth(self, path: str) -> None:
        if path.count("/") > _MOST_DEEP or len(os.fsencode(path)) > _LONGEST:
            raise OverlayError("it changed something deeper than an overlay reads")

    def _was(self, path: str, old: os.stat_result) -> Was:
        mode = stat.S_IMODE(old.st_mode)
        place = (old.st_dev, old.st_ino)
        if stat.S_ISDIR(old.st_mode):
            return Was("dir", mode, 0, old.st_mtime_ns, *place)
        if stat.S_ISLNK(old.st_mode):
            return Was("link", 0, 0, old.st_mtime_ns, *place, to=self._read_link(self._below, path))
        if not stat.S_ISREG(old.st_mode):
            self._obstacles.append(f"`{path}` is neither a file, a folder nor a link")
            return Was("file", mode, 0, old.st_mtime_ns, *place)
        self._old_bytes += old.st_size
        self._check_size()
        return Was("file", mode, old.st_size, old.st_mtime_ns, *place, digest=digest_at(self._below, path))

    def _refuse_conflict(self, path: str, old: os.stat_result) -> None:
        if old.st_ctime_ns >= self._since_ns:
            self._obstacles.append(f"`{path}` was changed in the workspace while the command ran")

    def _folder_changed(self, path: str) -> bool:
        found = look(self._below, split(path)[0])
        return found is not None and found.st_ctime_ns >= self._since_ns

    def _refuse_set_id(self, path: str, mode: int, before: int) -> None:
        if mode & _SET_ID & ~before:
            self._obstacles.append(f"`{path}` would run as its owner or group (set-id bit)")

    def _names(self, path: str) -> list[str]:
        with folder(self._top, path) as fd:
            return sorted(os.listdir(fd))

    def _children_below(self, path: str) -> Iterator[tuple[str, os.stat_result]]:
        try:
            with folder(self._below, path) as fd:
                found = [(name, os.stat(name, dir_fd=fd, follow_symlinks=False)) for name in sorted(os.listdir(fd))]
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return
            raise
        yield from found

    def _is_whiteout(self, path: str, mine: os.stat_result) -> bool:
        if stat.S_ISCHR(mine.st_mode):
            return mine.st_rdev == 0
        return stat.S_ISREG(mine.st_mode) and not mine.st_size and self._mark(path, "whiteout") is not None

    def _mark(self, path: str, name: str) -> bytes | None:
        head, last = split(path)
        with folder(self._top, head) as parent:
            try:
                return os.getxattr(f"/proc/self/fd/{parent}/{last}", _MARK + name, follow_symlinks=False)
            except OSError:
                return None

    def _read_link(self, root: int, path: str) -> str:
        head, name = split(path)
        with folder(root, head) as parent:
            return os.readlink(name, dir_fd=parent)

    def _digest_of_ours(self, path: str, mode: int) -> str:
        if not mode & 0o400:
            head, name = split(path)
            with folder(self._top, head) as parent:
                os.chmod(name, mode | 0o400, dir_fd=parent)
        return digest_at(self._top, path)

    def _attributes(self, root: int, path: str) -> dict[str, bytes]:
        try:
            fd = open_file(root, path)
        except PermissionError:
            return {}
        try:
            return attributes_of(fd)
        finally:
            os.close(fd)

    def _with_moves(self) -> Iterator[Change]:
        """The changes by path; a created file is told as moved where one deleted file had its very content."""
        gone: dict[tuple[str, int], list[str]] = {}
        for change in self._found:
            if change.what == "deleted" and change.was is not None and change.was.digest and change.was.size:
                gone.setdefault((change.was.digest, change.was.size), []).append(change.path)
        for change in sorted(self._found, key=lambda one: (one.path, one.what != "deleted")):
            same = gone.get((change.digest, change.size)) if change.what == "created" and change.kind == "file" else None
            yield change.replace(moved_from=same.pop(0)) if same else change


def attributes_of(fd: int) -> dict[str, bytes]:
    """A file's extended attributes that a person may set, access lists among them, without the overlay's own marks."""
    found = {}
    try:
        for name in os.listxattr(fd):
            if name.startswith(("user.", "system.posix_acl")) and not name.startswith(_MARK):
                found[name] = os.getxattr(fd, name)
    except OSError:
        return {}  # this disk has none
    return found


def digest_at(root: int, path: str) -> str:
    """The sha256 of a regular file below `root`; "" when it may not be read."""
    try:
        fd = open_file(root, path)
    except PermissionError:
        return ""
    try:
        return digest_of(fd)
    finally:
        os.close(fd)


def digest_of(fd: int) -> str:
    """The sha256 of an open file's whole content."""
    digest, at = sha256(), 0
    while piece := os.pread(fd, _BLOCK, at):
        digest.update(piece)
        at += len(piece)
    return digest.hexdigest()
