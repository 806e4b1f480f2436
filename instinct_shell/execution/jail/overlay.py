"""The copy-on-write view: an overlay over the workspace, mounted first in the command's own mount namespace, so that every later layer lies on it.

What the command writes goes to `upper` in a folder of the state directory, which no command sees. Nothing in the workspace changes, whatever is
killed when. The three folders are named by descriptor: no name of theirs is resolved a second time, or has a comma to be escaped.
"""

from __future__ import annotations

import errno
import os

from ...model.overlay import MOST_BYTES, MOST_CHANGES
from . import mounts
from .syscalls import call

UPPER, WORK = "upper", "work"
STEP = "making the overlay"
_FLAG, _STRING, _CREATE = 0, 1, 6  # FSCONFIG_*


def attach(folder: str, workspace: str) -> None:
    """Mounts it over the workspace, as the workspace for everything from here on. Raises StepFailed."""
    below = mounts.open_folder(workspace)
    upper, work = (mounts.open_folder(f"{folder}/{name}") for name in (UPPER, WORK))
    context = call(STEP, "fsopen", b"overlay", 1)
    try:
        for key, fd in (("lowerdir", below), ("upperdir", upper), ("workdir", work)):
            call(f"{STEP}: {key}", "fsconfig", context, _STRING, key.encode(), f"/proc/self/fd/{fd}".encode(), 0)
        for key in ("userxattr", "volatile"):  # marks that an ordinary user may set; no sync, since a crash throws this away
            call(f"{STEP}: {key}", "fsconfig", context, _FLAG, key.encode(), 0, 0)
        call(STEP, "fsconfig", context, _CREATE, 0, 0, 0)
        tree = call(STEP, "fsmount", context, 1, mounts.PLAIN)
    finally:
        os.close(context)
    mounts.attach(tree, below, workspace)
    for fd in (below, upper, work, tree):
        os.close(fd)


def mounted_below(workspace: str) -> str:
    """A mount point inside the workspace, which an overlay would not show; "" when there is none."""
    with open("/proc/self/mountinfo", "rb") as table:
        for line in table:
            name = line.split(b" ")[4].decode("unicode_escape").encode("latin-1")
            path = os.fsdecode(name)
            if path.startswith(workspace.rstrip("/") + "/"):
                return path
    return ""


def overgrown(folder: str) -> bool:
    """Whether more has been written than an overlay holds; a cheap look while the command runs."""
    files = size = 0
    waiting = [f"{folder}/{UPPER}"]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return True  # deeper than any commit goes
            continue  # closed by the command, or gone already: it is listed when the command has ended
        if files > MOST_CHANGES or size > MOST_BYTES:
            return True
    return False
