"""Taskfile.yml: the commands of a task, read from the shape that such files have; no general YAML reader.

Two levels count: a name below `tasks:`, and below it `cmds:`, `deps:`, `cmd:`. Whatever is written otherwise gives no lines.
"""

from __future__ import annotations

import re

from .recipes import LONGEST, UNKNOWN, Line


def task_lines(text: str, entries: tuple[str, ...], given: dict[str, str]) -> tuple[Line, ...]:
    """The shell text of these tasks (`default` when none is named), after that of the tasks they depend on."""
    file = _Taskfile(text, given)
    found: list[Line] = []
    seen: set[str] = set()
    for entry in entries or ("default",):
        file.follow(entry, found, seen)
    return tuple(found[:LONGEST])


class _Taskfile:
    def __init__(self, text: str, given: dict[str, str]) -> None:
        self.variables = dict(given)
        self.tasks: dict[str, list[tuple[str, Line]]] = {}  # task -> (cmd | task, line)
        self._read(text.split("\n"))

    def _read(self, lines: list[str]) -> None:
        section = task = key = ""
        task_at = -1
        index = 0
        while index < len(lines):
            line = lines[index]
            index += 1
            body = line.strip()
            indent = len(line) - len(line.lstrip(" "))
            if not body or body.startswith("#"):
                continue
            if indent == 0:
                section, task, task_at = body.partition(":")[0], "", -1
                continue
            if section == "vars" and (match := re.match(r"([\w.-]+):\s*(\S.*)$", body)):
                self.variables.setdefault(match[1], _plain(match[2]))
            if section != "tasks":
                continue
            if task_at < 0:
                task_at = indent
            if indent == task_at:
                name, _, rest = _split_key(body)
                task, key = name, ""
                self.tasks.setdefault(task, [])
                if rest:
                    self._add("cmd", rest, index)
                continue
            if not body.startswith("- ") and indent <= task_at + 4 and re.match(r"(cmds|cmd|deps|vars|env|preconditions|status|sources|generates)\s*:", body):
                name, _, rest = _split_key(body)
                key = name
                if name == "cmd":
                    block, index = _block(rest, lines, index, indent)
                    self.tasks[task].append(("cmd", Line(block, index)))
                elif name == "deps" and rest.startswith("["):
                    self.tasks[task] += [("task", Line(word.strip(" '\""), index)) for word in rest.strip("[]").split(",")]
                elif name == "cmds" and rest.startswith("["):
                    self.tasks[task] += [("cmd", Line(_plain(word), index)) for word in rest.strip("[]").split(",")]
                continue
            if body.startswith("- ") and task and key in ("cmds", "deps", ""):
                number = index
                item = body[2:].strip()
                name, colon, rest = _split_key(item)
                if colon and name in ("task", "cmd", "defer"):
                    block, index = _block(rest, lines, index, indent)
                    self.tasks[task].append(("task" if name == "task" else "cmd", Line(block, number + (rest[:1] in "|>" and rest != ""))))
                elif not (colon and name in ("for", "silent", "vars")):
                    block, index = _block(item, lines, index, indent)
                    self.tasks[task].append(("task" if key == "deps" else "cmd", Line(block, number + (item[:1] in "|>" and item != ""))))
        for found in self.tasks.values():
            found.sort(key=lambda pair: pair[0] == "cmd" and pair[1].number == 0)

    def _add(self, kind: str, text: str, number: int) -> None:
        name = next(reversed(self.tasks))
        self.tasks[name].append((kind, Line(_plain(text), number)))

    def follow(self, name: str, found: list[Line], seen: set[str]) -> None:
        """Appends the lines of one task."""
        if name in seen or len(found) > LONGEST:
            return
        seen.add(name)
        for kind, line in self.tasks.get(name, ()):
            if kind == "task":
                self.follow(line.text, found, seen)
            else:
                found.append(line.replace(text=self._filled(line.text)))

    def _filled(self, text: str) -> str:
        return re.sub(r"\{\{\s*(.*?)\s*\}\}", lambda match: self.variables.get(match[1].removeprefix("."), UNKNOWN), text)


def _split_key(body: str) -> tuple[str, str, str]:
    """`name: rest` of a mapping entry; the name is "" for a plain scalar (a colon needs a blank or the end behind it)."""
    match = re.match(r"(['\"]?)([\w.:/*-]+?)\1:(?:\s+(.*))?$", body)
    return (match[2], ":", (match[3] or "").strip()) if match else ("", "", body)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    return re.sub(r"\s+#.*$", "", text)


def _block(text: str, lines: list[str], index: int, indent: int) -> tuple[str, int]:
    """A scalar, or the block scalar that `|` or `>` begins; and the index of the line after it."""
    if not re.fullmatch(r"[|>][+-]?\d?", text):
        return _plain(text), index
    taken: list[str] = []
    while index < len(lines) and (not lines[index].strip() or len(lines[index]) - len(lines[index].lstrip(" ")) > indent):
        taken.append(lines[index].strip())
        index += 1
    return ("\n" if text[0] == "|" else " ").join(taken), index
