"""What the documents show is what the programs say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("below", [False, True], ids=["workspace beside the home", "workspace below the home"])
def test_the_denial_in_the_readme_is_the_real_one(programs, tmp_path: Path, below: bool) -> None:
    if below:
        programs.home = tmp_path
        programs.env["HOME"] = str(tmp_path)
    block = re.search(r"\$ bin/instinct-exec -- '(?P<text>[^\n]*)'\n(?P<said>.*?)\n\$ echo \$\?\n(?P<status>\d+)\n", readme(), re.DOTALL)
    assert block is not None
    run = programs.sh(block["text"])
    assert run.returncode == int(block["status"])
    assert run.stderr.decode().rstrip("\n") == block["said"].replace("/home/ada", str(programs.home))


def test_the_exit_statuses_in_the_readme_are_ours() -> None:
    from instinct_shell.errors import Exit

    for status in (Exit.DENIED, Exit.FAILED, Exit.TIMEOUT):
        assert f"| {status} |" in readme()


def test_the_python_example_in_the_readme_runs_as_written(programs) -> None:
    block = re.search(r"```python\n(.*?)```", readme(), re.DOTALL)
    assert block is not None
    run = subprocess.run(
        [sys.executable, "-c", block[1]], cwd=programs.workspace, env={**programs.env, "PYTHONPATH": str(TOP)}, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("False [")


@pytest.mark.parametrize("program", ["instinct", "instinct-exec"])
@pytest.mark.parametrize("word", ["--help", "--version"])
@pytest.mark.parametrize("into", ["a pipe", "a file"])
def test_what_is_asked_for_arrives(programs, tmp_path: Path, program: str, word: str, into: str) -> None:
    """The programs end without taking the interpreter down, which would have written what is buffered."""
    place = tmp_path / "said"
    with place.open("wb") as said:
        stdout = said if into == "a file" else subprocess.PIPE
        run = subprocess.run(programs.argv(program, word), env=programs.env, stdout=stdout, check=True)
    assert program.encode() in (run.stdout or place.read_bytes())


def test_usage_errors_are_one_line_and_examples_stand_alone(programs) -> None:
    said = programs.instinct("install").stderr.decode()
    assert "claude, codex" in said
    assert "\\" not in said
    assert "\n    instinct-exec -- CMD" in programs.instinct("--help").stdout.decode()
    assert "\n    instinct budget set day none\n" in programs.instinct("budget", "set", "--help").stdout.decode()


def test_every_verb_has_an_example_and_json(programs) -> None:
    from instinct_shell.frontends.cli.main import VERBS

    for verb in VERBS:
        run = programs.instinct(verb, "--help")
        assert run.returncode == 0, run.stderr
        assert b"instinct " + verb.encode() in run.stdout
        assert b"xample" in run.stdout, verb


def readme() -> str:
    return (TOP / "README.md").read_text(encoding="utf-8")
