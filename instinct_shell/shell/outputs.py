"""What a program surely writes to stdout, told from its words and its known input: the pure constants of shell work.

`echo`, `printf`, decoders and simple filters make it possible to see that `echo cm0K | base64 -d | sh` runs `rm`. Everything not listed is unknown.
"""

# ruff: noqa: ARG001  # the handlers of one table share a signature
from __future__ import annotations

import posixpath
import re

from . import decoders, values
from .formats import echo_escapes, part, printf
from .invocation import Field, Known, Origin
from .state import Channel
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

_SILENT = frozenset(
    "rm mkdir rmdir touch chmod chown ln sleep wait kill [[ unset shift sync mkfifo truncate shred logger disown".split()
)
_SKIPPED = frozenset({"command", "builtin", "exec", "nohup", "time", "busybox"})
_DIRECTORIES_OF_SHELL = "/usr/bin/"


def output(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    """The text that the command writes; partly known text keeps its origins; None when nothing is known."""
    while len(fields) > 1 and fields[0].text in _SKIPPED and not (fields[1].text or "-").startswith("-"):
        fields = fields[1:]
    name = fields[0].text if fields else None
    if name is None:
        return None
    name = posixpath.basename(name)
    if name in _SILENT:
        return None if fields[1:] and (fields[1].text or "").startswith(("-v", "-l", "--v")) else values.EMPTY  # `rm -v`, `kill -l`
    handler = _TABLE.get(name)
    if handler is None:
        return None
    try:
        return handler(ev, fields[1:], stdin)
    except (ValueError, IndexError, OverflowError):
        return None


def _read(ev: Evaluator, stdin: Channel) -> Text | None:
    """The known text of an input, as far as it is not read yet."""
    if stdin.kind == "null":
        return values.EMPTY
    if stdin in ev.state.unread or stdin.rest is not None:
        rest = ev.state.rest(stdin)
        return Text((rest,)) if rest is not None else None
    return stdin.text


def _static(fields: tuple[Field, ...]) -> list[str] | None:
    out = []
    for field in fields:
        if field.text is None:
            return None
        out.append(field.text)
    return out


def _echo(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    newline = True
    escapes = False
    at = 0
    while at < len(fields):
        text = fields[at].text or ""
        if len(text) < 2 or text[0] != "-" or text[1:].strip("neE"):
            break
        newline = newline and "n" not in text
        for letter in text:
            if letter in "eE":
                escapes = letter == "e"
        at += 1
    if "xpg_echo" in ev.state.options:
        return values.unknown("echo that may take backslashes", "echo")
    out = values.EMPTY
    words = fields[at:]
    if len(words) > 1 and any(field.many and not field.glob and field.known is not Known.DYNAMIC for field in words):
        return values.unknown("echo of words that may be missing", "echo")
    for number, field in enumerate(words):
        if number and not _may_vanish(words, number):
            out = values.concat(out, Text((" ",)))
        out = values.concat(out, part(field))
    if newline:
        out = values.concat(out, Text(("\n",)))
    return values.transform(out, echo_escapes) if escapes else out  # `\c` ends it, with what would stand behind


def _may_vanish(words: tuple[Field, ...], number: int) -> bool:
    """Whether the space before this word may be missing: all words on one side of it may expand to nothing, and the unknown covers it."""
    vanishing = [field.many and field.known is Known.DYNAMIC and not field.prefix and not field.suffix for field in words]
    return all(vanishing[:number]) or all(vanishing[number:])


def _printf(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    return printf(fields)


def _cat(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    names = [f for f in fields if f.text is None or not f.text.startswith("-") or f.text == "-"]
    if not names or all(f.text == "-" for f in names):
        return _read(ev, stdin)
    if len(names) == 1:
        text = values.from_field(names[0])
        for origin in text.origins:
            if origin.kind == "process":
                return ev.process_texts.get(origin.producers)
        detail = names[0].text or names[0].prefix
        return Text((), f"content of `{detail}`", (Origin("file", names[0].text or ""),))
    return None


def _tee(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    return _read(ev, stdin)


def _basename(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    words = [f for f in fields if f.text != "--"]
    if not words or (words[0].text or "").startswith("-"):
        return None
    suffix = (words[1].text or "") if len(words) > 1 else ""

    def change(value: str) -> str:
        found = value.rstrip("/").rsplit("/", 1)[-1] or "/"
        return (found.removesuffix(suffix) if suffix and found != suffix else found) + "\n"

    text = values.from_field(words[0])
    if text.glob:  # the name of each file that matches
        names = tuple(change(value) for value in text.values)
        return Text(names, glob=True, unset=text.unset) if all(len(name) > 1 and name[:1] != "/" for name in names) else None
    return values.transform(text, change)


def _dirname(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    words = [f for f in fields if f.text != "--"]
    if len(words) != 1:
        return None
    text = values.from_field(words[0])
    if any(value.startswith("/\x1a") for value in text.values):
        return None  # a name that somebody else's search will find (effects/holes.py): its folder is below where that began
    if not text.known and text.prefix.count("/") > 1:
        return Text((), text.reason, text.origins, text.prefix.rsplit("/", 1)[0])
    return (
        values.transform(text, lambda v: (posixpath.dirname(v.rstrip("/")) or ("/" if v.startswith("/") else ".")) + "\n")
        if not text.glob
        else None
    )


def _git(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    """`git rev-parse --show-toplevel` inside the workspace, which is a work tree's top unless a person chose another folder."""
    top, cwd = ev.surroundings.workspace, ev.state.cwd.text
    words = _static(fields)
    if words != ["rev-parse", "--show-toplevel"] or not top or cwd is None or not (cwd == top or cwd.startswith(top + "/")):
        return None
    return Text((top + "\n",))


def _pwd(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    return values.concat(ev.state.cwd, Text(("\n",)))


def _path(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    """realpath and readlink -f, as far as text goes; links are resolved by the gate."""
    words = [f for f in fields if not (f.text or "").startswith("-")]
    if len(words) != 1:
        return None
    text = values.from_field(words[0])
    cwd = ev.state.cwd.text
    if text.glob or cwd is None:
        return None
    return values.transform(text, lambda v: posixpath.normpath(posixpath.join(cwd, v)) + "\n")


def _readlink(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    if any((f.text or "") in ("-f", "-e", "-m", "--canonicalize") for f in fields):
        return _path(ev, fields, stdin)
    return None


def _which(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    words = [f for f in fields if not (f.text or "").startswith("-")]
    if len(words) != 1:
        return None
    text = values.from_field(words[0])
    return values.transform(text, lambda v: (v if "/" in v else _DIRECTORIES_OF_SHELL + v) + "\n")


def _command(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    if fields and fields[0].text == "-v":
        return _which(ev, fields[1:], stdin)
    return None


def _type(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    if fields and fields[0].text in ("-p", "-P"):
        return _which(ev, fields[1:], stdin)
    return None


def _user(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    return Text((ev.surroundings.user + "\n",)) if ev.surroundings.user else None


def _id(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    words = _static(fields) or []
    return _user(ev, fields, stdin) if words in (["-un"], ["-u", "-n"], ["-nu"]) else None


def _printenv(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    if len(fields) != 1 or fields[0].text is None:
        return None
    found = ev.lookup(fields[0].text)
    return values.concat(found, Text(("\n",))) if isinstance(found, Text) else None


def _seq(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    words = _static(fields)
    if words is None or not words or not all(re.fullmatch(r"-?\d{1,9}", w) for w in words):
        return None
    numbers = [int(w) for w in words]
    first, step, last = (
        (1, 1, numbers[0]) if len(numbers) == 1 else (numbers[0], 1, numbers[1]) if len(numbers) == 2 else tuple(numbers[:3])
    )
    if step == 0 or abs(last - first) // abs(step) > 512:
        return None
    return Text(("".join(f"{n}\n" for n in range(first, last + (1 if step > 0 else -1), step)),))


def _mktemp(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
    """A fresh name: unknown, but surely new and in a known directory."""
    folder: Text | None = None
    template: Text | None = None
    in_tmp = False
    at = 0
    while at < len(fields):
        text = fields[at].text
        at += 1
        if text is not None and text.startswith("--"):
            if text.startswith("--tmpdir"):
                in_tmp = True
                if "=" in text:
                    folder = Text((text.partition("=")[2],))
            continue
        if text is not None and text.startswith("-") and len(text) > 1:
            in_tmp = in_tmp or "t" in text
            if text.endswith("p") and at < len(fields):
                folder = values.from_field(fields[at])
                at += 1
            elif "p" in text[1:]:
                folder = Text((text.partition("p")[2],))
            continue
        template = values.from_field(fields[at - 1])
    tmp = ev.lookup("TMPDIR")
    usual = tmp if isinstance(tmp, Text) and tmp.text else Text(("/tmp",))  # noqa: S108  # a name, nothing is opened
    if folder is None and template is not None and not in_tmp:
        base = template.text if template.text is not None else template.prefix
        head = base.rstrip("X") if template.text is not None else base
        if not head.startswith("/"):
            cwd = ev.state.cwd.text
            if cwd is None:
                return values.unknown("fresh scratch name", "mktemp")
            head = cwd.rstrip("/") + "/" + head
        return values.unknown("fresh scratch name", "mktemp", posixpath.dirname(head), prefix=head)
    chosen = folder if folder is not None and not in_tmp else folder or usual
    where = chosen.text if chosen.text is not None else chosen.prefix
    if not where.startswith("/") and ev.state.cwd.text is not None:
        where = posixpath.normpath(posixpath.join(ev.state.cwd.text, where))
    return values.unknown("fresh scratch name", "mktemp", where, prefix=where.rstrip("/") + "/" if where else "")


def _filter(change: Callable[[list[str], str], str | None]) -> Callable[[Evaluator, tuple[Field, ...], Channel], Text | None]:
    """A handler for a program that turns its known input into output by a pure function of its known words."""

    def handler(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
        words = _static(fields)
        given = _read(ev, stdin)
        if given is not None and not given.known:
            return Text((), given.reason, given.origins)
        if words is None or given is None or given.glob:
            return None
        out = []
        for value in given.values:
            changed = change(words, value)
            if changed is None:
                return None
            out.append(changed)
        return values.one_of(out)

    return handler


def _inline(language: str) -> Callable[[Evaluator, tuple[Field, ...], Channel], Text | None]:
    def handler(ev: Evaluator, fields: tuple[Field, ...], stdin: Channel) -> Text | None:
        words = _static(fields)
        printed = decoders.printed_constant(language, words) if words is not None else None
        return Text((printed,)) if printed is not None else None

    return handler


_TABLE: dict[str, Callable[[Evaluator, tuple[Field, ...], Channel], Text | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "basename": _basename,
    "dirname": _dirname,
    "git": _git,
    "pwd": _pwd,
    "realpath": _path,
    "readlink": _readlink,
    "which": _which,
    "command": _command,
    "type": _type,
    "whoami": _user,
    "id": _id,
    "printenv": _printenv,
    "seq": _seq,
    "mktemp": _mktemp,
    "python3": _inline("python"),
    "python": _inline("python"),
    "perl": _inline("perl"),
    "awk": _inline("awk"),
    "gawk": _inline("awk"),
    "mawk": _inline("awk"),
    **{name: _filter(change) for name, change in decoders.FILTERS.items()},
}
