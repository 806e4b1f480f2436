"""What the documents show is what the programs say."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_the_denial_in_the_readme_is_the_real_one(programs) -> None:
    block = re.search(r"\$ bin/instinct-exec -- '(?P<text>[^\n]*)'\n(?P<said>.*?)\n\$ echo \$\?\n(?P<status>\d+)\n", readme(), re.DOTALL)
    assert block is not None
    run = programs.sh(block["text"])
    assert run.returncode == int(block["status"])
    assert run.stderr.decode().rstrip("\n") == block["said"].replace("/home/ada", str(programs.home))


def test_the_exit_statuses_in_the_readme_are_ours() -> None:
    from instinct_shell.errors import Exit

    for status in (Exit.DENIED, Exit.FAILED, Exit.TIMEOUT):
        assert f"| {status} |" in readme()


def test_every_verb_has_an_example_and_json(programs) -> None:
    from instinct_shell.frontends.cli.main import VERBS

    for verb in VERBS:
        run = programs.instinct(verb, "--help")
        assert run.returncode == 0, run.stderr
        assert b"instinct " + verb.encode() in run.stdout
        assert b"xample" in run.stdout, verb


def readme() -> str:
    return (TOP / "README.md").read_text(encoding="utf-8")
