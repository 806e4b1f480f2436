"""Who runs the jail's contract: the user of the tests, and an ordinary user too when that is root."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jail_harness import Caller, caller_names, made_caller, reachable
from network_harness import ELSEWHERE, Answers, Place, serving, wait_until


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


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server at 127.0.0.1."""
    with serving(Answers) as found:
        yield found


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """A server at 127.0.0.2."""
    with serving(Answers, ELSEWHERE) as found:
        yield found


@pytest.fixture(params=["full", "session", "bubblewrap"])
def jailed(request: pytest.FixtureRequest, caller: Caller) -> Iterator[Place]:
    """Each way in which a jail with a network of its own is made."""
    yield from _made(caller, request.param)


@pytest.fixture(params=["full", "session"])
def own(request: pytest.FixtureRequest, caller: Caller) -> Iterator[Place]:
    """The two ways of our own."""
    yield from _made(caller, request.param)


def _made(caller: Caller, level: str) -> Iterator[Place]:
    reachable(caller, level)
    made = Place(caller, level)
    yield made
    made.close()
    wait_until(lambda: not made.proxies())
