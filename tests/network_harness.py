"""A network allow-list for the tests: servers of the host, places to call from, and what they leave."""

from __future__ import annotations

import contextlib
import http.server
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jail_harness import Caller, Run, base_spec

PROXY = "http://127.0.0.1:18128"
VARIABLES = [[name, PROXY] for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")] + [["no_proxy", "localhost,127.0.0.1"]]
# An address of this machine that neither NO_PROXY nor a forwarded port stands for: what is reached there is reached through the proxy.
ELSEWHERE = "127.0.0.2"


class Answers(http.server.BaseHTTPRequestHandler):
    """Says where the request came to."""

    def do_GET(self) -> None:
        body = f"hello {self.headers['Host']} {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler], address: str = "127.0.0.1") -> Iterator[int]:
    """A server of the host; its port."""
    with http.server.ThreadingHTTPServer((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


class Place:
    """A caller, a workspace, a kind of jail and, for sessions, one session of its own."""

    def __init__(self, caller: Caller, level: str) -> None:
        self.caller = caller
        self.level = level
        self.workspace = caller.folder()
        self.name = f"net{time.monotonic_ns()}"

    def spec(self, text: str, allow: list[str], **more: object) -> dict[str, object]:
        whole = {
            **base_spec(self.workspace), "argv": ["/bin/bash", "--norc", "--noprofile", "-c", text], "network": "allowlist", "network_allow": allow,
            "env": [["PATH", os.defpath], ["HOME", str(self.workspace)], ["LC_ALL", "C.UTF-8"], *VARIABLES], **more,
        }  # fmt: skip
        if self.level == "session":
            whole["session"] = {"path": str(self.caller.sessions / self.name), "name": self.name}
        return whole

    def run(self, text: str, allow: list[str], **more: object) -> Run:
        return self.caller.run(self.spec(text, allow, **more), at=self.level)

    def start(self, text: str, allow: list[str], **more: object) -> subprocess.Popen[bytes]:
        argv = self.caller.driver(self.spec(text, allow, **more), at=self.level)
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def proxies(self) -> list[int]:
        """The processes of this caller that serve a network."""
        marker = str(self.caller.code / "instinct_shell" / "execution" / "jail" / "proxy.py").encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if marker in (entry / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found

    def close(self) -> None:
        self.caller.end_session(self.name)


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Until it is so; the test fails when it does not become so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)


def needs(program: str) -> None:
    if not any(os.access(f"{folder}/{program}", os.X_OK) for folder in os.defpath.split(":")):
        pytest.skip(f"{program} is not installed where every user may start it")


def told(run: Run) -> list[tuple[str, int, str, str]]:
    """What the record says: where to, how, what came of it."""
    return [(one["host"], one["port"], one["how"], one["state"]) for one in run.result["connections"]]  # type: ignore[attr-defined]


FETCH = 'python3 -I -S -c "import urllib.request as u; print(u.urlopen({url!r}, timeout=20).read().decode().strip())"'


def fetch(place: Place, url: str) -> str:
    return FETCH.replace("python3", place.caller.python).format(url=url).replace("'", "\\'").replace("\\'", "'")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def descendants(top: int) -> list[int]:
    """The process itself and what is below it, the nearest first."""
    found, todo = [], [top]
    while todo:
        pid = todo.pop(0)
        found.append(pid)
        with contextlib.suppress(OSError):
            todo += [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    return found
