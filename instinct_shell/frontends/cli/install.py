"""`instinct install AGENT` and `instinct uninstall AGENT`: an agent's hooks and shell, shown before they are changed and given back byte for byte."""

from __future__ import annotations

import json
import os
import sys

import click

from ...errors import ApprovalError, Exit, UsageError
from ..hooks.registry import AGENTS
from ..install.recipes import Place, recipe
from ..present import style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.profile import Profile
    from ..install.installer import Change
    from ..install.recipes import Recipe
    from ..proof.canary import Proof

AGENT = click.Choice(AGENTS)


@click.command("install", epilog="Example: instinct install claude --dry-run")
@click.argument("agent", type=AGENT)
@click.option("--project", is_flag=True, help="For this project only, in its own files (default: for you, in your home).")
@click.option("--user", "for_user", is_flag=True, help="For you, wherever you work: the default.")
@click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
@click.option("--no-passphrase", is_flag=True, help="Do not ask for a passphrase; nobody can approve anything then.")
@click.option("--no-proof", is_flag=True, help="Do not start the agent with a scripted model to see that it is under guard.")
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
@click.pass_context
def command(
    ctx: click.Context, agent: str, *, project: bool, for_user: bool, dry_run: bool, no_passphrase: bool, no_proof: bool, as_json: bool
) -> None:
    """Put an agent under guard: write its hooks and our programs, keep what was there, say what stays open."""
    from ..install import launchers
    from ..install.installer import Installations, plan

    outside()
    if project and for_user:
        raise UsageError("--project and --user exclude each other", hint="choose one")
    place, profile = place_of(project=project)
    launchers.check_place(place.data, scopes(profile, place.base if project else ""))
    what = recipe(agent, place)
    changes = plan(what.edits)
    if not as_json:
        _show(changes, dry_run=dry_run)
    if not dry_run:
        from ...wiring import state_dir

        state = state_dir()
        launchers.write(place.data, state)
        Installations(state).apply(agent, changes)
        if not no_passphrase and not as_json:
            _offer_passphrase()
    from .proving import prove_in, tell

    proof = None if dry_run or no_proof or project else prove_in(place, agent)
    _report(agent, what, changes, place, proof, dry_run=dry_run, as_json=as_json)
    if proof is not None and not as_json:
        tell(proof, err=True)
    ctx.exit(Exit.OK if proof is None or proof.proven else Exit.FAILED)


@click.command("uninstall", epilog="Example: instinct uninstall claude")
@click.argument("agent", type=AGENT)
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
def uninstall(agent: str, *, as_json: bool) -> None:
    """Give every file back as it was before; our own programs go with the last agent."""
    from ...wiring import state_dir
    from ..install import launchers
    from ..install.installer import Installations

    outside()
    place, _ = place_of(project=False)
    installed = Installations(state_dir())
    done = {path: installed.remove(agent, path, place.hook) for path in installed.paths(agent)}
    if not installed.agents():
        launchers.remove(place.data)
    if as_json:
        click.echo(json.dumps({"agent": agent, "files": done}))
        return
    for path, how in done.items():
        click.echo(f"{how:<9} {path}")
    if not done:
        click.echo(f"{agent} is not installed", err=True)


def outside() -> None:
    """Raise ApprovalError inside a jail: an agent does not change its own guard."""
    from ...execution.jail.inside import inside

    if inside():
        raise ApprovalError("installations are not changed from inside a jail", hint="a person types this in their own terminal")


def scopes(profile: Profile, project: str) -> tuple[str, ...]:
    """The folders that commands of this profile may write, as far as they are known without a workspace."""
    known = {"{workspace}": project, "{tmp}": "" if profile.private_tmp else "/tmp"}  # noqa: S108  # named to be avoided
    return tuple(folder for folder in (known.get(each, each) for each in profile.writable) if folder.startswith("/"))


def place_of(*, project: bool) -> tuple[Place, Profile]:
    """Where an installation goes, and the profile that commands run under."""
    from ...execution.host import Person
    from ...execution.workspace import git_top_level
    from ...storage.profiles import ProfileStore
    from ..install.launchers import data_directory

    home = Person(os.environ).home
    here = git_top_level(os.getcwd())
    base = here if project else home
    overrides = {"INSTINCT_PROFILE": os.environ["INSTINCT_PROFILE"]} if os.environ.get("INSTINCT_PROFILE") else {}
    return Place(base, data_directory(os.environ, home), project), ProfileStore().load("", here, overrides)


def _show(changes: tuple[Change, ...], *, dry_run: bool) -> None:
    for change in changes:
        if change.needed:
            click.echo(change.diff(), nl=False)
    if not any(change.needed for change in changes):
        click.echo("everything is in place already" if not dry_run else "nothing would change", err=True)


def _offer_passphrase() -> None:
    """Ask a person for the passphrase that approvals take, once."""
    from ...storage.grants import GrantBook
    from ...wiring import state_dir

    book = GrantBook(state_dir())
    if book.passphrase_is_set():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        click.echo("approvals are off: no passphrase is set; run this again on a terminal to set one", err=True)
        return
    click.echo("A passphrase lets you approve single commands (`instinct approve`). Leave it empty to keep approvals off.", err=True)
    chosen = click.prompt("passphrase", hide_input=True, confirmation_prompt=True, default="", show_default=False, err=True)
    if chosen:
        book.set_passphrase(chosen)


def _report(
    agent: str, what: Recipe, changes: tuple[Change, ...], place: Place, proof: Proof | None, *, dry_run: bool, as_json: bool
) -> None:
    from ...execution.jail.probe import probe
    from .proving import shown as shown_proof

    reach = probe()
    level = str(reach.level)
    if as_json:
        shown = {
            "agent": agent,
            "dry_run": dry_run,
            "files": [{"path": change.path, "changed": change.needed} for change in changes],
            "programs": place.data,
            "start": what.start or agent,
            "steps": list(what.steps),
            "holes": list(what.holes),
            "proven": what.proven,
            "proof": None if proof is None else shown_proof(proof),
            "jail": {"level": level, "obstacle": reach.obstacle, "hint": reach.hint},
        }
        click.echo(json.dumps(shown))
        return
    style = style_of(sys.stderr, os.environ)

    def say(head: str, text: str) -> None:
        click.echo(f"{style.paint(head, '1')} {text}", err=True)

    say("jail:", f"level {level}" + (f"; {reach.obstacle}" if level != "full" and reach.obstacle else ""))
    if level != "full" and reach.hint:
        say("  mend:", reach.hint)
    say("start:", what.start or f"{agent}, as ever")
    for step in what.steps:
        say("once:", step)
    for hole in what.holes:
        say("not covered:", hole)
    if what.proven != "client":
        say("note:", "written from the agent's documentation, not proven with the agent itself")
