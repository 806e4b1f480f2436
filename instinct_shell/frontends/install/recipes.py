"""What each agent needs: which files, which hooks with which time-out, how its shell is chosen, and what stays open all the same.

The contracts and where they come from stand in docs/integrations.md. `proven` says with what: the real client, or its documentation only.
"""

from __future__ import annotations

import os

from ...errors import UsageError
from ...model.value import Value
from ..hooks.registry import AGENTS
from ..instinct_exec import quote
from .edits import FileEdit, json_entries, json_values, toml_block, whole_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT = 10  # seconds that we ask the agent to wait; the watchdog answers at half of it
RUNS_ELSEWHERE = "its own file tools and MCP servers run outside the jail: the hook judges them, the kernel does not hold them"
NOT_HELD = "its shell cannot be replaced: commands are judged by the hook, not held by the kernel"
WITHOUT_STARTER = "started without instinct-with it takes the system's bash: judged by the hook, not held by the kernel"


class Place(Value):
    """Where an installation goes. base: the home directory or the project; data: our programs."""

    base: str
    data: str
    project: bool = False

    @property
    def hook(self) -> str:
        """The hook program."""
        return os.path.join(self.data, "bin", "instinct-hook")

    @property
    def shell(self) -> str:
        """The drop-in shell."""
        return os.path.join(self.data, "shell", "bash")

    @property
    def runner(self) -> str:
        """The program that jailed calls are rewritten to."""
        return os.path.join(self.data, "bin", "instinct-exec")

    @property
    def starter(self) -> str:
        """Starts an agent with our shell in its way."""
        return os.path.join(self.data, "bin", "instinct-with")

    def path(self, *parts: str) -> str:
        """A file below the base."""
        return os.path.join(self.base, *parts)

    def call(self, agent: str, event: str, *options: str) -> str:
        """The command line of one hook."""
        return " ".join([quote(self.hook), "--agent", agent, *options, event])


class Recipe(Value):
    """One agent's installation. edits: its files. start: how it is started so that its shell is ours, "" when nothing is needed.

    steps: what a person has to do once. holes: what is not covered. proven: "client" or "documentation".
    """

    edits: tuple[FileEdit, ...]
    start: str = ""
    steps: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()
    proven: str = "documentation"


def recipe(agent: str, place: Place) -> Recipe:
    """The recipe of an agent. Raises UsageError for one without."""
    make = RECIPES.get(agent)
    if make is None:
        raise UsageError(f"there is no recipe for `{agent}`", hint="one of: " + ", ".join(AGENTS))
    return make(place)


def _nested(call: str, timeout: int, matcher: str | None = "*", **more: object) -> list[dict[str, object]]:
    """Claude's shape of one entry: a matcher and a list of commands."""
    hook: dict[str, object] = {"type": "command", "command": call, "timeout": timeout, **more}
    return [{**({"matcher": matcher} if matcher is not None else {}), "hooks": [hook]}]


def _claude_events(agent: str, place: Place, *options: str, timeout: int = TIMEOUT, matcher: str = "*") -> dict[str, list[dict[str, object]]]:
    return {
        "PreToolUse": _nested(place.call(agent, "pre", *options), timeout, matcher),
        "PostToolUse": _nested(place.call(agent, "post", *options), timeout, matcher),
        "SessionStart": _nested(place.call(agent, "start", *options), timeout, None),
    }


def _claude(place: Place) -> Recipe:
    lists = _claude_events("claude", place, "--shell-held")
    edit = json_entries(lists, place.hook, values={"env.CLAUDE_CODE_SHELL": place.shell})
    return Recipe(
        (FileEdit(place.path(".claude", "settings.json"), edit),),
        holes=(RUNS_ELSEWHERE, "a shell whose path has no `bash` or `zsh` in it would be ignored without a word: keep the shim's name"),
        proven="client",
    )


def _codex(place: Place) -> Recipe:
    block = ""
    for event, moment in (("PreToolUse", "pre"), ("PostToolUse", "post"), ("SessionStart", "start")):
        call = place.call("codex", moment, "--exec", quote(place.runner))
        matcher = '\nmatcher = ".*"' if event != "SessionStart" else ""
        block += f'[[hooks.{event}]]{matcher}\n[[hooks.{event}.hooks]]\ntype = "command"\ncommand = {_toml(call)}\ntimeout = {TIMEOUT}\n'
    return Recipe(
        (FileEdit(place.path(".codex", "config.toml"), toml_block(block)),),
        steps=("start Codex once and approve the new hooks: it skips a hook that was not approved, without a word",),
        holes=(
            "its shell is the one of the account (passwd), not $SHELL: commands are rewritten to instinct-exec by the hook",
            "text typed to a running process (`write_stdin`) and code-mode `exec` reach no hook",
            "the model may name another shell for a command; the rewritten command is held all the same",
            "`apply_patch` is carried out by Codex itself: judged by the hook, not held by the kernel",
            RUNS_ELSEWHERE,
        ),
        proven="client",
    )


def _gemini(place: Place) -> Recipe:
    milliseconds = TIMEOUT * 1000
    lists = {
        "BeforeTool": _nested(place.call("gemini", "pre"), milliseconds, ".*"),
        "AfterTool": _nested(place.call("gemini", "post"), milliseconds, ".*"),
        "SessionStart": _nested(place.call("gemini", "start"), milliseconds, None),
    }
    edit = json_entries(lists, place.hook)
    return Recipe(
        (FileEdit(place.path(".gemini", "settings.json"), edit),),
        start=f"{quote(place.starter)} gemini",
        holes=(WITHOUT_STARTER, RUNS_ELSEWHERE),
        proven="client",
    )


def _qwen(place: Place) -> Recipe:
    edit = json_entries(_claude_events("qwen", place, timeout=TIMEOUT * 1000), place.hook)
    return Recipe(
        (FileEdit(place.path(".qwen", "settings.json"), edit),),
        start=f"{quote(place.starter)} qwen",
        holes=(WITHOUT_STARTER, RUNS_ELSEWHERE),
        proven="client",
    )


def _copilot(place: Place) -> Recipe:
    lists: dict[str, object] = {}
    for event, moment in (("PreToolUse", "pre"), ("PostToolUse", "post"), ("SessionStart", "start")):
        lists[event] = [{"type": "command", "bash": place.call("copilot", moment, "--exec", quote(place.runner)), "timeoutSec": TIMEOUT}]
    where = (".github", "hooks", "instinct.json") if place.project else (".copilot", "hooks", "instinct.json")
    return Recipe(
        (FileEdit(place.path(*where), json_values({"version": 1, "hooks": lists})),),
        steps=("in `-p` mode hooks of a project need a trusted folder or GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS",) if place.project else (),
        holes=(
            "its shell is /bin/bash, whatever is configured: commands are rewritten to instinct-exec by the hook",
            "a hook that is late is passed over",
            RUNS_ELSEWHERE,
        ),
        proven="client",
    )


def _opencode(place: Place) -> Recipe:
    folder = (".opencode",) if place.project else (".config", "opencode")
    config = ("opencode.json",) if place.project else (*folder, "opencode.json")
    plugin = _plugin(place)
    return Recipe(
        (
            FileEdit(place.path(*folder, "plugin", "instinct.js"), whole_file(plugin)),
            FileEdit(place.path(*config), json_values({"shell": place.shell})),
        ),
        holes=(RUNS_ELSEWHERE,),
        proven="client",
    )


def _plugin(place: Place) -> str:
    import json

    with open(os.path.join(os.path.dirname(__file__), "opencode.js"), encoding="utf-8") as file:
        return file.read().replace('"@HOOK@"', json.dumps(place.hook))


def _cursor(place: Place) -> Recipe:
    def entry(moment: str, **more: object) -> list[dict[str, object]]:
        return [{"command": place.call("cursor", moment), "timeout": TIMEOUT, "failClosed": True, **more}]

    lists = {
        "beforeShellExecution": entry("pre"),
        "beforeMCPExecution": entry("pre"),
        "beforeReadFile": entry("pre"),
        "preToolUse": entry("pre", matcher="Write|Delete"),
        "afterShellExecution": entry("post"),
        "afterFileEdit": entry("post"),
        "sessionStart": entry("start"),
    }
    edit = json_entries(lists, place.hook, values={"version": 1})
    return Recipe(
        (FileEdit(place.path(".cursor", "hooks.json"), edit),),
        holes=(NOT_HELD, "its CLI ignores `ask`", RUNS_ELSEWHERE),
    )


def _windsurf(place: Place) -> Recipe:
    lists: dict[str, list[dict[str, object]]] = {}
    for action in ("run_command", "write_code", "read_code", "mcp_tool_use"):
        for moment in ("pre", "post"):
            lists[f"{moment}_{action}"] = [{"command": place.call("windsurf", moment), "show_output": True}]
    where = (".windsurf", "hooks.json") if place.project else (".codeium", "windsurf", "hooks.json")
    return Recipe(
        (FileEdit(place.path(*where), json_entries(lists, place.hook)),),
        holes=(NOT_HELD, RUNS_ELSEWHERE),
    )


def _cline(place: Place) -> Recipe:
    folder = (".clinerules", "hooks") if place.project else ("Documents", "Cline", "Hooks")
    edits = []
    for event, moment in (("PreToolUse", "pre"), ("PostToolUse", "post"), ("TaskStart", "start")):
        text = f"#!/bin/sh\n# Written by `instinct install`; `instinct uninstall` removes it.\nexec {place.call('cline', moment)}\n"
        edits.append(FileEdit(place.path(*folder, event), whole_file(text), executable=True))
    return Recipe(
        tuple(edits),
        steps=("switch hooks on in Cline's settings",),
        holes=("its shell is the editor's terminal: commands are judged by the hook, not held by the kernel", RUNS_ELSEWHERE),
    )


def _droid(place: Place) -> Recipe:
    edit = json_entries(_claude_events("droid", place), place.hook)
    return Recipe(
        (FileEdit(place.path(".factory", "hooks.json"), edit),),
        holes=(NOT_HELD, RUNS_ELSEWHERE),
    )


def _kiro(place: Place) -> Recipe:
    def action(moment: str) -> dict[str, object]:
        return {"type": "command", "command": place.call("kiro", moment)}

    hooks = [
        {"name": f"instinct-{moment}", "trigger": trigger, "matcher": ".*", "action": action(moment), "timeout": TIMEOUT}
        for trigger, moment in (("PreToolUse", "pre"), ("PostToolUse", "post"))
    ]
    return Recipe(
        (FileEdit(place.path(".kiro", "hooks", "instinct.json"), json_values({"version": "v1", "hooks": hooks})),),
        holes=("hooks were reported not to fire in its CLI", NOT_HELD, RUNS_ELSEWHERE),
    )


def _openhands(place: Place) -> Recipe:
    edit = json_entries(_claude_events("openhands", place), place.hook)
    return Recipe(
        (FileEdit(place.path(".openhands", "hooks.json"), edit),),
        steps=(f"give its terminal tool shell_path={place.shell}",),
        holes=("its tmux backend starts /bin/bash, whatever is configured", RUNS_ELSEWHERE),
    )


def _goose(place: Place) -> Recipe:
    lists = {
        event: [{"matcher": ".*", "hooks": [{"type": "command", "command": place.call("goose", moment), "timeout": TIMEOUT, **more}]}]
        for event, moment, more in (("PreToolUse", "pre", {"on_failure": "block"}), ("PostToolUse", "post", {}))
    }
    folder = (".agents", "plugins", "instinct")
    return Recipe(
        (
            FileEdit(place.path(*folder, "plugin.json"), json_values({"name": "instinct", "version": "1.0.0", "description": "Instinct Shell"})),
            FileEdit(place.path(*folder, "hooks", "hooks.json"), json_values({"hooks": lists})),
        ),
        start=f"{quote(place.starter)} goose",
        holes=(WITHOUT_STARTER, RUNS_ELSEWHERE),
    )


def _vscode(place: Place) -> Recipe:
    lists = {
        event: [{"type": "command", "command": place.call("vscode", moment), "timeout": TIMEOUT}]
        for event, moment in (("PreToolUse", "pre"), ("PostToolUse", "post"), ("SessionStart", "start"))
    }
    where = (".github", "hooks", "instinct-vscode.json") if place.project else (".copilot", "hooks", "instinct-vscode.json")
    return Recipe(
        (FileEdit(place.path(*where), json_values({"hooks": lists})),),
        holes=(NOT_HELD, "hooks are a preview there", RUNS_ELSEWHERE),
    )


def _toml(text: str) -> str:
    import json

    return json.dumps(text)  # a TOML basic string and a JSON string agree on everything that a path or a command line holds


RECIPES: dict[str, Callable[[Place], Recipe]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot": _copilot,
    "opencode": _opencode,
    "vscode": _vscode,
    "cursor": _cursor,
    "windsurf": _windsurf,
    "cline": _cline,
    "droid": _droid,
    "kiro": _kiro,
    "openhands": _openhands,
    "goose": _goose,
}
