"""Which agent started us, and in which session, by the variables that agents give to their children. For the audit; never a reason to allow."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# (agent, a variable that only it sets, variables with its session id; the first that is set counts)
AGENTS = (
    ("claude", "CLAUDECODE", ("CLAUDE_CODE_SESSION_ID",)),
    ("codex", "CODEX_SESSION_ID", ("CODEX_SESSION_ID", "CODEX_THREAD_ID")),
    ("codex", "CODEX_THREAD_ID", ("CODEX_THREAD_ID",)),
    ("codex", "CODEX_CI", ()),
    ("codex", "CODEX_MANAGED_PACKAGE_ROOT", ()),
    ("qwen", "QWEN_CODE", ("QWEN_CODE_SESSION_ID",)),
    ("qwen", "QWEN_CODE_CLI", ("QWEN_CODE_SESSION_ID",)),
    ("gemini", "GEMINI_CLI", ("GEMINI_SESSION_ID",)),
    ("copilot", "COPILOT_CLI", ("COPILOT_AGENT_SESSION_ID",)),
    ("opencode", "OPENCODE", ("OPENCODE_SESSION_ID", "OPENCODE_PID")),
    ("goose", "GOOSE_TERMINAL", ("AGENT_SESSION_ID",)),
    ("cursor", "CURSOR_AGENT", ("CURSOR_TRACE_ID",)),
    ("openhands", "OPENHANDS_SESSION_ID", ("OPENHANDS_SESSION_ID",)),
)


def identify(environ: Mapping[str, str]) -> tuple[str, str]:
    """(agent, session id), each "" when the environment does not say. A process id as session id carries the agent's name."""
    for agent, mark, sessions in AGENTS:
        if environ.get(mark):
            session = next((environ[name] for name in sessions if environ.get(name)), "")
            return agent, f"{agent}-{session}" if session.isdecimal() else session
    return "", ""
