"""`instinct pending`, `approve` and `deny`: a person answers what a profile asks. Never from inside a jail, and each answer is recorded."""

from __future__ import annotations

import json
import os
import sys
import time

import click

from ...errors import ApprovalError
from ..present import Style, style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.overlay import Kept
    from ...storage.grants import GrantBook, Request


def book() -> GrantBook:
    """The person's book of requests and grants. Raises ApprovalError inside a jail."""
    from ...execution.jail.inside import inside
    from ...storage.grants import GrantBook
    from ...wiring import state_dir

    if inside():
        raise ApprovalError("approvals are not given from inside a jail", hint="a person types this in their own terminal")
    return GrantBook(state_dir())


def shown(request: Request, now: float) -> dict[str, object]:
    """A request as JSON-able data."""
    return {"id": request.id, "summary": request.summary, "seconds_ago": int(now - request.at)}


@click.command("pending", epilog="Example: instinct pending --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def pending(*, as_json: bool) -> None:
    """List the commands that wait for an answer, oldest first. A request is kept for a day."""
    grants, now = book(), time.time()
    style = style_of(sys.stdout, os.environ)
    waiting = grants.pending(now)
    for request in waiting:
        if as_json:
            click.echo(json.dumps(shown(request, now)))
        else:
            click.echo(f"{style.paint(request.id, '1')}  {_age(now - request.at):>8}  {style.clean(request.summary)}")
    if not as_json and not waiting:
        click.echo("nothing waits" if grants.passphrase_is_set() else "nothing waits; approvals are off, since no passphrase is set", err=True)


@click.command("approve", epilog="Example: instinct approve 7KQ4")
@click.argument("request")
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
def command(request: str, *, as_json: bool) -> None:
    """Allow exactly one waiting command, once, within 15 minutes; or commit the change that one made apart. Asks for your passphrase."""
    grants = book()
    waiting = next((each for each in grants.pending(time.time()) if each.id == request.strip().upper()), None)
    if waiting is not None and not as_json:
        click.echo(style_of(sys.stderr, os.environ).clean(waiting.summary), err=True)
    from . import overlay

    store = overlay.overlays()
    change = next((kept for kept in store.list() if kept.request and kept.request == request.strip().upper()), None)
    if change is not None:
        approve_change(change)
        overlay.told(change, store.commit(change), as_json=as_json)
        return
    passphrase = _passphrase()
    grant = grants.approve(request, passphrase, time.time())
    _record("approved", grant.id, grant.intent_digest)
    if as_json:
        click.echo(json.dumps({"id": grant.id, "expires": grant.expires}))
    else:
        click.echo(f"approved: {grant.id} may run once in the next 15 minutes; tell the agent to try again")


def approve_change(kept: Kept) -> None:
    """A person's word for one kept change: the passphrase, the record, and the grant used up, since it is for this commit and nothing else."""
    grants, now = book(), time.time()
    passphrase = _passphrase()
    if any(each.id == kept.request for each in grants.pending(now)):
        grant = grants.approve(kept.request, passphrase, now)
        grants.consume(grant.id)
    else:  # answered before, and the commit did not come about
        grants.check_passphrase(passphrase, now)
    _record("approved", kept.request, kept.change.digest())


def forget(request: str) -> None:
    """Take the request of a change that is gone off the list."""
    grants = book()
    if any(each.id == request for each in grants.pending(time.time())):
        grants.deny(request, time.time())


@click.command("deny", epilog="Example: instinct deny 7KQ4")
@click.argument("request")
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
def deny(request: str, *, as_json: bool) -> None:
    """Take a waiting command off the list."""
    refused = book().deny(request, time.time())
    _record("refused", refused.id, refused.intent_digest)
    from . import overlay

    store = overlay.overlays()
    for kept in store.list():
        if kept.request == refused.id:
            store.drop(kept.run)  # the change that waited for this answer
    click.echo(json.dumps({"id": refused.id}) if as_json else f"denied: {refused.id} {Style().clean(refused.summary)}")


def _passphrase() -> str:
    """The passphrase from the terminal; from a pipe its first line, for programs that keep it for a person."""
    if sys.stdin is not None and sys.stdin.isatty():
        return str(click.prompt("passphrase", hide_input=True, err=True))
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line:
        raise ApprovalError("the passphrase is asked for on a terminal, or read from stdin", hint="type this in your own terminal")
    return line.rstrip("\n")


def _record(answer: str, request: str, digest: str) -> None:
    """One record for each answer of a person."""
    from ...model.record import AuditRecord, RecordKind
    from ...storage.audit import new_run
    from ...wiring import audit_trail

    body = (("v", 1), ("answer", answer), ("request", request), ("intent_digest", digest))
    audit_trail().append(AuditRecord(RecordKind.GRANTED, new_run(), time.time(), body), durable=True)


def _age(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes // 60} h ago" if minutes >= 60 else f"{minutes} min ago"
