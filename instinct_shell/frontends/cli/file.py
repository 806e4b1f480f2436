"""`instinct file`: read, write, edit, delete, move and patch files; judged, done in one step each, recorded, and undone by `instinct undo`."""

from __future__ import annotations

import json
import os
import sys

import click

from ...effects.edits import Replacement, replacements
from ...errors import Exit, FileToolError, UsageError
from ..files import Files, Report, diff_of, refusal, report_object
from ..present import style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...wiring import Guard

_EXAMPLES = """\b
Examples:
  instinct file read src/app.py
  echo 'print(1)' | instinct file write src/app.py
  instinct file edit src/app.py --old 'timeout=3' --new 'timeout=30'
  instinct file move old.py new.py
  git diff | instinct file patch

\b
Exit status: 0 done; 126 denied, or asked and not granted; 125 not done."""
STDIN_LIMIT = 64 << 20


@click.group(name="file", epilog=_EXAMPLES)
def command() -> None:
    """Read and change files as a shell command would be: judged, below the writable folders only, whole or not at all."""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON object."),
        click.option("--session", default="", metavar="ID", help="The agent's session; it holds what it wrote for 15 minutes."),
        click.option("--workspace", default="", metavar="DIR", help="The folder the agent works in (default: the git top level)."),
        click.option("--profile", default="", metavar="NAME", help="dev, staging, prod, or stricter than yours."),
    ):
        function = option(function)
    return function


def _files(profile: str, workspace: str, session: str) -> tuple[Guard, Files]:
    from ...execution.agents import identify
    from ...execution.jail.inside import inside
    from ...wiring import open_guard
    from ..failure import tell

    if inside():
        # The books are out of reach here, and the jail holds whatever writes.
        raise FileToolError("file tools work outside the jail only", hint="in here an ordinary command does it; it was judged and is held")
    agent, found = identify(os.environ)
    guard = open_guard(profile=profile, workspace=workspace, session=session or os.environ.get("INSTINCT_SESSION", "") or found)
    guard.announce = tell
    return guard, Files(guard, door="file", agent=agent)


def _tell(guard: Guard, reports: tuple[Report, ...], *, as_json: bool, diff: bool = True) -> int:
    """Show what became of it; the exit status."""
    if as_json:
        shown = [report_object(report, guard.workspace) for report in reports]
        click.echo(json.dumps(shown[0] if len(shown) == 1 else {"changes": shown}))
    for report in reports:
        if as_json:
            continue
        if report.done is None:
            click.echo(refusal(report), err=True, nl=False)
            continue
        style = style_of(sys.stderr, os.environ)
        for note in (*report.outcome.judgement.verdict.notes, *report.done.notes):
            click.echo(style.clean(f"instinct: note: {note}"), err=True)
        if report.outcome.note:
            click.echo(style.clean(f"instinct: {report.outcome.note}"), err=True)
        if diff:
            click.echo(diff_of(report.done, guard.workspace), nl=False)
    return Exit.OK if all(report.allowed for report in reports) else Exit.DENIED


def _given(content_file: str) -> str:
    """The text on stdin, or in a file."""
    if content_file and content_file != "-":
        try:
            with open(content_file, "rb") as file:
                data = file.read(STDIN_LIMIT + 1)
        except OSError as error:
            raise UsageError(
                f"cannot read `{content_file}`: {(error.strerror or str(error)).lower()}", hint="name a readable file"
            ) from error
    else:
        data = sys.stdin.buffer.read(STDIN_LIMIT + 1)
    if len(data) > STDIN_LIMIT:
        raise UsageError(f"the content is larger than {STDIN_LIMIT >> 20} MiB", hint="make such files by a command")
    return data.decode("utf-8", "surrogateescape")


@command.command(name="read", epilog="\b\nExample:\n  instinct file read src/app.py --lines 1:40")
@click.argument("path")
@click.option("--lines", default="", metavar="FROM:TO", help="Only these lines, from 1.")
@_options
def read(path: str, lines: str, profile: str, workspace: str, session: str, *, as_json: bool) -> int:
    """Print a file; keys and values of .env files in it are redacted."""
    guard, files = _files(profile, workspace, session)
    report = files.read(path)
    if report.done is None:
        return _tell(guard, (report,), as_json=as_json)
    from ...wiring.files import redacted

    text, secrets = redacted(guard, (report.done.before or b"").decode("utf-8", "surrogateescape"))
    text = chosen_lines(text, lines)
    if as_json:
        click.echo(json.dumps({**report_object(report, guard.workspace), "content": text, "redacted": list(secrets)}))
        return Exit.OK
    for what in secrets:
        click.echo(f"instinct: note: redacted {what}", err=True)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    return Exit.OK


def chosen_lines(text: str, wanted: str) -> str:
    """The lines `FROM:TO` of a text, all of them for ""."""
    if not wanted:
        return text
    first, _, last = wanted.partition(":")
    try:
        start, stop = int(first or 1), int(last) if last else None
    except ValueError:
        raise UsageError(f"`--lines {wanted}` is not FROM:TO", hint="for example: --lines 10:20") from None
    return "".join(text.splitlines(keepends=True)[max(0, start - 1) : stop])


@command.command(name="write", epilog="\b\nExample:\n  echo 'print(1)' | instinct file write src/app.py")
@click.argument("path")
@click.option("--content-file", default="-", metavar="FILE", help="Take the content from FILE instead of stdin.")
@click.option("--new", "exclusive", is_flag=True, help="Only make a new file, never replace one.")
@_options
def write(path: str, content_file: str, profile: str, workspace: str, session: str, *, exclusive: bool, as_json: bool) -> int:
    """Make or replace a file; its mode stays. The diff is shown."""
    guard, files = _files(profile, workspace, session)
    return _tell(guard, (files.write(path, _given(content_file), exclusive=exclusive),), as_json=as_json)


@command.command(
    name="edit",
    epilog="\b\nExamples:\n  instinct file edit src/app.py --old 'timeout=3' --new 'timeout=30'\n"
    '  echo \'[{"old": "a", "new": "b", "all": true}]\' | instinct file edit src/app.py --edits -',
)
@click.argument("path")
@click.option("--old", default=None, metavar="TEXT", help="The text to replace; it must stand there exactly once.")
@click.option("--new", default=None, metavar="TEXT", help="What takes its place.")
@click.option("--replace-all", is_flag=True, help="Replace it everywhere.")
@click.option("--edits", "edits_file", default="", metavar="FILE", help='A JSON list of {"old", "new", "all"?} instead; - is stdin.')
@_options
def edit(
    path: str,
    old: str | None,
    new: str | None,
    edits_file: str,
    profile: str,
    workspace: str,
    session: str,
    *,
    replace_all: bool,
    as_json: bool,
) -> int:
    """Replace exact text in a file."""
    if bool(edits_file) == (old is not None) or (old is None) != (new is None):
        raise UsageError("either --old and --new, or --edits FILE is needed", hint="see `instinct file edit --help`")
    if edits_file:
        try:
            edits = replacements(json.loads(_given(edits_file)))
        except ValueError:
            raise UsageError("`--edits` is not JSON", hint='give a list of {"old": "...", "new": "..."}') from None
    else:
        edits = (Replacement(old or "", new or "", replace_all),)
    guard, files = _files(profile, workspace, session)
    return _tell(guard, (files.edit(path, edits),), as_json=as_json)


@command.command(name="delete", epilog="\b\nExample:\n  instinct file delete old.py")
@click.argument("path")
@click.option("--recursive", is_flag=True, help="A folder with all that is in it.")
@_options
def delete(path: str, profile: str, workspace: str, session: str, *, recursive: bool, as_json: bool) -> int:
    """Delete a file or an empty folder."""
    guard, files = _files(profile, workspace, session)
    return _tell(guard, (files.delete(path, recursive=recursive),), as_json=as_json, diff=False)


@command.command(name="move", epilog="\b\nExample:\n  instinct file move old.py src/new.py")
@click.argument("path")
@click.argument("destination")
@_options
def move(path: str, destination: str, profile: str, workspace: str, session: str, *, as_json: bool) -> int:
    """Move a file or folder; a file that is there is replaced, and kept for undo."""
    guard, files = _files(profile, workspace, session)
    return _tell(guard, (files.move(path, destination),), as_json=as_json)


@command.command(name="patch", epilog="\b\nExamples:\n  git diff | instinct file patch\n  instinct file patch --content-file change.patch")
@click.option("--content-file", default="-", metavar="FILE", help="Take the patch from FILE instead of stdin.")
@_options
def patch(content_file: str, profile: str, workspace: str, session: str, *, as_json: bool) -> int:
    """Apply a patch: `*** Begin Patch` or a unified diff. All of it is judged before anything is changed."""
    guard, files = _files(profile, workspace, session)
    reports = files.patch(_given(content_file))
    if not reports:
        raise FileToolError("the patch changes nothing", hint="check that it is whole")
    return _tell(guard, reports, as_json=as_json)
