"""Shell globs as small automata: what a pattern can reach before anything is asked of the disk.

Exact questions, answered for all possible file names: does the glob match this path, and can it and a profile pattern name the same path
(`/e*/sh*w` and `/etc/shadow`)? Bash's rules hold: `*`, `?` and `[...]` never match `/`, nor a dot at the start of a name; `**` counts as
crossing folders, whether globstar is set or not. What this file does not read exactly (extended globs, classes such as `[[:alpha:]]`) is
widened, never narrowed.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Ranges = tuple[tuple[int, int], ...]  # sorted, disjoint, both ends included
    Edges = list[list[tuple[Ranges, int]]]

_TOP = 0x10FFFF
_ANY: Ranges = ((0, _TOP),)
_SLASH = ord("/")
_NOT_SLASH: Ranges = ((0, _SLASH - 1), (_SLASH + 1, _TOP))
_NOT_SLASH_DOT: Ranges = ((0, ord(".") - 1), (_SLASH + 1, _TOP))  # "." and "/" are neighbours
_PROBES = ("qzprobe", "Q7probe.qzx", "x0probe.qzx.qzy")  # names and endings that nobody uses
_DOT_PROBE = ".qzprobe"


class Automaton:
    """A nondeterministic automaton: `edges[state]` are (characters, next state), `free[state]` the moves without a character."""

    __slots__ = ("edges", "final", "free")

    def __init__(self) -> None:
        self.edges: Edges = [[]]
        self.free: list[list[int]] = [[]]
        self.final = 0

    def state(self) -> int:
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def step(self, characters: Ranges) -> None:
        """One character from the set."""
        new = self.state()
        self.edges[self.final].append((characters, new))
        self.final = new

    def run(self, characters: Ranges, first: Ranges | None = None, *, least: int = 0) -> None:
        """Any number of characters from the set, `least` 0 or 1; `first` restricts the first one."""
        new = self.state()
        loop = self.state()
        if not least:
            self.free[self.final].append(new)
        self.edges[self.final].append((first if first is not None else characters, loop))
        self.edges[loop].append((characters, loop))
        self.free[loop].append(new)
        self.final = new

    def closure(self, states: frozenset[int]) -> frozenset[int]:
        seen, todo = set(states), list(states)
        while todo:
            for nxt in self.free[todo.pop()]:
                if nxt not in seen:
                    seen.add(nxt)
                    todo.append(nxt)
        return frozenset(seen)

    def accepts(self, text: str) -> bool:
        states = self.closure(frozenset((0,)))
        for char in text:
            code = ord(char)
            states = self.closure(frozenset(nxt for state in states for ranges, nxt in self.edges[state] if _holds(ranges, code)))
            if not states:
                return False
        return self.final in states


def shell_automaton(glob: str) -> Automaton:
    """The automaton of an absolute shell pattern in which literal specials are backslash-escaped."""
    made = Automaton()
    start = True  # at the start of a name, where a wildcard does not match a dot
    pieces = list(tokens(glob))
    for number, (kind, value) in enumerate(pieces):
        if kind == "literal":
            made.step(_one(value))
            start = value == "/"
            continue
        if kind == "many":
            if value == "**":
                made.run(_ANY)
            else:
                dotted = start and pieces[number + 1 : number + 2] == [("literal", ".")]  # `*.env` does not match `.env`
                made.run(_NOT_SLASH, _NOT_SLASH_DOT if start else None, least=1 if dotted else 0)
        elif kind == "one":
            made.step(_NOT_SLASH_DOT if start else _NOT_SLASH)
        else:
            made.step(_without_dot(_class(value)) if start else _class(value))
        start = False
    return made


@functools.lru_cache(512)
def _name(component: str) -> tuple[tuple[str, ...], Automaton]:
    """A component's literal pieces and its automaton; the last few are kept, since one name is asked about many patterns."""
    return tuple(literal_runs(component)), shell_automaton(component)


def fits(component: str, name: str) -> bool:
    """Whether one component of a glob matches a name. The literal pieces settle most questions."""
    runs, automaton = _name(component)
    if not (name.startswith(runs[0]) and name.endswith(runs[-1]) and all(run in name for run in runs)):
        return False
    return automaton.accepts(name)


def profile_automaton(pattern: str, *, below: bool = True) -> Automaton:
    """The automaton of a profile's path pattern, in which `*` crosses everything; below: what lies under a match is accepted too."""
    made = Automaton()
    if not pattern.startswith(("/", "*")):
        made.run(_ANY)
        made.step(_one("/"))
    for kind, value in tokens(pattern, escapes=False):
        if kind == "literal":
            made.step(_one(value))
        elif kind == "many":
            made.run(_ANY)
        else:
            made.step(_ANY if kind == "one" else _class(value))
    if below:
        end, under = made.state(), made.state()
        made.free[made.final].append(end)
        made.edges[made.final].append((_one("/"), under))
        made.edges[under].append((_ANY, under))
        made.free[under].append(end)
        made.final = end
    return made


def intersects(one: Automaton, two: Automaton) -> bool:
    """Whether some text is accepted by both."""
    seen = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        a, b = todo.pop()
        if a == one.final and b == two.final:
            return True
        moves = [(nxt, b) for nxt in one.free[a]] + [(a, nxt) for nxt in two.free[b]]
        for left, to_a in one.edges[a]:
            for right, to_b in two.edges[b]:
                if _overlap(left, right):
                    moves.append((to_a, to_b))
        for move in moves:
            if move not in seen:
                seen.add(move)
                todo.append(move)
    return False


def tokens(glob: str, *, escapes: bool = True) -> Iterator[tuple[str, str]]:
    """(kind, value) with kind literal | one | many | class. Extended globs become `many`."""
    place, size = 0, len(glob)
    while place < size:
        char = glob[place]
        if escapes and char == "\\" and place + 1 < size:
            yield "literal", glob[place + 1]
            place += 2
        elif escapes and char in "?*+@!" and glob[place + 1 : place + 2] == "(" and (end := _closing(glob, place + 1)) > 0:
            yield "many", "**" if "/" in glob[place:end] else "*"
            place = end + 1
        elif char == "*":
            end = place
            while end < size and glob[end] == "*":
                end += 1
            yield "many", "**" if end - place > 1 else "*"
            place = end
        elif char == "?":
            yield "one", ""
            place += 1
        elif char == "[" and (end := _bracket(glob, place)) > 0:
            yield "class", glob[place + 1 : end]
            place = end + 1
        else:
            yield "literal", char
            place += 1


def literal_prefix(glob: str) -> str:
    """The text before the first wildcard, escapes removed."""
    out = []
    for kind, value in tokens(glob):
        if kind != "literal":
            break
        out.append(value)
    return "".join(out)


def literal_runs(glob: str) -> list[str]:
    """The literal pieces between wildcards, the first and the last possibly empty."""
    runs = [""]
    for kind, value in tokens(glob):
        if kind == "literal":
            runs[-1] += value
        else:
            runs.append("")
    return runs


def components(glob: str) -> list[str]:
    """The glob's parts between slashes, escapes kept; empty ones left out."""
    parts, place, current = [], 0, ""
    while place < len(glob):
        if glob[place] == "\\":
            current += glob[place : place + 2]
            place += 2
        elif glob[place] == "/":
            parts.append(current)
            current, place = "", place + 1
        else:
            current += glob[place]
            place += 1
    return [part for part in [*parts, current] if part]


def wild(component: str) -> bool:
    """Whether one component takes in names that nobody chose: `*`, `*.*`, `[a-z]*`, `.*`, but not `*.log` or `build*`."""
    return any(fits(component, probe) for probe in _PROBES) or (component.startswith(".") and fits(component, _DOT_PROBE))


def aimed(component: str) -> bool:
    """Whether a component says more than an extension: at least two literal characters besides one (`.e?v`, `cred*`, not `*.json`, `s*.yml`)."""
    runs = _name(component)[0]
    if len(runs) == 1:
        return True
    last = runs[-1]
    inner = sum(len(run) - run.startswith(".") if number else len(run) for number, run in enumerate(runs[:-1]))  # `*.c*` says one letter
    count = inner + (0 if last.startswith(".") else len(last))
    return count >= 2


# Endings of files of every kind: a name that is protected by what stands before them is not meant by them.
_ORDINARY_ENDINGS = frozenset("yml yaml json jsonc json5 toml csv xml ini cfg conf txt properties js ts py rb php sh md".split())


def aims_at(component: str, name: str) -> bool:
    """Whether a component that matches this name was written for it: a mere ending must be no extension and half of the name (`*env`)."""
    runs = _name(component)[0]
    if len(runs) > 1 and not any(runs[:-1]):
        return not runs[-1].startswith(".") and 2 * len(runs[-1]) >= len(name)
    if len(runs) > 2 and not runs[0] and runs[1].startswith(".") and "".join(runs).count(".") == 1 and name.rpartition(".")[2] in _ORDINARY_ENDINGS:
        return False  # `*.y*ml`: an ending of many kinds of file, whatever stands before it
    return aimed(component)


def _closing(glob: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(glob)):
        depth += {"(": 1, ")": -1}.get(glob[place], 0)
        if not depth:
            return place
    return -1


def _bracket(glob: str, opening: int) -> int:
    place = opening + 1
    if glob[place : place + 1] in ("!", "^"):
        place += 1
    if glob[place : place + 1] == "]":
        place += 1
    while place < len(glob) and glob[place] != "]":
        if glob[place] == "/":
            return -1
        if glob[place] == "[" and glob[place + 1 : place + 2] in (":", ".", "="):
            close = glob.find(glob[place + 1] + "]", place + 2)
            place = close + 2 if close > 0 else place + 1
            continue
        place += 2 if glob[place] == "\\" else 1
    return place if place < len(glob) else -1


def _one(char: str) -> Ranges:
    return ((ord(char), ord(char)),)


def _class(body: str) -> Ranges:
    negated = body[:1] in ("!", "^")
    if negated:
        body = body[1:]
    if "[:" in body or "[." in body or "[=" in body:
        return _NOT_SLASH  # widened
    ranges, place = [], 0
    while place < len(body):
        low = body[place]
        if low == "\\" and place + 1 < len(body):
            place += 1
            low = body[place]
        if body[place + 1 : place + 2] == "-" and place + 2 < len(body):
            high = body[place + 2]
            if high == "\\" and place + 3 < len(body):
                place += 1
                high = body[place + 2]
            ranges.append((ord(low), ord(high)))
            place += 3
        else:
            ranges.append((ord(low), ord(low)))
            place += 1
    merged = _merge(ranges)
    return _invert(_merge([*merged, (_SLASH, _SLASH)])) if negated else _cut(merged, _SLASH)


def _merge(ranges: list[tuple[int, int]]) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(pair for pair in ranges if pair[0] <= pair[1]):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def _invert(ranges: Ranges) -> Ranges:
    out, start = [], 0
    for low, high in ranges:
        if low > start:
            out.append((start, low - 1))
        start = high + 1
    if start <= _TOP:
        out.append((start, _TOP))
    return tuple(out)


def _cut(ranges: Ranges, code: int) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in ranges:
        if low <= code <= high:
            out += [pair for pair in ((low, code - 1), (code + 1, high)) if pair[0] <= pair[1]]
        else:
            out.append((low, high))
    return tuple(out)


def _without_dot(ranges: Ranges) -> Ranges:
    return _cut(ranges, ord("."))


def _holds(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _overlap(one: Ranges, two: Ranges) -> bool:
    if one is _ANY:
        return bool(two)
    if two is _ANY:
        return bool(one)
    return any(a <= d and c <= b for a, b in one for c, d in two)


def escape(text: str) -> str:
    """The glob that matches exactly this text."""
    return "".join("\\" + c if c in "*?[]\\!()|+@" else c for c in text)


def crosses(component: str) -> bool:
    """Whether the component may match across folders (`**`)."""
    return any(kind == "many" and value == "**" for kind, value in tokens(component))
