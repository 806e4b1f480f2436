"""Whether this package is still what an engine was started from: every file and folder of it, by time, size and inode."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    Mark = tuple[int, int, int]


class Code:
    """The package's files as they are now. About 0.3 ms a look."""

    def __init__(self, package: str) -> None:
        paths = [os.path.realpath(sys.executable)]
        for folder, folders, files in os.walk(package):
            folders[:] = [name for name in folders if name != "__pycache__"]
            paths += [folder, *(os.path.join(folder, name) for name in files)]
        self._marks = [(path, _mark(path)) for path in paths]

    def changed(self) -> bool:
        """Whether something was changed, added or taken away since."""
        return any(_mark(path) != then for path, then in self._marks)


def _mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
