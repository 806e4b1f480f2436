"""The end of what a command wrote to stderr, where that is a file: read again afterwards, so that nothing stands between. Built-in modules only."""

from __future__ import annotations

import posix

MOST = 4096


class LastWords:
    """Made before the command starts; `fd` as it is then."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        try:
            found = posix.fstat(fd)
            self._from = posix.lseek(fd, 0, 1) if found.st_mode & 0o170000 == 0o100000 else -1
            if self._from >= 0 and _appends(fd):
                self._from = found.st_size
        except OSError:
            self._from = -1  # closed

    def read_bytes(self) -> bytes | None:
        """The last bytes since then; None where it is no file, or one that may not be read."""
        if self._from < 0:
            return None
        try:
            fd = posix.open(f"/proc/self/fd/{self._fd}", posix.O_RDONLY | posix.O_CLOEXEC)
        except OSError:
            return None
        try:
            size = posix.fstat(fd).st_size
            return posix.pread(fd, MOST, max(self._from, size - MOST))
        except OSError:
            return None
        finally:
            posix.close(fd)

    def read(self) -> str | None:
        """As `read_bytes`, as text."""
        said = self.read_bytes()
        return None if said is None else said.decode("utf-8", "replace")


def _appends(fd: int) -> bool:
    import fcntl

    return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & posix.O_APPEND)
