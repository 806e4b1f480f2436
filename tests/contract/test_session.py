"""A jail session: what one command leaves in the background the next one can reach and kill, nothing in it can reach the agent, and it always ends."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jail_harness import Caller, Running, base_spec, processes_with, reachable, running_as

pytestmark = pytest.mark.jail
SERVE = "import http.server as h; h.HTTPServer(('127.0.0.1', {port}), h.SimpleHTTPRequestHandler).serve_forever()"
FETCH = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/', timeout=5).status)"


class Session:
    """One session of a caller, with a workspace."""

    def __init__(self, caller: Caller, name: str) -> None:
        self.caller = caller
        self.name = name
        self.workspace = caller.folder()
        self.values: dict[str, object] = {"path": str(caller.sessions / name), "name": name}

    def spec(self, text: str, **more: object) -> dict[str, object]:
        argv = ["/bin/bash", "--norc", "--noprofile", "-c", text]
        return {**base_spec(self.workspace), "argv": argv, "session": self.values, **more}

    def argv(self, text: str, **more: object) -> list[str]:
        return self.caller.driver(self.spec(text, **more), at="session")

    def run(self, text: str, **more: object) -> str:
        """What the command wrote; it must end well."""
        done = subprocess.run(self.argv(text, **more), capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout.decode()

    def start(self, text: str, **options: object) -> Running:
        return Running(self.argv(text), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload, no-any-return]

    def holder(self) -> int:
        return self.caller.holder(self.name)

    def python(self, code: str) -> str:
        return f'{self.caller.python} -I -c "{code}"'


@pytest.fixture
def session(caller: Caller) -> Iterator[Session]:
    """A session of its own for the test, ended after it."""
    reachable(caller, "full")
    made = Session(caller, f"s{time.monotonic_ns()}")
    yield made
    caller.end_session(made.name)


@contextlib.contextmanager
def outside(caller: Caller, seconds: str = "1000") -> Iterator[subprocess.Popen[bytes]]:
    """A process of the caller's outside every jail."""
    process = subprocess.Popen(caller.argv(["/bin/sleep", seconds]))
    try:
        wait_until(lambda: b"sleep" in Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")[0])
        yield process
    finally:
        process.kill()
        process.wait()


def marker() -> str:
    """A number of seconds for `sleep` by which its process is found again."""
    return f"83{os.getpid()}.{time.monotonic_ns() % 10**9}"


def wait_until(so: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.01)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("network", ["host", "none"])
def test_a_server_is_reached_and_killed_by_later_commands(session: Session, network: str) -> None:
    port = free_port()
    serve, fetch = session.python(SERVE.format(port=port)), session.python(FETCH.format(port=port))
    ready = f"until (: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.02; done"
    pid = session.run(f"{serve} >log 2>&1 & {ready}; echo $!", network=network).strip()
    assert session.run(fetch, network=network) == "200\n"
    with contextlib.closing(socket.socket()) as direct:
        assert (direct.connect_ex(("127.0.0.1", port)) == 0) == (network == "host")
    session.run(f"kill {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.02; done", network=network)
    assert session.run(f"{fetch} 2>/dev/null || echo refused", network=network) == "refused\n"


def test_killing_by_name_does_not_reach_the_agent(session: Session) -> None:
    name = marker()
    with outside(session.caller, name) as agent:
        session.run(f"sleep {name} >/dev/null 2>&1 &")
        session.run("pkill -9 sleep; pkill -9 python; kill -9 -- -1 2>/dev/null; true")
        wait_until(lambda: set(processes_with(name)) <= {agent.pid})
        assert agent.poll() is None
    assert session.run("echo still here") == "still here\n"


@pytest.mark.parametrize("whole_group", [False, True], ids=["launcher", "group"])
def test_killing_a_launcher_ends_its_command_and_nothing_else(session: Session, whole_group: bool) -> None:
    server, own = marker(), marker() + "1"
    session.run(f"setsid sleep {server} >/dev/null 2>&1 &")
    with session.start(f"setsid sleep {own} & (setsid sleep {own} &); sleep {own}", start_new_session=True, stdout=subprocess.DEVNULL) as running:
        wait_until(lambda: len(processes_with(own)) >= 4)  # three and bash, beside the launcher
        os.killpg(running.pid, signal.SIGKILL) if whole_group else running.kill()
    wait_until(lambda: processes_with(own) == [])
    assert len(processes_with(server)) == 1
    assert session.run("echo still here") == "still here\n"


def test_a_killed_holder_ends_everything_and_the_next_command_starts_anew(session: Session) -> None:
    server, own = marker(), marker() + "2"
    session.run(f"sleep {server} >/dev/null 2>&1 &")
    first = session.holder()
    assert first > 0  # a signal to 0 would be for ourselves
    with session.start(f"sleep {own}", stdout=subprocess.DEVNULL) as running:
        wait_until(lambda: running_as("sleep", own) != [])  # before that it may find the holder gone, and rightly make a new one
        os.kill(first, signal.SIGKILL)
        assert running.wait(20) == 125
    wait_until(lambda: processes_with(own) == processes_with(server) == [])
    assert session.run("echo new") == "new\n"
    assert session.holder() not in (0, first)


def test_many_first_commands_at_once_share_one_session(session: Session) -> None:
    many = [session.start("readlink /proc/self/ns/pid", stdout=subprocess.PIPE) for _ in range(8)]
    said = {one.communicate(timeout=60)[0] for one in many}
    assert len(said) == 1
    assert said.pop().startswith(b"pid:[")


def test_a_stale_socket_and_a_hung_holder_are_replaced(session: Session) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as abandoned:
        abandoned.bind(str(session.values["path"]))
    session.caller.own(Path(str(session.values["path"])))
    assert session.run("echo 1") == "1\n"
    hung = session.holder()
    os.kill(hung, signal.SIGSTOP)
    assert session.run("echo 2") == "2\n"
    assert session.holder() != hung


def test_it_ends_with_the_agent(session: Session) -> None:
    left = marker()
    with outside(session.caller) as agent:
        started = int(Path(f"/proc/{agent.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        session.values |= {"agent": agent.pid, "agent_started": started, "idle_seconds": 0.2}
        session.run(f"sleep {left} >/dev/null 2>&1 &")
        select.select([], [], [], 0.6)
        assert session.holder(), "a background process keeps it while its agent lives"
    wait_until(lambda: session.holder() == 0 and processes_with(left) == [])
    refused = subprocess.run(session.argv("echo no"), capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (125, b"")
    assert b"its agent has ended" in refused.stderr


def test_it_ends_when_nobody_needs_it(session: Session) -> None:
    session.values["idle_seconds"] = 0.2
    left = marker()
    session.run(f"sleep {left} >/dev/null 2>&1 &")
    wait_until(lambda: session.holder() == 0 and processes_with(left) == [])
    assert sorted(os.listdir(session.caller.sessions)).count(session.name) == 0
    assert session.run("sleep 0.5; echo not idle while it runs") == "not idle while it runs\n"


def test_it_ends_when_its_socket_is_gone(session: Session) -> None:
    """Nobody could join it any more: the state directory was removed."""
    session.values["idle_seconds"] = 0.2
    left = marker()
    with outside(session.caller) as agent:
        started = int(Path(f"/proc/{agent.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        session.values |= {"agent": agent.pid, "agent_started": started}
        session.run(f"sleep {left} >/dev/null 2>&1 &")
        Path(str(session.values["path"])).unlink()
        wait_until(lambda: processes_with(left) == [])


def test_two_sessions_do_not_meet(session: Session) -> None:
    other = Session(session.caller, session.name + "other")
    left = marker()
    pid = session.run(f"sleep {left} >/dev/null 2>&1 & echo $!").strip()
    assert other.run(f"pgrep -x sleep; kill -9 {pid} 2>/dev/null; pkill -9 sleep; ls {session.workspace} >/dev/null; true") == ""
    assert len(processes_with(left)) == 1
    session.caller.end_session(other.name)
    assert len(processes_with(left)) == 1


def test_a_script_may_signal_its_own_group(session: Session) -> None:
    """`trap 'kill 0' EXIT` is how scripts end their servers; the caller's group is another one."""
    left = marker()
    with session.start(f"trap : TERM; sleep {left} & sleep {left} & kill 0; wait; echo done", stdout=subprocess.PIPE) as running:
        assert running.communicate(timeout=30)[0] == b"done\n"
    assert processes_with(left) == []


def test_the_wall_clock_ends_what_was_left_too(session: Session) -> None:
    left = marker()
    server = marker() + "3"
    session.run(f"sleep {server} >/dev/null 2>&1 &")
    spec = session.spec(f"setsid sleep {left} >/dev/null 2>&1 & sleep 100", limits={"wall_seconds": 0.3})
    assert session.caller.run(spec, at="session").status == 124
    assert processes_with(left) == []
    assert len(processes_with(server)) == 1


def test_a_relayed_file_goes_on_being_written(session: Session) -> None:
    """stdout is a file that the jail may not write: what a background process writes later still arrives, and nobody waits for it."""
    file = session.caller.folder() / "log"
    file.touch()
    session.caller.own(file)
    with file.open("wb") as log:
        done = subprocess.run(session.argv("(sleep 0.4; echo later) & echo now"), stdout=log, stderr=subprocess.DEVNULL, timeout=30, check=False)
    assert done.returncode == 0
    assert file.read_bytes().startswith(b"now\n")
    wait_until(lambda: file.read_bytes() == b"now\nlater\n")


ATTACKS = {
    "signals to the holder": "for n in range(1, 32):\n    if n not in (18,):\n        os.kill(1, n)\ntime.sleep(0.1); os.kill(1, 0); raise OSError",
    "memory of the holder": "open('/proc/1/mem', 'rb')",
    "environment of the holder": "open('/proc/1/environ', 'rb').read()",
    "root of the holder": "os.listdir('/proc/1/root/')",
    "descriptors of the holder": "os.readlink('/proc/1/fd/3')",
    "folder of the holder": "os.open('/proc/1/fd/4', os.O_RDONLY)",
    "trace the holder": "trace(1)",
    "the holder's socket": "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(SOCKET)",
    "namespaces of the holder": "setns(os.open('/proc/1/ns/mnt', os.O_RDONLY))",
    "memory of another command": "open(f'/proc/{OTHER}/mem', 'rb')",
    "environment of another command": "open(f'/proc/{OTHER}/environ', 'rb').read()",
    "root of another command": "os.listdir(f'/proc/{OTHER}/root/')",
    "trace another command": "trace(OTHER)",
}
HELPERS = """
import ctypes, os, signal, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
ARM = os.uname().machine == "aarch64"
def trace(pid): call(117 if ARM else 101, 16, pid, 0, 0)
def setns(fd): call(268 if ARM else 308, fd, 0)
"""


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_command_cannot_get_at_the_session(session: Session, attack: str) -> None:
    left = marker()
    other = session.run(f"TOKEN=s sleep {left} >/dev/null 2>&1 & echo $!").strip()
    values = f"OTHER = {other}\nSOCKET = {str(session.values['path'])!r}\n"
    body = "\n".join("    " + line for line in ATTACKS[attack].split("\n"))
    code = f"{HELPERS}{values}try:\n{body}\nexcept OSError:\n    print('stopped')\nelse:\n    print('worked')\n"
    spec = {**session.spec(""), "argv": [session.caller.python, "-I", "-S", "-c", code]}
    holder = session.holder()
    run = session.caller.run(spec, at="session")
    assert run.out == b"stopped\n", run
    assert session.holder() == holder
    assert len(processes_with(left)) == 1


def test_on_a_terminal_the_callers_group_is_out_of_reach(session: Session) -> None:
    """There the command is in the caller's group, as job control needs it, so signals to "my group" are refused."""
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nfd = os.pidfd_open(os.getpid())\n"
        "for call in ((37 if False else 62, 0, 0), (424, fd, 0, None, 4)):\n    print(libc.syscall(*call), ctypes.get_errno())\n"
    ).replace("37 if False else 62", "129 if os.uname().machine == 'aarch64' else 62")
    words = session.caller.driver({**session.spec(""), "argv": [session.caller.python, "-I", "-S", "-c", code]}, at="session")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(words[0], words)
    said = b""
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            said += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    assert said.split() == [b"-1", b"1", b"-1", b"1"]


def test_the_holder_is_small(session: Session) -> None:
    session.run("true")
    status = Path(f"/proc/{session.holder()}/status").read_text(encoding="utf-8")
    resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    assert resident <= 13 * 1024
