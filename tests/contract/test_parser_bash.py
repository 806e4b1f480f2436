"""INVARIANT: no command that real bash runs is missing from the model. Tables, generated texts and a sample of the corpora, with mocks only."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bash_oracle
import pytest
from conftest import CORPORA
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from shell_texts import scripts

from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.shell import outputs
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings

pytestmark = pytest.mark.skipif(not bash_oracle.available(), reason="needs bash, timeout and unprivileged namespaces (unshare -Urmpfn)")

MATRIX = Path(__file__).resolve().parent.parent / "cases" / "shell_matrix.txt"
_BUILTIN_OUTPUTS = frozenset({"echo", "printf", "pwd"})


@pytest.fixture(autouse=True)
def _mocks_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mocks that stand for programs are silent, so what a real `tr` or `seq` would print must not be assumed."""
    monkeypatch.setattr(outputs, "_TABLE", {name: made for name, made in outputs._TABLE.items() if name in _BUILTIN_OUTPUTS})


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="instinct-oracle-"))
    bash_oracle.prepare(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def lacking(texts: list[str], root: Path, status: int) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The texts of which bash ran a command that the model lacks."""
    parser = WorkerParser(deadline_ms=2_000)
    found = []
    for number, (text, ran) in enumerate(zip(texts, bash_oracle.run(texts, root, status), strict=True)):
        here = Surroundings(bash_oracle.cwd_of(number), bash_oracle.HOME, (("HOME", bash_oracle.HOME), ("PATH", "/nowhere")))
        evaluation = evaluate(parser.parse(text).script, here, parser.parse)
        if missing := bash_oracle.missing(ran, evaluation):
            found.append((text, missing))
    parser.close()
    return found


def matrix() -> list[str]:
    lines = MATRIX.read_text(encoding="utf-8").splitlines()
    return [line.replace("␤", "\n").replace("␉", "\t") for line in lines if line.strip() and not line.startswith("# ")]


@pytest.mark.parametrize("status", [0, 1])
def test_matrix(root: Path, status: int) -> None:
    assert lacking(matrix(), root, status) == []


@pytest.mark.parametrize("status", [0, 1])
def test_the_oracle_sees_commands(root: Path, status: int) -> None:
    texts = ["rm a 'b c'", "if c1; then c2; fi", "/bin/ls", "x=$(c1 q); c2"]
    expected = [[("rm", "a", "b c")], [("c1",), ("c2",)][: 2 - status], [], [("c1", "q"), ("c2",)]]
    assert bash_oracle.run(texts, root, status) == expected


@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(texts=st.lists(scripts(), min_size=150, max_size=150))
def test_generated_scripts(root: Path, texts: list[str]) -> None:
    assert lacking(texts, root, 0) == []


@pytest.mark.corpora
@pytest.mark.parametrize("status", [0, 1])
def test_corpora(root: Path, status: int) -> None:
    if not CORPORA.is_dir():
        pytest.skip("no ../shared/corpora beside this checkout")
    texts = []
    for path in sorted(CORPORA.glob("*.jsonl")):
        texts += [json.loads(line)["src"] for line in path.read_text(encoding="utf-8").splitlines()[status::25]]
    assert lacking([text for text in texts if "\0" not in text], root, status) == []
