"""Fakes of the ports (model/ports.py): simple, honest, in memory. They stand in for the outside, never for the thing under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from instinct_shell.errors import BudgetError
from instinct_shell.model.fact import Answer, Question
from instinct_shell.model.jailspec import JailLevel, JailSpec, RunResult
from instinct_shell.model.record import AuditRecord, Hold
from instinct_shell.model.situation import Grant, Spend


class FakeClock:
    """A clock that moves one microsecond a look."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self._us = 0

    def now(self) -> float:
        return self._now

    def monotonic_us(self) -> int:
        self._us += 1
        return self._us


class FakeFacts:
    """Answers from a table; what is not in it gets "no answer". Remembers what was asked."""

    def __init__(self, answers: dict[Question, Answer] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[Question] = []

    def answer(self, questions: Sequence[Question]) -> dict[Question, Answer]:
        self.asked += questions
        return {question: self.answers.get(question, Answer(known=False, why="not in the table")) for question in questions}


class FakeJail:
    """Runs nothing; remembers what it was given and answers with one result, or fails."""

    def __init__(self, result: RunResult | None = None, failure: BaseException | None = None) -> None:
        self.result = result or RunResult(0, True, level=JailLevel.FULL)
        self.failure = failure
        self.specs: list[JailSpec] = []

    def level(self) -> str:
        return "full"

    def run(self, spec: JailSpec) -> RunResult:
        self.specs.append(spec)
        if self.failure is not None:
            raise self.failure
        return self.result


class FakeAudit:
    """Keeps the records; `fail_on(record)` may raise."""

    def __init__(self, fail_on: Callable[[AuditRecord], None] | None = None) -> None:
        self.records: list[AuditRecord] = []
        self.durable: list[bool] = []
        self._fail_on = fail_on

    def append(self, *records: AuditRecord, durable: bool = False) -> None:
        for record in records if self._fail_on is not None else ():
            self._fail_on(record)
        self.records += records
        self.durable += [durable] * len(records)

    def kinds(self) -> list[str]:
        return [str(record.kind) for record in self.records]


class FakeLedger:
    """One account, integer micro-dollars."""

    def __init__(self, ceiling: int = 10_000_000) -> None:
        self.ceiling = ceiling
        self.committed = 0
        self.holds: dict[str, Hold] = {}

    def spends(self, session: str) -> tuple[Spend, ...]:
        return (Spend("session", self.ceiling, self.committed, sum(hold.amount for hold in self.holds.values())),)

    def reserve(self, session: str, amount: int, ceilings: dict[str, int], *, key: str = "") -> Hold:
        ceiling = min([self.ceiling, *ceilings.values()])
        if self.committed + sum(hold.amount for hold in self.holds.values()) + amount > ceiling:
            raise BudgetError("over the session ceiling", hint="ask a person to raise it")
        hold = Hold(key or f"h{len(self.holds)}", "session", amount)
        self.holds[hold.id] = hold
        return hold

    def commit(self, hold: str, amount: int | None = None) -> None:
        taken = self.holds.pop(hold)
        self.committed += taken.amount if amount is None else amount

    def release(self, hold: str) -> None:
        del self.holds[hold]


class FakeGrants:
    """Grants in a list; each can be consumed once."""

    def __init__(self, grants: tuple[Grant, ...] = ()) -> None:
        self.grants = list(grants)
        self.requests: list[tuple[str, str]] = []

    def live(self, now: float) -> tuple[Grant, ...]:
        return tuple(grant for grant in self.grants if grant.expires > now)

    def consume(self, grant_id: str) -> bool:
        before = len(self.grants)
        self.grants = [grant for grant in self.grants if grant.id != grant_id]
        return len(self.grants) < before

    def request(self, intent_digest: str, summary: str, now: float) -> str:
        self.requests.append((intent_digest, summary))
        return "7KQ4"

    def passphrase_is_set(self) -> bool:
        return True
