"""How records come to the trail: several at once, synced later by a process that lives on, and read back by their run."""

from __future__ import annotations

from pathlib import Path

import pytest

from instinct_shell.errors import StorageError
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.storage import audit
from instinct_shell.storage.audit import AuditTrail


def record(run: str, text: str = "true", kind: RecordKind = RecordKind.JUDGED) -> AuditRecord:
    return AuditRecord(kind, run, 1764450000.25, (("content", text),))


def test_records_of_one_append_stand_together_or_not_at_all(tmp_path: Path) -> None:
    trail = AuditTrail(str(tmp_path))
    trail.append(record("a"), record("a", kind=RecordKind.STARTED))
    with pytest.raises(StorageError, match="cannot be written down"):
        trail.append(record("b"), AuditRecord(RecordKind.STARTED, "b", 1.0, (("content", float("nan")),)))
    assert [(each.seq, each.run, each.kind) for each in trail.records()] == [(1, "a", RecordKind.JUDGED), (2, "a", RecordKind.STARTED)]
    assert trail.verify().ok


def test_a_process_that_lives_on_is_told_what_to_sync(tmp_path: Path) -> None:
    told: list[str] = []
    trail = AuditTrail(str(tmp_path), later=told.append)
    trail.append(record("a"))
    trail.append(record("b"), durable=True)  # is on disk already
    assert told == [str(tmp_path / "audit" / "000001.jsonl")]
    audit.sync(told[0])
    with pytest.raises(StorageError):
        audit.sync(str(tmp_path / "gone"))


def test_a_run_is_read_by_its_name_alone(tmp_path: Path) -> None:
    trail = AuditTrail(str(tmp_path))
    for run, text in (("a", "one"), ("b", 'says "run":"a" only'), ("a", "two"), ("ab", "three")):
        trail.append(record(run, text))
    assert [each.get("content") for each in trail.records(run="a")] == ["one", "two"]
    assert list(trail.records(run="c")) == []


def test_another_runs_unreadable_line_does_not_hide_this_one(tmp_path: Path) -> None:
    trail = AuditTrail(str(tmp_path))
    trail.append(record("a"))
    with (tmp_path / "audit" / "000001.jsonl").open("ab") as segment:
        segment.write(b"{no record}\n")
    assert [each.run for each in trail.records(run="a")] == ["a"]
    with pytest.raises(StorageError):
        list(trail.records())
