"""Twins: one effect has one verdict, however it is spelled (tests/cases/twins.toml), over the whole pipeline."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from scripted import decision

TWINS = tomllib.loads((Path(__file__).parents[1] / "cases" / "twins.toml").read_text(encoding="utf-8"))["twin"]
SPELLED = [(twin["effect"], twin["verdict"], text) for twin in TWINS for text in twin["spellings"]]
DIRECT = [(twin["effect"], twin["verdict"], twin["spellings"][0]) for twin in TWINS]


def test_there_are_sixty_effects_with_four_spellings() -> None:
    assert len(TWINS) >= 60
    assert all(len(set(twin["spellings"])) >= 4 for twin in TWINS)
    assert len({twin["effect"] for twin in TWINS}) == len(TWINS)


@pytest.mark.parametrize(("effect", "verdict", "text"), SPELLED)
def test_every_spelling_gets_the_verdict(effect: str, verdict: str, text: str) -> None:
    assert decision(text) == verdict, effect


@pytest.mark.parametrize(("effect", "verdict", "text"), DIRECT)
@pytest.mark.parametrize(
    "wrapped",
    [
        "bash -c {}",
        "env bash -c {}",
        "timeout 9 sh -c {}",
        "eval {}",
        "bash <<< {}",
        "command bash -c {}",
        "echo {} | bash",
        "printf '%s\\0' {} | xargs -0 -n1 bash -c",
        'x={}; eval "$x"',
        "find . -maxdepth 0 -exec sh -c {} \\;",
        "python3 -c 'import subprocess,sys; subprocess.run(sys.argv[1], shell=True)' {}",
    ],
)
def test_wrapped(effect: str, verdict: str, text: str, wrapped: str) -> None:
    assert decision(wrapped.format(shlex.quote(text))) == verdict, effect


@pytest.mark.parametrize(("effect", "verdict", "text"), DIRECT)
def test_as_a_script_on_disk(effect: str, verdict: str, text: str) -> None:
    assert decision("bash x.sh", {"x.sh": f"#!/bin/bash\nset -e\n{text}\n"}) == verdict, effect
    assert decision("./x.sh", {"x.sh": f"#!/bin/bash\n{text}\n"}) == verdict, effect
    assert decision("make x", {"Makefile": f"x:\n\t{text.replace('$', '$$')}\n"}) == verdict, effect


@pytest.mark.parametrize(("effect", "verdict", "text"), DIRECT)
def test_as_a_script_that_the_line_writes(effect: str, verdict: str, text: str) -> None:
    assert decision(f"cat > build/x.sh <<'END'\n{text}\nEND\nbash build/x.sh") == verdict, effect
