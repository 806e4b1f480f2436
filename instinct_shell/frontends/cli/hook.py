"""`instinct hook`: what an agent's hook configuration calls. The work is in frontends/hooks; here are only help and completion."""

from __future__ import annotations

import click

from ..hooks.protocol import MOMENTS
from ..hooks.registry import AGENTS


@click.command("hook", epilog="\b\nExample:\n  echo '{...}' | instinct hook --agent claude pre\nIt is called by the agent; `instinct install` registers it.")
@click.option("--agent", required=True, type=click.Choice(AGENTS), help="Whose JSON is spoken.")
@click.option("--exec", "exec_path", default="", metavar="PATH", help="Rewrite allowed shell calls to this instinct-exec.")
@click.option("--shell-held", is_flag=True, help="The agent's shell is ours: what it runs is judged and jailed there.")
@click.option("--timeout", default="0", metavar="SECONDS", help="The agent's own time-out; the answer comes at half of it.")
@click.option("--profile", default="", metavar="NAME", help="dev, staging, prod, or stricter than yours.")
@click.argument("event", type=click.Choice(list(MOMENTS)))
def command(agent: str, exec_path: str, timeout: str, profile: str, event: str, *, shell_held: bool) -> int:
    """Answer one hook call of an agent: JSON on stdin, the agent's own answer on stdout. Any failure denies."""
    from ..hooks.entry import main

    words = ["--agent", agent, "--exec", exec_path, "--timeout", timeout, "--profile", profile, *(["--shell-held"] if shell_held else []), event]
    return main(words)
