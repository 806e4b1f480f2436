"""Hosts that give less: what is refused, what is accepted, and that each refusal says why and what to do. Each such host is made, not imagined."""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, cannot, reachable

from instinct_shell.errors import JailError
from instinct_shell.execution.jail import bubblewrap, landlock, probe
from instinct_shell.execution.launcher import Launcher
from instinct_shell.execution.supervise import descendants_of
from instinct_shell.model.jailspec import JailLevel, JailSpec, Limits

pytestmark = pytest.mark.jail

BEFORE = "import os, struct, sys; sys.path.insert(0, sys.argv[1]); from instinct_shell.execution.jail import landlock, privileges, seccomp; "
FILTERED = BEFORE + "privileges.no_new_privileges(); seccomp.install(seccomp.assemble((1, 2, 10, 16))); os.execv(sys.argv[2], sys.argv[2:])"
LANDLOCKED = BEFORE + "privileges.no_new_privileges(); landlock.restrict(landlock.abi(), [('/', landlock.EVERYTHING)]); os.execv(sys.argv[2], sys.argv[2:])"


def absent(*numbers: int) -> str:
    """A host whose kernel answers ENOSYS to these calls."""
    code = [(0x20, 0, 0, 0)]
    code += [(0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | 38)]
    program = b"".join(struct.pack("=HBBI", *one) for one in code)
    return BEFORE + f"privileges.no_new_privileges(); seccomp.install({program!r}); os.execv(sys.argv[2], sys.argv[2:])"


LANDLOCK_CALL, MOUNT_SETATTR = 444, 442
SWITCHED_OFF = ["unshare", "-Ur", "/bin/sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh"]


def on_host(caller: Caller, kind: str, workspace: Path, least: str) -> subprocess.CompletedProcess[bytes]:
    """Runs `touch ran` with this least level on a host of that kind."""
    spec = {**base_spec(workspace), "least_level": least, "argv": ["/usr/bin/touch", str(workspace / "ran")]}
    words = caller.driver(spec)
    inner = words[words.index(caller.python) :]
    if kind == "user namespaces switched off":
        return caller.plain([*SWITCHED_OFF, *inner])
    code = {
        "filtered by an outer sandbox": FILTERED,
        "inside another Landlock": LANDLOCKED,
        "no Landlock": absent(LANDLOCK_CALL),
        "an old kernel": absent(MOUNT_SETATTR),
        "neither": absent(LANDLOCK_CALL, MOUNT_SETATTR),
    }[kind]
    return caller.plain([caller.python, "-I", "-S", "-c", code, str(caller.code), *inner])


HOSTS = [
    # kind, what the refusal at `full` names, what it advises, whether `partial` runs
    ("user namespaces switched off", "No space left on device", "max_user_namespaces", True),
    ("filtered by an outer sandbox", "Operation not permitted", "unprivileged_userns_clone", True),
    ("inside another Landlock", "Operation not permitted|Permission denied", "sandbox|unshare", True),
    ("no Landlock", "Landlock is missing", "lsm=landlock", None),  # an ordinary user is held by the namespaces; root owns the devices
    ("an old kernel", "Function not implemented", "5.12", True),
    ("neither", "Landlock is missing", "lsm=landlock", False),
]


@pytest.mark.parametrize(("kind", "named", "advice", "partial"), HOSTS, ids=[host[0] for host in HOSTS])
def test_never_a_silent_step_down(caller: Caller, kind: str, named: str, advice: str, partial: bool | None) -> None:
    if landlock.abi() < 2:
        cannot("Landlock is needed to tell these hosts apart")
    if kind == "user namespaces switched off" and subprocess.run(caller.argv([*SWITCHED_OFF, "true"]), capture_output=True, check=False).returncode:
        cannot("user namespaces are off here")
    workspace = caller.folder()
    refused = on_host(caller, kind, workspace, "full")
    said = refused.stderr.decode()
    if kind == "an old kernel" and bubblewrap.find():  # it mounts by calls that such a kernel has, so the level asked for is reached
        assert (refused.returncode, (workspace / "ran").exists()) == (0, True), said
        return
    assert refused.returncode == 125
    assert any(word in said for word in named.split("|")), said
    assert any(word in said for word in advice.split("|")), said
    assert "nothing ran" in said
    assert "Traceback" not in said
    assert not (workspace / "ran").exists()
    accepted = on_host(caller, kind, workspace, "partial")
    expected = caller.uid != 0 if partial is None else partial
    if kind == "neither" and caller.uid != 0 and bubblewrap.find():
        expected = True  # bubblewrap's namespaces hold an ordinary user
    assert (accepted.returncode == 0, (workspace / "ran").exists()) == (expected, expected), accepted


def own_spec(workspace: Path, *argv: str, **more: object) -> JailSpec:
    env = (("PATH", os.defpath),)
    return JailSpec(workspace=str(workspace), cwd=str(workspace), writable=(str(workspace),), argv=argv, env=env, **more)  # type: ignore[arg-type]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A workspace for runs from this very process, as a host program makes them."""
    if probe.probe().level is not JailLevel.FULL:
        cannot(f"no full jail here: {probe.probe().obstacle}")
    return tmp_path.resolve()


def test_a_host_program_keeps_its_own_streams_and_signals(here: Path) -> None:
    kept = [os.fstat(fd).st_ino for fd in (0, 1, 2)]
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)]
    result = Launcher().run(own_spec(here, "/bin/sh", "-c", "exit 3"))
    assert (result.status, result.level) == (3, JailLevel.FULL)
    assert [os.fstat(fd).st_ino for fd in (0, 1, 2)] == kept
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)] == handlers
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_runs_leave_no_descriptor_and_no_child(here: Path) -> None:
    Launcher().run(own_spec(here, "/bin/true"))
    before = sorted(os.listdir("/proc/self/fd"))
    children = set(descendants_of(os.getpid()))  # what earlier tests keep: parser workers
    for argv in (("/bin/true",), ("/bin/sh", "-c", "sleep 100 & exit 1")):
        Launcher().run(own_spec(here, *argv, limits=Limits(output_bytes=100)))
    with pytest.raises(JailError):
        Launcher().run(own_spec(here, "/no/such"))
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert set(descendants_of(os.getpid())) <= children


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # Python 3.12: what we fork does nothing unsafe
def test_runs_from_several_threads(here: Path) -> None:
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda n=n: statuses.append(Launcher().run(own_spec(here, "/bin/sh", "-c", f"exit {n}")).status)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == list(range(8))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # Python 3.12: what we fork does nothing unsafe
def test_runs_under_asyncio(here: Path) -> None:
    async def both() -> list[int]:
        runs = (asyncio.to_thread(Launcher().run, own_spec(here, "/bin/sh", "-c", f"exit {n}")) for n in (1, 2))
        return [result.status for result in await asyncio.gather(*runs)]

    assert asyncio.run(both()) == [1, 2]


def test_an_interrupt_of_a_host_program_ends_the_command(here: Path) -> None:
    code = (
        "import os, signal, sys, threading\n"
        f"sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})\n"
        "from instinct_shell.execution.launcher import Launcher\nfrom instinct_shell.model.jailspec import JailSpec\n"
        "print('ready', flush=True)\n"
        f"spec = JailSpec(workspace={str(here)!r}, cwd={str(here)!r}, argv=('/bin/sh', '-c', 'echo inside; exec sleep 300'), env=())\n"
        "try:\n    Launcher().run(spec)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        assert program.stdout.readline() == b"inside\n"
        program.send_signal(signal.SIGINT)
        assert program.stdout.read() == b"interrupted\n"


def test_wall_clock_gives_time_to_tidy_up(caller: Caller, level: str) -> None:
    """TERM first, KILL a second later: a lock file can be removed."""
    reachable(caller, level)
    workspace = caller.folder()
    text = "touch lock; trap 'rm lock; exit 0' TERM; while :; do sleep 0.05; done"
    run = caller.shell(workspace, text, at=level, spec={"limits": {"wall_seconds": 0.5}})
    assert (run.status, run.result["limit"], run.result["failure"]) == (124, "wall_seconds", "the wall-clock limit was reached")
    assert not (workspace / "lock").exists()


def test_resource_use_is_reported(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done", at=level)
    result = run.result
    assert 0 < int(str(result["user_us"])) <= int(str(result["wall_us"])) * 2
    assert int(str(result["max_rss_bytes"])) > 1_000_000
    assert result["layers"] == {"full": ["namespaces"], "session": ["namespaces", "session"], "bubblewrap": ["bubblewrap"], "partial": []}[level] + ["landlock", "seccomp", "rlimits"]
