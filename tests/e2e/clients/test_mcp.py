"""`instinct mcp` in the place of the agent's own shell and file tools, with real agents: the recipes of docs/integrations.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from e2e.clients.scenes import Scene

from instinct_shell.frontends.proof.clients import Start
from instinct_shell.frontends.proof.wires import ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.jail]

NAMES = {"claude": "mcp__instinct__{}", "gemini": "mcp_instinct_{}", "qwen": "mcp__instinct__{}"}


@pytest.fixture(params=NAMES)
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    """One agent's scene, with its own tools switched off and ours in their place."""
    made = Scene(request.param, proof=False)
    ordinary = made.client.start
    server = {"command": str(made.data / "bin" / "instinct"), "args": ["mcp"], "env": {"INSTINCT_ENGINE": "off"}}

    def start(url: str, folder: str) -> Start:
        plain = ordinary(url, folder)
        if made.client.agent == "claude":
            config = json.dumps({"mcpServers": {"instinct": server}})
            more = ("--disallowedTools", "Bash", "Write", "Edit", "NotebookEdit", "--mcp-config", config, "--strict-mcp-config")
            return plain.replace(words=(*plain.words, *more))
        # Gemini CLI is started without a settings file: the workspace's is one that any user may have.
        path, settings = next(iter(plain.settings.items()), (str(made.workspace / ".gemini" / "settings.json"), {}))
        assert isinstance(settings, dict)
        # No more than this: Gemini CLI would take an excluded `write_file` for ours too.
        off = {"exclude": ["run_shell_command"]}
        return plain.replace(settings={path: {**settings, "mcpServers": {"instinct": {**server, "trust": True}}, "tools": off}})

    (made.workspace / ".gemini").mkdir()
    made.client = made.client.replace(start=start)
    yield made
    made.close()


def test_commands_and_files_go_through_our_server(scene: Scene) -> None:
    name = NAMES[scene.client.agent].format
    driven = scene.drive(
        scene.client.run("echo not-''reached"),
        ToolCall(name("run_command"), {"command": "echo allowed-''work; grep Seccomp: /proc/self/status"}),
        ToolCall(name("run_command"), {"command": "rm -rf ~"}),
        ToolCall(name("write_file"), {"path": "package-lock.json", "content": "{}\n"}),
        ToolCall(name("write_file"), {"path": "notes.txt", "content": "a note\n"}),
    )
    own, allowed, harmful, protected, harmless = driven.results
    assert "not-reached" not in own
    assert "allowed-work" in allowed
    assert re.search(r"Seccomp:(\\t|\s)+2", allowed), allowed
    assert "deletes the home directory" in harmful
    assert "name a path inside the workspace" in harmful
    assert "package-lock.json" in protected or scene.client.agent == "gemini"  # whose own policy is first to refuse this one
    assert not (scene.workspace / "package-lock.json").exists()
    assert (scene.workspace / "notes.txt").read_text(encoding="utf-8") == "a note\n", harmless
    assert scene.judged("echo allowed-''work; grep Seccomp: /proc/self/status")
