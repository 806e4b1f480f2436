"""`instinct undo`: give back what a run deleted or overwrote."""

from __future__ import annotations

import json
import os
import sys
import time

import click

from ...errors import StorageError
from ...execution.undo import Kept, Undo
from ...model.codec import encode
from ...model.record import AuditRecord, RecordKind
from ...storage.audit import AuditTrail
from ...wiring import audit_trail, state_dir
from ..present import clip, style_of
from .audit import runs_of

_EXAMPLES = "\b\nExamples:\n  instinct undo list\n  instinct undo show 3f9c2a\n  instinct undo restore 3f9c2a src/notes.txt"
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
_SHOWN = 80  # characters of a command in the list
_JUDGED_BEFORE = 60  # seconds that a record may be older than what was kept for its run


@click.group(name="undo", epilog=_EXAMPLES)
def command() -> None:
    """Give back what a run deleted or overwrote inside the workspace; the last 50 runs of a week are kept."""


@command.command(name="list", epilog="\b\nExample:\n  instinct undo list --json")
@_JSON
def list_(*, as_json: bool) -> None:
    """The runs that can be undone, newest first: when, run, how much is kept, what ran."""
    undo = Undo(state_dir())
    kept = undo.list()
    commands = _commands(kept)
    if as_json:
        click.echo(json.dumps([{"run": each.run, "at": each.at, "bytes": each.bytes, "command": commands.get(each.run, "")} for each in kept]))
        return
    style = style_of(sys.stdout, os.environ)
    for each in kept:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(each.at))
        what = clip(style.clean(commands.get(each.run) or _first(undo, each)), _SHOWN)
        click.echo(f"{when}  {each.run:<12} {each.bytes:>12,} bytes  {what}".rstrip())
    if not kept:
        click.echo("nothing is kept", err=True)


def _commands(kept: tuple[Kept, ...]) -> dict[str, str]:
    """What the trail says ran, by run; nothing where it does not reach back or cannot be read: `instinct audit verify` is for that."""
    if not kept:
        return {}
    trail = audit_trail()
    wanted, begin = {each.run for each in kept}, min(each.at for each in kept) - _JUDGED_BEFORE
    try:
        since = 1
        for since in reversed(trail.segments()):  # the newest are in the last segments: a long trail is not read whole
            first = next(trail.records(since=since), None)
            if first is not None and first.at <= begin:
                break
        return {run.run: run.content for run in runs_of(trail.records(since=since)) if run.run in wanted}
    except StorageError:
        return {}  # what is kept can be given back without its name


def _first(undo: Undo, kept: Kept) -> str:
    try:
        entries = undo.show(kept.run).entries
    except StorageError:
        return ""
    return f"({entries[0].path}{', ...' if len(entries) > 1 else ''})" if entries else ""


@command.command(name="show", epilog="\b\nExample:\n  instinct undo show 3f9c2a")
@click.argument("run")
@_JSON
def show(run: str, *, as_json: bool) -> None:
    """What was kept before a run."""
    journal = Undo(state_dir()).show(run)
    if as_json:
        click.echo(json.dumps(encode(journal, full=True)))
        return
    style = style_of(sys.stdout, os.environ)
    click.echo(style.clean(f"run {journal.run} in {journal.workspace}"))
    for entry in journal.entries:
        extra = f" -> {entry.to}" if entry.kind == "link" else "  (in git)" if entry.blob else ""
        click.echo(style.clean(f"  {entry.kind:<5} {entry.mode:04o} {entry.size:>12,}  {entry.path}{extra}"))
    for note in journal.notes:
        click.echo(style.clean(f"  not kept: {note}"))


@command.command(
    name="restore",
    epilog="\b\nExample:\n  instinct undo restore 3f9c2a src/notes.txt\n\nExit status: 1 when something could not be given back.",
)
@click.argument("run")
@click.argument("paths", nargs=-1)
@_JSON
def restore(run: str, paths: tuple[str, ...], *, as_json: bool) -> int:
    """Give back everything a run destroyed, or these PATHS. What stands there now is kept first, so this can be undone too."""
    state = state_dir()
    undo = Undo(state)
    kept = undo.find(run)
    workspace = undo.show(kept.run).workspace
    inside = [os.path.relpath(os.path.abspath(path), workspace) for path in paths]
    results = undo.restore(kept.run, inside)
    count = {word: sum(1 for each in results if each.result == word) for word in ("restored", "unchanged", "failed")}
    body = {"note": "undone", "workspace": workspace, "paths": list(paths), **count}
    AuditTrail(state).append(AuditRecord(RecordKind.NOTE, kept.run, time.time(), tuple(body.items())))
    if as_json:
        click.echo(json.dumps(encode(results, full=True)))
    else:
        style = style_of(sys.stdout, os.environ)
        for each in results:
            if each.result != "unchanged":
                click.echo(style.clean(f"{each.result}: {each.path}" + (f" ({each.why})" if each.why else "")))
        click.echo(f"{count['restored']} restored, {count['unchanged']} unchanged, {count['failed']} failed", err=True)
    return 1 if count["failed"] else 0
