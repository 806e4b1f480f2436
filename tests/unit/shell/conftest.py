"""What the tests of the shell share: one parser and one evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from shell_notation import written

from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Evaluation, Surroundings

HERE = Surroundings("/w", "/home/dev", (("PATH", "/usr/bin"), ("SHELL", "/bin/bash")), user="dev")


@pytest.fixture(scope="session")
def parser() -> Iterator[WorkerParser]:
    made = WorkerParser(deadline_ms=2_000)
    yield made
    made.close()


@pytest.fixture(scope="session")
def run(parser: WorkerParser) -> Callable[[str], Evaluation]:
    def evaluated(text: str, surroundings: Surroundings = HERE) -> Evaluation:
        return evaluate(parser.parse(text).script, surroundings, parser.parse)

    return evaluated


@pytest.fixture(scope="session")
def lines(run: Callable[[str], Evaluation]) -> Callable[[str], list[str]]:
    """The invocations that have words, each as its words in short."""

    def listed(text: str) -> list[str]:
        return [" ".join(map(written, one.words)) for one in run(text).invocations if one.words]

    return listed
