"""`instinct session`: the jails in which an agent's commands share background processes."""

from __future__ import annotations

import json

import click

from ... import wiring
from ...execution.processes import alive, duration
from ...execution.sessions import Live, end, live

_EXAMPLE = "\b\nExample:\n  instinct session list\n  instinct session end\n  instinct-exec --session work -- 'npm run dev &'"
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object a session.")


@click.group(name="session", epilog=_EXAMPLE)
def command() -> None:
    """Jail sessions: what one command of an agent leaves in the background, the next one can reach and kill.

    A session begins with an agent's first command and ends with the agent, by `end`, or after 30 idle minutes. `--one-shot` and the profile key
    `jail.one_shot` give each command a jail of its own.
    """


@command.command(name="list", epilog="\b\nExample:\n  instinct session list --json")
@_JSON
def list_sessions(*, as_json: bool) -> None:
    """Every session of yours, with what runs in it."""
    found = live(wiring.state_dir())
    for one in found:
        _show(one, as_json=as_json)
    if not found and not as_json:
        click.echo("no session is open", err=True)


@command.command(name="end", epilog="\b\nExample:\n  instinct session end claude-4711.90210")
@click.argument("session", default="")
@_JSON
def end_session(session: str, *, as_json: bool) -> None:
    """End a session, by name or key, with everything that runs in it; without a name all of them."""
    ended = end(wiring.state_dir(), session)
    for one in ended:
        _show(one, as_json=as_json)
    if not as_json:
        click.echo(f"{len(ended)} ended", err=True)


def _show(one: Live, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({name: getattr(one, name) for name in one._fields}))
        return
    agent = alive(one.agent) if one.agent else None
    whose = f"agent {agent.agent or agent.name} {agent.pid} for {duration(agent.seconds)}" if agent else "no agent known"
    click.echo(f"{one.key[:8]}  {one.name}  {one.profile}  {one.workspace}  {whose}, {one.running} running, {one.background} in the background")
