"""Start-up calls of an agent itself: reading the person's login environment, saving a snapshot of aliases and functions.

They are judged and recorded like everything else. What the judge would ask a person about, here the strictest jail answers: no network, and not
one file can be written but the snapshot that the agent is about to make.
"""

from __future__ import annotations

import os
import time

from ..errors import Exit, WorkspaceError
from ..model.verdict import Decision
from .failure import die_of_signal, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..wiring import Guard
    from .shell_args import ShellCall
    from .shell_templates import Probe


def run_probe(call: ShellCall, probe: Probe, made: type[Guard] | None = None) -> int:
    """Judge and run one; returns the exit status. made: set in an engine, which leaves it to the caller: it comes once a session."""
    if made is not None:
        from ..resident.worker import LongWay

        raise LongWay("a start-up call")
    from ..engine import records
    from ..engine.judgement import Outcome
    from ..execution.launcher import Launcher
    from ..model.record import AuditRecord, RecordKind
    from ..storage.audit import AuditTrail
    from .shell import Tracker, command_line, tell_denial, use_pinned_shell

    guard = _guard(call)
    use_pinned_shell(guard, call.argv0)
    guard.profile = guard.profile.replace(writable=(probe.writes,) if probe.writes else ())
    judgement = guard.check(guard.shell_intent(call.prelude + call.text, door="shell").replace(agent=probe.agent))
    if judgement.verdict.decision is Decision.DENY:
        tell_denial(Outcome(judgement))
        return Exit.DENIED
    snapshot = Tracker(probe.writes)
    spec = guard.confine(judgement)
    spec = spec.replace(argv=command_line(call, spec.argv[0]), writable=(), read_only=not probe.writes)
    spec = snapshot.open_in(spec.replace(network="none", publish=()) if judgement.situation.jail_level == "full" else spec)
    trail = AuditTrail(guard.state)
    try:
        trail.append(AuditRecord(RecordKind.STARTED, judgement.run, time.time(), records.started(spec, None, None)), durable=False)
        result = Launcher(dedicated=True, execs=guard.execs).run(spec)
        trail.append(AuditRecord(RecordKind.FINISHED, judgement.run, time.time(), records.finished(result, None, None)), durable=False)
    finally:
        snapshot.close()
    if result.failure:
        tell(result.failure)
    return die_of_signal(result.signal) if result.signal else result.status


def _guard(call: ShellCall) -> Guard:
    """Start-up calls come from anywhere, also from the home directory: they need no workspace, and fix none for the session."""
    from ..wiring import open_guard

    try:
        return open_guard(dedicated=True)
    except WorkspaceError:
        return open_guard(dedicated=True, workspace=os.path.dirname(os.path.abspath(call.argv0)))
