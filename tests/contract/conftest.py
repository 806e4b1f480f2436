"""Who runs the jail's contract: the user of the tests, and an ordinary user too when that is root."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jail_harness import Caller, caller_names, made_caller, reachable


@pytest.fixture(scope="session", params=caller_names())
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """A user that runs commands in a jail."""
    yield from made_caller(request.param)


@pytest.fixture(scope="session", params=["full", "session", "bubblewrap", "partial"])
def level(request: pytest.FixtureRequest, caller: Caller) -> str:
    """A jail level that this caller reaches here; session: full, and all tests of the caller join one session;
    bubblewrap: full, made by that program."""
    reachable(caller, request.param)
    return str(request.param)
