"""Agents that can be driven without a person and without a real model: how each is started, and what its tools are called.

The person's own configuration stays in force, hooks and all; only where the model is, and who may say yes, is said anew: by variables, by options
and by a settings file of ours that the agent reads over the person's.
"""

from __future__ import annotations

import json
import os

from ...model.value import Value
from .wires import ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROMPT = "Carry out the steps."


class Start(Value):
    """How one agent is started. words: after the program. settings: files to write first, path -> content."""

    words: tuple[str, ...]
    environ: Mapping[str, str]
    settings: Mapping[str, object] = {}  # a Value's defaults are never changed


class Client(Value):
    """One agent.

    start: from the model's address and a folder of our own. shell, write: the names of the two tools that the proof uses; path, content: the
    fields of the second, "" when it takes a patch. by_starter: only `instinct-with` puts our shell in its way. folder_field: names a call's
    folder, "" for an agent that keeps to the last `cd`, or always starts in the same place.
    """

    agent: str
    program: str
    start: Callable[[str, str], Start]
    shell: str
    write: str
    path: str = "file_path"
    content: str = "content"
    by_starter: bool = False
    folder_field: str = ""
    shell_field: str = "command"

    def run(self, command: str, **more: object) -> ToolCall:
        """The model runs a command."""
        return ToolCall(self.shell, {self.shell_field: command, "description": "a step", **more})

    def put(self, path: str, content: str) -> ToolCall:
        """The model writes a new file with the agent's own tool."""
        if not self.path:
            added = "".join(f"+{line}\n" for line in content.splitlines())
            return ToolCall(self.write, f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n")
        return ToolCall(self.write, {self.path: path, self.content: content})


def _claude(url: str, folder: str) -> Start:  # noqa: ARG001  # one signature for the table below
    # bypassPermissions: nobody is there to be asked; hooks are asked all the same. Root is refused without IS_SANDBOX.
    words = (
        "-p",
        PROMPT,
        "--model",
        "claude-sonnet-4-5",
        "--permission-mode",
        "bypassPermissions",
        "--output-format",
        "stream-json",
        "--verbose",
    )
    environ = {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }  # fmt: skip
    return Start(words, environ)


def _gemini(url: str, folder: str) -> Start:  # noqa: ARG001  # one signature for the table below
    """By variables alone: since 0.61 it obeys a settings file of ours only when root owns it. With its own API key and a model's address it takes
    a way to sign in that it then refuses; an address for Vertex is taken as it is."""
    environ = {
        "GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_API_KEY": "scripted", "GOOGLE_VERTEX_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    return Start(("-p", PROMPT, "--yolo", "-m", "gemini-2.5-flash"), environ)


def _qwen(url: str, folder: str) -> Start:
    path = os.path.join(folder, "qwen.json")
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "telemetry": {"enabled": False},
    }  # fmt: skip
    environ = {
        "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted", "QWEN_CODE_SYSTEM_SETTINGS_PATH": path,
        "QWEN_CODE_NO_RELAUNCH": "true",
    }  # fmt: skip
    return Start(("-p", PROMPT, "--yolo"), environ, {path: settings})


def _codex(url: str, folder: str) -> Start:  # noqa: ARG001  # one signature for the table below
    provider = {"name": "scripted", "base_url": f"{url}/v1", "wire_api": "responses", "env_key": "SCRIPTED_KEY", "request_max_retries": 0}
    table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in provider.items())
    words = (
        "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--json",
        "-c", 'model_provider="scripted"', "-c", f"model_providers.scripted={{{table}}}", "-c", 'model="gpt-5.5"', PROMPT,
    )  # fmt: skip
    return Start(words, {"SCRIPTED_KEY": "scripted"})


def _copilot(url: str, folder: str) -> Start:  # noqa: ARG001  # one signature for the table below
    environ = {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "scripted", "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    }  # fmt: skip
    return Start(("-p", PROMPT, "--allow-all"), environ)


# opencode is not among them: it fetches packages before it loads a plugin, and waits for ever where it cannot.
CLIENTS: dict[str, Client] = {
    client.agent: client
    for client in (
        Client("claude", "claude", _claude, "Bash", "Write"),
        Client("gemini", "gemini", _gemini, "run_shell_command", "write_file", by_starter=True, folder_field="dir_path"),
        Client("qwen", "qwen", _qwen, "run_shell_command", "write_file", by_starter=True, folder_field="directory"),
        Client("codex", "codex", _codex, "exec_command", "apply_patch", path="", shell_field="cmd", folder_field="workdir"),
        Client("copilot", "copilot", _copilot, "bash", "create", "path", "file_text"),
    )
}
