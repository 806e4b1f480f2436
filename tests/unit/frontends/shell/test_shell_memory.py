"""What a session's earlier commands mean for later ones, as text for the judge."""

from __future__ import annotations

import pytest

from instinct_shell.errors import LimitError
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.frontends.shell_memory import Memory, defined_functions, known_values
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings

PARSER = WorkerParser(deadline_ms=1000)
REMEMBERED = {
    "a value": (["x=5"], "x='5'\n"),
    "the latest value": (["x=5", "x=6"], "x='6'\n"),
    "a value from another": (["d=/tmp/a", "e=$d/b", "d=/"], "e='/tmp/a/b'\nd='/'\n"),
    "exported": (["export X=1"], "export X='1'\n"),
    "exported afterwards": (["X=1", "export X"], "X='1'\n"),
    "known only when it runs": (["x=$(cat f)"], "read -r x\n"),
    "a scratch folder": (["t=$(mktemp -d)"], "t=$(mktemp -d)\n"),
    "read": (["read a b"], "read -r a\nread -r b\n"),
    "perhaps": (["if test -f x; then y=1; fi"], "read -r y\n"),
    "in a subshell": (["(x=1)"], "read -r x\n"),
    "one after the other": (["x=1 && y=2"], "x='1'\ny='2'\n"),
    "for one command only": (["x=1 ls"], "read -r x\n"),
    "an array": (["a=(1 2)"], "read -r a\n"),
    "appended": (["p=a", "p+=b"], "read -r p\n"),
    "a loop's name": (["for n in a b; do echo $n; done"], "n='b'\n"),
    "a function": (["f() { echo hi; }"], "f() { echo hi; }\n"),
    "the latest function": (["f() { echo 1; }", "f() { echo 2; }"], "f() { echo 2; }\n"),
    "settings": (["set -e", "alias l=ls", "set -e"], "alias l=ls\nset -e\n"),
    "nothing": (["echo hi", "cd /tmp", "ls | wc -l"], ""),
    "quotes": (["x=\"it's\""], "x='it'\"'\"'s'\n"),
}


def remembered(commands: list[str]) -> Memory:
    memory = Memory()
    for command in commands:
        script = PARSER.parse(command).script
        whole = PARSER.parse(memory.prelude() + command).script
        memory.remember(command, script, known_values(evaluate(whole, Surroundings("/w", "/home/dev"), PARSER.parse)))
    return memory


@pytest.mark.parametrize(("commands", "expected"), REMEMBERED.values(), ids=REMEMBERED.keys())
def test_remembers(commands: list[str], expected: str) -> None:
    assert remembered(commands).prelude() == expected


def test_what_is_remembered_is_shell_again() -> None:
    for commands, _ in REMEMBERED.values():
        assert not PARSER.parse(remembered(commands).prelude() + "true").syntax_error


def test_a_session_that_defines_too_much_is_told_so() -> None:
    with pytest.raises(LimitError, match="more than can be judged"):
        remembered([f"v{number}={'x' * 3000}" for number in range(10)])


def test_functions_are_found_wherever_they_are_defined() -> None:
    text = "a() { :; }; if true; then b() { c() { :; }; }; fi; (d() { :; })"
    assert defined_functions(PARSER.parse(text).script) == {"a", "b", "c", "d"}
