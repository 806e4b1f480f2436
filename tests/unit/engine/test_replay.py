"""A record judged again gives the verdict that it holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from judging import Still, effect, intent, situation

from instinct_shell.engine.judge import judge
from instinct_shell.engine.replay import replay, same
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.codec import encode
from instinct_shell.model.fact import Answer, QuestionKind
from instinct_shell.model.verdict import Decision, Finding, Tier

_kinds = st.sampled_from(
    [
        "file.read",
        "file.write",
        "file.delete",
        "file.create",
        "git.force_push",
        "git.discard",
        "package.install",
        "net.connect",
        "process.kill",
    ]
)
_texts = st.sampled_from(["src/app.ts", ".env", "src/*", "/etc/x", "out/data", "left-pad", ""])
_flags = st.dictionaries(st.sampled_from(["recursive", "named", "source_of_copy"]), st.just("1"), max_size=2)


def answer(questions):
    values = {
        QuestionKind.RESOLVE: {
            "path": "/outside/data",
            "exists": True,
            "type": "dir",
            "final_link": False,
            "parent": "/outside/data",
            "case_twin": "",
            "same_as": "",
        },
        QuestionKind.GLOB: {"paths": ["/srv/work/app/src/.env"], "more": False},
        QuestionKind.GIT_STATE: {"branch": "main"},
        QuestionKind.TREE: {
            "files": 9,
            "bytes": 9,
            "more": True,
            "untracked": 3,
            "modified": 0,
            "protected": ["/srv/work/app/out/data/.env"],
        },
        QuestionKind.PACKAGE: {"known": False, "near": "requests", "declared": False},
        QuestionKind.SYNTAX: {"ok": True, "message": ""},
    }
    return {question: Answer(True, tuple(values[question.kind].items())) for question in questions}


def record(effects, profile):
    asked, where = intent("x"), situation()
    found, facts = judge(asked, effects, profile, where, answer, Still(), BUILTIN)
    body = {
        "intent": encode(asked.replace(env=())), "effects": encode(effects), "situation": encode(where), "facts": encode(facts),
        "decision": found.decision.word, "findings": encode(found.findings),
    }  # fmt: skip
    return found, json.loads(json.dumps(body))


@given(st.lists(st.builds(lambda kind, text, flags: effect(kind, text, **flags), _kinds, _texts, _flags), max_size=4))
@settings(max_examples=60, deadline=None)
def test_replay_is_equal(dev, effects):
    found, body = record(tuple(effects), dev)
    again = replay(body, dev)
    assert again.decision is found.decision
    assert [(one.instinct, one.decision, one.reason) for one in again.findings] == [
        (one.instinct, one.decision, one.reason) for one in found.findings
    ]
    assert same(again, body)


def test_what_others_said_is_repeated(dev):
    class Judge:
        id, tier = "acme-task", Tier.ASSESSMENT

        def questions(self, *_):
            return ()

        def judge(self, *_):
            return (Finding("acme-task", Decision.ASK, "not the task"),)

    asked, where = intent("x"), situation()
    effects = (effect("net.connect", "x", target="host"),)
    found, facts = judge(asked, effects, dev, where, answer, Still(), (*BUILTIN, Judge()))
    body = {
        "intent": encode(asked.replace(env=())), "effects": encode(effects), "situation": encode(where), "facts": encode(facts),
        "decision": found.decision.word, "findings": encode(found.findings), "ran": encode(found.ran),
    }  # fmt: skip
    assert found.decision is Decision.ASK
    assert same(replay(json.loads(json.dumps(body)), dev), body)


def test_a_changed_record_is_noticed(dev):
    _, body = record((effect("file.delete", "/home/dev", recursive="1"),), dev)
    body["effects"] = []
    assert not same(replay(body, dev), body)


@pytest.mark.parametrize("name", ["staging", "prod"])
def test_another_profile_may_judge_otherwise(store, name):
    _, body = record((effect("net.remote_exec", "host", via="ssh"),), store.load("dev", "", {}))
    assert replay(body, store.load(name, "", {})).decision.word == "deny"
