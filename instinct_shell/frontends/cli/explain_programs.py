"""`instinct explain program NAME` and `instinct explain programs`: what the catalog knows, the person's own rows included."""

from __future__ import annotations

import json
import os

import click

from ...errors import UsageError

_PROFILE = click.option("--profile", default="", metavar="NAME", help="With the rows of this profile (default: yours).")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


@click.command("program", epilog="\b\nExample:\n  instinct explain program git --json")
@click.argument("name")
@_PROFILE
@_JSON
def program(name: str, profile: str, *, as_json: bool) -> None:
    """What is known of a program: its row in the table, and what is said of it in words."""
    from ...effects.catalog import Catalog
    from ...effects.explain import explain, row_object
    from ...effects.own_rows import rows_of

    catalog = Catalog(rows_of(_profile(profile).programs))
    told = explain(name, catalog)
    if not told:
        near = _nearest(name, catalog.names())
        raise UsageError(
            f"the catalog has no row for `{name}`" + (f" (did you mean `{near}`?)" if near else ""),
            hint="such a program is judged by what it is given; describe it with [[program]] in your profile",
        )
    if as_json:
        click.echo(json.dumps(row_object(name, catalog)))
        return
    width = min(22, max(len(label) for label, _ in told))
    for label, text in told:
        first, *rest = text.split("\n")
        click.echo(f"{label:<{width}}  {first}")
        for line in rest:
            click.echo(f"{'':<{width}}  {line.strip()}")


@click.command("programs", epilog="\b\nExample:\n  instinct explain programs")
@_PROFILE
@_JSON
def programs(profile: str, *, as_json: bool) -> None:
    """How many programs the catalog knows, by family."""
    from ...effects.catalog import FAMILIES, MODULES

    own = [name for row in _profile(profile).programs for name in row.names]
    families = {family: names.split() for family, names in FAMILIES}
    if own:
        families["profile"] = own
    total = len({*MODULES, *own})
    if as_json:
        click.echo(json.dumps({"programs": total, "families": families}))
        return
    for family, names in families.items():
        click.echo(f"{family:<20} {len(names):>5}  {' '.join(names[:8])}{' ...' if len(names) > 8 else ''}")
    click.echo(f"{'programs':<20} {total:>5}")


def _profile(name: str) -> Profile:
    from ...execution.workspace import git_top_level
    from ...storage.profiles import ProfileStore

    overrides = {key: os.environ[key] for key in ("INSTINCT_PROFILE",) if os.environ.get(key)}
    return ProfileStore().load(name, git_top_level(os.getcwd()), overrides)


def _nearest(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, 1, 0.75)), "")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.profile import Profile
