"""`instinct doctor`: the jail that this machine gives, and forbidden acts really tried inside one; with --agent, a real agent tried under guard."""

from __future__ import annotations

import json
import os
import platform
import sys

import click

from ...errors import Exit
from ...execution.doctor import Canary, Host, examine, host
from ...execution.jail.hosts import ALLOW_LISTS, FEATURES, KINDS
from ...execution.processes import above, duration
from ...execution.registries import account_home, package_registries
from ...model.jailspec import JailLevel
from ...model.version import VERSION
from ...resident.client import PACKAGE
from ..present import style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..present import Style


@click.command("doctor", epilog="\b\nExample:\n  instinct doctor --level partial\nStatus: 0 healthy, 125 not.")
@click.option(
    "--level", type=click.Choice(["full", "partial"]), default="full", help="Try a jail of this level, not above (default: the best)."
)
@click.option("--agent", metavar="NAME", default="", help="Start this agent with a scripted model and see that it is under guard, instead.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, level: str, agent: str, *, as_json: bool) -> None:
    """Tell level, layers and versions, and try in a real jail what a command must not be able to do."""
    if agent:
        from .proving import doctored

        ctx.exit(doctored(agent, as_json=as_json))
    machine = host()
    canaries = examine(JailLevel(level)) if machine.level is not JailLevel.NONE else []
    healthy = bool(canaries) and all(canary.healthy for canary in canaries)
    if as_json:
        click.echo(json.dumps(report(machine, canaries, healthy=healthy)))
    else:
        for line in _lines(machine, canaries, style_of(sys.stdout, os.environ), healthy=healthy):
            click.echo(line)
    ctx.exit(Exit.OK if healthy else Exit.FAILED)


def report(machine: Host, canaries: list[Canary], *, healthy: bool) -> dict[str, object]:
    """What was found, as JSON-able data."""
    return {
        "healthy": healthy,
        "agents": [{"agent": one.agent, "pid": one.pid, "seconds": one.seconds} for one in above() if one.agent],
        "product": VERSION,
        "python": platform.python_version(),
        "launcher": launcher(),
        "network_allowlist": _held(machine),
        "package_registries": list(_registries()),
        **{name: getattr(machine, name) if name != "layers" else list(machine.layers) for name in machine._fields},
        "canaries": [{name: getattr(canary, name) for name in canary._fields} | {"healthy": canary.healthy} for canary in canaries],
    }


def launcher() -> str:
    """Which program starts commands here."""
    built = os.path.join(os.path.dirname(PACKAGE), "bin", "launcher", "build", "instinct-exec")
    if os.access(built, os.X_OK):
        return f"C (`{built}`), and Python for what is left to it"
    return "Python; with a C compiler bin/setup builds a faster one"


def _held(machine: Host) -> str:
    """Whether a list of hosts can be held here, in the words of the table of hosts."""
    place = FEATURES.index(ALLOW_LISTS)
    return next((kind.features[place] for kind in KINDS if kind.kind == machine.kind), "no").replace("yes", "held")


def _registries() -> tuple[str, ...]:
    return package_registries(account_home())


def _lines(machine: Host, canaries: list[Canary], style: Style, *, healthy: bool) -> Iterator[str]:
    yield f"instinct-shell {VERSION}, Python {platform.python_version()}, kernel {machine.kernel} on {machine.machine}, bash {machine.bash}"
    if agents := [one for one in above() if one.agent]:
        yield style.clean("called by " + ", under ".join(f"{one.agent} (process {one.pid}, for {duration(one.seconds)})" for one in agents))
    yield f"jail level: {style.paint(str(machine.level), '1')} ({', '.join(machine.layers) or 'no layer'})"
    yield style.clean(f"launcher: {launcher()}")
    judged = f"cannot be judged: {machine.execs}" if machine.execs else "judged where the profile says so (`supervise_execs`: staging, prod)"
    yield style.clean(f"programs that a command starts: {judged}")
    yield style.clean(f"network allow-lists: {_held(machine)}; `@package-registries` here: {', '.join(_registries()) or 'nothing, no file names an index'}")
    yield style.clean(f"kind of host: {machine.kind}")
    if machine.obstacle:
        yield style.clean(f"  no namespaces of our own, because {machine.obstacle}")
        yield style.clean(f"  mend: {machine.hint}")
    if machine.advice:
        yield style.clean(f"  further: {machine.advice}")
    if canaries:
        yield "tried inside a real jail:"
    for canary in canaries:
        if canary.stopped:
            word, how = style.paint("stopped", "32"), f"by {canary.stopped_by}" if canary.stopped_by else ""
        else:
            word, how = (
                (style.paint("ESCAPED", "1;31"), "") if canary.claimed else (style.paint("open   ", "33"), "not claimed at this level")
            )
        yield f"  {word} {canary.act:<58} {how}".rstrip()
    held = sum(canary.stopped for canary in canaries)
    yield f"{held} of {len(canaries)} stopped; " + (
        "healthy" if healthy else style.paint("NOT healthy: commands that need this jail are refused", "1;31")
    )
