"""`run_command` of the MCP server: `instinct-exec` as a child, its output collected while the server goes on answering."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

from ..errors import UsageError
from ..model.refusal import explain
from .mcp_tools import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 32_768  # bytes of each stream, from its beginning and from its end
TIMEOUT_S = 120.0
GRACE_S = 2.0


class Stream:
    """What a pipe gave: the beginning, the end, and how much fell out between them."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._head = bytearray()
        self._tail = bytearray()
        self._lost = 0

    def take(self) -> bool:
        """Read what is there; False at its end."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return True
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > KEPT:
            self._lost += len(self._tail) - KEPT
            del self._tail[: len(self._tail) - KEPT]
        return bool(data)

    def text(self) -> str:
        """All that was kept."""
        between = f"\n... ({self._lost} bytes left out)\n".encode() if self._lost else b""
        return bytes(self._head + between + self._tail).decode("utf-8", "replace")


class Command:
    """One running command. `streams` are to be watched; `finished` turns it into a result when all of them have ended."""

    def __init__(self, arguments: Mapping[str, object], *, profile: str, workspace: str, session: str) -> None:
        """Raises UsageError and StorageError when it cannot be started."""
        text, cwd = str(arguments["command"]), str(arguments.get("cwd") or workspace)
        if "\0" in text or "\0" in cwd:
            raise UsageError("the command holds a NUL byte", hint="remove it")
        cwd = os.path.join(workspace, cwd)
        if not os.path.isdir(cwd):
            raise UsageError(f"`{cwd}` is not a directory", hint="name a folder that exists as `cwd`")
        asked = arguments.get("timeout")
        self.until = time.monotonic() + (float(asked) if isinstance(asked, int | float) else TIMEOUT_S)
        self.timed_out = False
        self._killed_at = 0.0
        reader, writer = os.pipe2(os.O_CLOEXEC)
        options = [
            f"--report-fd={writer}",
            f"--session={session}",
            f"--workspace={workspace}",
            *([f"--profile={profile}"] if profile else []),
            *([f"--overlay={arguments['overlay']}"] if arguments.get("overlay") else []),
        ]
        try:
            self._child = subprocess.Popen(
                [*_program(), *options, "-c", text], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(writer,), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            os.close(reader)
            raise explain(error, cwd) from error
        finally:
            os.close(writer)
        assert self._child.stdout is not None  # pipes were asked for
        assert self._child.stderr is not None
        self._stdout, self._stderr = Stream(self._child.stdout.fileno()), Stream(self._child.stderr.fileno())
        self._report = Stream(reader)
        self._workspace = workspace
        self.streams = [self._stdout, self._stderr, self._report]
        for stream in self.streams:
            os.set_blocking(stream.fd, False)

    def stop(self) -> None:
        """Ask it to end; the jail and all in it go with the launcher. Called again later, it is killed."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGKILL if self._killed_at and time.monotonic() - self._killed_at > GRACE_S else signal.SIGTERM)
            self._killed_at = self._killed_at or time.monotonic()

    def tick(self) -> None:
        """Look at the clock."""
        now = time.monotonic()
        if now > self.until or (self._killed_at and now - self._killed_at > GRACE_S):
            self.timed_out = self.timed_out or not self._killed_at
            self.stop()

    def drop(self) -> None:
        """End it and wait for that."""
        self._child.kill()
        self._close()

    def _close(self) -> int:
        status = self._child.wait()
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()
        os.close(self._report.fd)
        return status

    def finished(self) -> Result:
        """The result, once every stream has ended."""
        status = self._close()
        out, err = (self._clean(stream.text()) for stream in (self._stdout, self._stderr))
        try:
            report = json.loads(self._report.text())
        except ValueError:
            report = {}
        decision = report.get("decision", "deny")
        ran = report.get("run") is not None
        data: dict[str, object] = {
            "status": 128 - status if status < 0 else status,
            "stdout": out,
            "stderr": err,
            "decision": decision,
            "ran": ran,
            "timed_out": self.timed_out,
            **{name: report.get(name) for name in ("instinct", "reason", "alternative", "request")},
        }
        words = [part for part in (out, err) if part]
        if self.timed_out:
            words.append("instinct: it took too long and was ended")
        elif ran and status:
            words.append(f"(exit status {data['status']})")
        request = report.get("request")
        return Result("\n".join(words) or "(no output)", data, error=not ran, request=request if isinstance(request, str) else "")

    def _clean(self, text: str) -> str:
        """The text without keys and values of the workspace's .env files."""
        from ..storage.secrets import find, redacted

        return redacted(text, find(text, self._workspace))


def _program() -> list[str]:
    """The command line of our `instinct-exec`: by this installation's launcher, else by this interpreter."""
    launcher = os.path.abspath(sys.argv[0]) if sys.argv else ""
    if os.path.basename(launcher) == "launch.py":
        return [sys.executable, "-I", "-S", "-B", "-X", "utf8", launcher, "instinct-exec"]
    start = "import sys; from instinct_shell.frontends.instinct_exec import main; sys.exit(main())"
    return [sys.executable, "-I", "-X", "utf8", "-c", start]
