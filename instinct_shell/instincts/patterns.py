"""Path patterns of profiles: which names a pattern covers.

The language (documented in profiles/base.toml): `*` any run of characters, `/` included; `?` any one character; `[...]` one of a set. A
pattern that starts with `/` names one place, any other matches at any depth, and what lies below a match is covered too. Deliberately
wider than a shell glob: the seeds' expressions are unanchored searches over the whole path, and every string they match must match here.

No `re` on the usual way: most patterns are literal pieces with stars between them, and compiling a hundred expressions would cost each
command several milliseconds.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class PathPattern:
    """One pattern, ready to match absolute paths (or `/`-led paths below the workspace)."""

    __slots__ = ("_regex", "anchored", "pieces", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.anchored = text.startswith("/")
        # Unanchored text may begin after any slash: `/` + piece somewhere. A leading star already says so.
        full = text if self.anchored or text.startswith("*") else "*/" + text
        self.pieces = tuple(full.split("*")) if "?" not in full and "[" not in full else ()
        self._regex: object = None

    def covers(self, path: str) -> bool:
        """Whether the path, or a folder above it, matches."""
        if self.pieces:
            return _pieces_match(self.pieces, path, below=True)
        return self._slow(path, below=True)

    def is_whole(self, path: str) -> bool:
        """Whether the path itself matches, to its end."""
        if self.pieces:
            return _pieces_match(self.pieces, path, below=False)
        return self._slow(path, below=False)

    def _slow(self, path: str, *, below: bool) -> bool:
        import re

        if self._regex is None:
            head = "" if self.anchored or self.text.startswith("*") else "(?:.*/)?"
            self._regex = re.compile(head + _regex(self.text) + "(/.*)?", re.DOTALL)
        assert isinstance(self._regex, re.Pattern)
        found = self._regex.fullmatch(path)
        if below or found is None or not found.group(1):
            return found is not None
        return re.fullmatch(self._regex.pattern.removesuffix("(/.*)?"), path, re.DOTALL) is not None


class PathSet:
    """Several patterns, asked together. Plain names are looked up, the rest is tried one after the other."""

    __slots__ = ("_ends", "_fixed", "_folders", "_holds", "_names", "_rest", "exceptions", "patterns")

    def __init__(self, patterns: Iterable[str], exceptions: Iterable[str] = ()) -> None:
        self.patterns = tuple(PathPattern(text) for text in patterns)
        self.exceptions = tuple(PathPattern(text) for text in exceptions)
        plain = [pattern.text for pattern in self.patterns if not pattern.anchored and not any(c in pattern.text for c in "*?[")]
        self._names = frozenset(text for text in plain if "/" not in text)
        self._folders = tuple(f"/{text}/" for text in plain if "/" in text)
        fixed = [pattern.text for pattern in self.patterns if pattern.anchored and not any(c in pattern.text for c in "*?[")]
        self._fixed = frozenset(text for text in fixed if not text.endswith("/"))
        odd = [pattern for pattern in self.patterns if pattern.text not in plain and pattern.text not in self._fixed]
        self._ends = tuple(pattern.pieces[1] for pattern in odd if len(pattern.pieces) == 2 and not pattern.pieces[0] and pattern.pieces[1])
        self._holds = tuple(
            pattern.pieces[1] for pattern in odd if len(pattern.pieces) == 3 and not pattern.pieces[0] and not pattern.pieces[2]
        )
        simple = {f"*{text}" for text in self._ends} | {f"*{text}*" for text in self._holds}
        self._rest = tuple(pattern for pattern in odd if pattern.text not in simple)

    def find(self, *paths: str) -> str:
        """The first pattern that covers any spelling of a path, or the empty string. An exception must match a spelling to its end."""
        found = next((hit for path in paths if (hit := self._covering(path))), "")
        if found and any(exception.is_whole(path) for exception in self.exceptions for path in paths):
            return ""
        return found

    def covers(self, path: str) -> bool:
        """Whether a pattern covers the path, exceptions left aside."""
        return bool(self._covering(path))

    def _covering(self, path: str) -> str:
        names = self._names.intersection(path.split("/"))
        if names:
            return min(names)
        closed = path + "/"
        for folder in self._folders:
            if folder in closed:
                return folder.strip("/")
        above = path
        while above:
            if above in self._fixed:
                return above
            above = above.rpartition("/")[0]
        for core in self._holds:
            if core in path:
                return f"*{core}*"
        if path.endswith(self._ends):
            return next(f"*{end}" for end in self._ends if path.endswith(end))
        for end in self._ends:
            if end + "/" in path:
                return f"*{end}"
        return next((pattern.text for pattern in self._rest if pattern.covers(path)), "")


class Endings:
    """Which names in a folder are worth asking several sets about, when nothing above them is covered.

    A path that is covered while its folder is not must have the end of a pattern's last literal piece in its name, or right before it.
    """

    def __init__(self, sets: Iterable[PathSet]) -> None:
        import re

        names: set[str] = set()
        folders: set[str] = set()
        self._sets = tuple(sets)
        self._any = False  # a pattern without such a piece
        for pattern in (pattern for one in self._sets for pattern in one.patterns):
            full = pattern.text if pattern.anchored or pattern.text.startswith("*") else "/" + pattern.text
            pieces = [piece for piece in re.split(r"\*", full) if piece]
            last = re.split(r"[?\[\]]", pieces[-1])[-1] if pieces else ""
            name = last.rpartition("/")[2]
            self._any = self._any or not last
            names |= {name} if name else set()
            folders |= {last} if last and not name else set()
        self._folders = tuple(folders)
        self._names = re.compile("|".join(map(re.escape, sorted(names)))) if names else None

    def within(self, *spellings: str) -> Callable[[str], object] | None:
        """What tells for a name in this folder whether it is to be asked about; None when each is."""
        if self._any or any((folder.rstrip("/") + "/").endswith(self._folders) for folder in spellings):
            return None
        if any(one.covers(folder) for one in self._sets for folder in spellings):
            return None
        return self._names.search if self._names is not None else lambda _: None


def matches(pattern: str, text: str) -> bool:
    """Whether a plain glob (for program names, arguments, refs, kinds) matches the whole text; `*` crosses everything."""
    if "?" not in pattern and "[" not in pattern:
        return _pieces_match(tuple(pattern.split("*")), text, below=False)
    import re

    return re.fullmatch(_regex(pattern), text, re.DOTALL) is not None


def any_matches(patterns: Iterable[str], text: str) -> str:
    """The first pattern that matches, or the empty string."""
    return next((pattern for pattern in patterns if matches(pattern, text)), "")


@functools.lru_cache(256)
def examples(pattern: str) -> tuple[str, ...]:
    """A few ordinary names that the pattern covers, to ask whether a shell glob was written to reach it."""
    if "?" in pattern or "[" in pattern:
        return ()
    core = pattern.lstrip("*")
    if not core.endswith("*"):
        return ("server" + core,) if core in (".pem", ".key") else (core,) if "*" not in core else ()
    core = core.rstrip("*")
    if "*" in core:
        return ()
    endings = _ENV_ENDINGS if core.endswith("env.") else _ENDINGS
    return tuple(core + ending for ending in endings) if core.endswith(".") else (core,)


_ENDINGS = ("json", "yml", "yaml", "toml", "txt", "ini", "xml", "csv", "js", "ts", "py", "env", "properties")
_ENV_ENDINGS = ("local", "production", "development", "staging", "test", "prod", "dev")


def _pieces_match(pieces: tuple[str, ...], path: str, *, below: bool) -> bool:
    first, last = pieces[0], pieces[-1]
    if not path.startswith(first):
        return False
    if len(pieces) == 1:
        return path == first or (below and path.startswith(first.rstrip("/") + "/"))
    place = len(first)
    for piece in pieces[1:-1]:
        found = path.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    if not last:
        return True
    if len(path) - len(last) >= place and path.endswith(last):
        return True
    return below and path.find(last.rstrip("/") + "/", place) >= 0


def _regex(pattern: str) -> str:
    import re

    out, place = [], 0
    while place < len(pattern):
        char = pattern[place]
        place += 1
        if char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[" and (end := pattern.find("]", place + 1)) > 0:
            body = pattern[place:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append("[" + ("^" + body[1:] if body[:1] in "!^" else body) + "]")
            place = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)
