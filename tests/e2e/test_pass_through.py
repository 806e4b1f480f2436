"""A command under guard behaves as without it: status, signals, bytes, streams, process group, terminal; and we say nothing."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import signal
import subprocess
import time

import pytest

pytestmark = [pytest.mark.jail, pytest.mark.usefixtures("jail_works")]


@pytest.mark.parametrize("status", [0, 1, 2, 3, 42, 63, 64, 99, 100, 123, 124, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255])
def test_exit_status(programs, status: int) -> None:
    run = programs.sh(f"exit {status}")
    assert (run.returncode, run.stdout, run.stderr) == (status, b"", b"")


def test_every_exit_status_in_one_go(programs) -> None:
    text = "for n in $(seq 0 255); do (exit $n); [ $? = $n ] || exit 9; done; exit 77"
    assert programs.sh(text).returncode == 77


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "HUP", "SEGV", "ABRT", "PIPE", "USR1"])
def test_death_by_signal_shows_as_such(programs, name: str) -> None:
    run = programs.sh(f"kill -{name} $$; sleep 5")
    assert run.returncode == -getattr(signal, f"SIG{name}")
    assert (run.stdout, run.stderr) == (b"", b"")


def test_a_shell_sees_128_plus_n(programs) -> None:
    line = f"'{programs.argv('instinct-exec')[0]}' -- 'kill -TERM $$'; echo $?"
    run = subprocess.run(["bash", "-c", line], cwd=programs.workspace, env=programs.env, capture_output=True, check=True)
    assert run.stdout == b"143\n"


def test_ten_megabytes_of_anything(programs) -> None:
    data = os.urandom(1 << 16) * 160
    run = programs.sh("cat", stdin=data)
    assert hashlib.sha256(run.stdout).hexdigest() == hashlib.sha256(data).hexdigest()
    assert (run.returncode, run.stderr) == (0, b"")


def test_streams_stay_apart(programs) -> None:
    run = programs.sh("echo out; echo err >&2; printf 'no newline'")
    assert (run.returncode, run.stdout, run.stderr) == (0, b"out\nno newline", b"err\n")


def test_a_reader_that_leaves(programs) -> None:
    line = f"'{programs.argv('instinct-exec')[0]}' -- 'yes' | head -1; echo ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", line], cwd=programs.workspace, env=programs.env, capture_output=True, check=True, timeout=60)
    assert (run.stdout, run.stderr) == (b"y\n141\n", b"")


def test_no_stdin(programs) -> None:
    argv = programs.argv("instinct-exec", "--", "cat; echo done")
    run = subprocess.run(argv, stdin=subprocess.DEVNULL, cwd=programs.workspace, env=programs.env, capture_output=True, check=True)
    assert run.stdout == b"done\n"


def test_closed_stdin_and_stdout(programs) -> None:
    line = f"'{programs.argv('instinct-exec')[0]}' -- 'true' <&- >&-; echo $?"
    run = subprocess.run(["bash", "-c", line], cwd=programs.workspace, env=programs.env, capture_output=True, check=True)
    assert (run.stdout, run.stderr) == (b"0\n", b"")


def test_several_arguments_are_words(programs) -> None:
    run = programs.exec("--", "printf", "%s|", "a b", "$HOME", "*", "it's", "")
    assert run.stdout == b"a b|$HOME|*|it's||"


def test_dash_c_takes_positional_parameters(programs) -> None:
    run = programs.exec("-c", 'echo "$0" "$1" "$#"', "name", "one", "two")
    assert run.stdout == b"name one 2\n"


def test_it_is_bash_without_start_up_files(programs) -> None:
    (programs.home / ".bashrc").write_text("echo gotcha\n", encoding="utf-8")
    (programs.home / ".bash_profile").write_text("echo gotcha\n", encoding="utf-8")
    (programs.workspace / "env.sh").write_text("echo gotcha\n", encoding="utf-8")
    run = programs.exec(
        "--", "echo ${BASH_VERSION%%.*}; shopt -q login_shell || echo plain", env={"BASH_ENV": str(programs.workspace / "env.sh")}
    )
    assert run.stdout.splitlines()[-1:] == [b"plain"]
    assert b"gotcha" not in run.stdout


def test_the_folder_is_the_callers(programs) -> None:
    (programs.workspace / "deep/er").mkdir(parents=True)
    run = subprocess.run(
        programs.argv("instinct-exec", "--", "pwd"), cwd=programs.workspace / "deep/er", env=programs.env, capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == str((programs.workspace / "deep/er").resolve())


def test_the_process_group_is_the_callers(programs) -> None:
    """A signal to the caller's group reaches the command, as when a terminal sends it."""
    code = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen(
        programs.argv("instinct-exec", "--", code), cwd=programs.workspace, env=programs.env, stdout=subprocess.PIPE, process_group=0
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGTERM)
    said, _ = process.communicate(timeout=30)
    assert (said, process.returncode) == (b"got it\n", 5)


def test_the_terminal_is_the_callers(programs) -> None:
    """stdin, stdout and stderr are the terminal itself, its size is right, and ^C reaches the command."""
    text = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size; echo ready; sleep 30"
    status, said = under_terminal(programs, text, after=b"ready", send=b"\x03")
    assert b"24 80" in said
    assert status == -signal.SIGINT


def under_terminal(programs, text: str, *, after: bytes, send: bytes) -> tuple[int, bytes]:
    """Run a line on a new terminal, type `send` once `after` was seen; returns the status (negative for a signal) and what was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.chdir(programs.workspace)
        os.execve(programs.argv("instinct-exec")[0], programs.argv("instinct-exec", "--", text), programs.env)
    said, sent, end = b"", False, time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other side is closed
                break
            said += piece
            if not piece:
                break
        if after in said and not sent:
            os.write(terminal, send)
            sent = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def test_a_background_child_does_not_hold_the_caller(programs) -> None:
    start = time.monotonic()
    run = programs.sh("sleep 60 >/dev/null 2>&1 & echo started")
    assert run.stdout == b"started\n"
    assert time.monotonic() - start < 30


def test_a_large_output_is_whole(programs) -> None:
    run = programs.sh("head -c 20000000 /dev/zero | tr '\\0' x")
    assert (len(run.stdout), run.returncode, run.stderr) == (20_000_000, 0, b"")


def test_the_report_goes_to_its_descriptor(programs, tmp_path) -> None:
    import json

    path = tmp_path / "report.json"
    with path.open("wb") as stream:
        os.set_inheritable(stream.fileno(), True)
        number = stream.fileno()
        argv = programs.argv("instinct-exec", "--report-fd", str(number), "--", f"echo gotcha >&{number}; exit 3")
        run = subprocess.run(argv, cwd=programs.workspace, env=programs.env, capture_output=True, pass_fds=[number], check=False)
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["run"]["status"] == run.returncode
    assert report["decision"] == "allow"
    assert "gotcha" not in path.read_text(encoding="utf-8")
