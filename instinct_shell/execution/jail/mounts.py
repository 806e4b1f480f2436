"""Mounting by descriptor: a path is resolved once, without following any symbolic link, and everything later acts on what was opened.

A name that is re-resolved between check and mount is a race that another process in the workspace can win.
"""

from __future__ import annotations

import errno
import os
import struct

from .syscalls import StepFailed, address, attempt, buffer, call

_AT_FDCWD = -100
_AT_EMPTY_PATH, _AT_RECURSIVE = 0x1000, 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_FROM_DESCRIPTOR, _MOVE_TO_DESCRIPTOR = 0x4, 0x40  # MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH
_MS_REC, _MS_PRIVATE, _MS_SLAVE = 0x4000, 1 << 18, 1 << 19
_READ_ONLY, NO_SET_ID, _NO_DEVICES, NO_EXEC = 1, 2, 4, 8  # MOUNT_ATTR_*
_SET_STRING, _CREATE = 1, 6  # FSCONFIG_*
_NO_MAGIC_LINKS, _NO_SYMLINKS = 0x02, 0x04  # RESOLVE_*
PRIVATE, READ_ONLY_CALL = "making the mounts private", "making mounts read-only by mount_setattr"
PLAIN = NO_SET_ID | _NO_DEVICES


def open_path(path: str) -> int:
    """A descriptor for the object at `path` itself, whatever it is; raises StepFailed, with ELOOP when a folder on the way is a link now."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW, 0, _NO_MAGIC_LINKS)
    folder, _, name = path.rpartition("/")
    parent = open_folder(folder or "/")
    try:
        return call(f"opening `{path}`", "openat2", parent, os.fsencode(name or "."), how, len(how))
    finally:
        os.close(parent)


def open_folder(path: str) -> int:
    """A descriptor for a folder reached without links; raises StepFailed."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY, 0, _NO_MAGIC_LINKS | _NO_SYMLINKS)
    return call(f"opening `{path}`", "openat2", _AT_FDCWD, os.fsencode(path), how, len(how))


def keep_mounts_private() -> None:
    """Nothing mounted from here on is seen outside, and nothing mounted outside appears inside."""
    call(PRIVATE, "mount", b"none", b"/", 0, _MS_REC | _MS_PRIVATE, 0)


def follow_host_mounts() -> None:
    """Nothing mounted from here on is seen outside; what is unmounted outside disappears here too, so that no disk stays busy because of us."""
    call(PRIVATE, "mount", b"none", b"/", 0, _MS_REC | _MS_SLAVE, 0)


def copy_tree(fd: int, what: str) -> int:
    """A detached mount of what `fd` names, with every mount below it."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE | _AT_EMPTY_PATH
    return call(f"copying the mount of `{what}`", "open_tree", fd, b"", flags)


def make_read_only(fd: int, what: str, *, below: bool = True) -> None:
    """The mount that `fd` names, and with `below` every mount below it, refuses writes."""
    attributes = buffer(struct.pack("=QQQQ", _READ_ONLY, 0, 0, 0))
    call(f"making `{what}` read-only", "mount_setattr", fd, b"", _AT_EMPTY_PATH | (_AT_RECURSIVE if below else 0), address(attributes), 32)


def attach(tree: int, target: int, what: str) -> None:
    """Mounts a detached tree over the object that `target` names."""
    call(f"mounting `{what}`", "move_mount", tree, b"", target, b"", _MOVE_FROM_DESCRIPTOR | _MOVE_TO_DESCRIPTOR)


def new_filesystem(kind: str, options: tuple[tuple[str, str], ...] = (), attributes: int = PLAIN) -> int:
    """A detached new file system of `kind`; raises StepFailed."""
    step = f"making a new {kind}"
    context = call(step, "fsopen", kind.encode(), 1)
    try:
        for key, value in options:
            call(f"{step} with {key}={value}", "fsconfig", context, _SET_STRING, key.encode(), value.encode(), 0)
        call(step, "fsconfig", context, _CREATE, 0, 0, 0)
        return call(step, "fsmount", context, 1, attributes)
    finally:
        os.close(context)


def try_open_path(path: str) -> int | None:
    """As `open_path`, or None when the object is gone or lies behind a folder that this user may not enter."""
    try:
        return open_path(path)
    except StepFailed as failure:
        if failure.errno in (errno.ENOENT, errno.EACCES, errno.ENOTDIR):
            return None
        raise


def supported() -> bool:
    """Whether the kernel has the calls used here (Linux 5.12)."""
    return attempt("mount_setattr", -1, b"", _AT_EMPTY_PATH, 0, 0) != -errno.ENOSYS
