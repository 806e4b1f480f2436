"""stdin, stdout and stderr: files go in only as far as the jail could open them itself; what comes out is the same bytes either way."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, reachable

pytestmark = pytest.mark.jail
REWRITE = "cat; { echo CHANGED > /proc/self/fd/0; } 2>/dev/null; true"


@pytest.fixture
def full(caller: Caller) -> Caller:
    reachable(caller, "full")
    return caller


@pytest.fixture
def scene(full: Caller) -> Path:
    top = full.folder()
    for name in ("ws/plain", "ws/.env", "outside/file"):
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text("line one\nline two\n", encoding="utf-8")
    full.own(*top.rglob("*"))
    return top


def spec(top: Path, text: str, **more: object) -> dict[str, object]:
    held = {"protected": [str(top / "ws/.env")]}
    return {**base_spec(top / "ws"), **held, "argv": ["/bin/bash", "--norc", "-c", text], **more}


@pytest.mark.parametrize("name", ["ws/.env", "outside/file"])
@pytest.mark.parametrize("mode", [os.O_RDONLY, os.O_RDWR], ids=["<", "<>"])
def test_a_file_that_may_only_be_read_cannot_be_rewritten_through_stdin(full: Caller, scene: Path, name: str, mode: int) -> None:
    content = (scene / name).read_bytes()
    stdin = os.open(scene / name, mode)
    run = full.run(spec(scene, REWRITE), stdin=stdin)
    os.close(stdin)
    assert (run.status, run.out) == (0, content)
    assert (scene / name).read_bytes() == content


def test_a_file_of_the_workspace_passes_as_it_is(full: Caller, scene: Path) -> None:
    stdin = os.open(scene / "ws/plain", os.O_RDWR)
    run = full.run(spec(scene, "read line; echo $line; echo more >&0"), stdin=stdin)
    assert run.out == b"line one\n"
    assert os.lseek(stdin, 0, os.SEEK_CUR) > 0  # one offset, shared, as without a jail
    os.close(stdin)


def test_the_offset_is_kept(full: Caller, scene: Path) -> None:
    stdin = os.open(scene / "outside/file", os.O_RDONLY)
    os.lseek(stdin, 9, os.SEEK_SET)
    run = full.run(spec(scene, "cat"), stdin=stdin)
    os.close(stdin)
    assert run.out == b"line two\n"


def test_a_masked_file_still_reaches_the_command_when_the_caller_hands_it_over(full: Caller, scene: Path) -> None:
    """The caller could read it and chose to; but the file itself does not go in."""
    stdin = os.open(scene / "outside/file", os.O_RDONLY)
    run = full.run(spec(scene, REWRITE, masked=[str(scene / "outside/file")]), stdin=stdin)
    os.close(stdin)
    assert run.out == b"line one\nline two\n"
    assert b"CHANGED" not in (scene / "outside/file").read_bytes()


def test_a_deleted_file(full: Caller, scene: Path) -> None:
    """A shell's large heredoc is one."""
    with tempfile.TemporaryFile() as file:
        file.write(b"z" * 300_000)
        file.seek(0)
        run = full.run(spec(scene, "wc -c"), stdin=file)
    assert run.out.strip() == b"300000"


def test_unread_input_does_not_hang(full: Caller, scene: Path) -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(50_000_000)
        run = full.run(spec(scene, "head -c 3 | wc -c"), stdin=file)
    assert (run.status, run.out.strip()) == (0, b"3")


@pytest.mark.parametrize("where", ["ws/out", "outside/out"])
def test_output_to_a_file(full: Caller, scene: Path, where: str) -> None:
    with (scene / where).open("wb") as file:
        file.write(b"head\n")
        file.flush()
        full.own(scene / where)
        run = full.run(spec(scene, "printf '%0100000d' 7; echo err >&2"), stdout=file, stderr=subprocess.PIPE, capture_output=False)
    assert run.status == 0
    assert (scene / where).read_bytes() == b"head\n" + b"0" * 99_999 + b"7"


def test_stdout_and_stderr_to_one_file_outside_lose_nothing(full: Caller, scene: Path) -> None:
    with (scene / "outside/log").open("wb") as file:
        run = full.run(spec(scene, "for i in {1..500}; do echo o$i; echo e$i >&2; done"), stdout=file, stderr=file, capture_output=False)
    assert run.status == 0
    assert len((scene / "outside/log").read_bytes().split()) == 1000


def test_output_to_an_unnamed_file(full: Caller, scene: Path) -> None:
    with tempfile.TemporaryFile() as file:
        full.run(spec(scene, "echo out"), stdout=file, stderr=subprocess.PIPE, capture_output=False)
        file.seek(0)
        assert file.read() == b"out\n"


@pytest.mark.parametrize("target", ["folder", "block device", "timer"])
def test_what_leads_around_the_jail_is_refused(full: Caller, scene: Path, target: str) -> None:
    """Opened by the driver itself: Python ends at once when it starts on a folder."""
    devices = [f"/dev/{name}" for name in os.listdir("/sys/block") if os.access(f"/dev/{name}", os.R_OK)] if full.uid == 0 else []
    if target == "block device" and not devices:
        pytest.skip("no block device that this user may open")
    opened = {"folder": f"os.open({str(scene / 'ws')!r}, 0)", "block device": f"os.open({(devices or [''])[0]!r}, 0)", "timer": "select.epoll().fileno()"}
    code = f"import os, select, sys; held = select.epoll(); os.dup2({opened[target].replace('select.epoll()', 'held')}, 0); exec(open(sys.argv[0]).read())"
    *words, driver, parent, text, result, at = full.driver(spec(scene, "touch ran"))
    run = full.plain([*words[words.index(full.python) :], "-c", f"import sys; sys.argv.pop(0); {code}", driver, parent, text, result, at])
    assert run.returncode == 125, run
    assert b"handing over stdin: it is" in run.stderr
    assert not (scene / "ws/ran").exists()


def test_the_output_limit_cuts_and_ends(full: Caller, scene: Path) -> None:
    run = full.run(spec(scene, "yes", limits={"output_bytes": 1000}))
    assert (len(run.out), run.result["limit"], run.result["status"]) == (1000, "output_bytes", 137)


def test_under_the_output_limit_nothing_changes(full: Caller, scene: Path) -> None:
    run = full.run(spec(scene, "echo out; echo err >&2; exit 4", limits={"output_bytes": 1000}))
    assert (run.status, run.out, run.err, run.result["limit"]) == (4, b"out\n", b"err\n", "")
