"""Callers for the jail tests: the current user, and, when that is root, an ordinary user too.

An ordinary user can read neither root's interpreter nor pytest's folders, so each caller has a world-readable copy of the package, a folder of its
own below /tmp, and an interpreter it may start. Root runs in a throw-away mount namespace, so that a jail that failed would harm nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
NOBODY = 65534
MUST_WORK = bool(os.environ.get("INSTINCT_JAIL_MUST_WORK"))


def cannot(reason: str) -> None:
    """Skips, or fails where the jail has to work."""
    if MUST_WORK:
        pytest.fail(reason)
    pytest.skip(reason)


class Caller:
    """Somebody who runs commands in a jail. `uid` None: the user that runs the tests."""

    def __init__(self, name: str, uid: int | None) -> None:
        self.name = name
        self.uid = os.geteuid() if uid is None else uid
        self._other = uid is not None
        self.home = Path(tempfile.mkdtemp(prefix=f"instinct-{name}-"))
        self.home.chmod(0o755)
        self.code = self.home / "code"
        shutil.copytree(TOP / "instinct_shell", self.code / "instinct_shell", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(TOP / "tests" / "jail_driver.py", self.code)
        for path in (self.code, *self.code.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        self.sessions = self.home.resolve() / "sessions"
        self.sessions.mkdir(mode=0o700)
        self.own(self.sessions)
        self.python = self._interpreter()
        self._count = 0

    def close(self) -> None:
        """Removes everything this caller made."""
        self.end_session()
        shutil.rmtree(self.home, ignore_errors=True)

    def folder(self) -> Path:
        """A new empty folder that belongs to this caller, at a real path."""
        self._count += 1
        path = self.home.resolve() / f"scene{self._count}"
        path.mkdir()
        self.own(path)
        return path

    def own(self, *paths: Path) -> None:
        """Gives the paths to this caller."""
        if self._other:
            for path in paths:
                os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def argv(self, words: list[str]) -> list[str]:
        """The words as this caller would start them."""
        if self._other:
            return ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups", "--", *words]
        if self.uid == 0:
            return ["unshare", "-m", "--propagation", "private", "--", *words]
        return words

    def plain(self, words: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        """Without any jail, for comparison."""
        whole = {"capture_output": True, "timeout": 60, **options}
        return subprocess.run(self.argv(words), check=False, **whole)  # type: ignore[call-overload, no-any-return]

    def driver(self, spec: dict[str, object], *, at: str = "full", result: str = "") -> list[str]:
        """The command line that runs the spec. at: full, partial, or session: full, joining this caller's jail session."""
        whole = {"least_level": at, "env": [["PATH", os.defpath], ["HOME", str(self.home)], ["LC_ALL", "C.UTF-8"]], **spec}
        if at == "bubblewrap":
            whole["least_level"] = spec.get("least_level", "full")
        if at == "session":
            at = whole["least_level"] = "full"
            whole = {"session": {"path": str(self.sessions / "main"), "name": "tests"}, **whole}
            whole["masked"] = [*whole.get("masked", []), str(self.sessions)]  # as the state directory always is
        return self.argv([self.python, "-I", "-S", str(self.code / "jail_driver.py"), str(self.code), json.dumps(whole), result, at])

    def run(self, spec: dict[str, object], *, at: str = "full", **options: object) -> Run:
        """Runs the spec to its end in the jail."""
        handle, result = tempfile.mkstemp(dir=self.home)
        os.close(handle)
        self.own(Path(result))
        whole = {"capture_output": True, "timeout": 120, "stdin": subprocess.DEVNULL, **options}
        done = subprocess.run(self.driver(spec, at=at, result=result), check=False, **whole)  # type: ignore[call-overload]
        text = Path(result).read_text(encoding="utf-8")
        os.unlink(result)
        return Run(done, json.loads(text) if text else {})

    def shell(self, workspace: Path, text: str, *, at: str = "full", spec: dict[str, object] | None = None, **options: object) -> Run:
        """One line of bash in a jail whose workspace is writable."""
        return self.run({**base_spec(workspace), "argv": ["/bin/bash", "--norc", "--noprofile", "-c", text], **(spec or {})}, at=at, **options)

    def holder(self, name: str = "main") -> int:
        """The process that holds the session; 0 when nobody does."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            try:
                connection.connect(str(self.sessions / name))
            except OSError:
                return 0
            return int(struct.unpack("=iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])

    def end_session(self, name: str = "main") -> None:
        """Kills the session's holder, and so everything in the session; returns when it is gone."""
        if pid := self.holder(name):
            holder = os.pidfd_open(pid)
            signal.pidfd_send_signal(holder, signal.SIGKILL)
            select.select([holder], [], [], 20)
            os.close(holder)

    def _interpreter(self) -> str:
        for candidate in dict.fromkeys((os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3")):
            # by way of a shell: setpriv still holds root's rights at its own exec
            asked = ["/bin/sh", "-c", 'exec "$0" -I -S -c "import sys; sys.exit(sys.version_info < (3, 11))"', candidate]
            with contextlib.suppress(OSError):
                if subprocess.run(self.argv(asked), capture_output=True, check=False).returncode == 0:
                    return candidate
        self.close()
        cannot(f"{self.name}: no Python from 3.11 on that this user may start")
        raise AssertionError


def caller_names() -> list[str]:
    """Who runs the jail's tests here."""
    return ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]


def made_caller(name: str) -> Iterator[Caller]:
    """The body of a fixture: the caller of that name, removed afterwards."""
    caller = Caller(name, NOBODY if name == "ordinary" and os.geteuid() == 0 else None)
    try:
        yield caller
    finally:
        caller.close()


class Run:
    """How a run ended: the driver's exit status and output, and the RunResult as a dictionary (`error` when nothing ran)."""

    def __init__(self, done: subprocess.CompletedProcess[bytes], result: dict[str, object]) -> None:
        self.status = done.returncode
        self.out = done.stdout or b""
        self.err = done.stderr or b""
        self.result = result

    def __repr__(self) -> str:
        return f"Run(status={self.status}, out={self.out!r}, err={self.err!r}, result={self.result})"


def base_spec(workspace: Path) -> dict[str, object]:
    """A spec in which only the workspace may be written."""
    return {"workspace": str(workspace), "cwd": str(workspace), "writable": [str(workspace)]}


def reachable(caller: Caller, level: str) -> None:
    """Skips when this caller gets no jail of that level on this machine."""
    if level == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed: its back end is not tested here")
    run = caller.shell(caller.folder(), "true", at=level)
    if run.status:
        cannot(f"no jail of level {level} for {caller.name}: {run.err.decode(errors='replace')}")


def gone(marker: str, seconds: float = 10) -> bool:
    """Whether no process has the marker in its command line any more, or soon."""
    deadline = time.monotonic() + seconds
    while processes_with(marker):
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.01)
    return True


def told_of(marker: str) -> list[str]:
    """What the processes with the marker in their command line are and do, for the message of a test that found them alive."""
    found = []
    for pid in processes_with(marker):
        with contextlib.suppress(OSError):
            entry = Path(f"/proc/{pid}")
            status = [line for line in (entry / "status").read_text(encoding="utf-8").splitlines() if line.startswith(("State", "PPid", "NSpid", "SigPnd", "ShdPnd"))]
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")[:300]
            found.append(f"{pid} {status} in {(entry / 'wchan').read_text(encoding='ascii')}: {words!r}")
    return found


class Running(subprocess.Popen[bytes]):
    """A process that its `with` ends, whatever became of the test: a plain one would be waited for."""

    def __exit__(self, *why: object) -> None:
        self.kill()
        super().__exit__(*why)  # type: ignore[arg-type]  # as it was given


def running_as(*argv: str) -> list[int]:
    """Every process on this machine with exactly this command line."""
    wanted = b"".join(word.encode() + b"\0" for word in argv)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cmdline").read_bytes() == wanted:
                    found.append(int(entry.name))
    return found


def processes_with(marker: str) -> list[int]:
    """Every process on this machine whose command line holds the marker, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found
