"""The file tree of a command whose plan is ready-made: each record one step of mounting, by descriptor. The twin of jail/view.py and jail/mounts.py."""

from __future__ import annotations

import posix

from .plan_kernel import (
    AT_FDCWD,
    EMPTY_PATH,
    FSCONFIG,
    FSMOUNT,
    FSOPEN,
    GONE,
    LINK,
    MOUNT,
    MOUNT_SETATTR,
    MOVE_MOUNT,
    NO_EXEC,
    NO_MAGIC_LINKS,
    NO_SET_ID,
    NO_SYMLINKS,
    OPEN_TREE,
    OPENAT2,
    PLAIN,
    READ_ONLY,
    RECURSIVE,
    Failed,
    call,
    is_folder,
    shown,
    words,
    write,
)
from .plan_records import CLOSE, KNOB, LAYER, MAKE, PIN, PROCESSES, TAKE

TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = tuple[int, bytes]


def _open_folder(path: bytes) -> int:
    how = words(posix.O_PATH | posix.O_CLOEXEC | posix.O_DIRECTORY, 0, NO_MAGIC_LINKS | NO_SYMLINKS)
    return call(f"opening `{shown(path)}`", OPENAT2, AT_FDCWD, path, how, len(how))


def _open_path(path: bytes) -> int:
    how = words(posix.O_PATH | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0, NO_MAGIC_LINKS)
    folder, _, name = path.rpartition(b"/")
    parent = _open_folder(folder or b"/")
    try:
        return call(f"opening `{shown(path)}`", OPENAT2, parent, name or b".", how, len(how))
    finally:
        posix.close(parent)


def _try_open_path(path: bytes) -> int | None:
    try:
        return _open_path(path)
    except Failed as failure:
        if failure.args[0] in GONE:
            return None
        raise


def _copy_tree(fd: int, path: bytes) -> int:
    return call(f"copying the mount of `{shown(path)}`", OPEN_TREE, fd, b"", 1 | posix.O_CLOEXEC | RECURSIVE | EMPTY_PATH)


def _make_read_only(fd: int, path: bytes, below: int = RECURSIVE) -> None:
    call(f"making `{shown(path)}` read-only", MOUNT_SETATTR, fd, b"", EMPTY_PATH | below, words(READ_ONLY, 0, 0, 0), 32)


def _attach(tree: int, target: int, path: bytes) -> None:
    call(f"mounting `{shown(path)}`", MOVE_MOUNT, tree, b"", target, b"", 0x44)
    posix.close(tree)
    posix.close(target)


def _read_only_copy(target: int, path: bytes) -> int:
    tree = _copy_tree(target, path)
    _make_read_only(tree, path)
    return tree


def _new_filesystem(kind: bytes, options: tuple[tuple[bytes, bytes], ...] = (), attributes: int = PLAIN) -> int:
    step = f"making a new {kind.decode()}"
    context = call(step, FSOPEN, kind, 1)
    for key, value in options:
        call(step, FSCONFIG, context, 1, key, value, 0)
    call(step, FSCONFIG, context, 6, 0, 0, 0)
    made = call(step, FSMOUNT, context, 1, attributes)
    posix.close(context)
    return made


class View:
    """The command's file tree, step by step in the order of the records."""

    def __init__(self, plan: list[Record], cwd: bytes, terminal: bytes) -> None:
        here = _identity(cwd)
        call("making the mounts private", MOUNT, b"none", b"/", 0, 0x4000 | 1 << 18, 0)
        self._originals = [self._take(data[:1], data[1:]) for tag, data in plan if tag == TAKE]
        console = _copy_tree(_open_path(terminal), terminal) if terminal and _exists(b"/dev/console") else None
        for tag, data in plan:
            if tag == PIN:  # bound onto itself, so that the name cannot be moved
                fd = _open_path(data)
                _attach(_copy_tree(fd, data), fd, data)
        root = _open_folder(b"/")
        proc = _new_filesystem(b"proc", attributes=PLAIN | NO_EXEC)
        pts = _new_filesystem(b"devpts", ((b"mode", b"620"), (b"ptmxmode", b"666")), attributes=NO_SET_ID)
        _make_read_only(root, b"/")
        self._void = -1
        for tag, data in plan:
            if tag == LAYER:
                self._mount(data[:1], data[1:2] == b"+", data[2:])
            elif tag == MAKE:
                _make_folders(data, 0o700)
            elif tag == CLOSE:
                fd = _open_path(data)
                _make_read_only(fd, data, 0)
                posix.close(fd)
        _attach(pts, _open_path(b"/dev/pts"), b"/dev/pts")
        if console is not None:
            _attach(console, _open_path(b"/dev/console"), b"/dev/console")
        _attach(proc, _open_path(b"/proc"), b"/proc")
        for tag, data in plan:
            if tag == PROCESSES:
                write("/proc/sys/kernel/pid_max", data, "limiting the number of processes")
            elif tag == KNOB and (target := _try_open_path(data)) is not None:
                _attach(_read_only_copy(target, data), target, data)
        posix.chdir(cwd)
        if _identity(b".") != here:
            raise Failed(0, f"entering `{shown(cwd)}`: it is not the folder that was judged")

    def _take(self, kind: bytes, path: bytes) -> int | None:
        fd = _try_open_path(path) if kind == b"S" else _open_path(path)
        if fd is None:
            return None
        if posix.fstat(fd).st_mode & 0o170000 == LINK:
            raise Failed(40, f"opening `{shown(path)}`: it is a symbolic link now")
        tree = _read_only_copy(fd, path) if kind == b"S" else _copy_tree(fd, path)
        posix.close(fd)
        return tree

    def _mount(self, kind: bytes, marked: bool, path: bytes) -> None:
        if kind in b"WS":
            original = self._originals.pop(0)
            if original is not None:
                if marked:
                    _make_place(path, original)
                _attach(original, _open_path(path), path)
            return
        if kind == b"U":
            self._close_socket(path)
            return
        target = _try_open_path(path)
        if target is None:
            return
        if kind == b"R":
            tree = _read_only_copy(target, path)
        elif kind == b"F":
            tree = _new_filesystem(b"tmpfs", ((b"mode", b"755" if path == b"/run" else b"1777"),))
        elif not is_folder(target):
            tree = self._empty(b"file")
        else:
            tree = _new_filesystem(b"tmpfs", ((b"mode", b"711"),)) if marked else self._empty(b"folder")
        _attach(tree, target, path)

    def _close_socket(self, path: bytes) -> None:
        """Its owner may remove it, or lead its name elsewhere, at any moment: then nobody reaches it by that name."""
        try:
            target = _try_open_path(path)
            if target is not None:
                _attach(self._empty(b"file"), target, path)
        except Failed as failure:
            if failure.args[0] not in (2, 40):  # ENOENT, ELOOP
                raise

    def _empty(self, name: bytes) -> int:
        if self._void < 0:
            self._void = _new_filesystem(b"tmpfs", ((b"mode", b"755"), (b"size", b"4k")))
            posix.mkdir(b"folder", 0, dir_fd=self._void)
            posix.close(posix.open(b"file", posix.O_CREAT | posix.O_WRONLY | posix.O_CLOEXEC, 0o444, dir_fd=self._void))
        fd = posix.open(name, posix.O_PATH | posix.O_CLOEXEC | posix.O_NOFOLLOW, dir_fd=self._void)
        tree = _read_only_copy(fd, name)
        posix.close(fd)
        return tree


def _identity(path: bytes) -> tuple[int, int]:
    try:
        found = posix.stat(path)
    except OSError as problem:
        raise Failed(problem.errno or 0, f"entering `{shown(path)}`") from None
    return found.st_dev, found.st_ino


def _exists(path: bytes) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def _make_folders(path: bytes, mode: int) -> None:
    """The folder and what is missing on the way to it."""
    above = path.rpartition(b"/")[0]
    if above and not _exists(above):
        _make_folders(above, 0o755)
    if not _exists(path):
        posix.mkdir(path, mode)


def _make_place(path: bytes, original: int) -> None:
    if _exists(path):
        return
    try:
        if is_folder(original):
            _make_folders(path, 0o755)
        else:
            _make_folders(path.rpartition(b"/")[0], 0o755)
            posix.close(posix.open(path, posix.O_CREAT | posix.O_WRONLY | posix.O_CLOEXEC, 0o644))
    except OSError as problem:
        raise Failed(problem.errno or 0, f"making a place for `{shown(path)}`") from None
