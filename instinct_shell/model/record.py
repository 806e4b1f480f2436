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
    REPORTED = "reported"  # an agent says that a tool which it ran itself has ended
    FAULT = "fault"  # we failed, nothing ran
    NOTE = "note"  # the trail about itself: a torn tail set aside, a new anchor after a break, a profile kept


class AuditRecord(Value):
    """One line of the trail. body is JSON-able; the trail redacts it. run ties judged, started and finished together.

    seq: the place in the trail, from 1; given by the trail, 0 before.
    """

    kind: RecordKind
    run: str
    at: float  # seconds since the epoch
    body: tuple[tuple[str, object], ...]
    seq: int = 0

    def get(self, name: str, default: object = None) -> object:
        """One entry of the body, or the default."""
        for key, value in self.body:
            if key == name:
                return value
        return default


class Hold(Value):
    """A reservation in the ledger, micro-dollars; open until committed or released.

    scope: the session it belongs to. owner_pid: the process that will settle it; 0 when none will (then it is settled in full after a day).
    """

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
