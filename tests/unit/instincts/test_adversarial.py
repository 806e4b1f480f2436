"""tests/cases/adversarial.toml: every crafted bypass is caught, and every built-in instinct has three."""

from __future__ import annotations

import pathlib
import tomllib
from collections import Counter

import pytest
from judging import EmptyHost, judge_text

from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.verdict import DECISIONS

CASES = tomllib.loads((pathlib.Path(__file__).parents[2] / "cases" / "adversarial.toml").read_text(encoding="utf-8"))["case"]
ELSEWHERE = {"budget-ceiling": "effects by hand, tests/unit/instincts/test_reflexes.py", "dependency": "the package families' cases"}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['instinct']}: {case['text'][:60]}" for case in CASES])
def test_caught(case, dev, prod):
    host = EmptyHost(case.get("leads"), case.get("globs"), trees=case.get("trees"))
    found = judge_text(case["text"], {"dev": dev, "prod": prod}[case.get("profile", "dev")], host)
    assert found.decision >= DECISIONS[case["at_least"]], [(finding.instinct, finding.reason) for finding in found.findings]


def test_three_for_each():
    count = Counter(case["instinct"] for case in CASES)
    assert {instinct.id: count[instinct.id] for instinct in BUILTIN if count[instinct.id] < 3 and instinct.id not in ELSEWHERE} == {}
