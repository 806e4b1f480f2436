"""Who runs the jail's contract: the user of the tests, and an ordinary user too when that is root."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from jail_harness import NOBODY, Caller, reachable


def _callers() -> list[str]:
    return ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]


@pytest.fixture(scope="session", params=_callers())
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """A user that runs commands in a jail."""
    made = Caller(request.param, NOBODY if request.param == "ordinary" and os.geteuid() == 0 else None)
    yield made
    made.close()


@pytest.fixture(scope="session", params=["full", "partial"])
def level(request: pytest.FixtureRequest, caller: Caller) -> str:
    """A jail level that this caller reaches here."""
    reachable(caller, request.param)
    return str(request.param)
