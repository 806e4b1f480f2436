"""In a jail session a command may end what the agent's earlier commands left: it sees nothing else. Elsewhere, and above, the words of old count."""

from __future__ import annotations

import pytest
from judging import effect, situation, verdict

KILL = "process.kill"
CASES = [
    # attributes, in a session, profile, decision
    ({"by": "pid"}, True, "dev", "allow"),
    ({"by": "name"}, True, "dev", "allow"),
    ({"by": "name"}, True, "staging", "allow"),
    ({"by": "pid"}, False, "dev", "ask"),
    ({"by": "name"}, False, "dev", "ask"),
    ({"by": "all"}, True, "dev", "deny"),
    ({"by": "name", "container": "1"}, True, "dev", "ask"),
    ({"by": "pid", "remote": "host"}, True, "dev", "ask"),
    ({"by": "pid"}, True, "prod", "deny"),
]


@pytest.mark.parametrize(("attributes", "session", "name", "decision"), CASES)
def test_kills(request: pytest.FixtureRequest, attributes: dict[str, str], session: bool, name: str, decision: str) -> None:
    profile = request.getfixturevalue(name)
    found = verdict(profile, effect(KILL, "4242", **attributes), where=situation(own_processes=session))
    assert found.decision.word == decision
