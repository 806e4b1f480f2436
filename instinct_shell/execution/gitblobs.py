"""Contents of git objects, asked of one `git cat-file --batch` a checkout; no hook, monitor, filter or transport of the repository runs."""

from __future__ import annotations

import os
import subprocess

from ..errors import StorageError

GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")


class GitBlobs:
    """The objects of any number of checkouts, while the `with` block lasts."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> GitBlobs:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.communicate()  # closes its input, which ends it

    def get(self, top: str, blob: str) -> bytes:
        """A blob's bytes as git stores them. Raises StorageError when git does not have it (any more)."""
        try:
            process = self._running.get(top) or self._start(top)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(blob.encode("ascii") + b"\n")
            process.stdin.flush()
            head = process.stdout.readline().split()
            if len(head) != 3 or head[1] != b"blob":
                raise StorageError("git does not have its contents any more")
            size = int(head[2])
            contents = process.stdout.read(size + 1)
        except (OSError, ValueError) as error:
            raise StorageError(f"git could not be asked: {error}") from error
        if len(contents) != size + 1:
            raise StorageError("git ended in the middle of its answer")
        return contents[:size]

    def _start(self, top: str) -> subprocess.Popen[bytes]:
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        argv = [*GIT, "-C", top, "cat-file", "--batch"]
        process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._running[top] = process
        return process
