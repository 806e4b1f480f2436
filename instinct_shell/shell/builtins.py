"""The builtins that change the shell itself, as functions on the evaluator's state. Each still yields its invocation."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Span
from . import control, outputs, simple, values
from .expand import arithmetic, split_ifs
from .invocation import Field, Known, Stream
from .state import MISSING, Channel, State
from .syntax import Assignment
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

_PREFIXES = frozenset({"command", "builtin", "exec"})
_SURE = frozenset({"/", "/tmp", "/var", "/etc", "/usr", "/home", "/root", "/opt", "/var/tmp", "/dev", "/proc", "/sys", "/usr/local", "/var/log"})


class Call:
    """One builtin and what it was given. args: its fields without the name; words: all fields of the command."""

    __slots__ = ("args", "declared", "fds", "name", "span", "streams", "temporary", "words")

    def __init__(
        self,
        name: str,
        args: tuple[Field, ...],
        words: tuple[Field, ...],
        declared: tuple[Assignment, ...],
        fds: dict[int, Channel],
        streams: tuple[Stream, ...],
        temporary: tuple[tuple[str, Field], ...],
        span: Span,
    ) -> None:
        self.name = name
        self.args = args
        self.words = words
        self.declared = declared
        self.fds = fds
        self.streams = streams
        self.temporary = temporary
        self.span = span

    def record(self, ev: Evaluator, output: Text | None = values.EMPTY) -> int:
        """Writes the invocation down; `output` is what it prints, None when unknown."""
        pairs = self.temporary
        index = simple.record(ev, self.words, pairs, self.fds, self.streams, self.span)
        made = ev.records[index]
        made.output = output
        if made.stdout is ev.sink and (output is None or output.values != ("",)):
            ev.emit(index, output)
        return index


def unwrapped(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The words without `command`, `builtin` and `exec` in front, where these have no options."""
    while len(fields) > 1 and fields[0].text in _PREFIXES:
        option = fields[1].text
        if option is None or (option.startswith("-") and option not in ("-p", "--")) or fields[0].text == "exec":
            break
        fields = fields[2:] if option in ("-p", "--") else fields[1:]
    return fields


# ---------------------------------------------------------------- directories


def _cd(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    words = [f for f in call.args if f.text not in ("-P", "-L", "-e", "-@", "--")]
    if words and words[0].text == "-":
        target, certain = ev.state.oldpwd or values.unknown("previous directory", "variable", "OLDPWD"), True
    elif words:
        target, certain = values.from_field(words[0]), False
    else:
        home = ev.lookup("HOME")
        target, certain = home if isinstance(home, Text) else values.known("/"), True
    return _change(ev, target, certain)


def _change(ev: Evaluator, target: Text, certain: bool) -> State | None:
    state = ev.state
    failed = state.copy()
    new = _resolved(ev, target)
    path = new.text
    fresh = any(origin.kind == "mktemp" for origin in new.origins)
    if fresh or (path is not None and (certain or _exists(ev, path))):
        failed.dead = True
    state.oldpwd = state.cwd
    state.cwd = new
    state.version += 1
    return failed


def _resolved(ev: Evaluator, target: Text) -> Text:
    """A directory argument as an absolute path, on each value of the current directory."""
    if not target.known:
        if not target.prefix.startswith("/"):
            prefix = "" if target.prefix.startswith("..") or ev.state.cwd.text is None or not target.prefix else f"{ev.state.cwd.text}/{target.prefix}"
            return Text((), target.reason or "unknown directory", target.origins, prefix, unset=target.unset)
        return target
    if target.glob:
        return Text((), "directory given by a pattern", target.origins, values.common_prefix(tuple(values.literal_head(v) for v in target.values)))
    cdpath = ev.lookup("CDPATH")
    if isinstance(cdpath, Text) and cdpath.values not in (("",), (".",)) and any(not v.startswith(("/", ".")) for v in target.values):
        if cdpath.text is None:
            return values.unknown("`CDPATH` decides the directory", "variable", "CDPATH")
        folders = [folder or "." for folder in cdpath.text.split(":")]
        found = [posixpath.join(folder, v) for folder in [*folders, "."] for v in target.values]
        target = values.one_of(found)
    paths = []
    for value in target.values:
        if value.startswith("/"):
            paths.append(_fold(value))
        elif value == "":
            return ev.state.cwd
        elif ev.state.cwd.known:
            paths += [_fold(f"{base.rstrip('/')}/{value}") for base in ev.state.cwd.values]
        else:
            cwd = ev.state.cwd
            prefix = _fold(cwd.prefix) if cwd.prefix.startswith("/") and not value.startswith("..") else ""
            if cwd.origins and cwd.origins[0].kind == "mktemp" and not value.startswith(".."):
                return Text((), cwd.reason, cwd.origins, cwd.prefix, "/" + value)
            return Text((), cwd.reason, cwd.origins, prefix)
    return values.one_of(paths, unset=target.unset)


def _fold(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _exists(ev: Evaluator, path: str) -> bool:
    """Directories that are surely there: well-known ones, the start directory with its parents, home, and what this text made."""
    start = ev.surroundings.cwd
    if path in _SURE or path in (ev.surroundings.home, start) or start.startswith(path.rstrip("/") + "/"):
        return True
    return path in ev.state.made


def _pushd(ev: Evaluator, call: Call) -> State | None:
    call.record(ev, None)
    words = [f for f in call.args if f.text != "-n"]
    if not words:
        if not ev.state.stack:
            return None
        target, rest = ev.state.stack[0], ev.state.stack[1:]
        ev.state.stack = (ev.state.cwd, *rest)
        return _change(ev, target, True)
    if (words[0].text or "").startswith(("+", "-")):
        ev.state.cwd = values.unknown("directory stack was rotated", "variable", "DIRSTACK")
        return None
    held = ev.state.stack
    ev.state.stack = (ev.state.cwd, *held)
    failed = _change(ev, values.from_field(words[0]), False)
    if failed is not None:
        failed.stack = held
    return failed


def _popd(ev: Evaluator, call: Call) -> State | None:
    call.record(ev, None)
    if ev.state.stack and not call.args:
        target, ev.state.stack = ev.state.stack[0], ev.state.stack[1:]
        return _change(ev, target, True)
    if call.args or not ev.state.stack:
        return None
    return None


def _mkdir(ev: Evaluator, call: Call) -> State | None:
    index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
    simple.finish(ev, index, call.words, call.fds)
    made = []
    for field in call.args:
        if field.text is not None and not field.text.startswith("-"):
            path = _resolved(ev, values.known(field.text)).text
            while path is not None and path != "/" and len(made) < 200:
                made.append(path)
                path = posixpath.dirname(path)
    ev.state.made |= frozenset(made)
    ev.state.version += 1
    return None


# ---------------------------------------------------------------- variables


def _declare(ev: Evaluator, call: Call) -> State | None:
    """declare, typeset, local, export, readonly."""
    letters = ""
    plus = ""
    names: list[str] = []
    pairs: list[tuple[str, Field]] = []
    options = True
    local = call.name == "local" or (call.name in ("declare", "typeset") and bool(ev.state.locals))
    deferred: list[tuple[str, str, Text]] = []
    for field in call.args:
        text = field.text
        if text is None:
            _declare_unknown(ev, field, call)
            continue
        if options and text[:1] in ("-", "+") and len(text) > 1:
            if text == "--":
                options = False
            elif text[0] == "-":
                letters += text[1:]
            else:
                plus += text[1:]
            continue
        found = re.match(r"([A-Za-z_]\w*)(\+?)=(.*)", text, re.DOTALL)
        if found:
            deferred.append((found[1], found[2], Text((found[3],))))
        else:
            ev.check_hidden(text, call.span, call.name, subscript=True)
            names.append(text.split("[")[0])
    if "g" in letters:
        local = False
    for name in (*names, *(n for n, _, _ in deferred), *(a.name for a in call.declared)):
        _attributes(ev, name, letters, plus, call)
        if local and ev.state.locals and name not in ev.state.locals[-1]:
            ev.state.locals[-1][name] = ev.state.variables.get(name, MISSING)
            if name in names and "n" not in letters:
                ev.state.assign(name, Array({}, "A" in letters) if set("aA") & set(letters) else None)
    if "f" not in letters and "F" not in letters and "p" not in letters:
        for name in names:
            if set("aA") & set(letters) and not isinstance(ev.state.variables.get(name), Array):
                ev.state.assign(name, Array({}, "A" in letters))
    for name, append, value in deferred:
        old = ev.lookup(name)
        if append and isinstance(old, Text):
            value = values.concat(old, value)
        if "i" in ev.state.attributes.get(name, "") and value.text is not None:
            value = arithmetic(ev, value.text, (), call.span)
        ev.state.assign(name, value)
        pairs.append((name, values.to_field(value)))
        _changed(ev, name)
    for assignment in call.declared:
        value = simple.assign(ev, assignment, local=True)
        pairs.append((assignment.name, values.to_field(value, ev.span(assignment.span))))
    if "f" in letters or "F" in letters:
        names = []
    if (call.name == "export" and "n" not in letters) or "x" in letters:
        ev.state.exported |= frozenset([*names, *(n for n, _ in pairs)])
    if call.name == "export" and "n" in letters:
        ev.state.exported -= frozenset(names)
    words = call.words + tuple(_assigned_word(name, field) for name, field in pairs if any(a.name == name for a in call.declared))
    call.words = words
    call.record(ev, values.EMPTY if pairs or names else None)
    return None


def _assigned_word(name: str, field: Field) -> Field:
    """`name=value` as a word of the declaration, for those who read the words."""
    return values.to_field(values.concat(Text((name + "=",)), values.from_field(field)), field.span)


def _declare_unknown(ev: Evaluator, field: Field, call: Call) -> None:
    name = field.prefix.partition("=")[0]
    if "=" in field.prefix and name.isidentifier():
        value = values.from_field(field)
        ev.state.assign(name, Text((), value.reason, value.origins, value.prefix.partition("=")[2]))
        _changed(ev, name)
        if call.name == "export":
            ev.state.exported |= {name}
    elif field.known is Known.SET:
        for text in field.values:
            name, equals, value_text = text.partition("=")
            if equals:
                ev.state.assign(name, values.unknown("declared under one of several names", "variable", name))


def _changed(ev: Evaluator, name: str) -> None:
    if name in ev.environment:
        ev.state.exported |= {name}


def _attributes(ev: Evaluator, name: str, letters: str, plus: str, call: Call) -> None:
    kept = "".join(sorted((set(ev.state.attributes.get(name, "")) | set(letters)) - set(plus)))
    if kept != ev.state.attributes.get(name, ""):
        ev.state.attributes = {**ev.state.attributes, name: kept}
    if "n" in letters:
        ev.note("nameref", name, call.span)


def _unset(ev: Evaluator, call: Call) -> State | None:
    functions = any(f.text in ("-f",) for f in call.args)
    for field in call.args:
        text = field.text
        if text is None or text.startswith("-"):
            continue
        ev.check_hidden(text, call.span, "unset", subscript=True)
        if functions or (text in ev.state.functions and ev.lookup(text) is None):
            ev.state.functions.pop(text, None)
            ev.state.version += 1
        elif "[" in text:
            ev.state.assign(text.split("[")[0], Array({}, False, values.unknown("element unset", "variable", text)))
        else:
            ev.state.assign(text, None)
    call.record(ev)
    return None


def _read(ev: Evaluator, call: Call) -> State | None:
    """`read`: from known text its next line, else unknown."""
    names: list[str] = []
    array = ""
    raw = False
    delimiter = "\n"
    number = ""
    channel = call.fds.get(0)
    at = 0
    arguments = call.args
    while at < len(arguments):
        text = arguments[at].text
        at += 1
        if text is None:
            continue
        if text.startswith("-") and len(text) > 1 and not names:
            for place, letter in enumerate(text[1:], 1):
                if letter == "r":
                    raw = True
                if letter in "adinNptu":
                    value = text[place + 1 :]
                    if not value and at < len(arguments):
                        value = arguments[at].text or ""
                        at += 1
                    if letter == "a":
                        array = value
                    elif letter == "d":
                        delimiter = value[:1] or "\0"
                    elif letter == "u" and value.isdigit():
                        channel = call.fds.get(int(value))
                    elif letter in "nN":
                        number = value
                    break
            continue
        ev.check_hidden(text, call.span, "read", subscript=True)
        names.append(text.split("[")[0])
    index = call.record(ev)
    line = _next(ev, channel, delimiter, number, raw, index)
    if array:
        if line.text is not None:
            pieces = split_ifs(line.text, ev.ifs())[0]
            ev.state.assign(array, Array({str(n): Text((p,)) for n, p in enumerate(pieces)}))
        else:
            ev.state.assign(array, Array({}, False, line))
        return None
    if not names:
        ev.state.assign("REPLY", line)
        return None
    if line.text is None:
        for name in names:
            ev.state.assign(name, Text((), line.reason, line.origins))
        return None
    for name, value in zip(names, _split_line(line.text, len(names), ev.ifs()), strict=True):
        ev.state.assign(name, Text((value,)))
    return None


def _next(ev: Evaluator, channel: Channel | None, delimiter: str, number: str, raw: bool, index: int) -> Text:
    if channel is None:
        return values.unknown("read from an unknown descriptor", "read")
    if channel.rest is not None:
        rest = channel.rest
        if number.isdigit():
            line, channel.rest = rest[: int(number)], rest[int(number) :]
        else:
            line, found, channel.rest = rest.partition(delimiter)
            while not raw and line.endswith("\\") and found and channel.rest:
                more, found, channel.rest = channel.rest.partition(delimiter)
                line = line[:-1] + more
        return Text((line if raw else re.sub(r"\\(.)", r"\1", line),))
    if channel.kind == "null":
        return values.EMPTY
    if channel.kind == "file" and channel.field is not None:
        return values.unknown(f"line of `{channel.field.text or channel.field.prefix}`", "file", channel.field.text or "")
    if channel.text is not None and channel.text.origins:
        return Text((), channel.text.reason, channel.text.origins)
    if channel.producers:
        return values.unknown("output of a command", "command", "", producers=channel.producers)
    return values.unknown("read from the input", "read")


def _split_line(line: str, count: int, ifs: str) -> list[str]:
    white = "".join(c for c in ifs if c in " \t\n")
    rest = line.strip(white) if white else line
    out = []
    for _ in range(count - 1):
        at = 0
        while at < len(rest) and rest[at] not in ifs:
            at += 1
        out.append(rest[:at])
        end = at
        hard = False
        while end < len(rest) and rest[end] in ifs and (rest[end] in white or not hard):
            hard = hard or rest[end] not in white
            end += 1
        rest = rest[end:]
    out.append(rest)
    return out


def _mapfile(ev: Evaluator, call: Call) -> State | None:
    name = "MAPFILE"
    strip = False
    at = 0
    while at < len(call.args):
        text = call.args[at].text or ""
        at += 1
        if text.startswith("-") and len(text) > 1:
            if "t" in text:
                strip = True
            if text[-1] in "dnOsucC" and at < len(call.args):
                value = call.args[at]
                at += 1
                if text[-1] == "C":
                    _run_text(ev, value, call.span, "mapfile -C", 2)
        elif text:
            name = text
    index = call.record(ev)
    channel = call.fds.get(0)
    if channel is not None and channel.rest is not None and strip:
        lines = channel.rest.removesuffix("\n").split("\n") if channel.rest else []
        ev.state.assign(name, Array({str(n): Text((line,)) for n, line in enumerate(lines)}))
    else:
        ev.state.assign(name, Array({}, False, _next(ev, Channel("pipe") if channel is None else _unread(channel), "\n", "", True, index)))
    return None


def _unread(channel: Channel) -> Channel:
    new = Channel(channel.kind, field=channel.field)
    new.producers = channel.producers
    new.text = channel.text
    return new


def _printf(ev: Evaluator, call: Call) -> State | None:
    if len(call.args) > 2 and call.args[0].text == "-v":
        name = call.args[1].text
        value = outputs.printf(call.args[2:])
        if name is None or not name.replace("_", "a").isalnum():
            ev.check_hidden(name or "", call.span, "printf -v", subscript=True)
            if name is not None and "[" in name:
                ev.forget((name.split("[")[0],), "printf -v")
        else:
            ev.state.assign(name, value or values.unknown("printf", "variable", name))
        call.record(ev)
        return None
    call.record(ev, outputs.printf(call.args))
    return None


def _getopts(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    letters = (call.args[0].text or "") if call.args else ""
    if len(call.args) > 1 and call.args[1].text:
        ev.state.assign(call.args[1].text, values.one_of([c for c in letters if c != ":"] + ["?"]))
    ev.state.assign("OPTARG", values.unknown("option argument", "positional", "OPTARG"))
    return None


def _let(ev: Evaluator, call: Call) -> State | None:
    for field in call.args:
        if field.text is not None:
            arithmetic(ev, field.text, (), call.span)
        else:
            for value in field.values:
                ev.check_hidden(value, call.span, "let")
    call.record(ev)
    return None


def _test(ev: Evaluator, call: Call) -> State | None:
    """`test -v 'x[$(..)]'` runs code out of a string."""
    previous = ""
    for field in call.args:
        if previous == "-v" or previous == "-R":
            for value in field.values:
                ev.check_hidden(value, call.span, "test -v", subscript=True)
        previous = field.text or ""
    call.record(ev)
    return None


# ---------------------------------------------------------------- options, positional parameters, text that runs


def _set(ev: Evaluator, call: Call) -> State | None:
    names = {"e": "errexit", "u": "nounset", "f": "noglob", "x": "xtrace", "C": "noclobber", "n": "noexec", "a": "allexport"}
    at = 0
    arguments = call.args
    while at < len(arguments):
        text = arguments[at].text
        if text is None or text[:1] not in ("-", "+") or text in ("-", "+"):
            break
        at += 1
        if text == "--":
            ev.state.positional, ev.state.open_positional = control.arguments(arguments[at:])
            ev.state.version += 1
            call.record(ev)
            return None
        chosen = {names[c] for c in text[1:] if c in names}
        if "o" in text[1:] and at < len(arguments):
            chosen.add(arguments[at].text or "")
            at += 1
        ev.state.options = ev.state.options | chosen if text[0] == "-" else ev.state.options - chosen
        ev.state.version += 1
    if at < len(arguments):
        ev.state.positional, ev.state.open_positional = control.arguments(arguments[at:])
        ev.state.version += 1
    if "xtrace" in ev.state.options:
        prompt = ev.lookup("PS4")
        if isinstance(prompt, Text) and any("$(" in v or "`" in v for v in prompt.values):
            ev.opaque(call.span, "`PS4` holds code that bash runs under `set -x`", prompt.values[0])
    call.record(ev, values.EMPTY if arguments else None)
    return None


def _shopt(ev: Evaluator, call: Call) -> State | None:
    texts = [f.text or "" for f in call.args]
    chosen = {t for t in texts if not t.startswith("-")}
    if "-s" in texts or any(t.startswith("-") and "s" in t for t in texts):
        ev.state.options |= chosen
        for name in sorted(chosen & {"extglob", "expand_aliases"}):
            ev.note(name, name, call.span)
    elif any(t.startswith("-") and "u" in t for t in texts):
        ev.state.options -= chosen
    ev.state.version += 1
    call.record(ev)
    return None


def _shift(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    count = call.args[0].text if call.args else "1"
    if count is not None and count.isdigit() and int(count) <= len(ev.state.positional):
        ev.state.positional = ev.state.positional[int(count) :]
    elif count is None or ev.state.open_positional:
        ev.state.positional, ev.state.open_positional = (), True
    ev.state.version += 1
    return None


def _alias(ev: Evaluator, call: Call) -> State | None:
    for field in call.args:
        name, equals, value = (field.text or field.prefix).partition("=")
        if equals:
            ev.state.aliases = {**ev.state.aliases, name: value}
            ev.note("alias", f"{name}={value}", call.span)
    call.record(ev)
    return None


def _hash(ev: Evaluator, call: Call) -> State | None:
    if any((f.text or "").startswith("-p") for f in call.args):
        ev.note("hash", " ".join(f.text or "?" for f in call.args), call.span)
    call.record(ev, None)
    return None


def _enable(ev: Evaluator, call: Call) -> State | None:
    ev.note("enable", " ".join(f.text or "?" for f in call.args), call.span)
    call.record(ev, None)
    return None


def _joined(arguments: tuple[Field, ...]) -> Text:
    out = values.EMPTY
    for number, field in enumerate(arguments):
        if number:
            out = values.concat(out, Text((" ",)))
        text = values.from_field(field)
        if text.glob:
            text = Text(text.values)  # the pattern is active again when the shell reads the text
        out = values.concat(out, text)
    return out


def _run_text(ev: Evaluator, field: Field, span: Span, what: str, added: int) -> None:
    """Text that a builtin runs with `added` words of its own behind it (`RANDOM` stands for a word that is not known)."""
    text = values.from_field(field)
    if not text.known:
        ev.opaque(span, f"text of `{what}` is not known", "")
        return
    for value in text.values:
        ev.uncertain(lambda value=value: ev.nested(value + ' "$RANDOM"' * added, span), "branch")  # type: ignore[misc]


def _eval(ev: Evaluator, call: Call) -> State | None:
    """`eval`: its words joined are read again; when they are not known the invocation stays for the effects to judge."""
    text = _joined(call.args)
    if not text.known or len(text.values) > 8 or len(ev.calls) + ev.depth > 120:
        index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
        simple.finish(ev, index, call.words, call.fds)
        return None
    if call.streams:
        simple.record(ev, (), (), call.fds, call.streams, call.span)
    held, ev.state.fds = ev.state.fds, call.fds
    failed: State | None = None
    if len(text.values) == 1:
        failed = ev.nested(text.values[0], call.span)
    else:
        before = ev.state
        after: State | None = None
        for value in text.values:
            ev.state = before.copy()
            ev.uncertain(lambda value=value: ev.nested(value, call.span), "branch")  # type: ignore[misc]
            after = ev.state if after is None else control.merge(after, ev.state)
        ev.state = after or before
    ev.state.fds = held
    if failed is not None:
        failed.fds = held
    return failed


def _source(ev: Evaluator, call: Call) -> State | None:
    """`source`: of known text (a process substitution, stdin with known text) it is read here; a file is left to the effects."""
    field = call.args[0] if call.args else None
    text: Text | None = None
    if field is not None:
        for origin in field.origins:
            if origin.kind == "process":
                text = ev.process_texts.get(origin.producers)
        if field.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            channel = call.fds.get(0)
            text = channel.text if channel is not None else None
    call.record(ev, None)
    if text is not None and text.known and not text.glob and len(text.values) <= 8:
        for value in text.values:
            ev.nested(value, call.span)
    return None


def _trap(ev: Evaluator, call: Call) -> State | None:
    words = [f for f in call.args if f.text != "--"]
    call.record(ev)
    if len(words) < 2 or words[0].text in ("-", "", "-l", "-p"):
        return None
    text = values.from_field(words[0])
    if not text.known or text.glob:
        ev.note("trap-dynamic", text.reason, call.span)
        return None
    ev.state.traps += tuple((value, ev.span(call.span)) for value in text.values)
    ev.state.version += 1
    return None


def _compgen(ev: Evaluator, call: Call) -> State | None:
    for option, value in zip(call.args, call.args[1:], strict=False):
        if option.text == "-C":
            _run_text(ev, value, call.span, "compgen -C", 3)
        elif option.text == "-W":
            ev.check_hidden(value.text or "", call.span, "compgen -W", subscript=True)
    call.record(ev, None)
    return None


# ---------------------------------------------------------------- ends


def _exec(ev: Evaluator, call: Call) -> State | None:
    index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
    words = [f for f in call.args if f.text != "--"]
    if not words:
        ev.state.fds = call.fds
        ev.state.version += 1
        return None
    simple.finish(ev, index, tuple(words), call.fds)
    ev.state = ev.state.killed()
    return None


def _leave(ev: Evaluator, call: Call) -> State | None:
    """exit, return, break, continue: what follows is not reached; loops and calls take the state over."""
    call.record(ev)
    if call.name != "exit":
        level = call.args[0].text if call.args else "1"
        control.leave(ev, call.name, int(level) if level is not None and level.isdigit() else 1)
    ev.state = ev.state.killed()
    return ev.state


def _true(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    return ev.state.killed()


def _false(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    failed = ev.state
    ev.state = failed.killed()
    return failed


TABLE: dict[str, Callable[[Evaluator, Call], State | None]] = {
    "cd": _cd,
    "chdir": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "mkdir": _mkdir,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "export": _declare,
    "readonly": _declare,
    "unset": _unset,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "printf": _printf,
    "getopts": _getopts,
    "let": _let,
    "test": _test,
    "[": _test,
    "set": _set,
    "shopt": _shopt,
    "shift": _shift,
    "alias": _alias,
    "hash": _hash,
    "enable": _enable,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "compgen": _compgen,
    "exec": _exec,
    "exit": _leave,
    "return": _leave,
    "break": _leave,
    "continue": _leave,
    "true": _true,
    ":": _true,
    "false": _false,
}
