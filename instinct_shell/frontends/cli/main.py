"""`instinct`: the verbs. Each lives in one file and is loaded when it is called; `check` has a way past click, since agents call it cold."""

from __future__ import annotations

import sys

from ...errors import Exit
from ..failure import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    import click

# verb -> (module below this package, and in it the command when it is not `command`, what stands in `instinct --help`)
VERBS = {
    "check": ("check", "Judge a command and run nothing."),
    "explain": ("explain", "Show how a command was read and what each instinct said."),
    "doctor": ("doctor", "Tell which jail this machine gives, and try to break out of it."),
    "profile": ("profile", "Show, compare and validate profiles."),
    "audit": ("audit", "List, show and verify the audit trail."),
    "task": ("task", "State the task; what is outside it is asked for."),
    "budget": ("budget", "Show and set ceilings; reserve, commit and release spend."),
    "undo": ("undo", "Give back what a run deleted or overwrote."),
    "overlay": ("overlay", "Look at, commit or throw away what ran apart from the workspace."),
    "session": ("session", "List and end jail sessions."),
    "cache": ("cache", "List and remove the tools' caches, one for each workspace."),
    "engine": ("engine", "Start, stop and look at the warm engine."),
    "file": ("file", "Read, write, edit, delete, move and patch files, judged."),
    "mcp": ("mcp", "Serve the guarded tools to an agent over MCP."),
    "hook": ("hook", "Answer an agent's hook call; `instinct install` registers it."),
    "install": ("install", "Put an agent under guard: its hooks, its shell, your passphrase."),
    "uninstall": ("install:uninstall", "Take an installation back, byte for byte."),
    "pending": ("approve:pending", "List what waits for a person."),
    "approve": ("approve", "Allow one waiting command, exactly once."),
    "deny": ("approve:deny", "Take a waiting command off the list."),
}


def main(arguments: list[str] | None = None) -> int:
    """The program `instinct`; returns its exit status. `arguments` are those of this process when None."""
    given = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: _run(given), usage_status=Exit.FAILED if given[:1] == ["check"] else Exit.USAGE)


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] == "check":
        from ...resident.start import start_if_missed
        from .check import options_from, run

        options = options_from(arguments[1:])
        if options is not None:
            status = run(options)
            start_if_missed()
            return status
    if arguments == ["engine", "serve"]:
        from ..served import serve

        return serve()
    if arguments and arguments[0] == "hook" and not {"-h", "--help"} & set(arguments):
        from ..hooks.entry import main as hook

        return hook(arguments[1:])
    from .group import run_click

    return run_click(arguments)


def load(verb: str) -> click.Command:
    """The click command of a verb."""
    from importlib import import_module

    name, _, attribute = VERBS[verb][0].partition(":")
    module = import_module(f"..{name}", __name__)
    command: click.Command = module.command() if verb == "check" else getattr(module, attribute or "command")
    return command
