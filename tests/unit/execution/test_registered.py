"""Registered instincts in the seeds' shape: they may refuse, they cannot loosen, and they cannot hold anybody up."""

from __future__ import annotations

import threading

import pytest
from judging import Still, effect, intent, nothing_known, situation

from instinct_shell.engine.judge import judge
from instinct_shell.errors import UsageError
from instinct_shell.execution.registered import adapt, asked
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.intent import IntentType
from instinct_shell.model.verdict import Decision
from instinct_shell.storage.profiles import ProfileStore

DEV = ProfileStore(home="/nonexistent", cache=False).load("dev", "", {})


class Seed:
    name = "no-fridays"
    tier = "gate"

    def __init__(self, check):
        self.check = check


def verdict(thing, *effects, seconds=5.0, asking=None):
    return judge(asking or intent("x"), effects, DEV, situation(), nothing_known, Still(), (*BUILTIN, adapt(thing, seconds)))[0]


async def slow_no(_):
    return {"allow": False, "reason": "not today", "alternative": "tomorrow"}


class Answer:
    allow = False
    reason = "an object says no"


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (lambda _: {"allow": True}, ""),
        (slow_no, "[no-fridays] not today"),
        (lambda _: {"allow": False}, "[no-fridays] refused"),
        (lambda _: Answer(), "[no-fridays] an object says no"),
        (lambda _: None, "[no-fridays] the instinct answered without a clear allow"),
        (lambda _: {"allow": "yes"}, "[no-fridays] the instinct answered without a clear allow"),
        (lambda _: {"allow": 1}, "[no-fridays] the instinct answered without a clear allow"),
        (lambda _: 1 / 0, "[no-fridays] the instinct failed: ZeroDivisionError: division by zero"),
        (lambda _: (_ for _ in ()).throw(SystemExit(0)), "[no-fridays] the instinct failed: SystemExit: 0"),
    ],
)
def test_answers(check, reason):
    found = verdict(Seed(check))
    assert found.reason == reason
    assert found.allow is (not reason)


def test_one_that_hangs_is_a_deny_with_its_name():
    gate = threading.Event()
    found = verdict(Seed(lambda _: gate.wait()), seconds=0.05)
    gate.set()
    assert found.reason == "[no-fridays] the instinct gave no answer within 0.05 s"


def test_it_cannot_loosen():
    assert verdict(Seed(lambda _: {"allow": True}), effect("file.delete", "/home/dev", recursive="1")).decision is Decision.DENY


def test_it_sees_the_intent_as_the_seeds_do():
    seen = []
    asking = intent("", type=IntentType.API_CALL, target="model", metadata=(("estimatedCost", 0.5),))
    verdict(Seed(lambda one: seen.append(one) or {"allow": True}), asking=asking)
    one = seen[0]
    assert (one.type, one["type"], one.get("target"), one.metadata.estimatedCost) == ("api_call", "api_call", "model", 0.5)
    assert not hasattr(one, "nothing")
    one["type"] = "changed"
    assert asking.type is IntentType.API_CALL


def test_it_cannot_reach_back():
    assert asked(intent("x")) == asked(intent("x"))
    assert asked(intent("x")) is not asked(intent("x"))


@pytest.mark.parametrize(
    "thing",
    [
        object(),
        Seed(None),
        type("T", (), {"name": "x", "tier": "later", "check": print})(),
        type("N", (), {"name": "", "tier": "gate", "check": print})(),
    ],
)
def test_what_is_neither_is_refused(thing):
    with pytest.raises(UsageError):
        adapt(thing)


def test_an_instinct_is_taken_as_it_is():
    assert adapt(BUILTIN[0]) is BUILTIN[0]
