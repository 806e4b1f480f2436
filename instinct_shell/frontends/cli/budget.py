"""`instinct budget`: what was spent and what is held, ceilings, and reservations by hand for calls that the guard does not see."""

from __future__ import annotations

import json
import os
import time

import click

from ...errors import InstinctError
from ...execution.workspace import git_top_level
from ...model.codec import encode
from ...model.money import dollars, parse_dollars
from ...model.record import AuditRecord, RecordKind
from ...storage.audit import AuditTrail
from ...storage.ledger import SCOPES, LedgerStore
from ...wiring import state_dir

_EXAMPLES = (
    "\b\nExamples:\n  instinct budget show\n  instinct budget set day 2.50\n"
    "  hold=$(instinct budget reserve 0.20) && call-the-api && instinct budget commit $hold 0.13"
)
_SESSION = click.option("--session", default="", envvar="INSTINCT_SESSION", metavar="ID", help="The session (default: INSTINCT_SESSION).")
_PROFILE = click.option("--profile", default="", metavar="NAME", help="Ceilings of this profile (default: yours).")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


@click.group(name="budget", epilog=_EXAMPLES)
def command() -> None:
    """Show and set ceilings; reserve, commit and release spend. Amounts are dollars with up to six decimals."""


@command.command(name="show", epilog="\b\nExample:\n  instinct budget show --session work --json")
@_SESSION
@_PROFILE
@_JSON
def show(session: str, profile: str, *, as_json: bool) -> int:
    """Every account of a session, the open holds, and whether the books add up (exit status 1 when not)."""
    ledger = LedgerStore(state_dir())
    accounts = ledger.accounts(session, ceilings_of(profile))
    holds, wrong = ledger.holds(), ledger.check()
    if as_json:
        click.echo(
            json.dumps(
                {
                    "accounts": encode(accounts, full=True),
                    "holds": encode(holds, full=True),
                    "own_ceilings": ledger.ceilings(),
                    "wrong": list(wrong),
                }
            )
        )
        return 1 if wrong else 0
    click.echo(f"{'scope':<12} {'of':<14} {'spent':>14} {'held':>14} {'ceiling':>14}")
    for account in accounts:
        ceiling = "none" if account.ceiling is None else dollars(account.ceiling)
        click.echo(
            f"{account.scope:<12} {account.key or '-':<14} {dollars(account.committed):>14} {dollars(account.reserved):>14} {ceiling:>14}"
        )
    for hold in holds:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(hold.at))
        click.echo(f"open hold {hold.id}: {dollars(hold.amount)} of session {hold.session or '-'} since {when}")
    for line in wrong:
        click.echo(f"the books do not add up: {line}", err=True)
    return 1 if wrong else 0


@command.command(name="set", epilog="\b\nExamples:\n  instinct budget set session 5\n  instinct budget set day none")
@click.argument("scope", type=click.Choice(SCOPES))
@click.argument("amount", metavar="AMOUNT|none")
@_PROFILE
@_JSON
def set_(scope: str, amount: str, profile: str, *, as_json: bool) -> None:
    """Set your own ceiling for a scope. It lowers what the profile allows; to allow more, raise it in your profile."""
    micros = None if amount == "none" else parse_dollars(amount)
    state = state_dir()
    LedgerStore(state).set_ceiling(scope, micros)
    _record(state, "", {"action": "set", "scope": scope, "micros": micros})
    if as_json:
        click.echo(json.dumps({"scope": scope, "micros": micros}))
        return
    click.echo(f"{scope}: " + ("no ceiling of your own" if micros is None else f"at most {dollars(micros)}"))
    given = ceilings_of(profile).get(scope)
    if micros is not None and given is not None and given < micros:
        click.echo(f"the profile's ceiling of {dollars(given)} still holds: raise it in ~/.config/instinct-shell", err=True)


@command.command(name="reserve", epilog="\b\nExample:\n  instinct budget reserve 0.20 --key request-17")
@click.argument("amount")
@_SESSION
@_PROFILE
@click.option("--key", default="", metavar="KEY", help="The same key again gives the same hold and charges once.")
@click.option("--project", default="", metavar="NAME", help="Charge this project's account too.")
@click.option("--agent", default="", metavar="NAME", help="Charge this agent's account too.")
@click.option("--commitment", is_flag=True, help="A standing commitment (an ad budget), on its own account.")
@click.option(
    "--owner", default=0, metavar="PID", help="When this process ends without settling, the hold is spent in full (default: after a day)."
)
@_JSON
def reserve(
    amount: str, session: str, profile: str, key: str, project: str, agent: str, owner: int, *, commitment: bool, as_json: bool
) -> None:
    """Hold money before a call, and print the hold's id. Refused (126) when a ceiling would be passed."""
    state = state_dir()
    ledger = LedgerStore(state)
    micros = parse_dollars(amount)
    hold = ledger.reserve(
        session, micros, ceilings_of(profile), key=key, project=project, agent=agent, commitment=commitment, owner_pid=owner
    )
    try:
        _record(state, hold.id, {"action": "reserve", "session": session, "micros": micros, "key": key})
    except InstinctError:
        ledger.release(hold.id)  # what cannot be written down does not happen
        raise
    click.echo(json.dumps(encode(hold, full=True)) if as_json else hold.id)


@command.command(name="commit", epilog="\b\nExample:\n  instinct budget commit 1c9e4b7a2f03 0.13")
@click.argument("hold")
@click.argument("amount", required=False)
@_JSON
def commit(hold: str, amount: str | None, *, as_json: bool) -> None:
    """The money of a hold was spent: AMOUNT of it, or all."""
    micros = None if amount is None else parse_dollars(amount)
    state = state_dir()
    LedgerStore(state).commit(hold, micros)
    _record(state, hold, {"action": "commit", "micros": micros})
    if as_json:
        click.echo(json.dumps({"hold": hold, "state": "committed", "micros": micros}))


@command.command(name="release", epilog="\b\nExample:\n  instinct budget release 1c9e4b7a2f03")
@click.argument("hold")
@_JSON
def release(hold: str, *, as_json: bool) -> None:
    """The money of a hold was not spent."""
    state = state_dir()
    LedgerStore(state).release(hold)
    _record(state, hold, {"action": "release"})
    if as_json:
        click.echo(json.dumps({"hold": hold, "state": "released"}))


def ceilings_of(profile: str) -> dict[str, int]:
    """The ceilings of a profile here, by scope; a scope without one is not named."""
    from ...storage.profiles import ProfileStore

    overrides = {name: os.environ[name] for name in ("INSTINCT_PROFILE",) if os.environ.get(name)}
    known = ProfileStore().load(profile, git_top_level(os.getcwd()), overrides)
    found = {"session": known.session_ceiling_micros, "commitment": known.spend_ceiling_micros}
    return found | {scope: micros for scope, micros in (("day", known.day_ceiling_micros), ("month", known.month_ceiling_micros)) if micros}


def _record(state: str, hold: str, body: dict[str, object]) -> None:
    AuditTrail(state).append(AuditRecord(RecordKind.SPENT, hold, time.time(), tuple(body.items())))
