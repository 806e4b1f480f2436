"""The canary through a real agent, as `instinct install` ends with it and `instinct doctor --agent NAME` repeats it."""

from __future__ import annotations

import json
import os
import sys

import click

from ...errors import Exit, UsageError
from ..present import style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..install.recipes import Place
    from ..proof.canary import Proof


def prove_in(place: Place, agent: str) -> Proof | None:
    """Prove an installation; None when the agent is not installed, or cannot be driven without a person."""
    from ...execution.host import Person
    from ...wiring import state_dir
    from ..proof.canary import prove
    from ..proof.clients import CLIENTS

    return prove(agent, place.starter, os.environ, state_dir(), _scratch(Person(os.environ).home)) if agent in CLIENTS else None


def doctored(agent: str, *, as_json: bool) -> int:
    """Prove the agent for `instinct doctor`; the exit status."""
    from ..proof.clients import CLIENTS
    from .install import outside, place_of

    outside()
    if agent not in CLIENTS:
        raise UsageError(f"`{agent}` cannot be driven without a person", hint="agents that can: " + ", ".join(CLIENTS))
    proof = prove_in(place_of(project=False)[0], agent)
    if proof is None:
        raise UsageError(f"`{CLIENTS[agent].program}` is not on PATH", hint="install the agent, or add its folder to PATH")
    if as_json:
        click.echo(json.dumps(shown(proof)))
    else:
        tell(proof, err=False)
    return Exit.OK if proof.proven else Exit.FAILED


def shown(proof: Proof) -> dict[str, object]:
    """The proof as JSON-able data."""
    points = [{"what": point.what, "shown": point.shown, "detail": "" if point.shown else point.detail} for point in proof.points]
    return {"agent": proof.agent, "program": proof.program, "proven": proof.proven, "points": points}


def tell(proof: Proof, *, err: bool) -> None:
    """The proof for a person, a line a point."""
    style = style_of(sys.stderr if err else sys.stdout, os.environ)
    click.echo(f"tried with {style.clean(proof.program)} and a scripted model:", err=err)
    for point in proof.points:
        click.echo(f"  {style.paint('shown', '32') if point.shown else style.paint('NOT SHOWN', '1;31')} {point.what}", err=err)
        for line in [] if point.shown else point.detail.strip().splitlines()[-8:]:
            click.echo(f"      | {style.clean(line)}", err=err)
    click.echo("under guard" if proof.proven else style.paint("NOT under guard: what is not shown above is not stopped", "1;31"), err=err)


def _scratch(home: str) -> str:
    """The person's cache folder of ours: no folder above it is for others to write, as some agents want it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = os.path.join(base if base.startswith("/") else os.path.join(home, ".cache"), "instinct-shell")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder
