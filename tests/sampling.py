"""Products of parameters, sampled: a default run takes a covering part of each, `INSTINCT_TESTS=all` the whole.

Strength 1: every value of every parameter occurs (each hostile program under some launcher, each launcher with some of them). Strength 2:
every pair of values of two parameters does (each program at each level, by some user). The choice is by the tests' names: the same in every
run and on every worker.
"""

from __future__ import annotations

import hashlib
import itertools
import os

import pytest

# (file, test or "" for each of the file): strength. A test that stands in no row runs with all its parameters.
STRENGTHS = {
    ("test_launchers.py", ""): 1,  # the jail's contract again, by 2 launchers x 2 users x 2 levels
    ("test_jail_hostile.py", ""): 2,  # 2 users x 3 levels x the hostile programs
    ("test_twins.py", "test_wrapped"): 1,  # 60 effects x 11 wrappers, each judged on its own elsewhere
}


def sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items that a default run takes, in their order."""
    if os.environ.get("INSTINCT_TESTS") == "all":
        return items
    covered: dict[str, set[object]] = {}
    kept: set[str] = set()
    for item in sorted(items, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest()):
        name = getattr(item, "originalname", item.name)
        strength = STRENGTHS.get((item.path.name, name)) or STRENGTHS.get((item.path.name, ""), 0)
        call = getattr(item, "callspec", None)
        if not strength or call is None:
            kept.add(item.nodeid)
            continue
        axes = sorted((axis, str(value)) for axis, value in call.params.items())
        new = set(itertools.combinations(axes, min(strength, len(axes))))
        seen = covered.setdefault(f"{item.path}::{name}", set())
        if not new <= seen:
            seen |= new
            kept.add(item.nodeid)
    return [item for item in items if item.nodeid in kept]
