"""tests/cases/adversarial.toml: every crafted bypass is caught, and every built-in instinct has three."""

from __future__ import annotations

import pathlib
import tomllib
from collections import Counter

import pytest
from judging import EmptyHost, judge_text, situation

from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.situation import Spend
from instinct_shell.model.verdict import DECISIONS

CASES = tomllib.loads((pathlib.Path(__file__).parents[2] / "cases" / "adversarial.toml").read_text(encoding="utf-8"))["case"]
SAYS_ONLY = {"side-effects"}  # it restricts nothing, so there is nothing to get past
# These look at what file tools write; tests/cases/file_writes.toml has three and more for each, on a real disk.
OF_FILES = {"file-content", "file-syntax", "secret-in-content", "secret-in-output", "written-dependency", "lease", "linter"}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['instinct']}: {case['text'][:60]}" for case in CASES])
def test_caught(case, dev, prod):
    host = EmptyHost(case.get("leads"), case.get("globs"), trees=case.get("trees"), places=case.get("places"), sizes=case.get("sizes"))
    where = situation(
        task=case.get("task", ""), task_paths=tuple(case.get("paths", ())), task_operations=tuple(case.get("operations", ())),
        spend=tuple(Spend(*account) for account in case.get("spend", ())),
    )  # fmt: skip
    found = judge_text(case["text"], {"dev": dev, "prod": prod}[case.get("profile", "dev")], host, env=case.get("env"), where=where)
    if "by" in case:
        assert case["by"] in {finding.instinct for finding in found.findings if finding.decision >= DECISIONS[case["at_least"]]}
    assert found.decision >= DECISIONS[case["at_least"]], [(finding.instinct, finding.reason) for finding in found.findings]


def test_three_for_each():
    count = Counter(case["instinct"] for case in CASES)
    assert {instinct.id: count[instinct.id] for instinct in BUILTIN if count[instinct.id] < 3 and instinct.id not in SAYS_ONLY | OF_FILES} == {}
