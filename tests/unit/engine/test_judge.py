"""The judge: merging, faults, tiers, rules, grants of nothing, and the promise that nothing added ever loosens."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings, strategies as st
from judging import WORKSPACE, Still, effect, intent, nothing_known, situation, verdict

from instinct_shell.engine.judge import judge, judge_tier
from instinct_shell.engine.rules import rule_costs
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.effect import EffectKind
from instinct_shell.model.fact import Facts, Question, QuestionKind
from instinct_shell.model.profile import Rule
from instinct_shell.model.verdict import Decision, Finding, Tier, Verdict, merge


class Says:
    """An instinct that says what it was told to."""

    def __init__(self, decision: Decision, tier: Tier = Tier.REFLEX, name: str = "says", asks: tuple[Question, ...] = ()) -> None:
        self.id, self.tier, self._decision, self._asks = name, tier, decision, asks
        self.asked = 0

    def questions(self, *_):
        return self._asks

    def judge(self, *_):
        self.asked += 1
        return (Finding(self.id, self._decision, "because", "otherwise"),)


class Fails(Says):
    def judge(self, *_):
        raise ValueError("boom `x`\nsecond line")


def run(dev, *instincts, **more):
    return judge(intent("x"), (), dev, situation(), more.pop("ask", nothing_known), Still(), instincts, **more)


def test_the_most_restrictive_wins(dev):
    found, _ = run(dev, Says(Decision.ALLOW), Says(Decision.DENY, name="no"), Says(Decision.ASK))
    assert found.decision is Decision.DENY
    assert found.reason == "[no] because"
    assert found.alternative == "otherwise"


def test_a_deny_ends_after_its_tier_and_an_ask_goes_on(dev):
    gate, late = Says(Decision.DENY, Tier.GATE), Says(Decision.ALLOW, Tier.ASSESSMENT)
    found, _ = run(dev, Says(Decision.ASK), gate, late)
    assert (gate.asked, late.asked) == (1, 0)
    assert (found.decision, found.tier) == (Decision.DENY, Tier.GATE)


def test_a_raising_instinct_is_a_deny_with_its_name(dev):
    found, _ = run(dev, Fails(Decision.ALLOW, name="broken"))
    assert found.decision is Decision.DENY
    assert found.reason == "[broken] the instinct failed: ValueError: boom 'x' second line"


def test_raising_questions_and_wrong_answers_are_denies(dev):
    asks = Says(Decision.ALLOW, Tier.GATE, name="asks")
    asks.questions = lambda *_: 1 / 0
    wrong = Says(Decision.ALLOW, name="wrong")
    wrong.judge = lambda *_: [True]
    assert run(dev, asks)[0].reason.startswith("[asks] the instinct failed: ZeroDivisionError")
    assert run(dev, wrong)[0].reason.startswith("[wrong] the instinct failed")


def test_each_question_is_asked_once_and_only_when_its_tier_comes(dev):
    asked = []

    def ask(questions):
        asked.append(list(questions))
        return nothing_known(questions)

    one, two = Question(QuestionKind.RESOLVE, "/a"), Question(QuestionKind.RESOLVE, "/b")
    run(dev, Says(Decision.ALLOW, Tier.GATE, asks=(one, two)), Says(Decision.ALLOW, Tier.ASSESSMENT, asks=(one,)), ask=ask)
    assert asked == [[one, two]]
    asked.clear()
    run(dev, Says(Decision.DENY), Says(Decision.ALLOW, Tier.GATE, asks=(one,)), ask=ask)
    assert asked == []


def test_unreadable_text_gets_bashs_own_words_first(dev):
    gate = Says(Decision.DENY, Tier.GATE, name="shell-syntax")
    found, _ = run(dev, Says(Decision.DENY, name="reflex"), gate, unreadable=True)
    assert found.reason.startswith("[shell-syntax]")


_decisions = st.sampled_from(list(Decision))
_findings = st.builds(lambda decision, name: Finding(name, decision, "r"), _decisions, st.sampled_from("abc"))


@given(st.lists(_findings), st.lists(_findings))
def test_adding_findings_never_loosens(some, more):
    assert merge((*some, *more)) >= merge(tuple(some))
    assert merge((*more, *some)) >= merge(tuple(some))


_kinds = st.sampled_from([kind.value for kind in EffectKind])
_texts = st.sampled_from(["build", ".env", "src/*", "/etc/passwd", "/home/dev", "", "x.db", ".git/config", "/tmp/x", "node_modules"])
_flags = st.dictionaries(st.sampled_from(["recursive", "sweep", "named", "force", "unknown", "secret"]), st.just("1"), max_size=2)
_effects = st.builds(lambda kind, text, flags: effect(kind, text, **flags), _kinds, _texts, _flags)


@given(st.lists(_effects, max_size=4), _effects)
@settings(max_examples=150, deadline=None)
def test_adding_an_effect_never_loosens(dev, effects, one):
    assert verdict(dev, *effects, one).decision >= verdict(dev, *effects).decision


@given(st.lists(_effects, max_size=3))
@settings(max_examples=100, deadline=None)
def test_a_stricter_profile_never_loosens(dev, staging, prod, effects):
    decisions = [verdict(profile, *effects).decision for profile in (dev, staging, prod)]
    assert decisions == sorted(decisions)


@given(st.lists(_effects, max_size=3))
@settings(max_examples=100, deadline=None)
def test_every_restriction_has_a_reason_and_an_alternative(dev, staging, prod, effects):
    for profile in (dev, staging, prod):
        for finding in verdict(profile, *effects).findings:
            assert finding.reason
            assert "\n" not in finding.reason
            assert finding.alternative or finding.decision is Decision.ALLOW


# ---------------------------------------------------------------------------------------------------------------- rules


def with_rules(profile, *rules):
    return profile.replace(rules=rules)


def test_rules_need_all_their_conditions(dev):
    rule = Rule(
        "no-migrations",
        Decision.ASK,
        "migrations run after a review",
        "look first",
        effects=("process.spawn",),
        programs=("npm",),
        arguments=("migrate*",),
    )
    strict = with_rules(dev, rule)
    spawn = effect("process.spawn", "npm", target="name", program="npm").replace(span=effect("file.read").span.replace(start=0, end=19))
    assert verdict(strict, spawn, asked=intent("npm run migrate:up ")).reason == "[no-migrations] migrations run after a review (`npm`)"
    assert verdict(strict, spawn, asked=intent("npm run test        ")).allow
    assert verdict(strict, spawn.replace(program="yarn"), asked=intent("npm run migrate:up ")).allow


def test_a_rule_may_name_paths_and_a_tier(dev):
    gate = with_rules(dev, Rule("vendor", Decision.DENY, "vendored code", tier="gate", paths=("{workspace}/vendor/*",)))
    found = verdict(gate, effect("file.write", "vendor/x.c"))
    assert (found.reason, found.tier) == ("[vendor] vendored code (`/srv/work/app/vendor/x.c`)", Tier.GATE)
    assert "vendor" not in [finding.instinct for finding in verdict(gate, effect("file.write", "src/x.c")).findings]


def test_a_rule_cannot_loosen(dev):
    loose = with_rules(dev, Rule("let", Decision.ALLOW, "fine", effects=("*",)))
    assert verdict(loose, effect("file.delete", "/home/dev", recursive="1")).decision is Decision.DENY


def test_a_rule_may_name_a_cost(dev):
    priced = with_rules(
        dev, Rule("batch", Decision.ALLOW, "costs", effects=("process.spawn",), programs=("python3",), costs_micros=400_000)
    )
    costs = rule_costs(
        intent("python3 batch.py"), (effect("process.spawn", "python3", target="name", program="python3"),), priced, situation()
    )
    assert [(cost.kind, cost.get("micros")) for cost in costs] == [(EffectKind.API_CALL, "400000")]


# ---------------------------------------------------------------------------------------------------------------- purity


def test_the_reflex_tier_does_no_io(dev):
    """INVARIANT: judging by reflexes opens, stats, spawns and connects nothing (sys.addaudithook)."""
    effects = tuple(effect(kind.value, text) for kind in EffectKind for text in ("build", ".env", "/home/dev/.ssh/*", ""))
    members = tuple(instinct for instinct in BUILTIN if instinct.tier is Tier.REFLEX)
    seen: list[str] = []
    watching = False

    def hook(event: str, _: object) -> None:
        if watching and event.split(".", maxsplit=1)[0] in (
            "open",
            "os",
            "subprocess",
            "socket",
            "shutil",
            "import",
            "sqlite3",
            "ctypes",
            "fcntl",
            "glob",
            "pathlib",
            "tempfile",
            "mmap",
        ):
            seen.append(event)

    sys.addaudithook(hook)
    judge_tier(Tier.REFLEX, members, intent("x"), effects, dev, situation(), Facts(), Still())  # lazy imports done
    watching = True
    judge_tier(Tier.REFLEX, members, intent("x"), effects, dev, situation(), Facts(), Still())
    watching = False
    assert seen == []


def test_the_verdict_is_a_function_of_its_inputs(dev):
    effects = (effect("file.delete", "build"), effect("git.force_push", branch="x"))
    assert verdict(dev, *effects) == verdict(dev, *effects)
    assert isinstance(verdict(dev, *effects), Verdict)


@pytest.mark.parametrize("instinct", BUILTIN, ids=lambda instinct: instinct.id)
def test_every_built_in_is_documented(instinct):
    page = sys.modules[type(instinct).__module__].__doc__
    assert all(part in page for part in ("*Stops", "*Lets pass*", "*How it was fooled before*", "*To adjust*")) or "*Asks*" in page


def test_ids_are_unique_and_workspace_is_the_tests_own():
    assert len({instinct.id for instinct in BUILTIN}) == len(BUILTIN)
    assert situation().workspace == WORKSPACE
