"""The doctor's canaries are real: all stopped at full, and at partial exactly what the level claims."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from jail_harness import Caller, reachable

from instinct_shell.execution import doctor
from instinct_shell.execution.jail import canaries

pytestmark = pytest.mark.jail

EXAMINE = """
import json, sys; sys.path.insert(0, sys.argv[1])
from instinct_shell.execution import doctor
from instinct_shell.model.jailspec import JailLevel
print(json.dumps([[c.id, c.stopped, c.claimed, c.healthy, c.stopped_by] for c in doctor.examine(JailLevel(sys.argv[2]))]))
"""


def examined(caller: Caller, level: str) -> list[tuple[str, bool, bool, bool, str]]:
    reachable(caller, level)
    run = caller.plain([caller.python, "-I", "-S", "-c", EXAMINE, str(caller.code), level])
    assert run.returncode == 0, run
    return [tuple(row) for row in json.loads(run.stdout)]


def test_full_stops_every_canary(caller: Caller) -> None:
    rows = examined(caller, "full")
    assert len(rows) >= 20
    assert [row for row in rows if not row[1]] == []
    assert all(claimed and healthy and stopped_by for _, _, claimed, healthy, stopped_by in rows)
    assert not [row for row in rows if "the kernel" in row[4]], "an errno that no layer of ours explains"


def test_partial_claims_less_and_keeps_it(caller: Caller) -> None:
    rows = examined(caller, "partial")
    assert all(healthy for _, _, _, healthy, _ in rows)
    assert {name for name, stopped, *_ in rows if not stopped} == {name for name, _, claimed, *_ in rows if not claimed}


def test_every_act_has_words_and_every_word_an_act(tmp_path: Path) -> None:
    scene = canaries.Scene(json.dumps({"outside": str(tmp_path), "secret": "", "caller": os.getpid(), "abstract": "", "memory": ""}))
    assert list(canaries.acts(scene)) == list(doctor._ACTS)


def test_a_canary_that_flies_is_unhealthy() -> None:
    flown = doctor.Canary(id="x", act="y", stopped=False, claimed=True)
    assert not flown.healthy
    assert flown.replace(claimed=False).healthy


def test_the_host_is_described() -> None:
    host = doctor.host()
    assert host.kernel == os.uname().release
    assert host.bash[:1].isdigit()
    assert bool(host.obstacle) == bool(host.hint)


def test_nothing_is_left_behind(caller: Caller) -> None:
    def traces() -> list[str]:
        names = [f"/tmp/{name}" for name in os.listdir("/tmp")] + [f"/dev/shm/{name}" for name in os.listdir("/dev/shm")]
        return [name for name in names if "instinct-doctor" in name]

    before = traces()
    examined(caller, "full")
    assert traces() == before
