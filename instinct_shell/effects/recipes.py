"""What a project's task files say for a target: the shell lines of a Makefile, a justfile, package.json, composer.json.

Pure text in, shell text out; whoever calls has the file's content. What cannot be expanded becomes `${1}`, a parameter of unknown value, so
that the words built from it are dynamic: neither empty nor harmless.
"""

from __future__ import annotations

import json
import re
from functools import cache

LONGEST = 400  # lines followed for one target


def lines_of(language: str, text: str, entries: tuple[str, ...]) -> tuple[str, ...]:
    """The shell lines that running these entries runs, in order. language: make | just | npm | composer; others have none."""
    if language in ("npm", "composer"):
        return _scripts(text, entries, language)
    if language == "make":
        return _Makefile(text).lines(entries)
    if language == "just":
        return _justfile(text, entries)
    return ()


def _scripts(text: str, entries: tuple[str, ...], language: str) -> tuple[str, ...]:
    """scripts.pre<x>, scripts.<x>, scripts.post<x>."""
    try:
        scripts = json.loads(text).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return ()
    if not isinstance(scripts, dict):
        return ()
    found: list[str] = []
    for entry in entries:
        for name in (f"pre{entry}", entry, f"post{entry}"):
            script = scripts.get(name)
            for line in script if isinstance(script, list) else (script,):
                if isinstance(line, str):
                    found.append(line.removeprefix("@") if language == "composer" else line)
    return tuple(found[:LONGEST])


# ---------------------------------------------------------------- make


@cache
def _rule() -> re.Pattern[str]:
    return re.compile(r"^([^\s#=:][^#=:]*?)\s*::?(?!=)\s*([^#;=]*?)(?:;(.*)|#.*)?$")


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(r"^(?:export\s+|override\s+)?([\w.-]+)\s*([:?+!]*=)\s*(.*?)\s*$")


class _Makefile:
    """The rules and variables of one makefile."""

    def __init__(self, text: str) -> None:
        self.variables: dict[str, str] = {}
        self.rules: dict[str, tuple[list[str], list[str]]] = {}  # target -> (prerequisites, recipe lines)
        self.shell: list[str] = []  # $(shell ..) and != at the top level run whenever make runs
        self.first = ""
        current: list[str] = []
        for line in re.sub(r"[ \t]*\\\n[ \t]*", " ", text).split("\n"):
            if line.startswith("\t"):
                for target in current:
                    self.rules[target][1].append(line.strip())
                continue
            stripped = line.strip()
            if not stripped or stripped.startswith(
                ("#", "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "define", "endef", "vpath", "unexport")
            ):
                continue
            assignment = _assignment().match(stripped)
            if assignment and not stripped.startswith(("\t",)):
                self._assign(assignment[1], assignment[2], assignment[3])
                current = []
                continue
            rule = _rule().match(stripped)
            current = rule[1].split() if rule else []
            for target in current:
                known = self.rules.setdefault(self.expand(target), ([], []))
                known[0].extend((rule[2] if rule else "").replace("|", " ").split())
                if rule and rule[3]:
                    known[1].append(rule[3].strip())
                if not self.first and not target.startswith(".") and "%" not in target:
                    self.first = target
            current = [self.expand(target) for target in current]

    def _assign(self, name: str, operator: str, value: str) -> None:
        if operator == "!=":
            self.shell.append(value)
        if operator == ":=" or operator == "::=":
            self.shell += re.findall(r"\$\(shell\s+(.*)\)", value)
        if operator == "+=":
            self.variables[name] = f"{self.variables.get(name, '')} {value}".strip()
        elif operator != "?=" or name not in self.variables:
            self.variables[name] = value

    def expand(self, text: str, depth: int = 0) -> str:
        """Variables replaced; unknown ones become shell variables, automatic ones too."""

        def one(match: re.Match[str]) -> str:
            whole = match[0]
            if whole == "$$":
                return "$"
            name = match[1] or match[2] or match[3] or ""
            if name.startswith("shell "):
                return f"$({name[6:]})"
            if name in self.variables and depth < 8:
                return self.expand(self.variables[name], depth + 1)
            plain = re.sub(r"\W+", "_", name).strip("_") or "auto"
            return f"${{make_{plain}}}" if not plain.isupper() else f"${{{plain}}}"

        return re.sub(r"\$\$|\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\$\{([^}]*)\}|\$(.)", one, text)

    def lines(self, entries: tuple[str, ...]) -> tuple[str, ...]:
        found = [self.expand(line) for line in self.shell]
        seen: set[str] = set()
        for entry in entries or (self.first,):
            self._follow(entry, found, seen)
        return tuple(found[:LONGEST])

    def _follow(self, target: str, found: list[str], seen: set[str]) -> None:
        if target in seen or target not in self.rules or len(found) > LONGEST:
            return
        seen.add(target)
        needs, recipe = self.rules[target]
        for need in needs:
            self._follow(self.expand(need), found, seen)
        found += [self.expand(line).lstrip("@-+ \t") for line in recipe]


# ---------------------------------------------------------------- just


def _justfile(text: str, entries: tuple[str, ...]) -> tuple[str, ...]:
    """The recipes named, after those they depend on; the first recipe when none is named."""
    variables = {match[1]: match[3] for match in re.finditer(r"^(?:export\s+)?(\w[\w-]*)\s*:=\s*(['\"])(.*?)\2\s*$", text, re.MULTILINE)}
    recipes: dict[str, tuple[list[str], list[str]]] = {}
    current = ""
    for line in text.split("\n"):
        head = re.match(r"^@?([A-Za-z_][\w-]*)((?:\s+[^:]*)?):(?!=)\s*(.*)$", line)
        if head and not line.startswith((" ", "\t", "set ", "import ", "mod ")):
            current = head[1]
            needs = [word.strip("()&") for word in head[3].split("#")[0].split()]
            recipes[current] = (needs, [])
        elif line.startswith((" ", "\t")) and current:
            recipes[current][1].append(line.strip())
        elif line.strip() and not line.startswith("["):
            current = ""
    found: list[str] = []
    seen: set[str] = set()

    def follow(name: str) -> None:
        if name in seen or name not in recipes or len(found) > LONGEST:
            return
        seen.add(name)
        needs, body = recipes[name]
        for need in needs:
            follow(need)
        for line in body:
            if not line.startswith("#"):
                found.append(
                    re.sub(r"\{\{\s*([\w-]+).*?\}\}", lambda m: variables.get(m[1], "${just_" + m[1].replace("-", "_") + "}"), line).lstrip(
                        "@-"
                    )
                )

    for entry in entries or (next(iter(recipes), ""),):
        follow(entry)
    return tuple(found[:LONGEST])
