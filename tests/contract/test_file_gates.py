"""The gates before a write, on a real disk: tests/cases/file_writes.toml, leases, and what a record holds and replays to."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from instinct_shell.engine.replay import replay, same
from instinct_shell.errors import FileToolError
from instinct_shell.frontends.files import Files
from instinct_shell.storage.audit import AuditTrail
from instinct_shell.storage.leases import LIFETIME_S, Leases
from instinct_shell.wiring import Guard, open_guard
from instinct_shell.wiring.files import lease, redacted

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "file_writes.toml").read_text(encoding="utf-8"))["case"]


def guard_of(folder: Path, session: str = "", profile: str = "") -> Guard:
    return open_guard(workspace=str(folder), cwd=str(folder), session=session, profile=profile)


def name_of(case: dict[str, object]) -> str:
    return f"{case['instinct']}: {case.get('path', 'output')} {case['decision']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_gate_says(case: dict[str, object], place: Path) -> None:
    for name, text in {**case.get("there", {}), **case.get("there_bytes", {})}.items():  # type: ignore[dict-item]  # tables
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(text) if name in case.get("there_bytes", {}) else text.encode())  # type: ignore[operator]  # a table
    guard = guard_of(place)
    if "output" in case:
        line = {"type": "output", "content": case["output"]}
    elif "edits" in case:
        line = {"type": "file_edit", "target": case["path"], "content": "x", "metadata": {"edits": case["edits"]}}
    else:
        line = {"type": "file_write", "target": case["path"], "content": str(case["content"]) * int(case.get("repeat", 1))}  # type: ignore[call-overload]  # a number
    judgement = guard.check(guard.intent_from(line, door="check"))
    verdict = judgement.verdict
    assert verdict.decision.word == case["decision"], verdict.findings
    if case["decision"] != "allow":
        assert case["instinct"] in {finding.instinct for finding in verdict.findings}
        assert verdict.alternative
    if "said" in case:
        assert str(case["said"]) in " ".join(verdict.notes)
    body = next(dict(record.body) for record in AuditTrail(guard.state).records() if record.kind == "judged")
    assert same(replay(body, guard.profile), body), "the record does not judge to the same again"
    if "output" in case:
        clean, found = redacted(guard, str(case["output"]))
        assert bool(found) == (case["decision"] == "deny")
        assert redacted(guard, clean) == (clean, ())


def test_three_for_each() -> None:
    count = Counter(case["instinct"] for case in CASES if case["decision"] != "allow")
    assert {name: number for name, number in count.items() if number < 2} == {}
    assert len(count) == 5  # lease and linter have tests of their own


def test_records_hold_no_secret(place: Path) -> None:
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (place / ".env").write_text("DB_PASSWORD=tr0ub4dor-3xyz\n", encoding="ascii")
    guard = guard_of(place)
    Files(guard, door="file").write("a.py", f"x = '{secret}'\n")
    trail = json.dumps([list(record.body) for record in AuditTrail(guard.state).records()])
    assert secret not in trail


# ---------------------------------------------------------------- leases


def write(guard: Guard, name: str = "a.txt", text: str = "x\n") -> str:
    report = Files(guard, door="file", agent="claude").write(name, text)
    return report.outcome.judgement.verdict.reason if report.done is None else "done"


def test_another_session_asks_and_names_the_holder(place: Path) -> None:
    assert write(guard_of(place, "one")) == "done"
    assert write(guard_of(place, "one"), text="y\n") == "done"
    refused = write(guard_of(place, "two"))
    assert refused.startswith("[lease]")
    assert "`one` of claude" in refused
    (place / "link").symlink_to("a.txt")
    assert write(guard_of(place, "two"), "link").startswith("[lease]"), "one path is one file"
    assert write(guard_of(place, "two"), "b.txt") == "done"
    assert write(guard_of(place)) == "done", "nobody knows who a caller without a session is"


def test_a_shell_command_of_another_session_asks_too(place: Path) -> None:
    write(guard_of(place, "one"))
    guard = guard_of(place, "two")
    found = guard.check(guard.shell_intent("rm a.txt", door="check")).verdict
    assert (found.decision.word, found.finding.instinct) == ("ask", "lease")  # type: ignore[union-attr]  # it asks
    assert guard.check(guard.shell_intent("cat a.txt && echo x > b.txt", door="check")).verdict.allow


def test_a_hook_takes_the_lease(place: Path) -> None:
    guard = guard_of(place, "one")
    lease(guard, guard.judge(guard.intent_from({"type": "file_edit", "target": "a.txt", "content": "x"}, door="hook")))
    lease(guard, guard.judge(guard.intent_from({"type": "file_read", "target": "b.txt"}, door="hook")))
    assert write(guard_of(place, "two")).startswith("[lease]")
    assert write(guard_of(place, "two"), "b.txt") == "done"


def test_a_lease_ends_by_itself_and_survives_no_clock_jump(tmp_path: Path) -> None:
    leases = Leases(str(tmp_path))
    leases.take("/w/a", "one", "claude", 1000.0)
    assert leases.other("/w/a", "two", 1000.0) == ("one", "claude", LIFETIME_S)
    assert leases.other("/w/a", "one", 1000.0) is None
    assert leases.other("/w/a", "", 1000.0) is None
    assert leases.other("/w/a", "two", 1000.0 + LIFETIME_S) is None
    assert leases.other("/w/a", "two", 10.0) is None, "the clock was set back: nobody waits for hours"
    leases.take("/w/a", "", "", 1000.0)
    assert leases.other("/w/b", "two", 1000.0) is None
    for file in (tmp_path / "leases").iterdir():
        file.write_text("{broken", encoding="ascii")
    assert leases.other("/w/a", "two", 1000.0) is None


# ---------------------------------------------------------------- what is done, and taken back


def test_a_patch_is_made_whole_or_not_at_all(place: Path) -> None:
    (place / "a.txt").write_text("one\ntwo\n", encoding="ascii")
    guard = guard_of(place, "s")
    bad = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: .env\n+x\n*** End Patch"
    reports = Files(guard, door="file").patch(bad)
    assert [report.allowed for report in reports] == [False, False]
    assert (place / "a.txt").read_text(encoding="ascii") == "one\ntwo\n"
    good = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: sub/b.txt\n@@\n-one\n+1\n*** Add File: new.txt\n+n\n*** End Patch"
    assert all(report.allowed for report in Files(guard, door="file").patch(good))
    assert (place / "sub/b.txt").read_text(encoding="ascii") == "1\ntwo\n"
    assert not (place / "a.txt").exists()
    assert (place / "new.txt").read_text(encoding="ascii") == "n\n"
    with pytest.raises(FileToolError, match=r"1 of 2 changes were made"):
        Files(guard, door="file").patch(
            "--- a/new.txt\n+++ b/new.txt\n@@ -1 +1 @@\n-n\n+m\n--- a/sub/b.txt\n+++ b/sub/b.txt\n@@ -1 +1 @@\n-zzz\n+y\n"
        )


def test_what_was_overwritten_comes_back(place: Path) -> None:
    from instinct_shell.execution.undo import Undo

    (place / "real.txt").write_text("before\n", encoding="ascii")
    (place / "link").symlink_to("real.txt")
    guard = guard_of(place)
    report = Files(guard, door="file").write("link", "after\n")
    assert (place / "real.txt").read_text(encoding="ascii") == "after\n"
    Undo(guard.state).restore(report.outcome.judgement.run)
    assert (place / "real.txt").read_text(encoding="ascii") == "before\n"


def test_every_act_is_in_the_trail(place: Path) -> None:
    guard = guard_of(place)
    files = Files(guard, door="file")
    files.write("a.txt", "x")
    files.write(".env", "x")
    kinds = [str(record.kind) for record in AuditTrail(guard.state).records() if str(record.kind) != "note"]
    assert kinds == ["judged", "started", "finished", "judged"]


def test_an_approved_ask_is_used_up_once(place: Path) -> None:
    import time

    from instinct_shell.storage.grants import GrantBook

    guard = guard_of(place)
    book = GrantBook(guard.state)
    book.set_passphrase("correct horse")
    (place / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    report = Files(guard, door="file").write("logo.png", "text\n")
    assert report.done is None
    assert report.outcome.request
    book.approve(report.outcome.request, "correct horse", time.time())
    assert Files(guard, door="file").write("logo.png", "other text\n").done is None, "approved was exactly this"
    assert Files(guard, door="file").write("logo.png", "text\n").allowed
    (place / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert Files(guard, door="file").write("logo.png", "text\n").done is None, "a grant is for once"


@pytest.mark.parametrize("profile", ["staging", "prod"])
def test_stricter_profiles_are_stricter(place: Path, profile: str) -> None:
    guard = guard_of(place, profile=profile)
    line = {"type": "file_write", "target": "conf.py", "content": "T = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'\n"}
    assert guard.check(guard.intent_from(line, door="check")).verdict.decision.word == "deny"
