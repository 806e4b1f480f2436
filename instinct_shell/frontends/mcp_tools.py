"""The tools of the MCP server, but for `run_command`: names, schemas, hints for clients, and what each does. Pure tables and short calls."""

from __future__ import annotations

from ..effects.edits import Replacement, replacements
from ..errors import InstinctError, IntentError
from ..model.value import Value
from ..model.verdict import Decision
from .files import Files, Report, refusal, report_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..wiring import Guard

    Arguments = Mapping[str, object]
    Made = Callable[["Guard", str, Arguments], "Result"]

CONTENT = 262_144  # characters of a file in one answer


class Result(Value):
    """What a tool answers: text for the model, the same as data, whether it is an error. request: under which a person may approve it."""

    text: str
    data: dict[str, object]
    error: bool = False
    request: str = ""


class ToolRow(Value):
    """One tool. properties: JSON schema of its arguments. hints: the annotations that clients show, never rely on."""

    name: str
    title: str
    description: str
    properties: dict[str, dict[str, object]]
    required: tuple[str, ...]
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = False

    def described(self) -> dict[str, object]:
        """As `tools/list` tells it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": self.properties,
                "required": list(self.required),
                "additionalProperties": False,
            },
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive and not self.read_only,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        }


def _text(words: str) -> dict[str, object]:
    return {"type": "string", "description": words}


_PATH = _text("The file's path, absolute or below the workspace.")
RUN = ToolRow(
    "run_command", "Run a command",
    "Run shell text in a kernel jail, when the guard allows it. A denial says why and what to do instead; heed it and do not rephrase the command.",
    {
        "command": _text("The shell text, as for `bash -c`."),
        "cwd": _text("The folder to run it in; default: the workspace."),
        "timeout": {"type": "number", "description": "Seconds after which it is ended; default 120.", "exclusiveMinimum": 0, "maximum": 3600},
        "overlay": {
            "type": "string", "enum": ["keep", "commit", "discard"],
            "description": "Run it on a copy of the workspace and see what it changes: `discard` only shows, `commit` makes a harmless change at once, "
            "`keep` lets a person decide. For commands that only change files.",
        },
    },
    ("command",), open_world=True,
)  # fmt: skip
TOOLS = (
    RUN,
    ToolRow(
        "read_file", "Read a file", "Read a text file. Keys and the values of .env files are redacted.",
        {
            "path": _PATH,
            "first_line": {"type": "integer", "minimum": 1, "description": "The first line wanted."},
            "last_line": {"type": "integer", "minimum": 1, "description": "The last line wanted."},
        },
        ("path",), read_only=True, idempotent=True,
    ),
    ToolRow(
        "write_file", "Write a file", "Make or replace a text file, whole or not at all. Its mode stays; missing folders are made.",
        {"path": _PATH, "content": _text("The whole new content.")}, ("path", "content"), idempotent=True,
    ),
    ToolRow(
        "edit_file", "Edit a file", "Replace exact text. `old` must stand in the file exactly once, unless `all` is true.",
        {
            "path": _PATH,
            "edits": {
                "type": "array", "minItems": 1, "description": "Made one after the other, all or none.",
                "items": {
                    "type": "object",
                    "properties": {"old": _text("The text to replace."), "new": _text("What takes its place."), "all": {"type": "boolean"}},
                    "required": ["old", "new"],
                },
            },
        },
        ("path", "edits"),
    ),
    ToolRow(
        "delete_file", "Delete a file", "Delete a file or an empty folder; a person can undo it.",
        {"path": _PATH, "recursive": {"type": "boolean", "description": "A folder with all that is in it."}}, ("path",), idempotent=True,
    ),
    ToolRow(
        "move_file", "Move a file", "Move or rename a file or a folder.", {"path": _PATH, "destination": _text("Where it goes.")}, ("path", "destination"),
    ),
    ToolRow(
        "apply_patch", "Apply a patch", "Apply a `*** Begin Patch` patch or a unified diff. Every file is judged before the first is changed.",
        {"patch": _text("The patch.")}, ("patch",),
    ),
    ToolRow(
        "check", "Judge a command", "Tell whether shell text would be allowed, and what it would do. Nothing runs.",
        {"command": _text("The shell text.")}, ("command",), read_only=True, idempotent=True,
    ),
    ToolRow("budget", "Show the budget", "What this session has spent and may spend, in dollars.", {}, (), read_only=True, idempotent=True),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}


def call(guard: Guard, agent: str, name: str, arguments: Arguments) -> Result:
    """Run one of the tools that start no program. Every InstinctError becomes a structured error."""
    try:
        checked(BY_NAME[name], arguments)
        return _MADE[name](guard, agent, arguments)
    except InstinctError as error:
        return failed(error)


def failed(error: InstinctError) -> Result:
    """An error of ours, as an answer that a model can read."""
    text = error.message + (f"\n  instead: {error.hint}" if error.hint else "")
    return Result(f"instinct: {text}", {"error": {"code": error.code, "message": error.message, "hint": error.hint}}, error=True)


_TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list}


def checked(tool: ToolRow, arguments: Arguments) -> None:
    """Raise IntentError for arguments that the tool does not take, or takes otherwise."""
    for name in tool.required:
        if name not in arguments:
            raise IntentError(f"{tool.name} needs `{name}`", hint=f"it takes {', '.join(tool.properties)}")
    for name, value in arguments.items():
        wanted = tool.properties.get(name)
        if wanted is None:
            raise IntentError(f"{tool.name} takes no `{name}`", hint=f"it takes {', '.join(tool.properties) or 'nothing'}")
        kind = str(wanted["type"])
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):  # type: ignore[arg-type]  # a tuple of classes is one too
            raise IntentError(f"`{name}` of {tool.name} must be of type {kind}")
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise IntentError(f"`{name}` of {tool.name} holds half a character, which no file and no command can hold")


# ---------------------------------------------------------------- one tool each


def _read(guard: Guard, agent: str, arguments: Arguments) -> Result:
    from ..wiring.files import redacted

    report = Files(guard, door="mcp", agent=agent).read(str(arguments["path"]))
    if report.done is None:
        return _reported(guard, (report,))
    text, secrets = redacted(guard, (report.done.before or b"").decode("utf-8", "replace"))
    first, last = arguments.get("first_line", 1), arguments.get("last_line")
    if first != 1 or last is not None:
        assert isinstance(first, int)  # checked
        text = "".join(text.splitlines(keepends=True)[max(0, first - 1) : last if isinstance(last, int) else None])
    data: dict[str, object] = {
        "path": report.done.path,
        "content": text[:CONTENT],
        "truncated": len(text) > CONTENT,
        "redacted": list(secrets),
    }
    notes = [f"(redacted: {', '.join(dict.fromkeys(secrets))})"] if secrets else []
    notes += [f"(cut after {CONTENT} characters; ask for lines)"] if data["truncated"] else []
    return Result("\n".join([text[:CONTENT], *notes]) if notes else text, data)


def _write(guard: Guard, agent: str, arguments: Arguments) -> Result:
    return _reported(guard, (Files(guard, door="mcp", agent=agent).write(str(arguments["path"]), str(arguments["content"])),))


def _edit(guard: Guard, agent: str, arguments: Arguments) -> Result:
    edits: tuple[Replacement, ...] = replacements(arguments["edits"])
    return _reported(guard, (Files(guard, door="mcp", agent=agent).edit(str(arguments["path"]), edits),))


def _delete(guard: Guard, agent: str, arguments: Arguments) -> Result:
    files = Files(guard, door="mcp", agent=agent)
    return _reported(guard, (files.delete(str(arguments["path"]), recursive=arguments.get("recursive") is True),))


def _move(guard: Guard, agent: str, arguments: Arguments) -> Result:
    return _reported(guard, (Files(guard, door="mcp", agent=agent).move(str(arguments["path"]), str(arguments["destination"])),))


def _patch(guard: Guard, agent: str, arguments: Arguments) -> Result:
    return _reported(guard, Files(guard, door="mcp", agent=agent).patch(str(arguments["patch"])))


def _reported(guard: Guard, reports: tuple[Report, ...]) -> Result:
    """What became of file intents: the diffs, or why not."""
    from ..wiring.files import redacted

    shown = [report_object(report, guard.workspace) for report in reports]
    lines: list[str] = []
    for report, each in zip(reports, shown, strict=True):
        if report.done is None:
            lines.append(refusal(report).rstrip("\n"))
            continue
        done = each["done"]
        assert isinstance(done, dict)  # it was done
        done["diff"], _ = redacted(guard, str(done["diff"]))
        word = "moved" if done["to"] else "made" if done["created"] else "unchanged" if not done["changed"] else "changed"
        if str(report.outcome.judgement.intent.type) == "file_delete":
            word = "deleted"
        lines.append(f"{word} {report.done.path}" + (f" to {done['to']}" if done["to"] else ""))
        lines += [str(done["diff"])] if done["diff"] else []
        lines += [f"note: {note}" for note in (*report.outcome.judgement.verdict.notes, *report.done.notes)]
    refused = [report for report in reports if not report.allowed]
    first = next((report for report in refused if not report.outcome.judgement.verdict.allow), None)
    request = first.outcome.request if first else ""
    data: dict[str, object] = shown[0] if len(shown) == 1 else {"changes": shown}
    return Result("\n".join(lines), data, error=bool(refused), request=request)


def _check(guard: Guard, agent: str, arguments: Arguments) -> Result:
    from .present import judgement_object

    judgement = guard.check(guard.shell_intent(str(arguments["command"]), door="mcp").replace(agent=agent))
    verdict = judgement.verdict
    lines = [verdict.decision.word + (f" {verdict.reason}" if verdict.reason else "")]
    lines += [f"  instead: {verdict.alternative}"] if verdict.alternative and verdict.decision is not Decision.ALLOW else []
    return Result("\n".join([*lines, *(f"  note: {note}" for note in verdict.notes)]), judgement_object(judgement, judgement.run))


def _budget(guard: Guard, _: str, __: Arguments) -> Result:
    from ..model.money import dollars
    from ..storage.ledger import LedgerStore

    profile = guard.profile
    limits = {"session": profile.session_ceiling_micros, "day": profile.day_ceiling_micros, "month": profile.month_ceiling_micros}
    spends = LedgerStore(guard.state).spends(guard.session, {scope: limit for scope, limit in limits.items() if limit})
    accounts = [
        {
            "scope": each.scope,
            "ceiling_micros": each.ceiling,
            "committed_micros": each.committed,
            "reserved_micros": each.reserved,
            "left_micros": max(0, each.ceiling - each.committed - each.reserved),
        }
        for each in spends
    ]
    lines = [f"{each.scope}: {dollars(each.committed + each.reserved)} of {dollars(each.ceiling)} dollars" for each in spends]
    return Result("\n".join(lines) or "no ceiling is set", {"session": guard.session, "accounts": accounts})


_MADE: dict[str, Made] = {
    "read_file": _read,
    "write_file": _write,
    "edit_file": _edit,
    "delete_file": _delete,
    "move_file": _move,
    "apply_patch": _patch,
    "check": _check,
    "budget": _budget,
}
