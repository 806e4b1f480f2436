"""read, mapfile, printf -v and getopts: values that come from input or from a format."""

from __future__ import annotations

import re
from functools import reduce

from . import nested, outputs, values
from .call import Call
from .separators import split_ifs
from .state import Channel, State
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def read(ev: Evaluator, call: Call) -> State | None:
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
    call.record(ev)
    line = _next(channel, delimiter, number, raw)
    if array:
        if line.text is not None:
            rows = [split_ifs(line.text, ifs)[0] for ifs in ev.all_ifs()]
            if len({tuple(row) for row in rows}) == 1:
                ev.state.assign(array, Array({str(n): Text((p,)) for n, p in enumerate(rows[0])}))
            else:
                ev.state.assign(array, Array({}, False, values.unknown("split at separators that are not known", "read")))
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
    rows = [_split_line(line.text, len(names), ifs) for ifs in ev.all_ifs()]
    for at, name in enumerate(names):
        found = [Text((row[at],)) for row in rows]
        ev.state.assign(name, reduce(values.join, found) if found else values.unknown("split at separators that are not known", "read"))
    return None


def _next(channel: Channel | None, delimiter: str, number: str, raw: bool) -> Text:
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
        line = line.replace("\0", "")  # bash leaves NULs out
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


def mapfile(ev: Evaluator, call: Call) -> State | None:
    name = "MAPFILE"
    strip = False
    delimiter = "\n"
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
                if text[-1] == "d":
                    delimiter = (value.text or "")[:1] or "\0"
                if text[-1] == "C":
                    nested.run_text(ev, value, call.span, "mapfile -C", 2)
        elif text:
            name = text
    call.record(ev)
    channel = call.fds.get(0)
    if channel is not None and channel.rest is not None and strip:
        lines = channel.rest.removesuffix(delimiter).split(delimiter) if channel.rest else []
        ev.state.assign(name, Array({str(n): Text((line.replace("\0", ""),)) for n, line in enumerate(lines)}))
    else:
        ev.state.assign(name, Array({}, False, _next(Channel("pipe") if channel is None else _unread(channel), "\n", "", True)))
    return None


def _unread(channel: Channel) -> Channel:
    new = Channel(channel.kind, field=channel.field)
    new.producers = channel.producers
    new.text = channel.text
    return new


def printf(ev: Evaluator, call: Call) -> State | None:
    if len(call.args) > 2 and call.args[0].text == "-v":
        name = call.args[1].text
        value = outputs.printf(call.args[2:])
        if name is None or not name.replace("_", "a").isalnum():
            ev.check_hidden(name or "", call.span, "printf -v", subscript=True)
            if name is not None and "[" in name:
                ev.forget((name.split("[")[0],), "printf -v")
        else:
            held = values.transform(value, lambda text: text.partition("\0")[0]) if value is not None and value.known and not value.glob else value
            ev.state.assign(name, held or values.unknown("printf", "variable", name))
        call.record(ev)
        return None
    call.record(ev, outputs.printf(call.args))
    return None


def getopts(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    letters = (call.args[0].text or "") if call.args else ""
    if len(call.args) > 1 and call.args[1].text:
        ev.state.assign(call.args[1].text, values.one_of([c for c in letters if c != ":"] + ["?"]))
    ev.state.assign("OPTARG", values.unknown("option argument", "positional", "OPTARG"))
    return None
