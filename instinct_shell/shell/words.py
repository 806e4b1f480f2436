"""Pieces of words: braces, tildes and glob characters, told apart from plain text.

Both adapters hand over raw parts (unquoted `Literal` parts that may still hold active characters) and get finished parts back. Checked
against bash itself in tests/contract/test_parser_words.py.
"""

from __future__ import annotations

from ..model.effect import Span
from .syntax import Brace, Glob, Literal, OpaquePart, Param, Part, Tilde, Word

MAX_BRACE_ITEMS = 512  # alternatives of one sequence; above, the word is dynamic
_ACTIVE = frozenset("{*?[~")


def finish(parts: list[Part], *, braces: bool = True, assignment: bool = False, named: bool = True) -> tuple[Part, ...]:
    """Raw parts with brace expansions, tildes and globs told apart. assignment: a value, where `:` starts a tilde; braces are inert there
    but among the words of `declare` and its kin.

    named: bash takes a word `name=value` here for an assignment, as it does among the words of a command.
    """
    for part in parts:
        if type(part) is Literal and not part.quoted and not _ACTIVE.isdisjoint(part.text):
            break
    else:
        return tuple(parts)
    parts = _merged(parts)
    if braces:
        parts = split_braces(parts)
    return split_globs(split_tildes(parts, assignment, named))


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring unquoted text as one part: a bracket or brace may reach across the pieces a parser made."""
    out: list[Part] = []
    for part in parts:
        last = out[-1] if out else None
        if type(part) is Literal and not part.quoted and type(last) is Literal and not last.quoted:
            out[-1] = Literal(Span(last.span.start, part.span.end), last.text + part.text, False)
        else:
            out.append(part)
    return out


# ---------------------------------------------------------------- braces


def split_braces(parts: list[Part]) -> list[Part]:
    """Parts with each unquoted brace expansion as a `Brace`; braces that bash would leave alone stay text."""
    if not any(type(part) is Literal and not part.quoted and "{" in part.text for part in parts):
        return parts
    tokens: list[str | Part] = []
    for part in parts:
        if type(part) is Literal and not part.quoted:
            tokens.extend(part.text)
        else:
            tokens.append(part)
    span = Span(parts[0].span.start, parts[-1].span.end)
    if any(isinstance(part, Param) and not part.quoted and _uneven(part) for part in parts):
        # for bash the brace is one more level, which may swallow the braces around and behind it
        return [*parts, OpaquePart(span, "a single brace inside `${..}` beside other braces")]
    return _braced(tokens, span)


def _uneven(part: Param) -> bool:
    """Whether the argument of `${x:-..}` holds a brace that its own text does not close."""
    raw = "".join(word.raw for word in (part.argument, part.second) if word is not None)
    return raw.count("{") != raw.count("}")


def _braced(tokens: list[str | Part], span: Span) -> list[Part]:
    out: list[Part] = []
    run = ""
    at = 0
    closers = _closers(tokens)
    plain = -1  # up to here braces are text
    while at < len(tokens):
        token = tokens[at]
        if isinstance(token, str):
            if token == "{" and at in closers and _is_process_id(tokens, at - 1):
                plain = max(plain, closers[at])
            if token == "{" and at in closers and at > plain:
                brace = _alternatives(tokens[at + 1 : closers[at]], span)
                if brace is not None:
                    if run:
                        out.append(Literal(span, run, False))
                        run = ""
                    out.append(brace)
                    at = closers[at] + 1
                    continue
            run += token
        else:
            if run:
                out.append(Literal(span, run, False))
                run = ""
            out.append(token)
        at += 1
    if run:
        out.append(Literal(span, run, False))
    return out


def _is_process_id(tokens: list[str | Part], at: int) -> bool:
    """Whether `$$` stands there: for bash its second `$` and a brace begin a `${..}`, so that `$${a,b}` is no brace expansion."""
    part = tokens[at] if at >= 0 else None
    return isinstance(part, Param) and part.name == "$" and not part.quoted and part.span.end - part.span.start == 2


def _closers(tokens: list[str | Part]) -> dict[int, int]:
    """Where each `{` that has a matching `}` is closed."""
    closers: dict[int, int] = {}
    open_: list[int] = []
    for at, token in enumerate(tokens):
        if token == "{":
            open_.append(at)
        elif token == "}" and open_:
            closers[open_.pop()] = at
    return closers


def _alternatives(tokens: list[str | Part], span: Span) -> Part | None:
    pieces: list[list[str | Part]] = [[]]
    depth = 0
    closers = _closers(tokens)
    ends = set(closers.values())
    for at, token in enumerate(tokens):
        if token == "," and depth == 0:
            pieces.append([])
            continue
        if at in closers:
            depth += 1
        elif at in ends:
            depth -= 1
        pieces[-1].append(token)
    if len(pieces) > 1:
        return Brace(span, tuple(Word(span, "", tuple(_braced(piece, span))) for piece in pieces))
    if all(isinstance(token, str) for token in tokens):
        return _sequence("".join(token for token in tokens if isinstance(token, str)), span)
    return None


def _sequence(text: str, span: Span) -> Part | None:
    """`1..9`, `a..e`, `01..10..2`: the listed sequence, or None when bash would not expand it."""
    ends = text.split("..")
    if len(ends) not in (2, 3):
        return None
    first, last = ends[0], ends[1]
    if len(ends) == 3 and not _is_integer(ends[2]):
        return None
    step = abs(int(ends[2])) if len(ends) == 3 else 1
    step = step or 1
    if _is_integer(first) and _is_integer(last):
        start, stop = int(first), int(last)
        padded = any(e.lstrip("+-")[:1] == "0" and len(e.lstrip("+-")) > 1 for e in (first, last))
        width = max(len(first), len(last)) if padded else 0
        if abs(stop - start) // step >= MAX_BRACE_ITEMS:
            return OpaquePart(span, f"brace sequence `{{{text}}}` has more than {MAX_BRACE_ITEMS} items")
        numbers = range(start, stop + 1, step) if start <= stop else range(start, stop - 1, -step)
        items = [f"{n:0{width}d}" if width else str(n) for n in numbers]
    elif len(first) == len(last) == 1 and first.isascii() and last.isascii() and first.isalpha() and last.isalpha():
        start, stop = ord(first), ord(last)
        numbers = range(start, stop + 1, step) if start <= stop else range(start, stop - 1, -step)
        items = [chr(n) for n in numbers]
    else:
        return None
    # a backslash or quote that a sequence such as {Z..a} yields is active text for bash only when it is a glob character
    return Brace(span, tuple(Word(span, "", (Literal(span, item, False),)) for item in items))


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return bool(digits) and digits.isascii() and digits.isdigit() and len(digits) < 16


# ---------------------------------------------------------------- tildes


def split_tildes(parts: list[Part], assignment: bool = False, named: bool = True) -> list[Part]:
    """Parts with the tildes that bash expands: at the start, and in `name=value` words after `=` and each `:`."""
    if not any(type(part) is Literal and not part.quoted and "~" in part.text for part in parts):
        return parts
    first = parts[0]
    value_from = -1
    if not assignment and named and type(first) is Literal and not first.quoted:
        name, equals, _ = first.text.partition("=")
        if equals and _is_name(name.removesuffix("+")):
            value_from = len(name) + 1
    out: list[Part] = []
    for number, part in enumerate(parts):
        if type(part) is not Literal or part.quoted or "~" not in part.text:
            out.append(part)
            continue
        more = number + 1 < len(parts)
        text = part.text
        run_start = at = 0
        while True:
            at = text.find("~", at)
            if at < 0:
                break
            colons = assignment or value_from >= 0
            begins = (
                (number == 0 and at == 0) or (at > 0 and number == 0 and at == value_from) or (colons and at > 0 and text[at - 1] == ":")
            )
            if not begins:
                at += 1
                continue
            stop = at + 1
            while stop < len(text) and text[stop] not in "/:" and (colons or not text.startswith("=~", stop)):
                stop += 1
            user = text[at + 1 : stop]
            if (stop == len(text) and more) or not all(c.isalnum() or c in "_-+." for c in user):
                at += 1
                continue
            if at > run_start:
                out.append(Literal(part.span, text[run_start:at], False))
            if not colons and text[stop : stop + 1] in (":", "="):
                # bash takes all up to the next slash with it: quotes in there undo the tilde, and nothing in there is expanded
                slash = text.find("/", stop)
                fate = "" if slash >= 0 else _behind_tilde(parts[number + 1 :])
                if fate == "quoted":
                    run_start = at
                    break
                stop, behind = (slash if slash >= 0 else len(text)), stop
                out.append(OpaquePart(part.span, "a tilde and an expansion in one piece") if fate else Tilde(part.span, user))
                out.append(Literal(part.span, text[behind:stop], True))
            else:
                out.append(Tilde(part.span, user))
            run_start = at = stop
        if run_start < len(text):
            out.append(Literal(part.span, text[run_start:], False))
    return out


def _behind_tilde(parts: list[Part]) -> str:
    """What stands in these parts before the first slash: "quoted", "expanded", or "" for plain text alone."""
    found = ""
    for part in parts:
        if getattr(part, "quoted", False) or isinstance(part, Brace):  # what braces become is looked at again
            return "quoted"
        if isinstance(part, (Literal, Glob)):
            if "/" in part.text:
                break
        else:
            found = "expanded"
    return found


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()


# ---------------------------------------------------------------- globs


def split_globs(parts: list[Part]) -> tuple[Part, ...]:
    """Parts with unquoted `*`, `?` and closed `[..]` as `Glob`; inside an open bracket unquoted text stays verbatim glob text."""
    last_close = -1
    for number, part in enumerate(parts):
        if type(part) is Literal and not part.quoted and "]" in part.text:
            last_close = number
    out: list[Part] = []
    bracket = False
    for number, part in enumerate(parts):
        if type(part) is not Literal or part.quoted or (not bracket and _ACTIVE.isdisjoint(part.text)):
            out.append(part)
            continue
        text = part.text
        run = ""
        at = 0
        barren = 0  # no bracket that opens before this place closes: what was looked through once is not looked through for each `[`
        while at < len(text):
            char = text[at]
            if bracket:
                end = text.find("]", at)
                out.append(Glob(part.span, text[at:] if end < 0 else text[at : end + 1]))
                bracket = end < 0
                at = len(text) if end < 0 else end + 1
                continue
            if char in "*?":
                if run:
                    out.append(Literal(part.span, run, False))
                    run = ""
                out.append(Glob(part.span, char))
            elif char == "[":
                inner = at + 1
                if text[inner : inner + 1] in ("!", "^"):
                    inner += 1
                end, barren = _bracket_end(text, inner) if at >= barren else (-1, barren)
                if end >= 0 or last_close > number:
                    if run:
                        out.append(Literal(part.span, run, False))
                        run = ""
                    if end < 0:
                        bracket = True
                        end = len(text) - 1
                    out.append(Glob(part.span, text[at : end + 1]))
                    at = end + 1
                    continue
                run += char
            else:
                run += char
            at += 1
        if run:
            out.append(Literal(part.span, run, False))
    return tuple(out)


def _bracket_end(text: str, inner: int) -> tuple[int, int]:
    """The index of the `]` that closes a bracket whose items start at `inner`, or -1, and where the search ended; a first `]` and
    `[:class:]` are items."""
    at = inner + 1 if text[inner : inner + 1] == "]" else inner
    while at < len(text):
        if text.startswith(("[:", "[.", "[="), at):
            close = text.find(text[at + 1] + "]", at + 2)
            if close < 0:
                at += 2
                continue
            at = close + 2
            continue
        if text[at] == "]":
            return at, at
        if text[at] == "/":
            return -1, at
        at += 1
    return -1, at


def escape_glob(text: str) -> str:
    """The pattern that matches exactly this text."""
    if text.isalnum():
        return text
    return "".join("\\" + c if c in "*?[]\\!()|+@" else c for c in text)


def unescape_glob(text: str) -> str:
    """A pattern's text with its backslash quoting removed."""
    if "\\" not in text:
        return text
    out = []
    escaped = False
    for char in text:
        if char == "\\" and not escaped:
            escaped = True
            continue
        escaped = False
        out.append(char)
    return "".join(out)
