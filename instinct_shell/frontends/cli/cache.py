"""`instinct cache`: the folders in which tools keep their caches, one for each workspace."""

from __future__ import annotations

import json
import os
import time

import click

from ...errors import UsageError
from ...execution.caches import Kept, kept, remove
from ...execution.host import Person
from ...execution.processes import duration
from ...model.refusal import explain
from ...resident import protocol
from ...wiring import state_dir

_EXAMPLE = "\b\nExample:\n  instinct cache list\n  instinct cache clean --unused 30\n  instinct cache clean ~/projects/shop"
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object a folder.")


@click.group(name="cache", epilog=_EXAMPLE)
def command() -> None:
    """Caches of package managers in a jail: each workspace has its own, which begins with what your caches hold and never changes those.

    Removing one costs downloads, nothing else. What runs in a jail at that moment may miss a file of its cache.
    """


@command.command(name="list", epilog="\b\nExample:\n  instinct cache list --json")
@_JSON
def list_caches(*, as_json: bool) -> None:
    """Every cache folder of yours, the largest first."""
    engine = protocol.folder(os.environb, os.getuid())
    nobodys = {os.path.realpath(each) for each in (os.fsdecode(engine), os.path.join(state_dir(), "run")) if each}  # where the warm engine works
    found = [one for one in kept(_home()) if one.workspace not in nobodys]
    for one in found:
        _show(one, as_json=as_json)
    if not as_json:
        click.echo(f"{len(found)} folders, {sum(one.size for one in found) / 1e6:.1f} MB", err=True)


@command.command(name="clean", epilog="\b\nExample:\n  instinct cache clean --unused 30")
@click.argument("workspace", default="")
@click.option("--unused", "days", type=click.IntRange(min=0), default=None, metavar="DAYS", help="Those in which nothing was made for so many days.")
@click.option("--all", "everything", is_flag=True, help="Every one of them.")
@_JSON
def clean(workspace: str, *, days: int | None, everything: bool, as_json: bool) -> None:
    """Remove the cache folder of a workspace, of those unused for long, or of all."""
    if bool(workspace) + (days is not None) + everything != 1:
        raise UsageError("say which: a workspace, --unused DAYS or --all", hint="see `instinct cache clean --help`")
    place = os.path.realpath(workspace) if workspace else ""
    for one in kept(_home()):
        if everything or (place and one.workspace == place) or (days is not None and one.used_at < time.time() - days * 86400):
            try:
                remove(one.path)
            except OSError as error:
                raise explain(error, one.path) from error
            _show(one, as_json=as_json)


def _home() -> str:
    return Person(os.environ).home


def _show(one: Kept, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({name: getattr(one, name) for name in one._fields}))
        return
    gone = "" if not one.workspace or os.path.isdir(one.workspace) else "  (the workspace is gone)"
    click.echo(f"{one.size / 1e6:9.1f} MB  {duration(int(time.time() - one.used_at)):>12} ago  {one.workspace or one.path}{gone}")
