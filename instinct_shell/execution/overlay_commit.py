"""Committing a change to the workspace: looked at, kept for undo, then made step by step so that a kill at any moment leaves something to go on from.

Before the first step every path must be as it was when the command ended, and every new content what was judged. Each step makes the new thing under
a name of ours in the same folder and gives it the name by one rename; an entry that somebody changed meanwhile comes back by the same rename.
The change stays in the overlay's folder until all is done: going on after a crash is doing what is not done yet. Folders are opened below the
workspace's own descriptor, through no link and into no other file system (openat2), so that a link put in the way ends the commit.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from contextlib import contextmanager

from ..errors import OverlayError
from ..model.overlay import Was
from .beneath import FOLDER, copy, open_file, split
from .jail.syscalls import attempt
from .overlay_changes import attributes_of, digest_at, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.overlay import Change, ChangeSet

_BENEATH, _NO_LINKS, _NO_MAGIC_LINKS, _NO_OTHER_DISK = 0x08, 0x04, 0x02, 0x01  # RESOLVE_*
_NO_REPLACE, _EXCHANGE = 1, 2  # RENAME_*
PREFIX, SUFFIX = ".instinct-overlay-", ".tmp"


class Commit:
    """One change set on its way into the workspace. upper: the folder with the new contents; draft: how the drafts of this commit are called."""

    def __init__(self, change: ChangeSet, upper: str, draft: str) -> None:
        self._set = change
        self._upper = os.open(upper, FOLDER)
        try:
            self._root = os.open(change.workspace, FOLDER)
        except OSError as error:
            os.close(self._upper)
            raise OverlayError(f"the workspace `{change.workspace}` is not there any more") from error
        self._draft = f"{PREFIX}{draft}{SUFFIX}"
        self._created = frozenset(one.path for one in change.changes if one.what == "created")

    def close(self) -> None:
        """Lets go of both folders."""
        os.close(self._upper)
        os.close(self._root)

    # ------------------------------------------------------------ before

    def look(self, *, again: bool = False) -> tuple[str, ...]:
        """Why it cannot be committed, one line a path. again: some of it is committed already, which is no conflict."""
        here = os.fstat(self._root)
        if (here.st_dev, here.st_ino) != (self._set.device, self._set.inode):
            return (f"`{self._set.workspace}` is another folder now",)
        gone = {change.path for change in self._set.changes if change.what == "deleted"}
        found = []
        for change in self._set.changes:
            source_is_wrong = change.kind == "file" and change.what in ("created", "modified") and digest_at(self._upper, change.path) != change.digest
            if source_is_wrong:
                found.append(f"the kept content of `{change.path}` is not what was judged")
            elif not (self._is_before(change, gone, again=again) or (again and self._is_done(change))):
                found.append(f"`{change.path or self._set.workspace}` has changed since")
        return tuple(found)

    def _is_before(self, change: Change, gone: set[str], *, again: bool) -> bool:
        now = self._now(change.path)
        if change.was is None or (change.what == "created" and change.path in gone):
            return (now is None or change.path in gone) and self._has_place(change.path)
        if now is None or not _same(now, change.was):
            return False
        if change.kind == "dir" and change.what == "metadata" and not again:
            return now.mode == change.was.mode
        if change.what == "deleted" and change.kind == "dir":
            with self._folder(change.path) as fd:
                return all(f"{change.path}/{name}" in gone or name == self._draft for name in os.listdir(fd))
        return True

    def _has_place(self, path: str) -> bool:
        """Whether the folder around a new thing is there, or comes with it."""
        head = split(path)[0]
        if head in self._created:
            return True
        now = self._now(head)
        return now is not None and now.kind == "dir"

    def _is_done(self, change: Change) -> bool:
        now = self._now(change.path)
        if change.what == "deleted":
            return now is None or (change.path in self._created and change.was is not None and not _same(now, change.was))
        if now is None or now.kind != change.kind:
            return False
        if change.kind == "dir":
            return True
        return now.to == change.to if change.kind == "link" else (now.digest, now.size) == (change.digest, change.size)

    def _now(self, path: str) -> Was | None:
        """What stands there; None when nothing does, or no plain way leads there."""
        if not path:
            found = os.fstat(self._root)
            return Was("dir", stat.S_IMODE(found.st_mode), 0, found.st_mtime_ns, found.st_dev, found.st_ino)
        head, name = split(path)
        try:
            with self._folder(head) as parent:
                return _at(parent, name)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV):
                return None
            raise

    # ------------------------------------------------------------ the steps

    def sync_contents(self) -> None:
        """From here on the new contents survive the machine."""
        attempt("syncfs", self._upper)

    def make(self) -> None:
        """All that is not done yet. Raises OverlayError when something is in the way; what is done stays, and making it again goes on from there."""
        try:
            self._steps()
            attempt("syncfs", self._root)  # before the overlay goes
        except OSError as error:
            where = error.filename if isinstance(error.filename, str) else ""
            raise OverlayError(f"the commit stopped{f' at `{where}`' if where else ''}: {(error.strerror or str(error)).lower()}") from error

    def _steps(self) -> None:
        self._open_folders()
        for change in reversed(self._set.changes):  # what is below a folder before the folder
            if change.what == "deleted" and not self._is_done(change):
                self._delete(change)
        for change in self._set.changes:
            if change.what == "deleted" or not change.path:
                continue
            if change.kind == "dir":
                self._make_folder(change)
            elif not self._is_complete(change):
                self._set_right(change) if change.what == "metadata" else self._put(change)
        self._finish_folders()

    def _open_folders(self) -> None:
        """Folders below which something changes can be written by us until the end; what a killed commit left there goes."""
        deleted = [(change.path, change.mode) for change in self._set.changes if change.what == "deleted" and change.kind == "dir"]
        for path, _ in sorted((*self._set.folders, *deleted)):
            try:
                self._open_up(path)
            except (FileNotFoundError, NotADirectoryError):
                continue  # deleted already, and perhaps something else made in its place

    def _open_up(self, path: str) -> None:
        """Makes one folder ours to write, and takes a killed commit's draft out of it."""
        self._open_closed(path)
        with self._folder(path) as fd:
            _unlink(fd, self._draft)

    def _open_closed(self, path: str) -> None:
        """Its mode is changed by a descriptor that needs no right to read it, and only if it is a folder."""
        head, name = split(path)
        if not path:
            mode = stat.S_IMODE(os.fstat(self._root).st_mode)
            os.fchmod(self._root, mode | 0o700)
            return
        with self._folder(head) as parent:
            fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                mode = stat.S_IMODE(os.fstat(fd).st_mode)
                if mode & 0o700 != 0o700:
                    os.chmod(f"/proc/self/fd/{fd}", mode | 0o700)
            finally:
                os.close(fd)

    def _delete(self, change: Change) -> None:
        head, name = split(change.path)
        assert change.was is not None
        with self._folder(head) as parent:
            if change.kind == "dir":
                if _at(parent, name, content=False) is not None:
                    os.rmdir(name, dir_fd=parent)
                return
            _rename(parent, name, self._draft, _NO_REPLACE)
            self._check_taken(parent, name, change)
            os.unlink(self._draft, dir_fd=parent)

    def _check_taken(self, parent: int, name: str, change: Change) -> None:
        """What our rename took away must be what was judged to go; else it gets its name back."""
        now = _at(parent, self._draft)
        if now is None or change.was is None or not _same(now, change.was):
            _rename(parent, self._draft, name, _NO_REPLACE if _at(parent, name, content=False) is None else _EXCHANGE)
            _unlink(parent, self._draft)
            raise OverlayError(f"the commit stopped: `{change.path}` was changed at this very moment")

    def _make_folder(self, change: Change) -> None:
        if change.what == "created":
            head, name = split(change.path)
            with self._folder(head) as parent:
                try:
                    os.mkdir(name, 0o700, dir_fd=parent)
                except FileExistsError:
                    if not self._is_done(change):
                        raise
            self._open_up(change.path)

    def _put(self, change: Change) -> None:
        """A file or a link: drafted beside its place, then named."""
        head, name = split(change.path)
        with self._folder(head) as parent:
            _unlink(parent, self._draft)
            if change.kind == "link":
                os.symlink(change.to, self._draft, dir_fd=parent)
            else:
                self._write(parent, change)
            if change.was is None or change.what == "created":
                _rename(parent, self._draft, name, _NO_REPLACE)
                return
            _rename(parent, self._draft, name, _EXCHANGE)
            self._check_taken(parent, name, change)
            os.unlink(self._draft, dir_fd=parent)

    def _write(self, parent: int, change: Change) -> None:
        source = open_file(self._upper, change.path)
        try:
            fd = os.open(self._draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=parent)
            try:
                copy(source, fd, change.size)
                if digest_of(fd) != change.digest:
                    raise OverlayError(f"the commit stopped: the kept content of `{change.path}` is not what was judged")
                for name, value in attributes_of(source).items():
                    os.setxattr(fd, name, value)
                os.fchmod(fd, change.mode)
                os.utime(fd, ns=(change.mtime_ns, change.mtime_ns))
            finally:
                os.close(fd)
        except BaseException:
            _unlink(parent, self._draft)
            raise
        finally:
            os.close(source)

    def _is_complete(self, change: Change) -> bool:
        """Done, mode and time included."""
        now = self._now(change.path)
        if now is None or not self._is_done(change):
            return False
        return change.kind == "link" or (now.mode, now.mtime_ns) == (change.mode, change.mtime_ns)

    def _set_right(self, change: Change) -> None:
        """Mode and time of a file whose content stays."""
        head, name = split(change.path)
        with self._folder(head) as parent:
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode) or change.was is None or (found.st_dev, found.st_ino) != (change.was.device, change.was.inode):
                    raise OverlayError(f"the commit stopped: `{change.path}` was changed at this very moment")
                os.chmod(f"/proc/self/fd/{fd}", change.mode)
                os.utime(f"/proc/self/fd/{fd}", ns=(found.st_atime_ns, change.mtime_ns))
            finally:
                os.close(fd)

    def _finish_folders(self) -> None:
        """The modes that folders end up with, deepest first: above a closed one nothing can be reached."""
        made = [(change.path, change.mode) for change in self._set.changes if change.kind == "dir" and change.what == "created"]
        for path, mode in sorted((*self._set.folders, *made), reverse=True):
            self._open_closed(path)
            with self._folder(path) as fd:
                if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
                    os.fchmod(fd, mode)

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """An open folder of the workspace. Raises OSError: ELOOP for a link on the way, EXDEV for another disk or a way out."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        how = struct.pack("=QQQ", flags, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS | _NO_OTHER_DISK)
        fd = attempt("openat2", self._root, os.fsencode(path or "."), how, len(how))
        if fd < 0:
            raise OSError(-fd, os.strerror(-fd), path)
        try:
            yield fd
        finally:
            os.close(fd)


def _at(parent: int, name: str, *, content: bool = True) -> Was | None:
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    mode, place = stat.S_IMODE(found.st_mode), (found.st_dev, found.st_ino)
    if stat.S_ISDIR(found.st_mode):
        return Was("dir", mode, 0, found.st_mtime_ns, *place)
    if stat.S_ISLNK(found.st_mode):
        return Was("link", 0, 0, found.st_mtime_ns, *place, to=os.readlink(name, dir_fd=parent))
    digest = digest_at(parent, name) if content and stat.S_ISREG(found.st_mode) else ""
    return Was("file", mode, found.st_size, found.st_mtime_ns, *place, digest=digest)


def _same(now: Was, was: Was) -> bool:
    """Whether this is still that entry. Of a folder, times say only that something in it changed; its mode is ours to open and close."""
    if now.kind == "dir" or was.kind == "dir":
        return (now.kind, now.device, now.inode) == (was.kind, was.device, was.inode)
    return now == was


def _rename(parent: int, old: str, new: str, flag: int) -> None:
    """One rename in a folder, which replaces nothing or exchanges two. Raises OSError, also where the disk can do neither."""
    result = attempt("renameat2", parent, os.fsencode(old), parent, os.fsencode(new), flag)
    if result < 0:
        raise OSError(-result, os.strerror(-result), new)


def _unlink(parent: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        pass  # there is none
