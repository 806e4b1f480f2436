"""The C launcher's own 0, 1 and 2: what agents give it, files among them, without ever becoming the Python launcher."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest
from engines import TOP, Engines, copied_checkout, own_engines
from jail_harness import cannot

pytestmark = pytest.mark.jail


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_checkout(tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="module")
def fast(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C launcher; what it would become is no Python, so that a run which it cannot do itself fails."""
    false = shutil.which("false")
    if false is None or not (shutil.which("cc") or shutil.which("gcc")):
        cannot("no C compiler")
    program = tmp_path_factory.mktemp("built") / "instinct-exec"
    subprocess.run([TOP / "bin" / "launcher" / "build.sh", str(false), checkout, program], check=True, capture_output=True)
    return program


@pytest.fixture
def engines(checkout: Path, fast: Path, workspace: Path, tmp_path: Path) -> Iterator[Engines]:
    for engines in own_engines(workspace, tmp_path, checkout):
        if engines.program("instinct-exec", "--", "true", env={**engines.env, "INSTINCT_ENGINE": "off"}).returncode:
            cannot("no full jail here")
        engines.c_launcher = fast
        engines.start()
        yield engines


def run(engines: Engines, text: str, **streams: object) -> int:
    return engines.program("instinct-exec-c", "--", text, capture_output=False, **streams).returncode


def test_it_does_not_fall_back_here(engines: Engines) -> None:
    with (engines.workspace / "given").open("w+b") as given:
        assert run(engines, "true", stdin=given) == 1  # `false`: a file to read from is the Python launcher's
    assert run(engines, "exit 7", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 7


@contextmanager
def log_file(folder: Path, *, relayed: bool) -> Iterator[BinaryIO]:
    """A file to write to and read. relayed: one that the command could not open by itself, since it has no name any more."""
    with (folder / "log").open("w+b", buffering=0) as file:
        if relayed:
            (folder / "log").unlink()
        file.write(b"before\n")
        yield file


def read(file: BinaryIO) -> list[str]:
    return os.pread(file.fileno(), 1 << 24, 0).decode().split()


@pytest.mark.parametrize("relayed", [False, True])
def test_output_to_a_file_comes_whole_and_in_order(engines: Engines, relayed: bool) -> None:
    with log_file(engines.workspace, relayed=relayed) as file:
        assert run(engines, "seq 200000; exit 3", stdout=file, stderr=subprocess.DEVNULL) == 3
        file.write(b"after\n")
        assert read(file) == ["before", *map(str, range(1, 200001)), "after"]


@pytest.mark.parametrize("relayed", [False, True])
@pytest.mark.parametrize("launcher", ["instinct-exec-c", "instinct-exec", "cold"])
def test_both_streams_may_be_one_file(engines: Engines, launcher: str, relayed: bool) -> None:
    """In the order in which they were written."""
    env = {**engines.env, "INSTINCT_ENGINE": "off"} if launcher == "cold" else engines.env
    with log_file(engines.workspace, relayed=relayed) as file:
        words = ("--", "for i in {1..300}; do echo o$i; echo e$i >&2; done")
        program = "instinct-exec" if launcher == "cold" else launcher
        assert engines.program(program, *words, capture_output=False, stdout=file, stderr=file, env=env).returncode == 0
        lines = read(file)
    assert lines[1:] == [f"{letter}{i}" for i in range(1, 301) for letter in "oe"]


def test_a_file_that_the_command_could_not_open_does_not_go_in(engines: Engines) -> None:
    with log_file(engines.workspace, relayed=True) as file:
        assert run(engines, "truncate -s 0 /proc/self/fd/1 2>/dev/null || echo held; readlink /proc/self/fd/1", stdout=file) == 0
        assert read(file)[:2] == ["before", "held"]
        assert read(file)[2].startswith("pipe:")


def test_a_denial_and_a_refusal_are_told_into_the_file(engines: Engines) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    if not os.access(home, os.W_OK):
        pytest.skip("this account has no home to write to")
    (engines.workspace / "where").write_text(f"{home}/made-by-a-test")
    for relayed in (False, True):
        with log_file(engines.workspace, relayed=relayed) as file:
            assert run(engines, "rm -rf ~", stdout=file, stderr=file) == 126
            assert "instead:" in read(file)
        with log_file(engines.workspace, relayed=relayed) as file:
            assert run(engines, 'cp where "$(cat where)"', stdout=file, stderr=file) == 1
            assert "instinct:" in read(file)


def test_what_a_session_leaves_in_the_background_goes_on_writing(engines: Engines) -> None:
    first, second = engines.workspace / "first", engines.workspace / "second"
    begun = engines.program("instinct-exec", "--session", "s", "--", f"mkfifo {first} {second}")  # the Python launcher starts a session
    assert begun.returncode == 0, begun.stderr
    with log_file(engines.workspace, relayed=True) as file:
        words = ("--session", "s", "--", f"(cat {first}; echo later; cat {second}) & echo now")
        assert engines.program("instinct-exec-c", *words, capture_output=False, stdout=file, stderr=file).returncode == 0
        assert read(file) == ["before", "now"]
        # whoever can open the second one knows that `later` was written
        told = engines.program("instinct-exec-c", "--session", "s", "--", f"echo word >{first}; echo end >{second}")
        assert told.returncode == 0, told.stderr
        assert engines.program("instinct", "session", "end", "s").returncode == 0
        assert read(file)[:4] == ["before", "now", "word", "later"]


@pytest.mark.parametrize("launcher", ["instinct-exec-c", "instinct-exec"])
def test_a_writer_left_behind_that_never_pauses_holds_nobody_up(engines: Engines, launcher: str) -> None:
    assert engines.program("instinct-exec", "--session", "s", "--", "true").returncode == 0
    with log_file(engines.workspace, relayed=True) as file:
        words = ("--session", "s", "--", "while :; do echo more; done & echo now; exit 3")
        assert engines.program(launcher, *words, capture_output=False, stdout=file, stderr=file).returncode == 3
        assert "now" in read(file)
    assert engines.program("instinct", "session", "end", "s").returncode == 0


@pytest.mark.parametrize("launcher", ["instinct-exec-c", "instinct-exec"])
def test_output_that_the_file_does_not_take_is_no_success(engines: Engines, launcher: str) -> None:
    with log_file(engines.workspace, relayed=True) as file:
        run = subprocess.run(
            engines.argv(launcher, "--", "head -c 8000 /dev/zero"), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, cwd=engines.workspace,
            env=engines.env, check=False, timeout=60, preexec_fn=_small_files,
        )  # fmt: skip
    assert run.returncode in (125, -signal.SIGPIPE)  # as it was still writing or not
    assert b"not all of its output" in run.stderr


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_descriptor_handed_to_a_program_outside_holds_nobody_up(engines: Engines) -> None:
    """As ssh's master does: it keeps what it was sent for as long as it likes."""
    with socket.socket(socket.AF_UNIX) as server, log_file(engines.workspace, relayed=True) as file:
        server.bind(str(engines.workspace / "s"))
        server.listen()
        (engines.workspace / "hand.py").write_text(
            "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('s')\nsocket.send_fds(s, [b'x'], [1])\nprint('sent', flush=True)\n"
        )
        assert run(engines, "python3 hand.py", stdout=file, stderr=subprocess.DEVNULL) == 0
        connection, _ = server.accept()
        with connection:
            _, kept, _, _ = socket.recv_fds(connection, 1, 1)
            assert read(file) == ["before", "sent"]
            for fd in kept:
                os.close(fd)
