"""Which agent started us, and in which session: by the variables that agents give to their children, and by the names of the processes above us.

For the audit, and to let an agent's commands share a jail session; never a reason to allow.
"""

from __future__ import annotations

from .looking import beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


# Names of agents' programs, or of the packages that an interpreter runs them from. No editor is among them: a person's own terminal is below it too.
PROGRAMS = {
    "claude": "claude", "claude-code": "claude", "codex": "codex", "gemini": "gemini", "gemini-cli": "gemini", "qwen": "qwen", "qwen-code": "qwen",
    "copilot": "copilot", "opencode": "opencode", "goose": "goose", "goosed": "goose", "cursor-agent": "cursor", "openhands": "openhands",
    "aider": "aider", "crush": "crush", "amp": "amp", "droid": "droid", "kiro-cli": "kiro", "kiro-cli-chat": "kiro", "cline": "cline",
    "mini": "mini-swe-agent", "mini-swe-agent": "mini-swe-agent", "swe-agent": "swe-agent", "sweagent": "swe-agent",
}  # fmt: skip
INTERPRETERS = ("node", "bun", "deno", "python", "ruby")


def nearest(pids: Iterable[int]) -> tuple[str, int]:
    """(agent, process id) of the first process that is an agent's; ("", 0) when none is. pids: nearest first."""
    for pid in pids:
        try:
            words = beginning(f"/proc/{pid}/cmdline").decode("utf-8", "surrogateescape").split("\0")
            title = beginning(f"/proc/{pid}/comm").decode("utf-8", "surrogateescape").strip()
        except OSError:
            continue  # ended, or another user's
        agent = agent_of(words, title)
        if agent:
            return agent, pid
    return "", 0


def agent_of(words: list[str], title: str) -> str:
    """The agent whose program this is, by its title and its command line; "" for any other program."""
    program = words[0].rpartition("/")[2]
    named = [title, program]
    if program.startswith(INTERPRETERS):
        script = next((word for word in words[1:] if word and not word.startswith("-")), "")
        named += [part.partition(".")[0] for part in script.split("/")[-4:]]
    return next((PROGRAMS[name] for name in named if name in PROGRAMS), "")
