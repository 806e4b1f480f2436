"""What the command and its caller see of each other is what they would see without a jail."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, processes_with

pytestmark = pytest.mark.jail


def bash(workspace: Path, text: str) -> dict[str, object]:
    return {**base_spec(workspace), "argv": ["/bin/bash", "--norc", "--noprofile", "-c", text]}


@pytest.mark.parametrize("status", [0, 1, 2, 7, 124, 125, 126, 127, 128, 200, 255])
def test_exit_status_is_the_commands_own(caller: Caller, level: str, status: int) -> None:
    run = caller.shell(caller.folder(), f"exit {status}", at=level)
    assert (run.status, run.result["status"], run.result["started"], run.err) == (status, status, True, b"")


@pytest.mark.parametrize("name", ["HUP", "INT", "KILL", "SEGV", "PIPE", "TERM", "ABRT", "USR1"])
def test_death_by_signal_is_told(caller: Caller, level: str, name: str) -> None:
    run = caller.shell(caller.folder(), f"kill -{name} $$", at=level)
    number = getattr(signal, f"SIG{name}")
    assert (run.status, run.result["status"], run.result["signal"]) == (-number, 128 + number, number)


def test_ten_megabytes_of_binary(caller: Caller, level: str) -> None:
    content = os.urandom(10 << 20)
    run = caller.shell(caller.folder(), "cat", at=level, stdin=None, input=content)
    assert hashlib.sha256(run.out).digest() == hashlib.sha256(content).digest()


def test_stdout_and_stderr_stay_apart(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "echo out; echo err >&2", at=level)
    assert (run.out, run.err) == (b"out\n", b"err\n")


def test_a_closed_reader_ends_the_writer(caller: Caller, level: str) -> None:
    with started(caller.driver(bash(caller.folder(), "yes"), at=level)) as writer:
        assert writer.stdout.read(2) == b"y\n"
        writer.stdout.close()
        assert writer.wait(20) == -signal.SIGPIPE


def test_a_pipe_closes_when_the_command_closes_it(caller: Caller, level: str) -> None:
    """Nobody of ours keeps the caller's pipe open."""
    with started(caller.driver(bash(caller.folder(), "exec 1>&-; read line"), at=level), stdin=subprocess.PIPE) as writer:
        assert writer.stdout.read() == b""
        assert writer.poll() is None
        writer.stdin.close()
        assert writer.wait(20) == 1


def test_environment_is_exactly_the_specs(caller: Caller, level: str) -> None:
    spec = {"env": [["A", "1"], ["B", "x y\n'z'"]], "argv": ["/usr/bin/env", "-0"]}
    run = caller.run({**base_spec(caller.folder()), **spec}, at=level, env={**os.environ, "SECRET_KEY": "s"})
    assert sorted(run.out.split(b"\0")) == [b"", b"A=1", b"B=x y\n'z'"]


def test_user_and_umask_are_the_callers(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "id -u; umask", at=level, preexec_fn=lambda: os.umask(0o027))
    assert run.out.split() == [str(caller.uid).encode(), b"0027"]


def test_only_the_standard_descriptors_go_in(caller: Caller, level: str, tmp_path: Path) -> None:
    extra = os.open(tmp_path / "outside", os.O_RDWR | os.O_CREAT)
    run = caller.shell(caller.folder(), "ls /proc/self/fd; echo pwned >&9", at=level, preexec_fn=lambda: os.dup2(extra, 9), close_fds=False)
    os.close(extra)
    assert run.out.split() == [b"0", b"1", b"2", b"3"]  # 3 is ls's own
    assert (tmp_path / "outside").read_bytes() == b""


def test_descriptors_the_caller_left_closed_stay_closed(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "cat", at=level, stdin=None, preexec_fn=lambda: os.close(0))
    assert b"Bad file descriptor" in run.err


def test_default_signal_handling_inside(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "grep -E '^Sig(Ign|Blk)' /proc/self/status", at=level)
    assert run.out.split() == [b"SigBlk:", b"0" * 16, b"SigIgn:", b"0" * 16]


def test_a_command_may_lower_its_own_limits(caller: Caller, level: str) -> None:
    text = f"ulimit -n 100; {caller.python} -I -S -c 'import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (50, 60)); print(r.prlimit(0, r.RLIMIT_NOFILE))'"
    assert caller.shell(caller.folder(), text, at=level).out == b"(50, 60)\n"


def test_an_ignored_signal_stays_ignored(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "kill -HUP $$; echo alive", at=level, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert run.out == b"alive\n"


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "QUIT", "USR1"])
def test_a_signal_to_the_launcher_reaches_the_command_once(caller: Caller, level: str, name: str) -> None:
    text = f"n=0; trap 'n=$((n+1))' {name}; trap 'echo $n; exit 3' USR2; echo ready; while :; do sleep 0.02; done"
    with started(caller.driver(bash(caller.folder(), text), at=level)) as running:
        assert running.stdout.readline() == b"ready\n"
        os.kill(running.pid, getattr(signal, f"SIG{name}"))
        leave_time(0.3)
        os.kill(running.pid, signal.SIGUSR2)
        assert running.stdout.read() == b"1\n"
        assert running.wait(20) == 3


def test_a_signal_to_the_whole_group_reaches_the_command_once(caller: Caller) -> None:
    """At full; at partial the attendant lives in a group of its own and a group signal may arrive twice."""
    text = "n=0; trap 'n=$((n+1))' TERM; trap 'echo $n; exit 3' USR2; echo ready; while :; do sleep 0.02; done"
    with started(caller.driver(bash(caller.folder(), text)), start_new_session=True) as running:
        assert running.stdout.readline() == b"ready\n"
        os.killpg(running.pid, signal.SIGTERM)
        leave_time(0.3)
        os.kill(running.pid, signal.SIGUSR2)
        assert running.stdout.read() == b"1\n"
        assert running.wait(20) == 3


def leave_time(seconds: float) -> None:
    """Room for a second, wrong delivery to happen: that something does not come cannot be waited for."""
    select.select([], [], [], seconds)


def started(argv: list[str], **options: object) -> subprocess.Popen[bytes]:
    """The driver, running; `unshare -m` and `setpriv` exec it, so its pid is the launcher's."""
    return subprocess.Popen(argv, **{"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options})  # type: ignore[call-overload, no-any-return]


class Terminal:
    """A program on a pseudo-terminal of its own, in the foreground."""

    def __init__(self, argv: list[str]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)
        self.seen = b""

    def expect(self, text: bytes, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, self.seen
            if select.select([self.fd], [], [], left)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    break
        assert text in self.seen, self.seen

    def send(self, text: bytes) -> None:
        os.write(self.fd, text)

    def end(self) -> int:
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_the_terminal_is_the_callers(caller: Caller, level: str) -> None:
    terminal = Terminal(caller.driver(bash(caller.folder(), "test -t 0 && test -t 1 && stty size && echo via-tty > /dev/tty; echo done"), at=level))
    terminal.expect(b"done")
    terminal.end()
    assert b"via-tty" in terminal.seen
    assert b"0 0" in terminal.seen


def test_ctrl_c_ends_the_command_and_the_launcher(caller: Caller, level: str) -> None:
    terminal = Terminal(caller.driver(bash(caller.folder(), "echo ready; sleep 300"), at=level))
    terminal.expect(b"ready")
    terminal.send(b"\x03")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == -signal.SIGINT
    os.close(terminal.fd)


def test_ctrl_c_reaches_a_trap_once(caller: Caller, level: str) -> None:
    text = "n=0; trap 'n=$((n+1))' INT; echo ready; read line; read line; echo caught $n"
    terminal = Terminal(caller.driver(bash(caller.folder(), text), at=level))
    terminal.expect(b"ready")
    terminal.send(b"\x03")
    terminal.expect(b"^C")
    leave_time(0.2)
    terminal.send(b"\n\n")
    terminal.expect(b"caught 1")
    terminal.end()


def test_ctrl_z_stops_and_fg_continues(caller: Caller, level: str) -> None:
    """Under an interactive shell: the job stops, the prompt returns, `fg` goes on."""
    line = " ".join(f"'{word}'" for word in caller.driver(bash(caller.folder(), 'echo ready; read line; echo "got $line"'), at=level) if "'" not in word)
    assert "jail_driver" in line
    terminal = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"])
    terminal.send(b"PS1='P''ROMPT '; bind 'set enable-bracketed-paste off'\n")
    terminal.expect(b"PROMPT ")
    terminal.send(line.encode() + b"\n")
    terminal.expect(b"\nready")
    terminal.seen = b""
    terminal.send(b"\x1a")
    terminal.expect(b"Stopped")
    terminal.expect(b"PROMPT ")
    terminal.send(b"fg\n")
    terminal.expect(b"jail_driver")
    terminal.send(b"hello\n")
    terminal.expect(b"got hello")
    terminal.send(b"exit\n")
    terminal.end()


def test_a_run_leaves_no_process(caller: Caller, level: str) -> None:
    if level == "session":
        return  # what it leaves there is the point: test_session.py
    marker = f"31{os.getpid()}.{time.monotonic_ns() % 10**6}"
    run = caller.shell(caller.folder(), f"setsid sleep {marker} & (sleep {marker} & disown) & nohup sleep {marker} >/dev/null 2>&1 & echo started", at=level)
    assert run.out == b"started\n"
    assert processes_with(marker) == []
