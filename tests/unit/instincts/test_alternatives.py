"""Alternatives that work: whatever a refusal suggests in backticks is itself allowed by the same profile."""

from __future__ import annotations

import pathlib
import re

import pytest
from judging import EmptyHost, judge_text

COMMANDS = pathlib.Path(__file__).parents[2] / "cases" / "commands.tsv"


def commands() -> list[str]:
    lines = [line.split("\t") for line in COMMANDS.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    column = lines[0].index("command")
    return [line[column].replace("\u2424", "\n").replace("\u2409", "\t") for line in lines[1:]]


def suggestions(found) -> set[str]:
    """The commands in the alternatives of all restrictive findings."""
    return {command for finding in found.findings for command in re.findall(r"`([^`]+)`", finding.alternative)}


@pytest.mark.parametrize("name", ["dev", "staging"])
def test_every_suggested_command_is_allowed(request, name):
    profile = request.getfixturevalue(name)
    host = EmptyHost()
    offered: dict[str, str] = {}
    for text in commands():
        for command in suggestions(judge_text(text, profile, host)):
            offered.setdefault(command, text)
    refused = {
        command: (judge_text(command, profile, host).reason, text)
        for command, text in offered.items()
        if not judge_text(command, profile, host).allow
    }
    assert len(offered) > 20
    assert refused == {}
