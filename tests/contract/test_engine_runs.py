"""Runs that an engine judged, by each launcher: the command's own output and status, one record of each kind, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import LAUNCHERS, Engines, copied_checkout, own_engines
from jail_harness import cannot

pytestmark = pytest.mark.jail


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_checkout(tmp_path_factory.mktemp("engine"))


@pytest.fixture
def engines(checkout: Path, workspace: Path, tmp_path: Path, jail_works: None) -> Iterator[Engines]:
    yield from own_engines(workspace, tmp_path, checkout)


@pytest.fixture(scope="module")
def jail_works(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where this machine gives no full jail: then an engine leaves every run to its caller."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "app").mkdir()
    for engines in own_engines(folder / "app", folder, checkout):
        run = engines.program("instinct-exec", "--", "true", env={**engines.env, "INSTINCT_ENGINE": "off"})
        level = [record["body"].get("level") for record in engines.records() if record["kind"] == "finished"]
        if run.returncode or level != ["full"]:
            cannot(f"no full jail here: {run.stderr!r} {level}")


@pytest.fixture(params=LAUNCHERS)
def program(request: pytest.FixtureRequest, engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the launcher's program."""
    if request.param == "python":
        return "instinct-exec"
    engines.build_c_launcher(tmp_path_factory.mktemp("built"))
    return "instinct-exec-c"


def kinds(engines: Engines, text: str) -> dict[str, int]:
    """How many records of each kind the runs of this text have."""
    runs = {record["run"] for record in engines.records() if record["kind"] == "judged" and record["body"]["intent"]["content"] == text}
    return Counter(str(record["kind"]) for record in engines.records() if record["run"] in runs)


def without_engine(engines: Engines, *words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return engines.program("instinct-exec", *words, env={**engines.env, "INSTINCT_ENGINE": "off"}, **options)


@pytest.mark.parametrize(
    "words",
    [
        ["--", "echo out; echo err >&2; exit 7"],
        ["-c", 'printf "%s|" "$0" "$@"', "name", "a b", "", "*"],
        ["printf", "%s|", "a b", "$(id)", "'", "\u00e9"],
        ["--one-shot", "--", "readlink /proc/self/ns/pid >/dev/null; echo $((6 * 7))"],
        ["--", "cat; echo done"],
        ["--", "kill -TERM $$"],
        ["--", "kill -KILL $$"],
        ["--", "rm -rf ~"],
        ["--", "exec 3<>/dev/null; ls /proc/self/fd | wc -l"],
        ["--", "no-such-program-anywhere"],
        ["--no-such-option"],
        ["--json", "--", "rm -rf ~"],
        ["--dry-run", "--", "rm -rf ~"],
        ["--dry-run", "--json", "--", "true"],
        ["--workspace", "/nonexistent", "--", "true"],
    ],
)
def test_as_without_an_engine(engines: Engines, program: str, words: list[str]) -> None:
    engines.start()
    warm = engines.program(program, *words, stdin=None, input=b"given\n")
    cold = without_engine(engines, *words, stdin=None, input=b"given\n")
    assert (warm.returncode, varying(warm.stdout), varying(warm.stderr)) == (cold.returncode, varying(cold.stdout), varying(cold.stderr))
    assert engines.program("instinct", "audit", "verify").returncode == 0


def varying(said: bytes) -> object:
    """What is said, without what differs from one judgement to the next."""
    if not said.startswith(b"{"):
        return said
    return {name: value for name, value in json.loads(said).items() if name not in ("id", "run", "elapsed_us", "parser", "result")}


def test_three_records(engines: Engines, program: str) -> None:
    engines.start()
    assert engines.program(program, "--", "echo once").stdout == b"once\n"
    assert kinds(engines, "echo once") == {"judged": 1, "started": 1, "finished": 1}
    finished = next(record["body"] for record in engines.records() if record["kind"] == "finished")
    assert (finished["status"], finished["level"], finished["layers"]) == (0, "full", ["namespaces", "landlock", "seccomp", "rlimits"])


def test_a_run_that_outlives_the_workers_patience(engines: Engines, program: str) -> None:
    engines.start()
    assert engines.program(program, "--", "sleep 2.5; echo late").stdout == b"late\n"
    assert kinds(engines, "sleep 2.5; echo late") == {"judged": 1, "started": 1, "finished": 1}


def test_what_a_late_run_made_unjudged_is_set_aside_and_why_it_failed_is_told(engines: Engines, program: str) -> None:
    """The worker that judged it has gone on to others by then; whichever hears of the end does what that one would have done."""
    (engines.workspace / "names").write_text(".envrc .vscode/tasks.json", encoding="utf-8")
    (engines.workspace / "makes.sh").write_text(
        "mkdir -p .vscode; for name in $(cat names); do echo evil > $name; done; sleep 2.5\n", encoding="utf-8"
    )
    engines.start()
    engines.program(program, "--", "true")
    text = "bash makes.sh; unshare -r true"
    run = engines.program(program, "--", text)
    assert run.returncode == 1, run
    assert b"mounts or namespaces" in run.stderr
    assert run.stderr.count(b"set aside") == 2, run
    assert not (engines.workspace / ".envrc").exists()
    found = kinds(engines, text)
    assert found.pop("note")  # while it ran
    assert found == {"judged": 1, "started": 1, "finished": 1}


def test_a_session_is_joined(engines: Engines, program: str) -> None:
    engines.start()
    first = "sleep 300 >/dev/null 2>&1 & echo $!"
    said = engines.program(program, "--session", "s", "--", first).stdout  # makes the session
    again = engines.program(program, "--session", "s", "--", f"kill -0 {int(said)} && echo alive; echo $$").stdout
    assert again.startswith(b"alive\n")
    ended = [record["body"]["layers"] for record in engines.records() if record["kind"] == "finished"]
    assert ended[-1] == ["namespaces", "session", "landlock", "seccomp", "rlimits"]
    engines.program("instinct", "session", "end")


def test_nothing_runs_that_cannot_be_written_down(engines: Engines, program: str) -> None:
    """A broken trail is found after the verdict and before the command."""
    engines.start()
    engines.program(program, "--", "true")
    head = engines.state / "instinct-shell" / "audit" / "head"
    head.write_bytes(b"not a head")
    run = engines.program(program, "--", "touch made")
    assert run.returncode == 125
    assert b"audit trail" in run.stderr
    assert not (engines.workspace / "made").exists()


@pytest.mark.parametrize("victim", ["worker", "engine", "all"])
def test_the_engine_is_killed_during_a_run(engines: Engines, program: str, victim: str) -> None:
    """The command is the launcher's: it goes on, and its end is recorded once."""
    first = engines.start()
    text = "echo begun; read line; echo $line; exit 3"
    run = subprocess.Popen(
        engines.argv(program, "--", text), cwd=engines.workspace, env=engines.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"begun\n"
    processes = engines.processes()
    for pid in {"worker": [pid for pid in processes if pid != first], "engine": [first], "all": processes}[victim]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # a worker that ended with the first one
    assert run.communicate(b"given\n", 60)[0] == b"given\n"
    assert run.returncode == 3
    assert kinds(engines, text) == {"judged": 1, "started": 1, "finished": 1}
    assert engines.program("instinct", "audit", "verify").returncode == 0


def test_the_launcher_is_killed(engines: Engines, program: str) -> None:
    """Its command goes with it; a run without an end is a normal state."""
    engines.start()
    text = "echo $$; sleep 321.5"
    run = subprocess.Popen(
        engines.argv(program, "--", text), cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    run.stdout.readline()
    run.kill()
    assert run.stdout.read() == b""  # nobody holds the pipe any more
    run.wait()
    run.stdout.close()
    assert kinds(engines, text) == {"judged": 1, "started": 1}
    assert engines.program(program, "--", "echo next").stdout == b"next\n"


def test_killed_at_random_moments(engines: Engines, program: str) -> None:
    """kill -9 of any process of the engine at any moment: every command runs exactly once, and its end is recorded exactly once."""
    chance = random.Random(11)
    texts = []
    for number in range(15):
        engines.start()
        calls = []
        for which in range(3):
            text = f"echo {number} {which} >> log"
            texts.append(text)
            calls.append(
                subprocess.Popen(engines.argv(program, "--", text), cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL)
            )
        for pid in engines.processes():
            if chance.random() < 0.5:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # ended with another one
        assert [call.wait(60) for call in calls] == [0, 0, 0]
    ran = Counter((engines.workspace / "log").read_text(encoding="utf-8").splitlines())
    assert ran == Counter(text.split(" >>")[0].removeprefix("echo ") for text in texts)
    for text in texts:
        found = kinds(engines, text)
        assert found["finished"] == 1, (text, found)
        assert found["started"] >= 1
    assert engines.program("instinct", "audit", "verify").returncode == 0


def test_sixteen_at_once(engines: Engines, program: str) -> None:
    engines.start()
    calls = [
        subprocess.Popen(
            engines.argv(program, "--", f"echo {number}"),
            cwd=engines.workspace,
            env=engines.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        for number in range(16)
    ]
    assert [call.communicate(timeout=60)[0] for call in calls] == [b"%d\n" % number for number in range(16)]
    assert Counter(str(record["kind"]) for record in engines.records())["finished"] == 16


def test_files_as_descriptors(engines: Engines, program: str, tmp_path: Path) -> None:
    """The C launcher leaves these to the Python one."""
    engines.start()
    outside, given = tmp_path / "log", tmp_path / "given"
    given.write_bytes(b"first\nsecond\n")
    with given.open("rb") as stdin, outside.open("wb") as stdout:
        run = engines.program(program, "--", "read line; echo $line; cat", stdin=stdin, stdout=stdout, capture_output=False)
    assert (run.returncode, outside.read_bytes()) == (0, b"first\nsecond\n")


def test_without_its_python_the_c_launcher_refuses(engines: Engines, tmp_path: Path) -> None:
    from engines import TOP

    engines.build_c_launcher(tmp_path)
    program = tmp_path / "broken"
    subprocess.run([TOP / "bin" / "launcher" / "build.sh", "/nonexistent/python", engines.top, program], check=True, capture_output=True)
    run = subprocess.run(
        [program, "--", "touch made"], cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert run.returncode == 125
    assert b"bin/setup" in run.stderr
    assert not (engines.workspace / "made").exists()
