"""The dialects by the name that stands behind `--agent`; each is loaded when it is spoken."""

from __future__ import annotations

import difflib
from importlib import import_module

from ...errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Dialect

AGENTS = (
    "claude", "codex", "gemini", "qwen", "copilot", "opencode", "vscode", "cursor", "windsurf", "cline", "droid", "kiro", "openhands", "goose",
)  # fmt: skip


def dialect(agent: str) -> Dialect:
    """The dialect of an agent. Raises UsageError for one that has none."""
    if agent not in AGENTS:
        near = difflib.get_close_matches(agent, AGENTS, n=1)
        raise UsageError(f"there is no hook dialect `{agent}`", hint=f"did you mean `{near[0]}`?" if near else "one of: " + ", ".join(AGENTS))
    found: Dialect = import_module(f".{agent}", __package__).DIALECT
    return found
