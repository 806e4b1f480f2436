"""The command line of `instinct-exec`: one argument is text, several are words, and a mistake runs nothing."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, strategies as st

from instinct_shell.errors import UsageError
from instinct_shell.frontends.instinct_exec import ExecOptions, options_from, quote

READ = {
    "one argument is shell text": (["a | b"], ExecOptions("a | b")),
    "several are words": (["echo", "a b", "$x"], ExecOptions("echo 'a b' '$x'")),
    "-c as in bash": (["-c", "echo $1", "name", "one", "two"], ExecOptions("echo $1", argv0="name", positional=("one", "two"))),
    "-c alone": (["-c", "true"], ExecOptions("true")),
    "-c keeps what looks like options": (["-c", "true", "--json", "--"], ExecOptions("true", argv0="--json", positional=("--",))),
    "double dash ends options": (["--", "--version"], ExecOptions("--version")),
    "options before": (["--profile", "prod", "--workspace=/w", "--session", "s", "true"], ExecOptions("true", "prod", "/w", "s")),
    "switches": (["--dry-run", "--json", "--one-shot", "true"], ExecOptions("true", dry_run=True, one_shot=True, json=True)),
    "report": (["--report-fd", "3", "true"], ExecOptions("true", report_fd=3)),
    "options end at the command": (["ls", "--profile", "x"], ExecOptions("ls --profile x")),
    "empty text is a command": ([""], ExecOptions("")),
    "a dash is a command": (["-"], ExecOptions("-")),
}
REFUSED = {
    "nothing": ([], "no command"),
    "only options": (["--json"], "no command"),
    "unknown option": (["--jsno", "true"], "unknown option `--jsno`"),
    "option without value": (["--profile"], "needs a value"),
    "-c without text": (["-c"], "needs shell text"),
    "report to stdin": (["--report-fd", "0", "true"], "not a descriptor"),
    "report to stderr": (["--report-fd", "2", "true"], "not a descriptor"),
    "report to a word": (["--report-fd=x", "true"], "not a descriptor"),
}


@pytest.mark.parametrize(("arguments", "expected"), READ.values(), ids=READ.keys())
def test_reads(arguments: list[str], expected: ExecOptions) -> None:
    assert options_from(arguments) == expected


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        options_from(arguments)
    assert caught.value.hint


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), min_size=2, max_size=4))
def test_quoting_gives_bash_exactly_the_words(words: list[str]) -> None:
    text = "printf '%s\\0' " + " ".join(map(quote, words))
    run = subprocess.run(["bash", "--norc", "--noprofile", "-c", text], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert run.stdout.decode().split("\0")[:-1] == words
