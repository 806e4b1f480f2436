"""What a project's task files say for a target: the shell lines of a Makefile, a justfile, a Taskfile, package.json, composer.json.

Pure text in, shell text out; whoever calls has the file's content. What cannot be expanded becomes `${1}`, a parameter of unknown value, so
that the words built from it are dynamic: neither empty nor harmless.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.value import Value

LONGEST = 400  # lines followed for one target
UNKNOWN = "${1}"


class Line(Value):
    """One piece of shell text and the line of the file on which it begins."""

    text: str
    number: int


def lines_of(
    language: str,
    text: str,
    entries: tuple[str, ...],
    given: tuple[tuple[str, str], ...] = (),
    includes: tuple[tuple[str, str], ...] = (),
    *,
    dry: bool = False,
) -> tuple[Line, ...]:
    """The shell text that running these entries runs, in order. language: make | just | task | npm | composer; others have none.

    given: variables set on the command line. includes: (name as written, text) of files that the first one includes. dry: as with -n of make,
    where `$(shell ..)` and the lines that begin with `+` run all the same.
    """
    if dry and language != "make":
        return ()
    if language in ("npm", "composer"):
        return _scripts(text, entries, language)
    if language == "make":
        return Makefile(text, given, includes).lines(entries, dry=dry)
    if language == "just":
        return _justfile(text, entries, dict(given))
    if language == "task":
        from .taskfile import task_lines

        return task_lines(text, entries, dict(given))
    return ()


def _scripts(text: str, entries: tuple[str, ...], language: str) -> tuple[Line, ...]:
    """scripts.pre<x>, scripts.<x>, scripts.post<x>; an entry with `*` names several (`run-s build:*`)."""
    import json

    try:
        scripts = json.loads(text).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return ()
    if not isinstance(scripts, dict):
        return ()
    found: list[Line] = []
    for entry in entries:
        several = [name for name in scripts if "*" in entry and re.fullmatch(re.escape(entry).replace(r"\*", ".*"), name)]
        for name in several or (f"pre{entry}", entry, f"post{entry}"):
            script = scripts.get(name)
            at = text.find(json.dumps(name))
            for line in script if isinstance(script, list) else (script,):
                if isinstance(line, str):
                    found.append(Line(line.removeprefix("@") if language == "composer" else line, text.count("\n", 0, max(at, 0)) + 1))
    return tuple(found[:LONGEST])


# ---------------------------------------------------------------- make


@cache
def _rule() -> re.Pattern[str]:
    return re.compile(r"^([^\s#=:][^#=:]*?)\s*(?:&?::?)(?!=)\s*([^#;=]*?)(?:;(.*)|#.*)?$")


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(r"^(?:export\s+|override\s+|private\s+)*([\w.-]+)\s*([:?+!]*=)\s*(.*?)\s*$")


_DIRECTIVES = ("#", "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "vpath", "unexport", "undefine", "export ", "load ")
_BUILT_IN = {"MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "c++", "AR": "ar", "CP": "cp", "SHELL": "/bin/sh"}


class Makefile:
    """The rules and variables of one makefile, as make would read it with all branches of its conditionals taken."""

    def __init__(self, text: str, given: tuple[tuple[str, str], ...] = (), includes: tuple[tuple[str, str], ...] = ()) -> None:
        self.given = dict(given)
        self.variables: dict[str, str] = {**_BUILT_IN, **self.given}
        self.rules: dict[str, tuple[list[str], list[Line]]] = {}  # target -> (prerequisites, recipe lines)
        self.shell: list[Line] = []  # $(shell ..) and != at the top level run whenever make runs
        self.included: list[str] = []
        self.first = ""
        self.one_shell = self.dry = False
        self._more = dict(includes)
        self._read(text)

    def _read(self, text: str, depth: int = 0) -> None:
        current: list[str] = []
        defining = False
        for number, line in _logical(text):
            stripped = line.strip()
            if defining or stripped.startswith("define "):
                defining = stripped != "endef"
                continue
            if line.startswith("\t"):
                for target in current:
                    self.rules[target][1].append(Line(stripped, number))
                continue
            include = re.match(r"-?s?include\s+(.*)", stripped)
            if include:
                self._at_once(stripped, number)
                for name in self.expand(include[1].split("#")[0]).split():
                    self.included.append(name)
                    if name in self._more and depth < 4:
                        self._read(self._more[name], depth + 1)
                continue
            assignment = _assignment().match(stripped)
            if assignment:
                self._assign(assignment[1], assignment[2], assignment[3], number)
                current = []
            elif stripped and not stripped.startswith("#"):
                self._at_once(stripped.partition(";")[0] if ":" in stripped else stripped, number)
                if not stripped.startswith(_DIRECTIVES):
                    current = self._target(stripped, number)

    def _at_once(self, text: str, number: int) -> None:
        """What a line that is neither a recipe nor a deferred value runs while the file is read: `$(shell ..)`, `$(file >name,text)`."""
        self.shell += [Line(call, number) for call in _shell_calls(text)]
        for match in re.finditer(r"\$[({]file\s*(>>?)\s*([^,)}]+)", text):
            self.shell.append(Line(f"printf x {match[1]} {self.expand(match[2]).strip()}", number))

    def _target(self, stripped: str, number: int) -> list[str]:
        rule = _rule().match(stripped)
        if rule is None:
            return []
        own = _assignment().match(rule[2])
        targets = [self.expand(target) for target in rule[1].split()]
        for target in targets:
            known = self.rules.setdefault(target, ([], []))
            if own is None:
                known[0].extend(rule[2].replace("|", " ").split())
            if rule[3]:
                known[1].append(Line(rule[3].strip(), number))
            if not self.first and not target.startswith(".") and "%" not in target:
                self.first = target
            self.one_shell = self.one_shell or target == ".ONESHELL"
        return targets

    def _assign(self, name: str, operator: str, value: str, number: int) -> None:
        value = re.sub(r"(?:^|\s)#.*", "", value)
        if operator == "!=":
            self.shell.append(Line(value, number))
            self.variables[name] = "\0"
        elif name in self.given:
            return
        elif operator in (":=", "::="):
            self.shell += [Line(text, number) for text in _shell_calls(value)]
            self.variables[name] = value
        elif operator == "+=":
            self.variables[name] = f"{self.variables.get(name, '')} {value}".strip()
        elif operator != "?=" or name not in self.variables:
            self.variables[name] = value

    def expand(self, text: str, target: str = "", depth: int = 0) -> str:
        """Variables replaced; `$(shell ..)` becomes a substitution; names of the environment stay, all else is unknown."""
        out: list[str] = []
        at = 0
        while at < len(text):
            if text[at] == "\0":
                out.append(UNKNOWN)
                at += 1
                continue
            if text[at] != "$" or at + 1 == len(text):
                out.append(text[at])
                at += 1
                continue
            nxt = text[at + 1]
            if nxt in "({":
                end = _closing(text, at + 1)
                out.append(self._variable(text[at + 2 : end], target, depth))
                at = end + 1
            else:
                out.append("$" if nxt == "$" else self._variable(nxt, target, depth))
                at += 2
        return "".join(out)

    def _variable(self, name: str, target: str, depth: int) -> str:
        if name.startswith("shell "):
            return f"$({self.expand(name[6:], target, depth + 1)})" if depth < 8 else UNKNOWN
        if name in self.variables:
            return self.expand(self.variables[name], target, depth + 1) if depth < 8 else UNKNOWN
        needs = [self.expand(need, "", depth + 1) for need in self.rules[target][0]] if target in self.rules and depth < 8 else []
        if name == "@" and target:
            return target
        if name == "<" and needs:
            return needs[0]
        if name in ("^", "+") and needs:
            return " ".join(needs)
        if name in ("CURDIR", "PWD"):
            return "$PWD"
        return f"${{{name}}}" if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name) else UNKNOWN

    def lines(self, entries: tuple[str, ...], *, dry: bool = False) -> tuple[Line, ...]:
        """What making these targets runs: the first one when none is named."""
        self.dry = dry
        found = [line.replace(text=self.expand(line.text)) for line in self.shell]
        seen: set[str] = set()
        for entry in entries or (self.first,):
            self._follow(entry, found, seen)
        return tuple(found[:LONGEST])

    def _follow(self, target: str, found: list[Line], seen: set[str]) -> None:
        if target in seen or target not in self.rules or len(found) > LONGEST:
            return
        seen.add(target)
        needs, recipe = self.rules[target]
        for need in needs:
            for name in self.expand(need).split():
                self._follow(name, found, seen)
        if self.dry:
            recipe = [line for line in recipe if "+" in re.match(r"[@+\s-]*", line.text)[0]]  # type: ignore[index]  # it matches nothing too
        ready = [line.replace(text=self.expand(line.text, target).lstrip("@-+ \t")) for line in recipe]
        if self.one_shell and ready:
            ready = [Line("\n".join(line.text for line in ready), ready[0].number)]
        found += ready


def _logical(text: str) -> list[tuple[int, str]]:
    """The lines of a makefile with continuations joined, each with the number of its first line."""
    found: list[tuple[int, str]] = []
    held, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        piece = held + (line.lstrip(" \t") if held else line)
        if line.endswith("\\"):
            held, start = piece[:-1].rstrip() + " ", start or number
            continue
        found.append((start or number, piece))
        held, start = "", 0
    return found


def _closing(text: str, at: int) -> int:
    """The index of the bracket that closes the one at this index; the end of the text when none does."""
    opens, closes = text[at], ")" if text[at] == "(" else "}"
    depth = 0
    for index in range(at, len(text)):
        depth += (text[index] == opens) - (text[index] == closes)
        if depth == 0:
            return index
    return len(text)


def _shell_calls(value: str) -> list[str]:
    return [value[match.end() : _closing(value, match.start() + 1)] for match in re.finditer(r"\$[({]shell\s+", value)]


# ---------------------------------------------------------------- just


def _justfile(text: str, entries: tuple[str, ...], given: dict[str, str]) -> tuple[Line, ...]:
    """The recipes named, after those they depend on; the first recipe when none is named. A `#!` recipe is one script."""
    variables = {match[1]: match[3] for match in re.finditer(r"^(?:export\s+)?(\w[\w-]*)\s*:=\s*(['\"])(.*?)\2\s*$", text, re.MULTILINE)}
    variables.update(given)
    recipes: dict[str, tuple[list[str], list[Line]]] = {}
    current = ""
    for number, line in _logical(text):
        head = re.match(r"^@?([A-Za-z_][\w-]*)((?:\s+[^:]*)?):(?!=)\s*(.*)$", line)
        if head and not line.startswith((" ", "\t", "set ", "import ", "mod ")):
            current = head[1]
            needs = [word.strip("()&") for word in head[3].split("#")[0].split()]
            recipes[current] = (needs, [])
        elif line.startswith((" ", "\t")) and current:
            recipes[current][1].append(Line(line.strip(), number))
        elif line.strip() and not line.startswith(("[", "#")):
            current = ""
    found: list[Line] = []
    seen: set[str] = set()

    def filled(text: str) -> str:
        return re.sub(r"\{\{(.*?)\}\}", lambda match: variables.get(match[1].strip(), UNKNOWN), text)

    def follow(name: str) -> None:
        if name in seen or name not in recipes or len(found) > LONGEST:
            return
        seen.add(name)
        needs, body = recipes[name]
        for need in needs:
            follow(need)
        if body and body[0].text.startswith("#!"):
            if re.search(r"\b(?:ba|da|z|k)?sh\b", body[0].text):
                found.append(Line(filled("\n".join(line.text for line in body)), body[0].number))
            return
        found.extend(line.replace(text=filled(line.text).lstrip("@-")) for line in body if not line.text.startswith("#"))

    for entry in entries or (next(iter(recipes), ""),):
        follow(entry)
    return tuple(found[:LONGEST])


# ---------------------------------------------------------------- Dockerfile


def docker_lines(text: str) -> tuple[Line, ...]:
    """`RUN text`, `COPY a b` and `ADD a b` of a Dockerfile, continuations joined and comments left out; `${1}` for what ARG and ENV may set."""
    found = []
    for number, line in _logical("\n".join("" if line.lstrip().startswith("#") else line for line in text.split("\n"))):
        word, _, rest = line.strip().partition(" ")
        if word.upper() in ("RUN", "COPY", "ADD") and rest:
            rest = re.sub(r"^(?:--\w[\w-]*(?:=\S+)?\s+)+", "", rest.strip()) if word.upper() == "RUN" else rest.strip()
            if rest.startswith("["):
                import json

                try:
                    words = json.loads(rest)
                except ValueError:
                    continue
                rest = " ".join("'" + str(one).replace("'", "'\\''") + "'" for one in words)
            found.append(Line(f"{word.upper()} {rest}", number))
    return tuple(found[:LONGEST])
