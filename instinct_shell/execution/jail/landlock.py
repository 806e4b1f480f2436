"""Landlock: file rights by folder, signals and abstract sockets kept inside. Stacks below the mounts and works without any namespace.

The ladder of ABIs: 1 files, 2 moves between folders, 3 truncation, 4 TCP, 5 device ioctls, 6 signals and abstract sockets, 9 pathname sockets.
A right that the kernel does not know is never handled: handled and not granted would be denied.
"""

from __future__ import annotations

import os
import stat
import struct

from .syscalls import address, attempt, buffer, call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

(EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG) = (1 << i for i in range(9))
(MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV, RESOLVE_UNIX) = (1 << i for i in range(9, 17))
READ = EXECUTE | READ_FILE | READ_DIR
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
EVERYTHING = (1 << 17) - 1
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2
_PATH_BENEATH = 1


def abi() -> int:
    """The kernel's Landlock version by asking it; 0 when it is not built in, not enabled at boot, or filtered away."""
    return max(0, attempt("landlock_create_ruleset", 0, 0, 1))


def known_rights(version: int) -> int:
    """The file rights that this ABI can handle."""
    highest = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16 if version < 9 else 17
    return (1 << highest) - 1


def ruleset_attributes(version: int, *, signals: bool = True) -> bytes:
    """The kernel's `struct landlock_ruleset_attr` for this ABI: all file rights, no network rights, all scopes.

    signals: keep signals inside. A session does not ask for it: a later command has to reach what an earlier one left in the background.
    """
    scope = _SCOPE_ABSTRACT_SOCKETS | (_SCOPE_SIGNALS if signals else 0) if version >= 6 else 0
    return struct.pack("=QQQ", known_rights(version), 0, scope)[: 8 if version < 4 else 16 if version < 6 else 24]


def restrict(version: int, grants: Iterable[tuple[str | int, int]], *, signals: bool = True) -> None:
    """Confines this process to the granted rights; (path or open descriptor, rights) each. Needs no_new_privs; raises StepFailed.

    Paths are opened here, so call it after the mounts are in place. A path that does not exist grants nothing.
    """
    handled = known_rights(version)
    attributes = ruleset_attributes(version, signals=signals)
    ruleset = call("making the Landlock ruleset", "landlock_create_ruleset", attributes, len(attributes), 0)
    for target, rights in grants:
        try:
            fd = os.dup(target) if isinstance(target, int) else os.open(target, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            continue  # nothing there, or behind a folder that the command cannot enter either
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ON_FILES
        rule = buffer(struct.pack("=Qi", rights & handled, fd))
        call(f"granting Landlock rights on `{target}`", "landlock_add_rule", ruleset, _PATH_BENEATH, address(rule), 0)
        os.close(fd)
    call("entering the Landlock domain", "landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def readable_grants(hidden: tuple[str, ...]) -> list[tuple[str | int, int]]:
    """Read rights everywhere but below the `hidden` paths, which Landlock can only say by naming every sibling on the way down to them.

    Names in the folders on the way stay listable; what appears in them later is not readable.
    """
    grants: list[tuple[str | int, int]] = [("/", READ_DIR)]
    branches = {""} | {path[:i] for path in hidden for i, letter in enumerate(path) if letter == "/" and i}
    leaves = set(hidden)
    for branch in sorted(branches):
        if any(branch == leaf or branch.startswith(leaf + "/") for leaf in leaves):
            continue
        try:
            entries = list(os.scandir(branch or "/"))
        except OSError:
            continue  # a folder that cannot be listed hides what is below it already
        for entry in entries:
            path = f"{branch}/{entry.name}"
            if path not in leaves and path not in branches and not entry.is_symlink():
                grants.append((path, READ))
    return grants
