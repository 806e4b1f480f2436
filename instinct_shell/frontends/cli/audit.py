"""`instinct audit`: read the trail, check that nothing in it was changed or is missing, judge its records again."""

from __future__ import annotations

import json
import os
import sys
import time

import click

from ...errors import StorageError, UsageError
from ...model.codec import decode, encode
from ...model.profile import Profile
from ...model.record import AuditRecord, RecordKind
from ...model.value import Value
from ...wiring import audit_trail
from ..present import clip, style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...storage.audit import AuditTrail
    from ...storage.verify import TrailReport

BROKEN = 1  # exit status of `verify` when the trail does not hold together, or a verdict does not come out again
SHOWN = 200  # characters of a command in a list

_EXAMPLES = "\b\nExamples:\n  instinct audit list --decision deny\n  instinct audit show 3f9c2a\n  instinct audit verify --replay"


@click.group(name="audit", epilog=_EXAMPLES)
def command() -> None:
    """List, show and verify the audit trail: one record per judged command, allowed ones too."""


@command.command(name="list", epilog="\b\nExample:\n  instinct audit list --decision deny --limit 5")
@click.option("--limit", default=20, show_default=True, metavar="N", type=click.IntRange(min=1), help="The newest N.")
@click.option("--decision", type=click.Choice(["allow", "ask", "deny"]), help="Only these.")
@click.option("--session", default="", metavar="ID", help="Only this session.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(limit: int, decision: str | None, session: str, *, as_json: bool) -> None:
    """The newest judged commands, oldest first: when, run, decision, outcome, command."""
    trail = audit_trail()
    runs: list[Run] = []
    for since in reversed(trail.segments()):  # the newest are in the last segments: a long trail is not read whole for twenty lines
        runs = [run for run in runs_of(trail.records(since=since)) if decision in (None, run.decision) and session in ("", run.session)]
        if len(runs) >= limit:
            break
    style = style_of(sys.stdout, os.environ)
    for run in runs[-limit:]:
        if as_json:
            click.echo(json.dumps({name: getattr(run, name) for name in run._fields}))
            continue
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.at))
        who = run.decision + (f" [{run.instinct}]" if run.instinct else "")
        click.echo(f"{when}  {run.run:<12}  {who:<28} {run.outcome:<16} {clip(style.clean(run.content), SHOWN)}")
    if not runs and not as_json:
        click.echo("nothing recorded", err=True)


@command.command(name="show", epilog="\b\nExample:\n  instinct audit show 3f9c2a --json")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="The records as they stand, one JSON object a line.")
def show(run: str, *, as_json: bool) -> None:
    """All records of one run, by its id or a beginning of it."""
    found = [record for record in audit_trail().records() if run and record.run.startswith(run)]
    ids = sorted({record.run for record in found})
    if len(ids) != 1:
        raise UsageError(f"{'several runs begin' if ids else 'no run begins'} with `{run}`", hint="see `instinct audit list`")
    style = style_of(sys.stdout, os.environ)
    for record in found:
        if as_json:
            click.echo(
                json.dumps({"seq": record.seq, "kind": record.kind.value, "at": record.at, "run": record.run, "body": dict(record.body)})
            )
            continue
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.at))
        click.echo(style.paint(f"{record.kind.value}  {when}  run {record.run}  record {record.seq}", "1"))
        for name, value in record.body:
            text = value if isinstance(value, str) else json.dumps(value)
            click.echo(f"  {name:<16} {style.clean(text)}")


@command.command(name="verify", epilog="\b\nExample:\n  instinct audit verify --replay\n\nExit status: 0 when all is well, 1 when not.")
@click.option("--replay", is_flag=True, help="Also judge every record again and compare the verdicts.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def verify(*, replay: bool, as_json: bool) -> int:
    """Check every byte of the trail: changed, missing, moved or added records are found, and named."""
    trail = audit_trail()
    report = trail.verify()
    again = judge_again(trail) if replay and report.ok else None
    if as_json:
        data: dict[str, object] = {"ok": report.ok, "records": report.records, "segments": report.segments, "unfinished": report.unfinished}
        data |= {
            "breaks": encode(report.breaks, full=True),
            "mended": encode(report.mended, full=True),
            "altered": [digest for digest, _ in report.altered],
        }
        click.echo(json.dumps(data | ({"replay": encode(again, full=True)} if again else {})))
    else:
        for line in _report_lines(report):
            click.echo(line)
        if again:
            click.echo(f"judged again: {again.same} the same, {len(again.different)} different, {again.skipped} could not be compared")
            for run in again.different:
                click.echo(f"  another verdict: run {run}")
    return 0 if report.ok and not (again and again.different) else BROKEN


@command.command(name="repair", epilog="\b\nExample:\n  instinct audit repair --why 'the disk was full on Monday, looked at by Ada'")
@click.option("--why", required=True, metavar="TEXT", help="Why the trail is broken; it becomes part of the trail.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def repair(why: str, *, as_json: bool) -> None:
    """Go on after a break that a person has looked at. The broken part stays as it is, closed by its digest."""
    done = audit_trail().repair(why, time.time())
    if as_json:
        click.echo(json.dumps(encode(done, full=True)))
    elif done is None:
        click.echo("the trail holds together: nothing to repair")
    else:
        click.echo(f"{done.count} records read, segment {done.segment} closed as it stands; new records go on after it")


class Run(Value):
    """One judged intent with what became of it."""

    run: str
    at: float
    decision: str
    tier: str
    instinct: str
    reason: str
    session: str
    door: str
    content: str
    outcome: str = "not run"


class Replayed(Value):
    """What judging the records again gave: how many the same, which runs different, how many could not be compared."""

    same: int = 0
    different: tuple[str, ...] = ()
    skipped: int = 0


def runs_of(records: Iterable[AuditRecord]) -> list[Run]:
    """The judged intents, oldest first, each with its outcome."""
    runs: dict[str, Run] = {}
    for record in records:
        if record.kind is RecordKind.JUDGED:
            runs[record.run] = _judged(record)
        elif record.run in runs:
            outcome = {RecordKind.STARTED: "outcome unknown", RecordKind.FAULT: "failed: not run"}.get(record.kind, "")
            if record.kind is RecordKind.FINISHED:
                outcome = f"exit {record.get('status', '?')}" if record.get("started", True) else "failed: not run"
            if outcome:
                runs[record.run] = runs[record.run].replace(outcome=outcome)
    return list(runs.values())


def judge_again(trail: AuditTrail) -> Replayed:
    """Judge every record again, under the very profile that judged it. What was never judged by effects cannot be compared."""
    from ...engine.replay import replay, same

    equal = skipped = 0
    different = []
    profiles: dict[str, Profile | None] = {}
    for record in trail.records():
        if record.kind is not RecordKind.JUDGED:
            continue
        profile = _kept_profile(trail, str(record.get("profile_digest", "")), profiles)
        if profile is None or record.get("refused") or _has_foreign(record):
            skipped += 1
        elif same(replay(dict(record.body), profile), dict(record.body)):
            equal += 1
        else:
            different.append(record.run)
    return Replayed(equal, tuple(different), skipped)


def _kept_profile(trail: AuditTrail, digest: str, known: dict[str, Profile | None]) -> Profile | None:
    if digest not in known:
        try:
            known[digest] = decode(Profile, json.loads(trail.kept(digest)))
        except (StorageError, ValueError):
            known[digest] = None  # recorded before profiles were kept, or by another version
    return known[digest]


def _has_foreign(record: AuditRecord) -> bool:
    """Whether an instinct took part that is not built in: its code is not in the record."""
    from ...instincts.registry import BUILTIN

    own = {instinct.id for instinct in BUILTIN}
    ran = record.get("ran", [])
    return isinstance(ran, list) and any(isinstance(each, dict) and each.get("instinct") not in own for each in ran)


def _judged(record: AuditRecord) -> Run:
    intent, findings = record.get("intent", {}), record.get("findings", [])
    deciding: dict[str, object] = {}
    for finding in findings if isinstance(findings, list) else []:
        if finding.get("decision") == record.get("decision") != "allow":
            deciding = finding
            break
    assert isinstance(intent, dict)
    content = str(intent.get("content") or intent.get("target") or intent.get("type", ""))
    words = {name: str(record.get(name, "")) for name in ("decision", "tier", "session", "door")}
    return Run(
        record.run, record.at, words["decision"], words["tier"], str(deciding.get("instinct", "")), str(deciding.get("reason", "")),
        words["session"], words["door"], content, f"refused inside {str(parent)[:12]}" if (parent := record.get("parent")) else "not run",
    )  # fmt: skip


def _report_lines(report: TrailReport) -> Iterable[str]:
    yield f"{report.records} records in {report.segments} segments: " + ("whole" if report.ok else "BROKEN")
    for each in report.breaks:
        yield f"  segment {each.segment}, line {each.line}: {each.why}" if each.line else f"  segment {each.segment}: {each.why}"
    for digest, _ in report.altered:
        yield f"  kept profile {digest[:12]}: missing or changed"
    for each in report.mended:
        yield f"  accounted for by a later anchor: segment {each.segment}: {each.why}"
    if report.unfinished:
        yield f"  {report.unfinished} bytes of a line that was never finished; the next record sets them aside"
    if not report.ok:
        yield "  mend: look at the places above, then `instinct audit repair --why TEXT`"
