"""Edits of a text: exact replacements and hunks of a patch, applied to what is there. Pure; the file tools and the judge share it.

Text is what a file's bytes decode to by UTF-8 with surrogate escapes, so bytes that no edit names stay what they are. A file with CRLF line
ends keeps them: an edit that is written with plain line ends fits it too.
"""

from __future__ import annotations

from ..errors import IntentError
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 60


class Replacement(Value):
    """`old` becomes `new`: at its only place, or at all of them."""

    old: str
    new: str
    all: bool = False


class Hunk(Value):
    """One place of a patch. lines: ` `, `-` or `+` and the text. line: where it stood, from 1 (0: before the first), -1 when nobody said.

    anchor: a line that stands above it. at_end: it touches the end of the file. bare_old, bare_new: the last line has no line end, before or after.
    """

    lines: tuple[str, ...]
    line: int = -1
    anchor: str = ""
    at_end: bool = False
    bare_old: bool = False
    bare_new: bool = False


class Misfit(IntentError):
    """An edit does not fit the text: nothing was changed."""

    code = "E104"


# ---------------------------------------------------------------- replacements


def replaced(text: str, edits: Sequence[Replacement]) -> str:
    """The text after these replacements, one after the other. Raises Misfit: nothing to replace, not there, or there more than once."""
    for number, edit in enumerate(edits, 1):
        which = f"edit {number}: " if len(edits) > 1 else ""
        old, new = edit.old, edit.new
        if old == new:
            raise Misfit(f"{which}old and new text are the same", hint="nothing would change")
        if not old:
            if text:
                raise Misfit(f"{which}the old text is empty", hint="name the text to replace, or write the whole file")
            text = new
            continue
        count = text.count(old)
        if not count and "\r\n" in text and "\r\n" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
            count = text.count(old)
        if not count:
            raise Misfit(f"{which}the old text is not in the file: {_shown(old)}", hint="read the file again; every space counts")
        if count > 1 and not edit.all:
            raise Misfit(
                f"{which}the old text stands {count} times in the file: {_shown(old)}", hint="take more lines around it, or replace all"
            )
        text = text.replace(old, new)
    return text


def replacements(data: object) -> tuple[Replacement, ...]:
    """The `edits` of an intent's metadata: a list of {"old", "new", "all"?}. Raises IntentError for anything else."""
    if not isinstance(data, list | tuple) or not data:
        raise IntentError("`edits` must be a list of objects with `old` and `new`")
    found = []
    for entry in data:
        if not isinstance(entry, dict) or not isinstance(entry.get("old"), str) or not isinstance(entry.get("new"), str):
            raise IntentError("`edits` must be a list of objects with `old` and `new`, both text")
        found.append(Replacement(entry["old"], entry["new"], bool(entry.get("all"))))
    return tuple(found)


def replacement_data(edits: Sequence[Replacement]) -> list[dict[str, object]]:
    """The same as metadata."""
    return [{"old": edit.old, "new": edit.new, "all": edit.all} for edit in edits]


# ---------------------------------------------------------------- hunks


def patched(text: str, hunks: Sequence[Hunk]) -> str:
    """The text after these hunks, which stand in the order of the text. Raises Misfit for one that fits nowhere."""
    lines = text.split("\n")
    ends = lines[-1] == ""  # the last line has a line end, or there is no line at all
    if ends:
        lines.pop()
    cursor = shift = 0
    for number, hunk in enumerate(hunks, 1):
        old = [line[1:] for line in hunk.lines if line[:1] in (" ", "-")]
        cursor = _below(lines, hunk, cursor, number)
        if old:
            place = _find(lines, old, cursor, hunk.line - 1 + shift if hunk.line >= 0 else -1, at_end=hunk.at_end)
            if place < 0:
                raise Misfit(
                    f"hunk {number} of the patch fits nowhere: {_shown(old[0])}", hint="read the file again and write the hunk anew"
                )
        elif hunk.line >= 0:
            place = min(hunk.line + shift, len(lines))
        else:
            place = cursor if hunk.anchor else len(lines)
        fresh = _fresh(lines[place : place + len(old)], hunk)
        lines[place : place + len(old)] = fresh
        cursor = place + len(fresh)
        shift += len(fresh) - len(old)
        if cursor == len(lines):
            ends = not hunk.bare_new and (ends or hunk.bare_old or not text or hunk.line < 0)
    return "\n".join(lines) + ("\n" if ends and lines else "")


def hunks_of(data: object) -> tuple[Hunk, ...]:
    """The `hunks` of an intent's metadata. Raises IntentError."""
    found = []
    for entry in data if isinstance(data, list | tuple) else ():
        lines = entry.get("lines") if isinstance(entry, dict) else None
        if not isinstance(lines, list | tuple) or not all(isinstance(line, str) and line[:1] in (" ", "-", "+") and line for line in lines):
            raise IntentError("`hunks` must be a list of objects with `lines`, each beginning with a space, `-` or `+`")
        line, anchor = entry.get("line", -1), entry.get("anchor", "")
        if not isinstance(line, int) or not isinstance(anchor, str):
            raise IntentError("a hunk's `line` is a number and its `anchor` is text")
        found.append(Hunk(tuple(lines), line, anchor, *(bool(entry.get(name)) for name in ("at_end", "bare_old", "bare_new"))))
    if not found:
        raise IntentError("`hunks` must be a list that is not empty")
    return tuple(found)


def hunk_data(hunks: Sequence[Hunk]) -> list[dict[str, object]]:
    """The same as metadata, without what says nothing."""
    return [
        {"lines": list(hunk.lines), **{name: value for name in Hunk._fields[1:] if (value := getattr(hunk, name)) != Hunk._defaults[name]}}
        for hunk in hunks
    ]


def _below(lines: list[str], hunk: Hunk, cursor: int, number: int) -> int:
    """The first line below the hunk's anchor."""
    if not hunk.anchor:
        return cursor
    wanted = hunk.anchor.strip()
    place = next((at for at in range(cursor, len(lines)) if lines[at].strip() == wanted), -1)
    if place < 0:
        place = next((at for at in range(cursor, len(lines)) if lines[at].strip().startswith(wanted)), -1)
    if place < 0:
        if hunk.line >= 0:  # in a unified diff it is only a help for readers
            return cursor
        raise Misfit(f"hunk {number} of the patch stands below a line that is not there: {_shown(wanted)}")
    return cursor if hunk.line >= 0 else place + 1


def _find(lines: list[str], old: list[str], start: int, expected: int, *, at_end: bool) -> int:
    """Where these lines stand: as they are, else with other spaces at their ends; nearest to where they are expected, else the first."""
    last = len(lines) - len(old)
    places = range(start, last + 1)
    for same in (str, str.rstrip):
        wanted = [same(line) for line in old]
        found = [at for at in places if same(lines[at]) == wanted[0] and [same(line) for line in lines[at : at + len(old)]] == wanted]
        if found and at_end and last in found:
            return last
        if found:
            return min(found, key=lambda at: abs(at - expected)) if expected >= 0 else found[0]
    return -1


def _fresh(there: list[str], hunk: Hunk) -> list[str]:
    """The lines after the hunk: kept ones as the file has them, new ones with the line end of those around them."""
    crlf = bool(there) and all(line.endswith("\r") for line in there)
    out, at = [], 0
    for line in hunk.lines:
        if line[0] == "+":
            out.append(line[1:] + "\r" if crlf and not line.endswith("\r") else line[1:])
        else:
            if line[0] == " ":
                out.append(there[at])
            at += 1
    return out


def _shown(text: str) -> str:
    line = text.strip("\n").partition("\n")[0]
    line = "".join(c if c.isprintable() else "?" for c in line).replace("`", "'")
    return f"`{line[:_SHOWN]}{'...' if len(line) > _SHOWN else ''}`"
