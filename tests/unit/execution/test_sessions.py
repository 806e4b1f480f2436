"""Whose session a command joins, and whether two commands join the same one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instinct_shell.execution.agents import agent_of
from instinct_shell.execution.sessions import live, session_for
from instinct_shell.model.jailspec import JailLevel
from instinct_shell.model.profile import Profile

PROFILE = Profile(name="dev", digest="d", level=JailLevel.FULL)
USUAL: dict[str, object] = {"state": "/s", "profile": PROFILE, "workspace": "/w", "asked": "", "environ": {}, "above": (), "network": "host"}
CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "1f2e"}


def path_of(**given: object) -> str:
    found = session_for(**{**USUAL, **given})  # type: ignore[arg-type]
    return found.path if found else ""


def test_nobody_says_whose_it_is() -> None:
    assert session_for(**USUAL) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"asked": "mine", "environ": CLAUDE}, "mine"),
        ({"environ": CLAUDE}, "1f2e"),
        ({"environ": {"OPENCODE": "1", "OPENCODE_PID": "77"}}, "opencode-77"),
    ],
    ids=["asked", "the agent's variable", "a process id in it"],
)
def test_name(given: dict[str, object], name: str) -> None:
    found = session_for(**{**USUAL, **given})  # type: ignore[arg-type]
    assert found is not None
    assert found.name == name


def test_an_agent_above_us_is_found_and_watched(tmp_path: Path) -> None:
    """The nearest one; with its start time, so that another process of the same number is another session."""
    import subprocess

    program = tmp_path / "claude"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "100"]) as agent:
        try:
            while b"claude" not in Path(f"/proc/{agent.pid}/cmdline").read_bytes():
                os.sched_yield()  # its exec is under way
            found = session_for(**{**USUAL, "above": (os.getpid(), agent.pid, 1)})  # type: ignore[arg-type]
            assert found is not None
            assert found.agent == agent.pid
            assert found.agent_started > 0
            assert found.name == f"claude-{agent.pid}.{found.agent_started}"
        finally:
            agent.kill()


DIFFERENT = [
    {"workspace": "/other"},
    {"profile": PROFILE.replace(digest="e")},
    {"asked": "b"},
    {"network": "none"},
    {"state": "/t"},
]


@pytest.mark.parametrize("change", DIFFERENT, ids=[next(iter(change)) for change in DIFFERENT])
def test_what_makes_it_another_session(change: dict[str, object]) -> None:
    assert path_of(asked="a") == path_of(asked="a") != path_of(**{"asked": "a", **change})


@pytest.mark.parametrize(
    ("words", "title", "agent"),
    [
        (["/usr/local/bin/claude", "--resume"], "claude", "claude"),
        (["node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"], "node", "claude"),
        (["/usr/bin/node", "--max-old-space-size=4096", "/opt/npm/bin/gemini"], "node", "gemini"),
        (["python3", "-m", "aider"], "python3", "aider"),
        (["/usr/bin/python3.12", "/home/u/.local/bin/mini", "-t", "x"], "mini", "mini-swe-agent"),
        (["codex", "exec"], "codex", "codex"),
        (["bash", "-c", "claude"], "bash", ""),
        (["vim", "claude"], "vim", ""),
        (["/usr/share/code/code", "--type=ptyHost"], "code", ""),
        (["node", "server.js"], "node", ""),
        ([""], "", ""),
    ],
)
def test_which_agent_a_process_is(words: list[str], title: str, agent: str) -> None:
    assert agent_of(words, title) == agent


def test_no_session_no_list(tmp_path: Path) -> None:
    assert live(str(tmp_path)) == []
