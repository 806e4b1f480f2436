"""read, mapfile, printf -v and getopts: values that come from input or from a format."""

from __future__ import annotations

import re
from functools import reduce

from . import formats, nested, values
from .call import Call
from .separators import split_ifs
from .setting import give, give_at, literal_name, shaped
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
    exact = False
    channel = call.fds.get(0)
    at = 0
    arguments = call.args
    while at < len(arguments):
        text = literal_name(arguments[at])
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
                        number, exact = value, letter == "N"
                    break
            continue
        ev.check_hidden(text, call.span, "read", subscript=True)
        names.append(text)
    call.record(ev)
    line = _next(ev, channel, delimiter, number, raw, exact)
    if array:
        if line.text is not None:
            rows = [split_ifs(line.text, ifs)[0] for ifs in (("",) if exact else ev.all_ifs())]
            if len({tuple(row) for row in rows}) == 1:
                letters = ev.state.letters(array)
                ev.state.assign(array, Array({str(n): shaped(ev, letters, Text((p,)), call.span) for n, p in enumerate(rows[0])}))
            else:
                ev.state.assign(array, Array({}, False, values.unknown("split at separators that are not known", "read")))
        else:
            ev.state.assign(array, Array({}, False, line))
        return None
    if not names:
        give(ev, "REPLY", line)
        return None
    if line.text is None:
        for name in names:
            give_at(ev, name, Text((), line.reason, line.origins, no_number=line.no_number))
        return None
    rows = [_split_line(line.text, len(names), ifs) for ifs in (("",) if exact else ev.all_ifs())]
    for at, name in enumerate(names):
        found = [Text((row[at],)) for row in rows]
        give_at(ev, name, reduce(values.join, found) if found else values.unknown("split at separators that are not known", "read"))
    return None


def _next(ev: Evaluator, channel: Channel | None, delimiter: str, number: str = "", raw: bool = False, exact: bool = False) -> Text:
    if channel is None:
        return values.unknown("read from an unknown descriptor", "read")
    if (rest := ev.state.rest(channel)) is not None:
        if number:
            if not number.isdigit() or "\\" in rest:
                ev.state.unread = {**ev.state.unread, channel: None}
                return values.unknown("a part of a line", "read")
            whole = rest
            line, rest = whole[: int(number)], whole[int(number) :]
            if not exact and delimiter in line:
                line = line.partition(delimiter)[0]
                rest = whole[len(line) + 1 :]
        else:
            line, found, rest = rest.partition(delimiter)
            while not raw and len(line) - len(line.rstrip("\\")) & 1 and found and rest:
                more, found, rest = rest.partition(delimiter)
                line = line[:-1] + more
        ev.state.unread = {**ev.state.unread, channel: rest}
        line = line.replace("\0", "")  # bash leaves NULs out
        if not raw and any("\\" + mark in line for ifs in ev.all_ifs() for mark in ifs):
            return values.unknown("separators of which some are quoted", "read")
        return Text((line if raw else re.sub(r"\\(.)", r"\1", line),))
    if channel.kind == "null":
        return values.EMPTY
    if channel.kind == "file" and channel.field is not None:
        return values.unknown(f"line of `{channel.field.text or channel.field.prefix}`", "file", channel.field.text or "")
    if channel.text is not None and channel.text.origins:
        return Text((), channel.text.reason, channel.text.origins, no_number=channel.text.no_number)
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
    if rest and rest[-1] in ifs and rest[-1] not in white and not any(c in ifs for c in rest[:-1].rstrip(white)):
        rest = rest[:-1].rstrip(white)  # one word and the separator behind it
    out.append(rest)
    return out


def mapfile(ev: Evaluator, call: Call) -> State | None:
    name = "MAPFILE"
    strip = parted = False
    delimiter = "\n"
    at = 0
    while at < len(call.args):
        text = call.args[at].text or ""
        at += 1
        if text.startswith("-") and len(text) > 1:
            if "t" in text:
                strip = True
            parted = parted or not set("nsO").isdisjoint(text.partition("d")[0])
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
    rest = ev.state.rest(channel) if channel is not None else None
    if channel is not None and rest is not None:
        ev.state.unread = {**ev.state.unread, channel: None if parted else ""}
    if parted:
        ev.state.assign(name, Array({}, False, values.unknown("some lines of the input", "read")))
    elif rest is not None:
        lines = [line if strip else line + delimiter for line in rest.removesuffix(delimiter).split(delimiter)] if rest else []
        if not strip and rest and not rest.endswith(delimiter):
            lines[-1] = lines[-1].removesuffix(delimiter)
        letters = ev.state.letters(name)
        texts = [shaped(ev, letters, Text((line.replace("\0", ""),)), call.span) for line in lines]
        ev.state.assign(name, Array({str(n): text for n, text in enumerate(texts)}))
    else:
        ev.state.assign(name, Array({}, False, _next(ev, Channel("pipe") if channel is None else _unread(channel), "\n", raw=True)))
    return None


def _unread(channel: Channel) -> Channel:
    new = Channel(channel.kind, field=channel.field)
    new.producers = channel.producers
    new.text = channel.text
    return new


def printf(ev: Evaluator, call: Call) -> State | None:
    if len(call.args) > 2 and call.args[0].text == "-v":
        name = literal_name(call.args[1])
        value = formats.printf(call.args[2:])
        ev.check_hidden(name or "", call.span, "printf -v", subscript=True)
        if name is not None and name.partition("[")[0].isidentifier():
            held = values.transform(value, lambda text: text.partition("\0")[0]) if value is not None and value.known and not value.glob else value
            give_at(ev, name, held or values.unknown("printf", "variable", name))
        call.record(ev)
        return None
    call.record(ev, formats.printf(call.args))
    return None


def getopts(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    letters = (call.args[0].text or "") if call.args else ""
    if len(call.args) > 1 and call.args[1].text:
        give(ev, call.args[1].text, values.one_of([c for c in letters if c != ":"] + ["?", *([":"] if letters[:1] == ":" else [])]))
    ev.state.assign("OPTARG", values.unknown("option argument", "positional", "OPTARG"))
    return None
