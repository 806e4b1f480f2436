"""One intent, end to end, with fakes at the ports: what is asked, written, reserved and run, and in which order."""

from __future__ import annotations

import pytest
from fakes import FakeAudit, FakeClock, FakeFacts, FakeGrants, FakeJail, FakeLedger

from instinct_shell.engine.judgement import Judgement
from instinct_shell.engine.records import grant_digest, intent_digest
from instinct_shell.errors import BudgetError, DescribeFault, JailError, LimitError, StorageError
from instinct_shell.model.effect import Effect, Span
from instinct_shell.model.fact import Answer, Facts, Question, QuestionKind
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.jailspec import JailLevel, JailSpec, RunResult
from instinct_shell.model.profile import Profile
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.model.situation import Grant, Situation
from instinct_shell.model.verdict import Decision, Finding, Tier, Verdict
from instinct_shell.pipeline import Pipeline, check_text
from instinct_shell.shell.syntax import Parsed, Script

PROFILE = Profile("test", "d1", JailLevel.FULL)
SPEC = JailSpec("/w", "/w", argv=("/bin/bash", "-c", "true"))


class EmptyParser:
    """Any text is a script without commands; `limit` refuses everything."""

    def __init__(self, *, limit: bool = False, syntax_error: str = "") -> None:
        self._limit = limit
        self._error = syntax_error

    def parse(self, text: str) -> Parsed:
        if self._limit:
            raise LimitError("the command is longer than 64 KB", hint="put it into a script file")
        return Parsed(Script(Span(0, len(text)), ()), "shfmt", self._error)


class Says:
    """An instinct with one answer; remembers how often it was heard."""

    def __init__(self, id: str, tier: Tier, decision: Decision | None = None, asks: tuple[Question, ...] = ()) -> None:
        self.id = id
        self.tier = tier
        self.decision = decision
        self.asks = asks
        self.heard: list[Facts] = []

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        return self.asks

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        self.heard.append(facts)
        return () if self.decision is None else (Finding(self.id, self.decision, "because"),)


class World:
    """A pipeline over fakes, with the instincts that a test names."""

    def __init__(self, *instincts: Says, **changes: object) -> None:
        self.audit = FakeAudit()
        self.facts = FakeFacts()
        self.jail = FakeJail()
        self.ledger = FakeLedger()
        self.grants = FakeGrants()
        self.profile = PROFILE
        self.parser = EmptyParser()
        self.undo = None
        for name, value in changes.items():
            setattr(self, name, value)
        self.confined: list[object] = []
        self.pipeline = Pipeline(
            profile=self.profile,
            parser=self.parser,
            instincts=instincts,
            situation=lambda intent, effects: Situation(workspace="/w", home="/home/dev"),
            facts=lambda situation, intent: self.facts,
            audit=self.audit,
            clock=FakeClock(),
            new_id=lambda: "run1",
            grants=lambda: self.grants,
            ledger=lambda: self.ledger,
            confine=lambda judgement: self.confined.append(judgement) or SPEC,
            jail=lambda: self.jail,
            undo=self.undo,
        )


def shell(text: str = "true", **more: object) -> Intent:
    return Intent(IntentType.SHELL_COMMAND, text, cwd="/w", **more)  # type: ignore[arg-type]  # names of the value's fields


# ---------------------------------------------------------------- judging


def test_nothing_to_say_is_an_allow_and_every_tier_was_heard() -> None:
    members = [Says("a", Tier.REFLEX), Says("b", Tier.GATE), Says("c", Tier.ASSESSMENT)]
    verdict = World(*members).pipeline.judge(shell()).verdict
    assert verdict.allow
    assert verdict.tier is Tier.ASSESSMENT
    assert [timing.instinct for timing in verdict.ran] == ["a", "b", "c"]


def test_a_deny_ends_the_judging_after_its_tier() -> None:
    first, twin, later = Says("a", Tier.REFLEX, Decision.DENY), Says("b", Tier.REFLEX, Decision.ASK), Says("c", Tier.GATE, Decision.DENY)
    verdict = World(first, twin, later).pipeline.judge(shell()).verdict
    assert (verdict.decision, verdict.tier, verdict.reason) == (Decision.DENY, Tier.REFLEX, "[a] because")
    assert len(verdict.findings) == 2
    assert later.heard == []


def test_an_ask_goes_on_so_that_a_later_deny_is_seen() -> None:
    world = World(Says("a", Tier.REFLEX, Decision.ASK), Says("b", Tier.ASSESSMENT, Decision.DENY))
    verdict = world.pipeline.judge(shell()).verdict
    assert (verdict.decision, verdict.tier, verdict.finding.instinct if verdict.finding else "") == (Decision.DENY, Tier.ASSESSMENT, "b")


def test_equal_questions_are_asked_once_and_reflexes_ask_none() -> None:
    question = Question(QuestionKind.RESOLVE, "/w/a")
    members = [
        Says("a", Tier.REFLEX),
        Says("b", Tier.GATE, asks=(question,)),
        Says("c", Tier.GATE, asks=(question,)),
        Says("d", Tier.ASSESSMENT, asks=(question,)),
    ]
    world = World(*members)
    world.pipeline.judge(shell())
    assert world.facts.asked == [question]
    assert members[0].heard[0].items() == []
    assert [known for known, _ in members[3].heard[0].items()] == [question]


def test_text_that_is_no_shell_is_answered_by_its_syntax_before_anything_else() -> None:
    opaque, syntax = Says("opaque-code", Tier.REFLEX, Decision.DENY), Says("shell-syntax", Tier.GATE, Decision.DENY)
    verdict = World(opaque, syntax, parser=EmptyParser(syntax_error="unexpected end")).pipeline.judge(shell("if")).verdict
    assert verdict.reason.startswith("[shell-syntax]")
    assert opaque.heard == []


def test_input_over_a_limit_is_a_denial_with_the_limit_named() -> None:
    judgement = World(Says("a", Tier.REFLEX), parser=EmptyParser(limit=True)).pipeline.judge(shell())
    assert judgement.refused
    assert (judgement.verdict.decision, judgement.verdict.reason) == (Decision.DENY, "[input] the command is longer than 64 KB")
    assert judgement.verdict.alternative


@pytest.mark.parametrize("text", ["caf\udce9", "\ud800", "a\udfffb"])
def test_text_that_is_not_utf_8_names_the_place(text: str) -> None:
    with pytest.raises(Exception, match=f"at character {min(text.find(c) for c in text if not c.isprintable()) + 1}"):
        check_text(text)
    assert World().pipeline.judge(shell(text)).refused


def test_a_check_writes_one_record_and_runs_nothing() -> None:
    world = World(Says("a", Tier.REFLEX, Decision.ASK))
    world.pipeline.check(shell())
    assert world.audit.kinds() == ["judged"]
    assert dict(world.audit.records[0].body)["decision"] == "ask"
    assert world.jail.specs == []


def test_the_record_holds_no_values_of_the_environment() -> None:
    world = World()
    world.pipeline.check(shell(env=(("DATABASE_URL", "postgres://u:hunter2@h/d"),)))
    assert "hunter2" not in repr(world.audit.records)
    assert dict(world.audit.records[0].body)["env_names"] == ["DATABASE_URL"]


# ---------------------------------------------------------------- running


def test_what_is_allowed_is_recorded_before_and_after() -> None:
    world = World(jail=FakeJail(RunResult(3, True)))
    outcome = world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "started", "finished"]
    assert {record.run for record in world.audit.records} == {"run1"}
    assert world.jail.specs == [SPEC]
    assert outcome.result is not None
    assert outcome.result.status == 3


@pytest.mark.parametrize("decision", [Decision.ASK, Decision.DENY])
def test_what_is_not_allowed_never_reaches_the_jail(decision: Decision) -> None:
    world = World(Says("a", Tier.REFLEX, decision))
    outcome = world.pipeline.run(shell())
    assert outcome.result is None
    assert world.audit.kinds() == ["judged"]
    assert (world.jail.specs, world.confined) == ([], [])
    assert bool(outcome.request) == (decision is Decision.ASK)


def test_a_grant_for_exactly_this_intent_is_used_once() -> None:
    intent = shell("git stash drop")
    world = World(Says("a", Tier.REFLEX, Decision.ASK), grants=FakeGrants((Grant("g1", intent_digest(intent, PROFILE), 2e9),)))
    assert world.pipeline.run(intent).result is not None
    assert dict(world.audit.records[0].body)["grant"] == "g1"
    assert world.pipeline.run(intent).result is None


@pytest.mark.parametrize(
    "other", [shell("git stash clear"), shell("git stash drop").replace(cwd="/x"), shell("git stash drop").replace(argv0="x")]
)
def test_a_grant_for_another_intent_is_none(other: Intent) -> None:
    grant = Grant("g1", intent_digest(shell("git stash drop"), PROFILE), 2e9)
    world = World(Says("a", Tier.REFLEX, Decision.ASK), grants=FakeGrants((grant,)))
    assert world.pipeline.run(other).result is None
    assert world.grants.grants == [grant]


def test_a_grant_is_for_the_scripts_as_they_were() -> None:
    intent, script = shell("./deploy.sh"), Question(QuestionKind.SCRIPT, "/w/deploy.sh")

    def judged(sha256: str) -> Judgement:
        facts = Facts({script: Answer(True, (("sha256", sha256),))})
        return Judgement(intent, "run1", Verdict(Decision.ASK, (), Tier.GATE), Situation(), facts=facts)

    assert len({grant_digest(judged("a"), PROFILE), grant_digest(judged("b"), PROFILE), intent_digest(intent, PROFILE)}) == 3
    assert grant_digest(judged("a"), PROFILE) == grant_digest(judged("a"), PROFILE)
    assert grant_digest(judged("a").replace(facts=Facts()), PROFILE) == intent_digest(intent, PROFILE)


def test_an_expired_grant_and_a_denial_are_not_opened() -> None:
    intent = shell()
    digest = intent_digest(intent, PROFILE)
    assert World(Says("a", Tier.REFLEX, Decision.ASK), grants=FakeGrants((Grant("g", digest, 5.0),))).pipeline.run(intent).result is None
    assert World(Says("a", Tier.REFLEX, Decision.DENY), grants=FakeGrants((Grant("g", digest, 2e9),))).pipeline.run(intent).result is None


@pytest.mark.parametrize("kind", [RecordKind.JUDGED, RecordKind.STARTED])
def test_what_cannot_be_recorded_does_not_run(kind: RecordKind) -> None:
    def full(record: AuditRecord) -> None:
        if record.kind is kind:
            raise StorageError("no space left", hint="free some")

    world = World(audit=FakeAudit(full))
    with pytest.raises(StorageError):
        world.pipeline.run(shell())
    assert world.jail.specs == []


def test_a_run_whose_end_cannot_be_recorded_keeps_its_status() -> None:
    def full(record: AuditRecord) -> None:
        if record.kind is RecordKind.FINISHED:
            raise StorageError("no space left", hint="free some")

    outcome = World(audit=FakeAudit(full), jail=FakeJail(RunResult(7, True))).pipeline.run(shell())
    assert outcome.result is not None
    assert outcome.result.status == 7
    assert "no space left" in outcome.note


def test_a_jail_that_cannot_be_made_is_a_recorded_fault() -> None:
    world = World(jail=FakeJail(failure=JailError("no namespaces", hint="see doctor")))
    with pytest.raises(JailError):
        world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "started", "fault"]


def test_what_fails_before_the_start_is_recorded_with_its_verdict() -> None:
    class Full:
        def snapshot(self, *_: object) -> None:
            raise StorageError("no space left", hint="free some")

    world = World(undo=Full)
    with pytest.raises(StorageError):
        world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "fault"]
    assert world.jail.specs == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "no space left"), MemoryError(), StorageError("no space left")])
@pytest.mark.parametrize("port", ["confine", "undo", "near_misses", "grants"])
def test_whatever_comes_between_verdict_and_start_the_verdict_is_recorded(failure: BaseException, port: str) -> None:
    def fails(*_: object) -> None:
        raise failure

    says = {"near_misses": Decision.DENY, "grants": Decision.ASK}.get(port)
    world = World(Says("a", Tier.REFLEX, says))
    setattr(world.pipeline, f"_{port}", fails)
    with pytest.raises(type(failure)):
        world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "fault"]
    assert world.jail.specs == []


def test_another_process_that_goes_on_with_it_writes_it_down() -> None:
    """As the engine's way of saying so: no exception of the ordinary kind."""

    class GoesOn(BaseException):
        pass

    def elsewhere(_: object) -> None:
        raise GoesOn

    world = World()
    world.pipeline._confine = elsewhere
    with pytest.raises(GoesOn):
        world.pipeline.run(shell())
    assert world.audit.kinds() == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(5, "input/output error"), StorageError("no space left")])
def test_whatever_comes_after_the_end_the_end_is_recorded(failure: BaseException) -> None:
    class Looks:
        def before(self, *_: object) -> None:
            return None

        def after(self, *_: object) -> None:
            raise failure

    world = World(jail=FakeJail(RunResult(7, True)))
    world.pipeline._observer = Looks
    with pytest.raises(type(failure)):
        world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "started", "finished"]
    assert ("status", 7) in world.audit.records[-1].body


def test_interrupted_while_it_runs_the_outcome_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(jail=FakeJail(failure=KeyboardInterrupt()))
    monkeypatch.setattr("instinct_shell.pipeline.cost_micros", lambda effects: 250_000)
    with pytest.raises(KeyboardInterrupt):
        world.pipeline.run(shell())
    assert world.audit.kinds() == ["judged", "started"]
    assert world.ledger.holds  # swept at its full amount when this process is gone


@pytest.mark.parametrize(("durability", "expected"), [("relaxed", False), ("always", True), ("risky_first", False)])
def test_the_profile_says_when_started_must_be_on_disk(durability: str, expected: bool) -> None:
    world = World(profile=PROFILE.replace(durability=durability))
    world.pipeline.run(shell())
    assert world.audit.durable[1] is expected


# ---------------------------------------------------------------- money


def test_money_is_held_before_and_settled_after(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr("instinct_shell.pipeline.cost_micros", lambda effects: 250_000)
    world.pipeline.run(shell())
    assert (world.ledger.committed, world.ledger.holds) == (250_000, {})


def test_a_run_over_the_ceiling_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(ledger=FakeLedger(100))
    monkeypatch.setattr("instinct_shell.pipeline.cost_micros", lambda effects: 250_000)
    with pytest.raises(BudgetError):
        world.pipeline.run(shell())
    assert world.jail.specs == []


def test_money_comes_back_when_nothing_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(jail=FakeJail(failure=JailError("no namespaces")))
    monkeypatch.setattr("instinct_shell.pipeline.cost_micros", lambda effects: 250_000)
    with pytest.raises(JailError):
        world.pipeline.run(shell())
    assert (world.ledger.committed, world.ledger.holds) == (0, {})


class Rubbish(EmptyParser):
    """Gives a tree that nobody can evaluate."""

    def parse(self, text: str) -> Parsed:
        return Parsed(Script(Span(0, len(text)), (object(),)), "shfmt", "")  # type: ignore[arg-type]  # that is the point


def test_a_fault_while_describing_is_a_refusal_that_names_the_place() -> None:
    with pytest.raises(DescribeFault, match=r"fault of ours \(\w+Error in \w+\.py:\d+\)"):
        World(parser=Rubbish()).pipeline.judge(Intent(IntentType.SHELL_COMMAND, "true", cwd="/w"))
