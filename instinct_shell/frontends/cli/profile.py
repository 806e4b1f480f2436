"""`instinct profile`: show a resolved profile, compare two, validate a file."""

from __future__ import annotations

import json
import os

import click

from ...storage.profile_schema import KEYS, as_money, direction, tighter
from ...storage.profiles import PROJECT_FILE, ProfileStore, Resolved

_EXAMPLES = "\b\nExamples:\n  instinct profile show dev\n  instinct profile diff dev prod\n  instinct profile validate .instinct.toml"


@click.group(name="profile", epilog=_EXAMPLES)
def command() -> None:
    """Show, compare and validate profiles."""


@command.command(name="show", epilog="\b\nExample:\n  instinct profile show prod --json")
@click.argument("name", required=False, default="")
@click.option("--workspace", default="", help="Resolve as for a command in this workspace, its project file included.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(name: str, workspace: str, as_json: bool) -> None:
    """Print a profile as it counts: everything it extends resolved, and its digest."""
    resolved = ProfileStore(cache=False).effective(name, workspace or os.getcwd(), _requests())
    if as_json:
        click.echo(json.dumps(_as_data(resolved), ensure_ascii=False))
        return
    click.echo(f"# profile {resolved.name}" + (f", extends {' < '.join(resolved.extends)}" if resolved.extends else ""))
    click.echo(f"# digest {resolved.digest}")
    for line in resolved.lines():
        click.echo(line)


@command.command(name="diff", epilog="\b\nExample:\n  instinct profile diff dev staging")
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def diff(before: str, after: str, as_json: bool) -> None:
    """Print what changes from one profile to another, and whether each change tightens or loosens."""
    store = ProfileStore(cache=False)
    one, two = (_named_or_file(store, each) for each in (before, after))
    changes = []
    for path in KEYS:
        if KEYS[path].order == "free":
            continue
        old, new = (side.values.get(path, side.values["effects.default"] if path.startswith("effects.") else None) for side in (one, two))
        if old != new:
            changes.append((path, old, new, "tightens" if tighter(path, old, new) else "loosens"))
    if as_json:
        click.echo(
            json.dumps([{"key": path, "before": old, "after": new, "change": word} for path, old, new, word in changes], ensure_ascii=False)
        )
        return
    for path, old, new, word in changes:
        if KEYS[path].kind == "money" and isinstance(old, int) and isinstance(new, int):
            old, new = as_money(old), as_money(new)
        click.echo(f"{path}: {_change(old, new)}  ({word})")
    for rule in two.rules:
        if rule not in one.rules:
            click.echo(f"rule {rule[0]}: added, {rule[1]}")
    for row in two.programs:
        if row not in one.programs:
            click.echo(f"program {' '.join(row[0])}: described" if isinstance(row[0], tuple) else "program: described")
    for entry, _ in two.plugged:
        if entry not in dict(one.plugged):
            click.echo(f"instinct {entry}: plugged in")


@command.command(name="validate", epilog="\b\nExample:\n  instinct profile validate ~/.config/instinct-shell/team.toml")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def validate(names: tuple[str, ...], as_json: bool) -> None:
    """Check profiles or profile files (a project file is checked against what it may tighten); without arguments, all that can be chosen."""
    store = ProfileStore(cache=False)
    good = []
    for name in names or store.names():
        resolved = _named_or_file(store, name)
        good.append({"profile": name, "digest": resolved.computed_digest})
    if as_json:
        click.echo(json.dumps(good))
        return
    for entry in good:
        click.echo(f"{entry['profile']}: valid, digest {entry['digest'][:16]}")


def _named_or_file(store: ProfileStore, name: str) -> Resolved:
    return (
        store.resolve_file(os.path.abspath(name)) if "/" in name or name.endswith(".toml") or name == PROJECT_FILE else store.resolve(name)
    )


def _requests() -> dict[str, str]:
    wanted = os.environ.get("INSTINCT_PROFILE", "")
    return {"INSTINCT_PROFILE": wanted} if wanted else {}


def _as_data(resolved: Resolved) -> dict[str, object]:
    values = {path: {"value": value, "tightens": direction(path)} for path, value in resolved.values.items()}
    return {
        "name": resolved.name,
        "digest": resolved.digest,
        "extends": resolved.extends,
        "values": values,
        "caches": dict(resolved.caches),
        "rules": resolved.rules,
        "programs": resolved.programs,
        "instincts": resolved.plugged,
    }


def _change(old: object, new: object) -> str:
    if isinstance(old, tuple) and isinstance(new, tuple):
        parts = [f"+{entry}" for entry in new if entry not in old] + [f"-{entry}" for entry in old if entry not in new]
        return " ".join(parts) or "another order"
    return f"{old} -> {new}"
