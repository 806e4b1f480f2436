"""`instinct overlay`: changes that commands made on a copy-on-write view and that wait: looked at, committed, thrown away. Never from inside a jail."""

from __future__ import annotations

import json
import os
import sys
import time

import click

from ...errors import OverlayError
from ..present import style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...execution.overlays import Overlays
    from ...model.overlay import Kept

_EXAMPLES = "\b\nExamples:\n  instinct overlay list\n  instinct overlay show 3f9c2a\n  instinct overlay commit 3f9c2a"
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


def overlays() -> Overlays:
    """The person's overlays. Raises OverlayError inside a jail, where they are out of reach."""
    from ...execution.jail.inside import inside
    from ...execution.overlays import Overlays
    from ...execution.undo import Undo
    from ...wiring import state_dir
    from ..failure import tell

    if inside():
        raise OverlayError("changes that wait are not handled from inside a jail", hint="a person types this in their own terminal")
    state = state_dir()
    return Overlays(state, lambda: Undo(state), tell)


@click.group(name="overlay", epilog=_EXAMPLES)
def command() -> None:
    """Look at, commit or throw away what commands changed apart from the workspace; a change is kept for a day."""


@command.command(name="list", epilog="\b\nExample:\n  instinct overlay list --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(*, as_json: bool) -> None:
    """The changes that wait, newest first."""
    waiting = overlays().list()
    style = style_of(sys.stdout, os.environ)
    for kept in waiting:
        if as_json:
            click.echo(json.dumps(shown(kept)))
        else:
            who = f"approve {kept.request}" if kept.request else "commit"
            click.echo(style.clean(f"{kept.run}  {len(kept.change.changes):>5} changes  {_left(kept)}  {who:<12}  {kept.command}"))
    if not as_json and not waiting:
        click.echo("nothing waits", err=True)


@command.command(name="show", epilog="\b\nExample:\n  instinct overlay show 3f9c2a --diff")
@click.argument("name")
@click.option("--diff", "with_diff", is_flag=True, help="The differences of texts too.")
@_JSON
def show(name: str, *, with_diff: bool, as_json: bool) -> None:
    """What one change is. NAME: its run, a beginning of it, or the request."""
    from ...engine.apart import lines_of
    from ...execution.overlay_diff import diff

    store = overlays()
    kept = store.find(name)
    differences = diff(kept.change, store.upper(kept.run), 100_000) if with_diff else ()
    if as_json:
        from ...model.codec import encode

        click.echo(json.dumps({**shown(kept), "change": encode(kept.change, full=True), "diff": list(differences)}))
        return
    style = style_of(sys.stdout, os.environ)
    click.echo(style.clean(f"run {kept.run} in {kept.change.workspace}, status {kept.status}: {kept.command}"))
    if kept.needs:
        click.echo(style.clean(f"  waits for a person: {kept.needs}"))
    for line in (*lines_of(kept.change, 100_000), *differences):
        click.echo(style.clean(f"  {line}"))


@command.command(name="commit", epilog="\b\nExample:\n  instinct overlay commit 3f9c2a")
@click.argument("name")
@_JSON
def commit(name: str, *, as_json: bool) -> None:
    """Make one change in the workspace, if that is as it was. Asks for your passphrase where the change was asked about."""
    store = overlays()
    kept = store.find(name)
    if kept.needs:
        from .approve import approve_change

        approve_change(kept)
    told(kept, store.commit(kept), as_json=as_json)


@command.command(name="discard", epilog="\b\nExample:\n  instinct overlay discard 3f9c2a")
@click.argument("name")
@_JSON
def discard(name: str, *, as_json: bool) -> None:
    """Throw one change away. The workspace stays as it is."""
    store = overlays()
    kept = store.find(name)
    store.drop(kept.run)
    if kept.request:
        from .approve import forget

        forget(kept.request)
    _record("overlay_discarded", kept)
    click.echo(json.dumps({"run": kept.run}) if as_json else f"thrown away: {kept.run}")


def told(kept: Kept, count: int, *, as_json: bool) -> None:
    """Record a commit and say it."""
    _record("overlay_committed", kept)
    if as_json:
        click.echo(json.dumps({"run": kept.run, "changes": count}))
    else:
        back = f"; what they replaced comes back with: instinct undo restore {kept.run}" if kept.change.replaces() else ""
        click.echo(f"committed: {count} changes{back}")


def shown(kept: Kept) -> dict[str, object]:
    """One waiting change as JSON-able data."""
    return {
        "run": kept.run,
        "request": kept.request or None,
        "needs": kept.needs or None,
        "workspace": kept.change.workspace,
        "command": kept.command,
        "status": kept.status,
        "changes": len(kept.change.changes),
        "expires": kept.expires,
    }


def _record(note: str, kept: Kept) -> None:
    from ...model.record import AuditRecord, RecordKind
    from ...wiring import audit_trail

    body = (("v", 1), ("note", note), ("workspace", kept.change.workspace), ("changes", len(kept.change.changes)), ("change", kept.change.digest()))
    audit_trail().append(AuditRecord(RecordKind.NOTE, kept.run, time.time(), body), durable=True)


def _left(kept: Kept) -> str:
    minutes = int(max(0.0, kept.expires - time.time()) // 60)
    return f"{minutes // 60:>2} h left" if minutes >= 60 else f"{minutes:>2} min left"
