"""Takes our entries out of a configuration that somebody has changed since we wrote it."""

from __future__ import annotations

import json

from .edits import BEGIN, END


def cleaned(data: bytes, mark: str, agent: str) -> bytes | None:
    """The file without our entries for this agent; None when it cannot be told what is ours. mark: the path of our hook program."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if BEGIN in text:
        head, _, rest = text.partition(BEGIN + "\n")
        _, end, tail = rest.partition(END + "\n")
        return (head + tail).encode() if end else None
    try:
        found = json.loads(text)
    except ValueError:
        return None if mark in text else data
    if not isinstance(found, dict):
        return None
    folder = mark.rsplit("/", 2)[0]
    left = _without(found, f"{mark} --agent {agent} ", folder)
    return (json.dumps(left, indent=2, ensure_ascii=False) + "\n").encode()


def _without(value: object, call: str, folder: str) -> object:
    """The value without entries that make our call, without values that name our programs, and without what is empty because of that."""
    if isinstance(value, dict):
        kept = {}
        for name, child in value.items():
            if isinstance(child, str) and child.startswith(folder + "/"):
                continue
            left = _without(child, call, folder)
            if left in ({}, []) and child not in ({}, []):
                continue
            kept[name] = left
        return kept
    if isinstance(value, list):
        return [_without(child, call, folder) for child in value if not _calls(child, call)]
    return value


def _calls(value: object, call: str) -> bool:
    """Whether an entry of a list is ours: a command that makes our call, alone or as the only one of its kind."""
    if isinstance(value, dict):
        texts = [child for child in value.values() if isinstance(child, str)]
        inner = value.get("hooks", value.get("action"))
        nested = inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else []
        return any(call in text + " " for text in texts) or (bool(nested) and all(_calls(child, call) for child in nested))
    return False
