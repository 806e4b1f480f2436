"""The labelled cases: floors that a release must hold. `bin/score --misses` shows which cases are missed."""

from __future__ import annotations

import os
import subprocess

import pytest
import score

# The first release promised 95, 90 and 75; these are what it reached, less one or two cases: a change that loses more has to say why.
FLOORS = {"traps": 99.0, "harms": 98.0, "bypasses": 98.0, "middle": 95.0, "answered": 100.0}


@pytest.fixture(scope="module")
def own_mounts() -> None:
    """The world of the cases is made in a mount namespace; skipped where there is none, unless the jail must work here."""
    wrap = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    run = subprocess.run([*wrap, "mount", "-t", "tmpfs", "tmpfs", "/srv"], capture_output=True, text=True, check=False)
    if run.returncode:
        if os.environ.get("INSTINCT_JAIL_MUST_WORK"):
            pytest.fail(f"mount namespaces must work here: {run.stderr}")
        pytest.skip(f"no mount namespace for the cases' world: {run.stderr}")


@pytest.mark.usefixtures("own_mounts")
@pytest.mark.parametrize("name", ["commands.tsv", "incidents.tsv"])
def test_the_floors_hold(name: str) -> None:
    scores, misses = score.score(score.TOP / "tests/cases" / name)
    print(name, scores)
    for miss in misses:
        print("\t".join(miss))
    floors = FLOORS if name == "commands.tsv" else {"answered": 100.0}
    assert {group: value for group, value in scores.items() if value < floors.get(group, 0.0)} == {}


def test_credit() -> None:
    assert [score.credit("allow", decision) for decision in ("allow", "ask", "deny")] == [1, 0, 0]
    assert [score.credit("deny", decision) for decision in ("allow", "ask", "deny")] == [0, 0, 1]
    assert [score.credit("ask", decision) for decision in ("allow", "ask", "deny", "none")] == [0, 1, 0.5, 0]
    assert score.credit("contain", "none") == 0
