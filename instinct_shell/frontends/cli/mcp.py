"""`instinct mcp`: the guarded tools for an agent that speaks MCP, on stdin and stdout."""

from __future__ import annotations

import os

import click

_EXAMPLES = """\b
Examples:
  claude --disallowedTools Bash Write Edit --mcp-config '{"mcpServers": {"instinct": {"command": "instinct", "args": ["mcp"]}}}'
  instinct mcp --workspace /srv/app --session nightly

Tools: run_command read_file write_file edit_file delete_file move_file apply_patch check budget."""


@click.command("mcp", epilog=_EXAMPLES)
@click.option("--profile", default="", metavar="NAME", help="dev, staging, prod, or stricter than yours.")
@click.option("--workspace", default="", metavar="DIR", help="The folder the agent works in (default: the git top level).")
@click.option("--session", default="", metavar="ID", help="The agent's session (default: the agent's own, else a new one).")
@click.option("--tools", "list_tools", is_flag=True, help="Print the tools and end.")
@click.option("--json", "as_json", is_flag=True, help="With --tools: as one JSON object.")
def command(profile: str, workspace: str, session: str, *, list_tools: bool, as_json: bool) -> int:
    """Serve run_command, the file tools, check and budget to one client over stdio. It ends when the client hangs up."""
    from ..mcp_tools import TOOLS

    if list_tools:
        import json

        if as_json:
            click.echo(json.dumps({"tools": [tool.described() for tool in TOOLS]}))
        for tool in () if as_json else TOOLS:
            click.echo(f"{tool.name:<12} {tool.description}")
        return 0
    return serve(profile, workspace, session)


def serve(profile: str, workspace: str, session: str) -> int:
    """Take stdin and stdout for the protocol alone and serve them."""
    import gc

    from ...errors import UsageError
    from ...execution.agents import identify
    from ...execution.jail.inside import inside
    from ...wiring import Guard, open_guard
    from ..mcp import Served, Server

    if inside():
        raise UsageError("the MCP server works outside the jail only", hint="let the agent start it, not a command of the agent")
    gc.enable()  # this one lives long; the launcher starts without
    agent, found = identify(os.environ)
    session = session or os.environ.get("INSTINCT_SESSION", "") or found or f"mcp-{os.getpid()}-{os.urandom(4).hex()}"
    # INVARIANT: nothing but the protocol reaches the client: whoever else writes to descriptor 1 writes to stderr.
    source, sink = os.dup(0), os.dup(1)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)

    def guard() -> Guard:
        return open_guard(profile=profile, workspace=workspace, session=session)

    guard().close()  # a profile or a workspace that cannot be used is told before a client connects
    return Server(Served(session, profile, workspace, agent), guard, source, sink).serve()
