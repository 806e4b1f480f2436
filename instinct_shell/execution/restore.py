"""Giving pre-images back: whole files put in place by a rename, below the workspace only, through no symlink."""

from __future__ import annotations

import errno
import os
import stat

from ..errors import StorageError
from ..model.value import Value
from .beneath import FOLDER, copy, folder, look, open_file, split
from .gitblobs import GitBlobs
from .preimage import read_journal, take_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .undo import Entry, Journal, Kept


class Restored(Value):
    """What became of one path. result: restored | unchanged | failed; then why."""

    path: str
    result: str
    why: str = ""


def restore(kept: Kept, paths: Sequence[str], now: int, most_bytes: int) -> tuple[Restored, ...]:
    """Give back everything that was kept, or these paths and what lies below them. Raises StorageError and OSError."""
    journal = read_journal(kept.folder)
    wanted = _wanted(journal, paths)
    try:
        root = os.open(journal.workspace, FOLDER)
    except OSError as error:
        raise StorageError(f"the workspace `{journal.workspace}` is not there any more", hint="make the folder, then try again") from error
    try:
        changed = [entry for entry in wanted if not _is_as_it_was(root, kept, entry)]
        there = [entry.path for entry in changed if entry.kind != "dir" and look(root, entry.path) is not None]
        if there:
            take_paths(os.path.dirname(kept.folder), f"{kept.run}.{os.urandom(3).hex()}", now, there, journal.workspace, root, most_bytes)
        found = {entry.path: Restored(entry.path, "unchanged") for entry in wanted}
        with GitBlobs() as blobs:
            for entry in changed:
                found[entry.path] = _give_back(root, kept, entry, blobs)
        for entry in reversed(changed):  # a folder's mode and time last: its children had to be written into it
            if entry.kind == "dir" and found[entry.path].result == "restored":
                _finish_folder(root, entry)
        return tuple(found[entry.path] for entry in wanted)
    finally:
        os.close(root)


def _wanted(journal: Journal, paths: Sequence[str]) -> list[Entry]:
    if not paths:
        return list(journal.entries)
    names = []
    for path in paths:
        absolute = os.path.normpath(os.path.join(journal.workspace, path))
        name = os.path.relpath(absolute, journal.workspace)
        if not any(_is_at_or_below(entry.path, name) for entry in journal.entries):
            raise StorageError(f"nothing is kept of `{path}` in run `{journal.run}`", hint=f"see `instinct undo show {journal.run}`")
        names.append(name)
    # The folders above a file are needed when they are gone too.
    return [
        entry
        for entry in journal.entries
        if any(_is_at_or_below(entry.path, name) or (entry.kind == "dir" and name.startswith(f"{entry.path}/")) for name in names)
    ]


def _is_at_or_below(path: str, name: str) -> bool:
    return name == "." or path == name or path.startswith(f"{name}/")


def _is_as_it_was(root: int, kept: Kept, entry: Entry) -> bool:
    found = look(root, entry.path)
    if found is None or stat.S_IMODE(found.st_mode) != entry.mode:
        return False
    if entry.kind == "dir":
        return stat.S_ISDIR(found.st_mode)
    if entry.kind == "link":
        return stat.S_ISLNK(found.st_mode) and _read_link(root, entry.path) == entry.to
    if not stat.S_ISREG(found.st_mode) or found.st_size != entry.size:
        return False
    if entry.blob:
        return found.st_mtime_ns == entry.mtime_ns
    try:
        here = open_file(root, entry.path)
    except OSError:
        return False
    try:
        there = os.open(_data(kept, entry), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            return _same(here, there)
        finally:
            os.close(there)
    finally:
        os.close(here)


def _give_back(root: int, kept: Kept, entry: Entry, blobs: GitBlobs) -> Restored:
    try:
        if entry.kind == "dir":
            _make_folder(root, entry)
        elif entry.kind == "link":
            _place(root, entry, lambda parent, draft: _link(parent, draft, entry))
        elif entry.blob:
            contents = blobs.get(entry.top, entry.blob)
            if len(contents) != entry.size:
                raise StorageError(f"git stores it in another form; give it back with: git -C {entry.top} checkout -- {entry.path}")
            _place(root, entry, lambda parent, draft: _write(parent, draft, entry, contents))
        else:
            source = os.open(_data(kept, entry), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                _place(root, entry, lambda parent, draft: _write(parent, draft, entry, source))
            finally:
                os.close(source)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            return Restored(entry.path, "failed", "a file or a symlink stands where a folder belongs")
        if error.errno in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
            return Restored(entry.path, "failed", "a folder stands in its place")
        return Restored(entry.path, "failed", (error.strerror or str(error)).lower())
    except StorageError as error:
        return Restored(entry.path, "failed", error.message)
    return Restored(entry.path, "restored")


def _make_folder(root: int, entry: Entry) -> None:
    found = look(root, entry.path)
    if found is not None and not stat.S_ISDIR(found.st_mode):
        raise OSError(errno.ENOTDIR, "in the way", entry.path)
    with folder(root, entry.path, make=True) as fd:
        os.fchmod(fd, entry.mode | 0o700)  # writable for us until its children are back


def _finish_folder(root: int, entry: Entry) -> None:
    try:
        with folder(root, entry.path) as fd:
            os.fchmod(fd, entry.mode)
            os.utime(fd, ns=(entry.mtime_ns, entry.mtime_ns))
    except OSError:
        return  # the contents are back; a time or a mode that cannot be set does not undo that


def _place(root: int, entry: Entry, make: Callable[[int, str], None]) -> None:
    """Make it under a name of its own in the same folder, then rename it into place."""
    head, name = split(entry.path)
    draft = f".instinct-undo-{os.getpid()}-{os.urandom(4).hex()}"
    with folder(root, head, make=True) as parent:
        try:
            make(parent, draft)
            os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            try:
                os.unlink(draft, dir_fd=parent)
            except FileNotFoundError:
                pass
            raise


def _link(parent: int, draft: str, entry: Entry) -> None:
    os.symlink(entry.to, draft, dir_fd=parent)
    os.utime(draft, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=parent, follow_symlinks=False)


def _write(parent: int, draft: str, entry: Entry, contents: int | bytes) -> None:
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=parent)
    try:
        if isinstance(contents, int):
            copy(contents, fd, entry.size)
        else:
            view = memoryview(contents)
            while view:
                view = view[os.write(fd, view) :]
        os.fchmod(fd, entry.mode)
        os.utime(fd, ns=(entry.mtime_ns, entry.mtime_ns))
    finally:
        os.close(fd)


def _data(kept: Kept, entry: Entry) -> str:
    return os.path.join(kept.folder, f"{entry.data:06d}")


def _read_link(root: int, path: str) -> str:
    head, name = split(path)
    with folder(root, head) as parent:
        return os.readlink(name, dir_fd=parent)


def _same(one: int, other: int) -> bool:
    at = 0
    while True:
        a, b = os.pread(one, 1 << 20, at), os.pread(other, 1 << 20, at)
        if a != b:
            return False
        if not a:
            return True
        at += len(a)
