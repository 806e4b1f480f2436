"""Both parsers give the same tree wherever bashlex is trusted, and together they read what bash reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CORPORA

from instinct_shell.errors import InstinctError
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.model.effect import Span
from instinct_shell.shell import compare, trust
from instinct_shell.shell.bashlex_adapter import parse as by_bashlex
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Field, Surroundings
from instinct_shell.shell.lexer import Untrusted
from instinct_shell.shell.syntax import Parsed, Script

MATRIX = Path(__file__).resolve().parent.parent / "cases" / "shell_matrix.txt"
# bash accepts these at `-n` and fails on each when it runs them
UNREADABLE = ("${/workspace", "${987654321", "are older than 2 days", "{} `;`")


def corpora(step: int) -> Iterator[tuple[str, bool]]:
    if not CORPORA.is_dir():
        pytest.skip("no ../shared/corpora beside this checkout")
    for path in sorted(CORPORA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines()[::step]:
            row = json.loads(line)
            yield row["src"], row["bash_n"]


def meaning(script: Script) -> list[object]:
    """What would run: words, assignments and redirections after expansion, without spans."""
    found = evaluate(script, Surroundings("/w", "/home/dev", user="dev"), _no_parse).invocations
    return [
        (
            [_bare(w) for w in one.words],
            [(n, _bare(v)) for n, v in one.assignments],
            [(s.op, s.fd, _bare(s.target)) for s in one.streams],
            one.certain,
        )
        for one in found
    ]


def _bare(field: Field) -> tuple[object, ...]:
    return (field.known, field.values, field.prefix, field.suffix, field.glob, field.many)


def _no_parse(text: str) -> Parsed:
    return Parsed(Script(Span(0, 0), ()), "none")


def compared(texts: Iterator[str]) -> tuple[int, list[str]]:
    parser = WorkerParser(deadline_ms=2_000)
    count = 0
    different = []
    for text in texts:
        if not trust.trusted(text) or not text.strip(" \t\n"):
            continue
        try:
            first = by_bashlex(text)
        except Untrusted:
            continue
        second = parser._by_shfmt(text)
        if second.syntax_error:
            continue
        count += 1
        if meaning(first) != meaning(second.script):
            different.append(text)
    return count, different


def test_matrix() -> None:
    lines = MATRIX.read_text(encoding="utf-8").splitlines()
    texts = [line.replace("␤", "\n").replace("␉", "\t") for line in lines if line.strip() and not line.startswith("# ")]
    count, different = compared(iter(texts))
    assert different == []
    assert count > 100


@pytest.mark.corpora
def test_corpora_give_the_same_trees() -> None:
    count, different = compared(text for text, valid in corpora(12) if valid)
    assert different == []
    assert count > 800


@pytest.mark.corpora
def test_corpora_are_read_without_crash() -> None:
    parser = WorkerParser(deadline_ms=2_000)
    here = Surroundings("/w", "/home/dev", user="dev")
    valid = read = 0
    lost = []
    for text, accepted in corpora(1):
        try:
            parsed = parser.parse(text)
            evaluate(parsed.script, here, parser.parse)
        except InstinctError:
            continue
        valid += accepted
        readable = not parsed.syntax_error and (parsed.parser != "none" or not parsed.script.items)
        read += accepted and readable
        if accepted and not readable and not any(mark in text for mark in UNREADABLE):
            lost.append(text)
    parser.close()
    assert lost == []
    assert read / valid >= 0.999


def test_differing_readings_are_united_and_flagged() -> None:
    first = by_bashlex("rm a")
    second = by_bashlex("rm b")
    assert not compare.agree(first, second)
    both = compare.commands(compare.union(first, second))
    assert {words for words, _, _ in both} == {("rm", "a"), ("rm", "b")}


def test_both_parsers_can_be_asked() -> None:
    parser = WorkerParser(deadline_ms=2_000, both=True)
    parsed = parser.parse("ls -l | wc")
    parser.close()
    assert parsed.parser == "both"
    assert not parsed.disagreement
