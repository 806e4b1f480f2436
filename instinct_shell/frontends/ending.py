"""The end of a run that outlived the worker which judged it, or whose worker was killed: written down, and said what is to be said."""

from __future__ import annotations

from ..engine import records
from ..errors import Exit, InstinctError, JailError
from ..execution.jail import order
from ..model.codec import decode
from ..model.intent import Intent
from ..model.record import AuditRecord, RecordKind
from ..resident.worker import LongWay
from ..wiring import Guard, SystemClock, audit_trail, open_guard
from ..wiring.newcomers import set_aside_in, settle_at_the_end
from .failure import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.jailspec import RunResult
    from ..storage.audit import AuditTrail


def record_end(run: str, report: str, *, again: bool, made: type[Guard] | None = None) -> int:
    """Write the end down and say what is to be said. again: another worker may have done that already; then nothing is written twice.

    made: the class of guard that judges here, as in `open_guard`.
    """
    trail = audit_trail(later=made.later if made else None)
    cause = ""
    try:
        result = order.result(report.encode("utf-8", "surrogateescape"))
        cause = _look_after(trail, run, result, made)
        kind, body = RecordKind.FINISHED, records.finished(result, None, cause=cause)
        said, hint, status = result.failure, "", Exit.OK
    except JailError as error:
        kind, body = RecordKind.FAULT, records.fault(error)
        said, hint, status = error.message, error.hint, Exit.FAILED
    segments = trail.segments()
    known = again and bool(segments) and any(record.kind is kind for record in trail.records(since=segments[-1], run=run))
    if not known:
        trail.append(AuditRecord(kind, run, SystemClock().now(), body))
    for words in (said, cause):
        if words:
            tell(words, hint if words is said else "")
    return status


def _look_after(trail: AuditTrail, run: str, result: RunResult, made: type[Guard] | None) -> str:
    """What the worker that knew the run would have done: set aside what was not judged, and tell why a command failed, when it was the jail."""
    if not result.started:
        return ""
    try:
        body = _judged(trail, run)
        if body is None:
            return ""
        guard = open_guard(
            profile=str(body["profile"]), workspace=str(body["workspace"]), session=str(body["session"]), cwd=str(body["cwd"]), one_shot=False, made=made
        )
        guard.announce = tell
        for words in set_aside_in(trail, run):
            tell(words)
        settle_at_the_end(guard)
        if not result.status:
            return ""
        intent = decode(Intent, body["intent"]).replace(env=tuple(sorted(guard.environ.items())))
        judgement = guard.judge(intent)
        cause = guard.cause(judgement, Guard.confine(guard, judgement), result)
        guard.close()
        return cause
    except (InstinctError, LongWay, KeyError):
        return ""  # the outcome is recorded all the same


def _judged(trail: AuditTrail, run: str) -> Mapping[str, object] | None:
    """What the trail says about this run, looked for in its last two segments."""
    found = None
    for record in trail.records(since=(trail.segments() or [1])[-2:][0], run=run):
        if record.kind is RecordKind.JUDGED:
            found = dict(record.body)
    return found
