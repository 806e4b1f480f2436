"""Bad input ends in a named refusal or an opaque node: never in a crash, a hang or unbounded memory; no worker is left behind."""

from __future__ import annotations

import os
import select
import signal
import sys
from types import ModuleType

import pytest
from hypothesis import given, settings, strategies as st
from shell_texts import fragments

from instinct_shell.errors import InstinctError, IntentError, LimitError
from instinct_shell.execution import shfmt
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.execution.worker import Worker
from instinct_shell.shell import trust
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings
from instinct_shell.shell.syntax import Opaque

HERE = Surroundings("/w", "/home/dev")


@pytest.fixture
def parser() -> object:
    made = WorkerParser(deadline_ms=300)
    yield made
    made.close()


REFUSED = [
    ("a\0b", IntentError, "NUL"),
    ("a\ud800b", IntentError, "half a character"),
    ("x" * 100_000, LimitError, "64 KB"),
    ("é" * 40_000, LimitError, "64 KB"),
    ("$(" * 300, LimitError, "nested deeper than 50"),
    ("(" * 300, LimitError, "nested deeper than 50"),
    ("echo " + "$(echo " * 300 + ")" * 300, LimitError, "nested deeper than 50"),
    ("{ " * 300 + "ls" + "; }" * 300, LimitError, "nested deeper than 50"),
    ("a " * 3_000, LimitError, "2,000 words"),
    ("for x in " + "a " * 3_000 + "; do ls; done", LimitError, "2,000 words"),
]


@pytest.mark.parametrize(("text", "error", "message"), REFUSED, ids=[m + str(n) for n, (_, _, m) in enumerate(REFUSED)])
def test_limits_are_named(parser: WorkerParser, text: str, error: type[IntentError], message: str) -> None:
    with pytest.raises(error, match=message):
        parser.parse(text)


@pytest.mark.parametrize(
    "text", ["cat <<'E'\n" + "word " * 9_000 + "\nE", "echo '" + "( { " * 500 + "'", 'grep "' + "(" * 49 + '" f', "x" * 60_000]
)
def test_much_data_is_no_limit(parser: WorkerParser, text: str) -> None:
    assert not parser.parse(text).syntax_error


@pytest.mark.parametrize(
    "text", ["if", "foo (", "a &&", "echo 'x", 'echo "x', "case x in", ")", "echo $(", "a | | b", "for x in a; do", "((", "[[ a"]
)
def test_syntax_errors_are_told(parser: WorkerParser, text: str) -> None:
    parsed = parser.parse(text)
    assert parsed.syntax_error
    assert isinstance(parsed.script.items[0], Opaque)


@pytest.mark.parametrize("text", ["echo a'${x'", "grep foo='${'", "sed -n s'/${a/b/'"])
def test_what_hangs_bashlex_is_not_given_to_it(parser: WorkerParser, text: str) -> None:
    assert not trust.trusted(text)
    assert parser.parse(text).parser == "shfmt"


def test_a_hanging_worker_is_killed_and_replaced(parser: WorkerParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "trusted", lambda text: True)
    parser.parse("true")
    parser.start()
    assert parser._worker is not None
    assert parser._worker.ready(10_000)
    assert parser.parse("echo a'${x'").parser == "shfmt"
    assert parser._worker is None
    parser.start()
    assert parser._worker.ready(10_000)
    assert parser.parse("echo b").parser == "bashlex"


@pytest.mark.parametrize("blocked", [(), signal.valid_signals()], ids=["any", "launcher"])
def test_a_hanging_worker_ends_without_its_parent(blocked: set[int]) -> None:
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        worker = Worker()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    assert worker.ready(10_000)
    data = b"echo a'${x'"
    os.write(worker._to, (100).to_bytes(4, "big") + len(data).to_bytes(4, "big") + data)
    _, status = os.waitpid(worker._pid, 0)  # the kernel's timer ends it
    worker.dead = True
    os.close(worker._to)
    os.close(worker._from)
    assert os.WTERMSIG(status) == signal.SIGALRM


def test_a_worker_that_still_imports_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "instinct_shell.shell.bashlex_adapter", _Endless("bashlex_adapter"))
    worker = Worker()
    os.close(worker._to)
    _, status = os.waitpid(worker._pid, 0)
    worker.dead = True
    os.close(worker._from)
    assert status in (int(signal.SIGIO), 1 << 8)  # by the signal, or as it looked


class _Endless(ModuleType):
    """A module whose import takes for ever."""

    def __getattr__(self, name: str) -> object:
        while True:
            select.select([], [], [])


def test_closing_leaves_no_process() -> None:
    worker = Worker()
    pid = worker._pid
    worker.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, 0)


def test_death_of_the_reference_is_opaque(parser: WorkerParser, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(text: str, deadline_ms: int) -> object:
        raise shfmt.OutOfTime

    monkeypatch.setattr(shfmt.Run, "tree", late)
    parsed = parser.parse("[[ a ]]")
    assert parsed.parser == "none"
    assert isinstance(parsed.script.items[0], Opaque)


@pytest.mark.parametrize("tree", [{}, {"Type": "File"}, {"Type": "File", "Stmts": []}])
def test_a_tree_without_the_text_s_commands_is_opaque(
    parser: WorkerParser, monkeypatch: pytest.MonkeyPatch, tree: dict[str, object]
) -> None:
    monkeypatch.setattr(shfmt.Run, "tree", lambda run, deadline_ms: tree)
    assert any(isinstance(item, Opaque) for item in parser.parse("echo hi; [[ -f x ]]").script.items)
    assert parser.parse("# nothing\n\n  # at all\n \\\n").script.items == ()


def test_a_tree_of_unknown_shape_is_opaque(parser: WorkerParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shfmt.Run, "tree", lambda run, deadline_ms: {"Stmts": [{"Cmd": {"Type": "CallExpr", "Args": 3}}]})
    assert isinstance(parser.parse("[[ a ]]").script.items[0], Opaque)


def test_bytes_that_are_not_utf8_pass(parser: WorkerParser) -> None:
    text = b"rm [[ 'a\xff' \xfeb".decode("utf-8", "surrogateescape")
    found = evaluate(parser.parse(text).script, HERE, parser.parse).invocations[0]
    assert [word.text for word in found.words] == ["rm", "[[", "a\udcff", "\udcfeb"]


_SHARED = WorkerParser(deadline_ms=500)


@settings(max_examples=150, deadline=None)
@given(text=st.one_of(st.text(max_size=60), fragments()))
def test_any_text_raises_only_our_errors(text: str) -> None:
    try:
        parsed = _SHARED.parse(text)
        evaluate(parsed.script, HERE, _SHARED.parse)
    except InstinctError:
        pass
