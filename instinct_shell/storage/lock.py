"""One writer at a time, across processes: `flock` on an open file, with an end to the waiting."""

from __future__ import annotations

import errno
import fcntl
import time

from ..errors import StorageError
from ..model.refusal import explain

PATIENCE_S = 10.0
FIRST_PAUSE_S = 0.0005
LONGEST_PAUSE_S = 0.02


def lock(fd: int, path: str, *, shared: bool = False, patience_s: float = PATIENCE_S) -> None:
    """Take the lock of this open file; it ends with the descriptor. Raises StorageError when it is still held after `patience_s`.

    A plain blocking `flock` would let any program that can open the file for reading hang every command.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + patience_s
    pause = FIRST_PAUSE_S
    while True:
        try:
            fcntl.flock(fd, kind)
            return
        except OSError as error:
            if error.errno == errno.EINTR:
                continue
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise explain(error, path) from error
        if time.monotonic() >= deadline:
            raise StorageError(
                f"another program has held the lock of `{path}` for {patience_s:g} seconds", hint=f"find it: fuser -v {path}"
            )
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE_S)
