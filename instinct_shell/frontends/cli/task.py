"""`instinct task`: what the work is, stated by a person. What a command does outside it is asked for, with the task quoted."""

from __future__ import annotations

import json
import os
import time

import click

from ...errors import UsageError
from ...execution.workspace import choose_workspace
from ...instincts.patterns import any_matches
from ...model.effect import EffectKind
from ...storage import tasks
from ...wiring import state_dir

_SESSION = click.option(
    "--session", default="", envvar="INSTINCT_SESSION", metavar="ID", help="The session (default: INSTINCT_SESSION, else the workspace)."
)
_WORKSPACE = click.option("--workspace", default="", metavar="DIR", help="The folder the agent works in (default: the git top level).")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


@click.group(
    name="task",
    epilog="\b\nExamples:\n  instinct task set 'mend the date parser' --paths src/dates,tests --operations 'file.*'\n"
    "  instinct task show\n  instinct task clear",
)
def command() -> None:
    """State, show and clear the task. Without one nothing is outside it."""


@command.command(
    name="set",
    epilog="\b\nExample:\n  instinct task set 'mend the date parser' --paths src/dates --paths tests --operations 'file.*,git.*'",
)
@click.argument("text")
@click.option(
    "--paths", multiple=True, metavar="PATTERN", help="Where it may change files: patterns as in a profile; repeat, or separate by commas."
)
@click.option("--operations", multiple=True, metavar="KIND", help="Effect kinds it may need, such as file.* or package.install.")
@_SESSION
@_WORKSPACE
@_JSON
def set_(text: str, paths: tuple[str, ...], operations: tuple[str, ...], session: str, workspace: str, *, as_json: bool) -> None:
    """Say what the work is. Reading and running stay free; other changes than these are asked for."""
    if not text.strip():
        raise UsageError("the task needs a text", hint="for example: instinct task set 'mend the date parser'")
    if len(text) > tasks.LONGEST:
        raise UsageError(
            f"the task is longer than {tasks.LONGEST} characters", hint="one sentence is enough; paths and operations say the rest"
        )
    named_paths, named_operations = _listed(paths), _listed(operations)
    for entry in named_operations:
        if not any(any_matches((entry,), kind.value) for kind in EffectKind):
            raise UsageError(f"operation `{entry}` matches no kind of effect", hint="such as file.*, git.*, package.install, db.write")
    if len(named_paths) > tasks.MOST or len(named_operations) > tasks.MOST:
        raise UsageError(f"more than {tasks.MOST} entries", hint="name folders instead of files")
    task = tasks.Task(" ".join(text.split()), named_paths, named_operations, time.time())
    tasks.keep(state_dir(), session, _place(workspace), task)
    if as_json:
        click.echo(json.dumps(_object(task)))
    if not named_paths and not named_operations:
        click.echo("nothing is outside this task: name --paths or --operations, and other changes are asked for", err=True)


@command.command(name="show", epilog="\b\nExample:\n  instinct task show --json")
@_SESSION
@_WORKSPACE
@_JSON
def show(session: str, workspace: str, *, as_json: bool) -> int:
    """Show the task that holds here (exit status 1 when there is none)."""
    task = tasks.current(state_dir(), session, _place(workspace))
    if as_json:
        click.echo(json.dumps(_object(task) if task else None))
    elif task is None:
        click.echo("no task is set; nothing is outside it")
    else:
        click.echo(task.text)
        click.echo(f"  paths       {' '.join(task.paths) or 'any'}")
        click.echo(f"  operations  {' '.join(task.operations) or 'any'}")
        click.echo(f"  since       {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(task.at))}")
    return 0 if task else 1


@command.command(name="clear", epilog="\b\nExample:\n  instinct task clear")
@_SESSION
@_WORKSPACE
@_JSON
def clear(session: str, workspace: str, *, as_json: bool) -> None:
    """Forget the task."""
    gone = tasks.clear(state_dir(), session, _place(workspace))
    if as_json:
        click.echo(json.dumps({"cleared": gone}))
    elif not gone:
        click.echo("no task was set", err=True)


def _listed(entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.strip().rstrip("/") for entry in entries for piece in entry.split(",") if piece.strip()))


def _place(workspace: str) -> str:
    from ...execution.host import Person

    return choose_workspace(workspace, os.environ, os.getcwd(), Person(os.environ).homes)


def _object(task: tasks.Task) -> dict[str, object]:
    return {"text": task.text, "paths": list(task.paths), "operations": list(task.operations), "at": task.at}
