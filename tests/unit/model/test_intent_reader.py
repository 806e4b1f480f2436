"""Objects to intents: what is missing is filled in, what is wrong is named."""

from __future__ import annotations

import pytest

from instinct_shell.errors import IntentError
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.intent_reader import read_intent


def read(line: dict[str, object]) -> Intent:
    return read_intent(line, cwd="/w", env={"HOME": "/h"}, session="s", door="test")


def test_what_is_not_said_is_filled_in() -> None:
    assert read({"type": "shell_command", "content": "ls"}) == Intent(
        IntentType.SHELL_COMMAND, "ls", cwd="/w", env=(("HOME", "/h"),), session="s", door="test"
    )


def test_what_is_said_holds() -> None:
    line = {
        "type": "file_move",
        "target": "/w/a",
        "cwd": "/x",
        "env": {"B": "2", "A": "1"},
        "metadata": {"destination": "/w/b"},
        "session": "t",
        "agent": "claude",
        "positional": ["one"],
        "argv0": "sh",
    }
    intent = read(line)
    assert (intent.type, intent.target, intent.cwd, intent.session, intent.agent) == (IntentType.FILE_MOVE, "/w/a", "/x", "t", "claude")
    assert intent.env == (("A", "1"), ("B", "2"))
    assert intent.meta("destination") == "/w/b"
    assert (intent.argv0, intent.positional) == ("sh", ("one",))


def test_an_empty_environment_is_one() -> None:
    assert read({"type": "shell_command", "content": "ls", "env": {}}).env == ()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ({}, "type"),
        ({"type": "no_such"}, "no_such"),
        ({"type": "shell_command"}, "content"),
        ({"type": "shell_command", "content": 7}, "content"),
        ({"type": "file_write", "content": "x"}, "target"),
        ({"type": "shell_command", "content": "x", "cwd": "relative"}, "relative"),
        ({"type": "shell_command", "content": "a\0b"}, "NUL"),
        ({"type": "shell_command", "content": "x", "env": []}, "env"),
        ({"type": "shell_command", "content": "x", "env": {"A": 1}}, "env"),
        ({"type": "shell_command", "content": "x", "metadata": "x"}, "metadata"),
        ({"type": "shell_command", "content": "x", "positional": "x"}, "positional"),
        ({"type": "shell_command", "content": "x", "session": 1}, "session"),
    ],
)
def test_what_is_wrong_is_named(line: dict[str, object], names: str) -> None:
    with pytest.raises(IntentError, match=names):
        read(line)
