"""The task a person stated: kept for a session, or for a workspace when no session is named. One small JSON file each, read once per judgement."""

from __future__ import annotations

import json
import os

from ..errors import StorageError
from ..model.digest import text_digest
from ..model.refusal import explain
from ..model.value import Value
from .state import subdirectory

LONGEST = 2000
MOST = 200
SIZE_LIMIT = 256 * 1024


class Task(Value):
    """What the work is. paths: patterns as in a profile, empty: any. operations: effect kinds, globs, empty: any. at: seconds since the epoch."""

    text: str
    paths: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    at: float = 0.0


def current(state: str, session: str, workspace: str) -> Task | None:
    """The session's task, else the workspace's, else None. Raises StorageError for a file that cannot be trusted: a task is never forgotten silently."""
    for scope in _scopes(session, workspace):
        task = _read(_path(state, scope))
        if task is not None:
            return task
    return None


def keep(state: str, session: str, workspace: str, task: Task) -> None:
    """State the task: of the session when one is named, else of the workspace."""
    subdirectory(state, "tasks")
    path = _path(state, _scopes(session, workspace)[0])
    draft = f"{path}.{os.getpid()}"
    body = {"text": task.text, "paths": list(task.paths), "operations": list(task.operations), "at": task.at}
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(body, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)  # atomic: a judgement sees the old task or the new one
    except OSError as error:
        raise explain(error, path) from error


def clear(state: str, session: str, workspace: str) -> bool:
    """Forget the task; False when there was none."""
    path = _path(state, _scopes(session, workspace)[0])
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise explain(error, path) from error
    return True


def _scopes(session: str, workspace: str) -> tuple[str, ...]:
    return (*((f"session {session}",) if session else ()), f"workspace {workspace}")


def _path(state: str, scope: str) -> str:
    return os.path.join(state, "tasks", text_digest(scope)[:32])


def _read(path: str) -> Task | None:
    try:
        with open(path, encoding="utf-8") as file:
            body = json.loads(file.read(SIZE_LIMIT))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explain(error, path) from error
    except ValueError:
        body = None
    if isinstance(body, dict):
        text, at = body.get("text"), body.get("at")
        lists = [body.get(name) for name in ("paths", "operations")]
        if isinstance(text, str) and text and isinstance(at, int | float) and all(_strings(each) for each in lists):
            return Task(text, tuple(lists[0] or ()), tuple(lists[1] or ()), float(at))
    raise StorageError(f"the task in `{path}` cannot be read", hint="state it again: instinct task set, or instinct task clear")


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
