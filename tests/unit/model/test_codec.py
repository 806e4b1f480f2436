"""Values survive the way into a record and back, and nothing else does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from instinct_shell.errors import StorageError
from instinct_shell.model.codec import decode, decode_facts, encode
from instinct_shell.model.effect import Certainty, Effect, EffectKind, Span, Target, TargetKind
from instinct_shell.model.fact import Answer, Facts, Question, QuestionKind
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.jailspec import JailLevel, JailSpec, Limits
from instinct_shell.model.profile import Profile, Rule
from instinct_shell.model.situation import Grant, Situation, Spend
from instinct_shell.model.verdict import Decision, Finding, Tier, Timing, Verdict

text = st.text(max_size=20)
pairs = st.lists(st.tuples(text, text), max_size=3).map(tuple)
spans = st.builds(Span, st.integers(0, 99), st.integers(0, 99))
targets = st.builds(Target, st.sampled_from(TargetKind), text, text)
effects = st.builds(
    Effect, st.sampled_from(EffectKind), targets, st.sampled_from(Certainty), spans, text, pairs, st.lists(text, max_size=2).map(tuple)
)
findings = st.builds(Finding, text, st.sampled_from(Decision), text.filter(bool), text, spans, st.none() | effects)
timings = st.builds(Timing, text, st.sampled_from(Tier), st.integers(0, 9999))
verdicts = st.builds(
    Verdict,
    st.sampled_from(Decision),
    st.lists(findings, max_size=3).map(tuple),
    st.sampled_from(Tier),
    st.integers(0, 9999),
    st.lists(timings, max_size=2).map(tuple),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | text, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3)
)
intents = st.builds(
    Intent,
    st.sampled_from(IntentType),
    content=text.filter(lambda t: "\0" not in t),
    cwd=st.just("/work"),
    env=pairs,
    metadata=st.lists(st.tuples(text, json_values), max_size=3).map(tuple),
    positional=st.lists(text, max_size=2).map(tuple),
)
situations = st.builds(
    Situation,
    now=st.floats(0, 1e10),
    home=text,
    spend=st.lists(st.builds(Spend, text, st.integers(), st.integers(), st.integers()), max_size=2).map(tuple),
    grants=st.lists(st.builds(Grant, text, text, st.floats(0, 1e10)), max_size=2).map(tuple),
    agent_pids=st.lists(st.integers(0, 9), max_size=2).map(tuple),
)
answers = st.builds(Answer, st.booleans(), st.lists(st.tuples(text, json_values), max_size=3).map(tuple), text)


def through_json(value):
    return json.loads(json.dumps(encode(value), allow_nan=False))


@given(st.one_of(effects, findings, verdicts, intents, situations, answers))
def test_values_come_back_equal(value):
    assert decode(type(value), through_json(value)) == value


@given(st.dictionaries(st.builds(Question, st.sampled_from(QuestionKind), text), answers, max_size=4))
def test_facts_come_back_equal(known):
    facts = Facts(known)
    assert decode_facts(through_json(facts)).items() == facts.items()


def test_profiles_and_jail_specs_come_back_equal():
    profile = Profile(
        "dev",
        "d" * 64,
        JailLevel.FULL,
        effects=((EffectKind.FILE_READ, Decision.ASK),),
        rules=(Rule("r", Decision.DENY, "no"),),
        limits=Limits(1.5),
    )
    assert decode(Profile, through_json(profile)) == profile
    spec = JailSpec("/w", "/w", writable=("/w",), limits=Limits(wall_seconds=2.0), env=(("A", "b"),))
    assert decode(JailSpec, through_json(spec)) == spec


def test_defaults_are_left_out():
    assert encode(Effect(EffectKind.FILE_READ, Target(TargetKind.PATH, "/a"))) == {
        "kind": "file.read",
        "target": {"kind": "path", "text": "/a"},
    }
    assert encode(Decision.DENY) == "deny"


def test_undecodable_bytes_survive():
    intent = Intent(IntentType.SHELL_COMMAND, "echo \udcff")
    assert decode(Intent, through_json(intent)) == intent


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (Effect, {"kind": "file.read", "colour": "red"}, "Effect.colour: unknown field"),
        (Effect, {}, "Effect.kind: missing"),
        (Effect, {"kind": "file.chew"}, "Effect.kind: `file.chew` does not fit"),
        (Effect, [], "Effect: `\\[\\]` does not fit"),
        (Span, {"start": "1", "end": 2}, "Span.start"),
        (Span, {"start": True, "end": 2}, "Span.start"),
        (Verdict, {"decision": 2}, "Verdict.decision"),
        (Verdict, {"decision": "deny", "findings": "x"}, "Verdict.findings"),
        (Finding, {"instinct": "x", "decision": "deny"}, "needs a reason"),
        (Finding, {"instinct": "x", "decision": "allow", "effect": 3}, "Finding.effect"),
        (Intent, {"type": "shell_command", "env": [["A"]]}, "Intent.env"),
    ],
)
def test_what_does_not_fit_is_refused(kind, data, words):
    with pytest.raises(StorageError, match=words):
        decode(kind, data)


def test_foreign_objects_are_not_written():
    with pytest.raises(StorageError, match="`bytes` cannot be written"):
        encode(b"x")
    with pytest.raises(StorageError, match="cannot be a key"):
        encode({1: 2})
    with pytest.raises(StorageError, match="does not fit"):
        decode_facts([["a"]])
