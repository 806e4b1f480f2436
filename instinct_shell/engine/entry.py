"""A judgement's place in the audit trail: written together with the first thing that comes of it, in one append.

Whatever ends our part between the verdict and the last record, a fault of ours, an error of the system or ^C, what is known by then is there.
"""

from __future__ import annotations

from ..errors import InstinctError
from ..model.record import AuditRecord, RecordKind
from . import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.jailspec import RunResult
    from ..model.ports import AuditLog, Clock
    from ..model.profile import Profile
    from ..model.record import Hold
    from .judgement import Judgement
    from .records import Body


class Entry:
    """Used in a `with` from the verdict on. request, grant: set before the first `write`. open: nothing has been started. ended: how the run ended
    and what was held for it, until that is written."""

    __slots__ = ("_audit", "_clock", "_profile", "_written", "ended", "grant", "judgement", "open", "request")

    def __init__(self, judgement: Judgement, profile: Profile, audit: AuditLog, clock: Clock) -> None:
        self.judgement = judgement
        self.request = self.grant = ""
        self.open = True
        self.ended: tuple[RunResult, Hold | None] | None = None
        self._profile = profile
        self._audit = audit
        self._clock = clock
        self._written = False

    def write(self, *more: tuple[RecordKind, Body], durable: bool = False) -> None:
        """The verdict, unless it was written, and more about this run. Raises StorageError; then nothing was added."""
        judgement = self.judgement
        judged = () if self._written else ((RecordKind.JUDGED, records.judged(judgement, self._profile, request=self.request, grant=self.grant)),)
        now = self._clock.now()
        self._audit.append(*(AuditRecord(kind, judgement.run, now, body) for kind, body in (*judged, *more)), durable=durable)
        self._written = True

    def __enter__(self) -> Entry:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        # No other BaseException: with those an engine leaves the judging, or the rest of a run, to somebody else.
        if (self.open or self.ended) and isinstance(error, Exception | KeyboardInterrupt):
            last = (RecordKind.FINISHED, records.finished(self.ended[0], None, self.ended[1])) if self.ended else (RecordKind.FAULT, records.fault(error))
            try:
                self.write(last)  # ^C while something was written: twice rather than never
            except InstinctError:
                pass  # the first failure is the one to tell
