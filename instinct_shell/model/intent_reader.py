"""Intents from plain JSON objects, as `check --batch`, hooks and the Python API give them (docs/protocol/check.md)."""

from __future__ import annotations

from ..errors import IntentError
from .intent import Intent, IntentType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = {str(kind): kind for kind in IntentType}


def read_intent(line: Mapping[str, object], *, cwd: str, env: Mapping[str, str], session: str, door: str) -> Intent:
    """The intent that the object describes. Raises IntentError naming the key.

    cwd, env, session: what holds where the object says nothing. An `env` that it gives is taken whole.
    """
    kind = TYPES.get(str(line.get("type")))
    if kind is None:
        raise IntentError(f"type `{line.get('type')}` is unknown", hint="one of: " + ", ".join(TYPES))
    words = {name: _text(line, name) for name in ("content", "target", "cwd", "argv0", "session", "agent")}
    if kind is IntentType.SHELL_COMMAND and "content" not in line:
        raise IntentError("a shell_command needs `content`", hint='for example {"type": "shell_command", "content": "git status"}')
    if str(kind).startswith("file_") and not words["target"]:
        raise IntentError(f"a {kind} needs `target`, the path", hint="give an absolute path")
    given, metadata = _mapping(line, "env"), _mapping(line, "metadata")
    if not all(isinstance(value, str) for value in given.values()):
        raise IntentError("`env` must map names to strings")
    positional = line.get("positional", ())
    if not isinstance(positional, list | tuple) or not all(isinstance(word, str) for word in positional):
        raise IntentError("`positional` must be a list of strings")
    return Intent(
        type=kind,
        content=words["content"],
        target=words["target"],
        cwd=words["cwd"] or cwd,
        env=tuple(sorted((name, str(value)) for name, value in (given if "env" in line else env).items())),
        metadata=tuple(sorted(metadata.items())),
        argv0=words["argv0"] or "bash",
        positional=tuple(positional),
        session=words["session"] or session,
        agent=words["agent"],
        door=door,
    )


def _text(line: Mapping[str, object], name: str) -> str:
    value = line.get(name, "")
    if not isinstance(value, str):
        raise IntentError(f"`{name}` must be a string")
    return value


def _mapping(line: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = line.get(name, {})
    if not isinstance(value, dict):
        raise IntentError(f"`{name}` must be an object")
    return value
