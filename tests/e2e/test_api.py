"""The Python API, as its documentation shows it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from instinct_shell import Decision, Finding, InstinctEngine, InstinctError, Intent, IntentType, Tier


@pytest.fixture
def engine(workspace: Path) -> Iterator[InstinctEngine]:
    with InstinctEngine.from_profile("dev", workspace=str(workspace)) as made:
        yield made


def test_the_readme_example(engine: InstinctEngine) -> None:
    verdict = engine.judge({"type": "shell_command", "content": "git push --force origin main"})
    assert not verdict.allow
    assert verdict.reason.startswith("[")
    assert verdict.alternative


def test_intents_as_values_and_as_the_seeds_give_them(engine: InstinctEngine, workspace: Path) -> None:
    assert engine.judge(Intent(IntentType.SHELL_COMMAND, "ls", cwd=str(workspace))).allow
    assert engine.judge({"type": "file_read", "target": str(workspace / "README.md")}).allow
    assert engine.judge({"type": "file_write", "target": ".env", "content": "A=1"}).decision is Decision.DENY
    over = {"type": "api_call", "target": "llm", "metadata": {"estimatedCost": 4.0, "sessionBudget": 10.0, "sessionSpent": 8.0}}
    assert engine.judge(over).reason.startswith("[budget-ceiling]")
    assert engine.judge({"type": "api_call", "target": "llm", "metadata": {"estimatedCost": 1.0}}).allow


def test_evaluate_is_judge_for_asynchronous_programs(engine: InstinctEngine) -> None:
    async def both() -> list[Decision]:
        verdicts = [await engine.evaluate({"type": "shell_command", "content": text}) for text in ("ls", "rm -rf ~")]
        return [verdict.decision for verdict in verdicts]

    assert asyncio.run(both()) == [Decision.ALLOW, Decision.DENY]


class NoFridays:
    """An instinct in the seeds' shape."""

    name = "no-fridays"
    tier = "reflex"

    def check(self, intent: dict[str, object]) -> dict[str, object]:
        if "deploy" in str(intent["content"]):
            return {"allow": False, "reason": "not on a Friday", "alternative": "wait for Monday"}
        return {"allow": True}


class Asynchronous(NoFridays):
    name = "later"

    async def check(self, intent: dict[str, object]) -> dict[str, object]:  # type: ignore[override]  # both shapes are accepted
        return {"allow": False, "reason": "asynchronously"}


class Raises(NoFridays):
    name = "broken"

    def check(self, intent: dict[str, object]) -> dict[str, object]:
        raise ZeroDivisionError


class Hangs(NoFridays):
    name = "hanging"

    def check(self, intent: dict[str, object]) -> dict[str, object]:
        threading.Event().wait()  # for ever, and without work: the thread stays until the tests end
        return {"allow": True}


class Loosens(NoFridays):
    name = "loosening"

    def check(self, intent: dict[str, object]) -> dict[str, object]:
        return {"allow": True}


def test_a_registered_instinct_restricts(engine: InstinctEngine) -> None:
    engine.register(NoFridays())
    verdict = engine.judge({"type": "shell_command", "content": "echo deploy"})
    assert (verdict.decision, verdict.reason, verdict.alternative) == (Decision.DENY, "[no-fridays] not on a Friday", "wait for Monday")
    assert engine.judge({"type": "shell_command", "content": "echo hi"}).allow


def test_a_registered_instinct_may_be_asynchronous(engine: InstinctEngine) -> None:
    engine.register(Asynchronous())
    assert engine.judge({"type": "shell_command", "content": "ls"}).reason == "[later] asynchronously"


@pytest.mark.parametrize("instinct", [Raises(), Hangs()])
def test_one_that_raises_or_hangs_is_a_denial_with_its_name(engine: InstinctEngine, instinct: NoFridays) -> None:
    engine.register(instinct)
    verdict = engine.judge({"type": "shell_command", "content": "ls"})
    assert verdict.decision is Decision.DENY
    assert verdict.reason.startswith(f"[{instinct.name}]")


def test_one_that_allows_cannot_loosen(engine: InstinctEngine) -> None:
    engine.register(Loosens())
    assert engine.judge({"type": "shell_command", "content": "rm -rf ~"}).decision is Decision.DENY


def test_an_instinct_of_our_own_shape(engine: InstinctEngine) -> None:
    class OnlyReads:
        id = "only-reads"
        tier = Tier.ASSESSMENT

        def questions(self, intent, effects, profile, situation):
            return ()

        def judge(self, intent, effects, profile, situation, facts):
            return tuple(Finding(self.id, Decision.ASK, f"{effect.kind}") for effect in effects if effect.kind == "file.write")

    engine.register(OnlyReads())
    assert engine.judge({"type": "shell_command", "content": "echo x > build.txt"}).decision is Decision.ASK


@pytest.mark.parametrize(
    "thing",
    [object(), 7, type("Half", (), {"name": "x", "tier": "reflex"})(), type("Odd", (), {"name": "x", "tier": "no", "check": print})()],
)
def test_what_is_no_instinct_is_refused(engine: InstinctEngine, thing: object) -> None:
    with pytest.raises(InstinctError):
        engine.register(thing)


@pytest.mark.parametrize("asked", [{}, {"type": "shell"}, {"type": "shell_command"}, {"type": "file_write"}])
def test_what_is_no_intent_is_refused(engine: InstinctEngine, asked: dict[str, object]) -> None:
    with pytest.raises(InstinctError):
        engine.judge(asked)


@pytest.mark.parametrize("workspace", ["/", "~", "/nowhere/at/all"])
def test_what_is_no_workspace_is_refused(workspace: str) -> None:
    with pytest.raises(InstinctError):
        InstinctEngine.from_profile("dev", workspace=str(Path(workspace).expanduser()))


@pytest.mark.jail
def test_run_uses_the_jail(engine: InstinctEngine, workspace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = engine.run({"type": "shell_command", "content": "echo hi > build.txt; cat build.txt; exit 3"})
    assert outcome.result is not None
    assert outcome.result.status == 3
    assert capfd.readouterr().out == "hi\n"
    assert engine.run({"type": "shell_command", "content": "rm -rf ~"}).result is None
