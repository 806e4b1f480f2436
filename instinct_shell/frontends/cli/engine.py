"""`instinct engine`: the warm process that judges for launchers. It starts by itself; these verbs are for looking and for stopping it."""

from __future__ import annotations

import json

import click

from ...errors import InstinctError
from ...resident import client, protocol, start

_EXAMPLE = "\b\nExample:\n  instinct engine status\n  INSTINCT_ENGINE=off instinct check -c 'git status'    (never ask an engine)"
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
_WAIT_S, _AGAIN_S = 20.0, 2.0  # for an answer; for one that another command has just begun to start, and that may have been killed at it


@click.group(name="engine", epilog=_EXAMPLE)
def command() -> None:
    """The warm engine: judges and nothing else, so that a command does not wait for imports. Without one everything works the same, slower."""


@command.command(name="status", epilog="\b\nExample:\n  instinct engine status --json")
@_JSON
def status(*, as_json: bool) -> int:
    """Whether an engine answers; exit status 1 when none does."""
    said = _ask(protocol.ABOUT)
    if as_json:
        click.echo(json.dumps({"running": said is not None, "about": said or "", "trouble": client.trouble}))
    else:
        click.echo(f"running: {said}" if said is not None else f"not running ({client.trouble}); it starts with the next command")
    return 0 if said is not None else 1


@command.command(name="start", epilog="\b\nExample:\n  instinct engine start")
@_JSON
def start_engine(*, as_json: bool) -> int:
    """Start an engine now, and wait until it answers."""
    import time

    said, until, due = _ask(protocol.ABOUT), time.monotonic() + _WAIT_S, 0.0
    while said is None and (now := time.monotonic()) < until:
        if not due or (now >= due and client.trouble == client.ABSENT):
            due = now + _AGAIN_S
            if not start.start():
                raise InstinctError(
                    "an engine is started from an installation or a checkout", hint="use bin/instinct, or the programs of `instinct install`"
                )
        time.sleep(0.1)
        said = _ask(protocol.ABOUT)
    if said is None:
        raise InstinctError(f"no engine answers ({client.trouble})", hint="run `bin/instinct engine serve` and look at what it says")
    click.echo(json.dumps({"running": True, "about": said}) if as_json else f"running: {said}")
    return 0


@command.command(name="stop", epilog="\b\nExample:\n  instinct engine stop")
@_JSON
def stop(*, as_json: bool) -> int:
    """End the engine; calls in hand are finished. The next command starts a new one unless INSTINCT_ENGINE=off."""
    stopped = _ask(protocol.STOP) is not None
    click.echo(json.dumps({"stopped": stopped}) if as_json else "stopped" if stopped else "no engine was running")
    return 0


@command.command(name="record-end", hidden=True)
@click.argument("run")
@click.argument("report")
@click.argument("again", required=False, default="")
def record_end(run: str, report: str, again: str) -> int:
    """Write down how a run ended; a launcher's last resort when no engine is left to do it."""
    from ..served import served_end

    return served_end([run, report, again] if again else [run, report])


@command.command(name="serve", hidden=True)
def serve() -> int:
    """Be the engine, in this process."""
    from ..served import serve as run

    return run()


def _ask(question: int) -> str | None:
    """The engine's answer; None when there is no engine, and `client.trouble` says why."""
    connection = client.call()
    if connection is None:
        return None
    answer = client.ask(connection, protocol.message(protocol.record(question)))
    return None if answer is None else answer.get(protocol.TO_STDOUT, b"").decode("utf-8", "replace")
