"""Intents: what an agent asks to do, from whichever front door."""

from __future__ import annotations

from enum import StrEnum

from ..errors import IntentError
from .value import Value


class IntentType(StrEnum):
    SHELL_COMMAND = "shell_command"
    FILE_READ = "file_read"
    FILE_WRITE = "file_write"
    FILE_EDIT = "file_edit"
    FILE_DELETE = "file_delete"
    FILE_MOVE = "file_move"
    API_CALL = "api_call"
    TOOL_CALL = "tool_call"
    OUTPUT = "output"


class Intent(Value):
    """One thing asked for.

    content: the shell text, the new file content, the output text. target: the path (or URL, tool name) acted on; for a move the source,
    with metadata "destination". cwd: absolute. env: (name, value) pairs that the command would see. metadata: JSON-able pairs as given
    (estimatedCost, sessionBudget, sessionSpent in dollars ...; they may only tighten). argv0 and positional: `$0`, `$1`... of the shell text.
    stdin: what the command would find on fd 0: "pipe" (or a socket), the absolute path of a file, "" for a terminal, nothing, or not known.
    """

    type: IntentType
    content: str = ""
    target: str = ""
    cwd: str = "/"
    env: tuple[tuple[str, str], ...] = ()
    metadata: tuple[tuple[str, object], ...] = ()
    argv0: str = "bash"
    positional: tuple[str, ...] = ()
    session: str = ""
    agent: str = ""
    door: str = "check"
    stdin: str = ""

    def _check(self) -> None:
        if "\0" in self.content or "\0" in self.target:
            raise IntentError("the intent holds a NUL byte, which no command line or path can carry", hint="remove the NUL byte")
        if not self.cwd.startswith("/"):
            raise IntentError(f"cwd `{self.cwd}` is not an absolute path", hint="give an absolute cwd")

    def meta(self, name: str, default: object = None) -> object:
        """The metadata value, or the default."""
        for key, value in self.metadata:
            if key == name:
                return value
        return default
