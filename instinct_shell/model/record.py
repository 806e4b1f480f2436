"""What is written down: audit records, ledger entries, near-misses."""

from __future__ import annotations

from enum import StrEnum

from .value import Value


class RecordKind(StrEnum):
    JUDGED = "judged"  # one per judged intent, allowed ones too
    STARTED = "started"  # a run begins; without a matching finished the outcome is unknown, which is a normal state
    FINISHED = "finished"
    GRANTED = "granted"
    SPENT = "spent"
    FAULT = "fault"  # we failed, nothing ran
    NOTE = "note"


class AuditRecord(Value):
    """One line of the trail. body is JSON-able, already redacted. run ties judged, started and finished together."""

    kind: RecordKind
    run: str
    at: float  # seconds since the epoch
    body: tuple[tuple[str, object], ...]


class Hold(Value):
    """A reservation in the ledger, micro-dollars; open until committed or released."""

    id: str
    scope: str
    amount: int
    owner_pid: int = 0


class NearMiss(Value):
    """Something to learn from. kind: denied | asked | surprise | refused | incident."""

    kind: str
    at: float
    run: str
    signature: tuple[str, ...]
    summary: str
