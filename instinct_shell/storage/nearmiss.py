"""Near-misses: what was denied, asked, refused by a person, or turned out differently than predicted. `instinct learn` reads them.

One JSON line each, appended under a lock; at 8 MiB the file becomes `near-misses.1` and the one before that is dropped. They are material to
learn from, not evidence: the audit trail is that, and each line names its run there.
"""

from __future__ import annotations

import json
import os

from ..errors import StorageError
from ..model.codec import decode, encode
from ..model.record import NearMiss
from ..model.refusal import explain
from .files import append_whole
from .lock import lock
from .redact import Redactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 8 * 1024 * 1024


class NearMisses:
    """The near-misses of one state directory."""

    def __init__(self, state: str, *, largest: int = LARGEST) -> None:
        self._state = state
        self._path = os.path.join(state, "near-misses")
        self._largest = largest

    def append(self, near_miss: NearMiss) -> None:
        """Write one down, without its secrets. Raises StorageError."""
        data = Redactor(self._state).data(encode(near_miss))
        line = json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            holder = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                lock(holder, self._path)
                self._append(line)
            finally:
                os.close(holder)
        except OSError as error:
            raise explain(error, self._path) from error

    def records(self) -> Iterator[NearMiss]:
        """All that are kept, oldest first. A line that a crash cut short is left out."""
        for path in (f"{self._path}.1", self._path):
            try:
                with open(path, "rb") as file:
                    for line in file:
                        if line.endswith(b"\n"):
                            yield decode(NearMiss, json.loads(line))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise explain(error, path) from error
            except ValueError as error:
                raise StorageError(
                    f"`{path}` holds a line that is none of ours", hint=f"look at it, then move it away: mv {path} {path}.aside"
                ) from error

    def _append(self, line: bytes) -> None:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                size = os.pread(fd, size, 0).rfind(b"\n") + 1  # a writer died in the middle of its line
                os.ftruncate(fd, size)
            if size + len(line) > self._largest and size:
                os.rename(self._path, f"{self._path}.1")
                os.close(fd)
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                size = 0
            append_whole(fd, line, size)
        finally:
            os.close(fd)
