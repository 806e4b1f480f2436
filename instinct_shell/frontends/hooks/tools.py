"""From an agent's tool call to intents: one table an agent, tool name -> what its fields mean.

A tool that no table knows (MCP tools, new built-in ones) becomes a `tool_call`; it is judged, not waved through.
"""

from __future__ import annotations

import json
import posixpath
import re

from ...effects.edits import Replacement, hunk_data, replacement_data
from ...effects.patch import changes
from ...errors import IntentError
from ...model.value import Value
from .protocol import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import Line

PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path")
CONTENTS = ("content", "file_text", "contents", "text")
OUTGOING = ("old_string", "old_str", "oldString", "old_source", "before")
INCOMING = ("new_string", "new_str", "newString", "new_source", "after", "content", "diff", "code_edit")
FOLDERS = ("workdir", "dir_path", "directory", "cwd")


class Tool(Value):
    """What a tool does and where its fields stand.

    kind: shell | write | edit | read | delete | move | patch | editor (one tool with a `command` field) | none (touches nothing).
    subject: names of the field with the path or the text. content: names of the field with what is written.
    """

    kind: str
    subject: tuple[str, ...] = PATHS
    content: tuple[str, ...] = CONTENTS


SHELL = Tool("shell", ("command",))
WRITE = Tool("write")
EDIT = Tool("edit", content=INCOMING)
READ = Tool("read")
DELETE = Tool("delete")
PATCH = Tool("patch", ("command", "input", "patch", "patchText"))
EDITOR = Tool("editor")
NONE = Tool("none")

# What only keeps the agent's own books or talks to the person: no file, no process, no network.
BOOKKEEPING = dict.fromkeys(
    (
        "todowrite", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget", "task", "agent", "sendmessage", "exitplanmode", "enterplanmode",
        "askuserquestion", "skill", "toolsearch", "bashoutput", "taskoutput", "update_plan", "write_todos", "ask_user", "ask_followup_question",
        "attempt_completion", "plan_mode_respond", "todo_write", "todo_read", "report_intent", "update_todo", "think", "finish", "glob", "ls",
        "list_directory", "list_files", "list_dir", "slashcommand",
    ),
    NONE,
)  # fmt: skip

# The first line and the delimiter of `apply_patch <<'EOF'` inside shell text: Codex carries it out itself, no shell ever starts.
_HEREDOC = (
    r"""\A\s*(?:cd\s+(?P<cd>[^\s;&|<>$`'"\\]+)\s*&&\s*)?(?:apply_patch|applypatch)\s+<<\s*(['"]?)(?P<end>\w+)\2[ \t]*\n(?P<body>.*?)\n(?P=end)\s*\Z"""
)


def _patch_in(command: str) -> re.Match[str] | None:
    """The match of a patch that stands in shell text; compiled only where one may stand."""
    return re.compile(_HEREDOC, re.DOTALL).match(command) if "<<" in command and "patch" in command else None


def lines_for(tools: Mapping[str, Tool], name: str, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    """The intents of one tool call. Raises IntentError when a field that the tool needs is missing or strange."""
    tool = tools.get(name.lower()) or BOOKKEEPING.get(name.lower())
    if tool is None:
        return (_line("tool_call", cwd, target=name, content=json.dumps(given, sort_keys=True)),)
    return _LINES[tool.kind](tool, given, cwd)


def shell_text(tools: Mapping[str, Tool], name: str, given: Mapping[str, object]) -> str:
    """The shell text of a call that may be rewritten; "" for other tools, and for patches, which the agent carries out itself."""
    tool = tools.get(name.lower())
    if tool is None or tool.kind != "shell":
        return ""
    command = text(given, *tool.subject)
    return "" if _patch_in(command) else command


def _line(kind: str, cwd: str, **fields: object) -> Line:
    return {"type": kind, "cwd": cwd, **fields}


def _none(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:  # noqa: ARG001  # one signature for the table below
    return ()


def _shell(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    command = given.get(tool.subject[0])
    if isinstance(command, list):  # older Codex: an argument vector
        from ..instinct_exec import quote

        if not command or not all(isinstance(word, str) for word in command):
            raise IntentError("the hook's `command` is not a list of strings")
        command = " ".join(map(quote, command))
    else:
        command = text(given, *tool.subject)
    folder = text(given, *FOLDERS, needed=False)
    place = posixpath.normpath(posixpath.join(cwd, folder)) if folder else cwd
    found = _patch_in(command)
    inner: tuple[Line, ...] = ()
    if found:
        inner = _patch_lines(found["body"], posixpath.join(place, found["cd"] or ""))
    return (*inner, _line("shell_command", place, content=command))


def _write(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    return (_line("file_write", cwd, target=text(given, *tool.subject), content=text(given, *tool.content, needed=False)),)


def _edit(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    edits = given.get("edits")
    parts = [each for each in edits if isinstance(each, dict)] if isinstance(edits, list) else [given]
    content = "\n".join(text(each, *tool.content, needed=False) for each in parts)
    known = [_replacement(tool, each) for each in parts]
    # What the file will hold can be told only when all of it is replacement; else the incoming text alone is judged.
    metadata = {"edits": replacement_data([each for each in known if each is not None])} if known and all(known) else {}
    targets = given.get("files")
    if isinstance(targets, list) and targets and all(isinstance(path, str) for path in targets):
        return tuple(_line("file_edit", cwd, target=path, content=content) for path in targets)
    return (_line("file_edit", cwd, target=text(given, *tool.subject), content=content, metadata=metadata),)


def _replacement(tool: Tool, given: Mapping[str, object]) -> Replacement | None:
    """The exact replacement that an edit asks for; None when it edits in another way (insert at a line, a notebook cell, a diff)."""
    if not any(isinstance(given.get(name), str) for name in OUTGOING) or "notebook_path" in given:
        return None
    everywhere = any(given.get(name) is True for name in ("replace_all", "replaceAll", "allow_multiple"))
    return Replacement(text(given, *OUTGOING), text(given, *tool.content, needed=False), everywhere)


def _read(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    many = given.get("paths", given.get("files", given.get("include")))
    if isinstance(many, list) and many:
        paths = [each.get("path") if isinstance(each, dict) else each for each in many]
        if not all(isinstance(path, str) for path in paths):
            raise IntentError("the hook's list of files holds something that is no path")
        return tuple(_line("file_read", cwd, target=path) for path in paths)
    folder = text(given, *tool.subject, "dir_path", needed=False)
    pattern = text(given, "glob", "include", "include_pattern", needed=False)
    if not folder and not pattern:
        if "pattern" in given or "query" in given or "regex" in given:
            return (_line("file_read", cwd, target=cwd),)  # a search of the whole folder
        return (_line("file_read", cwd, target=text(given, *tool.subject)),)
    return (_line("file_read", cwd, target=posixpath.join(folder, pattern) if pattern else folder),)


def _delete(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    return (_line("file_delete", cwd, target=text(given, *tool.subject)),)


def _move(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    return (_line("file_move", cwd, target=text(given, *tool.subject), metadata={"destination": text(given, *tool.content)}),)


def _patch(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    return _patch_lines(text(given, *tool.subject), cwd)


def _patch_lines(body: str, cwd: str) -> tuple[Line, ...]:
    found: list[Line] = []
    for change in changes(body):
        if change.kind == "add":
            found.append(_line("file_write", cwd, target=change.path, content=change.added))
        elif change.kind == "delete":
            found.append(_line("file_delete", cwd, target=change.path))
        else:
            if change.hunks:
                metadata = {"hunks": hunk_data(change.hunks)}
                found.append(_line("file_edit", cwd, target=change.path, content=change.added, metadata=metadata))
            if change.to:
                found.append(_line("file_move", cwd, target=change.path, metadata={"destination": change.to}))
    return tuple(found)


def _editor(tool: Tool, given: Mapping[str, object], cwd: str) -> tuple[Line, ...]:
    """One tool for many things, as in `str_replace_editor`: its `command` says which."""
    action = text(given, "command")
    if action in {"view", "read", "Line", "Directory", "Search"}:
        return (_line("file_read", cwd, target=text(given, *tool.subject)),)
    if action in {"create", "write"}:
        return _write(tool, given, cwd)
    if action in {"str_replace", "insert", "append", "edit", "undo_edit", "strReplace"}:
        return _edit(tool.replace(content=(*INCOMING, "file_text", "insert_line_text")), given, cwd)
    if action in {"delete", "remove"}:
        return _delete(tool, given, cwd)
    raise IntentError(f"editor command `{action}` is unknown")


_LINES = {
    "none": _none,
    "shell": _shell,
    "write": _write,
    "edit": _edit,
    "read": _read,
    "delete": _delete,
    "move": _move,
    "patch": _patch,
    "editor": _editor,
}
