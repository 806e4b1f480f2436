"""Names that one command prints and another acts on: `find . -name '*.log' | xargs rm`, `ls -A | grep '^.env' | xargs cat`, `rm $(ls -d b*)`.

A listing is a set of folders that were searched and the name pattern that was asked for. What acts on the listing acts on every match.
"""

from __future__ import annotations

import re

from ..model.effect import Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, Invocation, Known, literal
from .call import Program, Scene, path_targets
from .holes import Hole
from .options import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Found(Value):
    """One search: where, by which name pattern ("" = any), below the first level or not."""

    targets: tuple[Target, ...]
    filter: str = ""
    deep: bool = True
    attributes: tuple[tuple[str, str], ...] = ()
    itself: bool = False  # the targets are the names, not folders that hold them

    def hole(self) -> Hole:
        """The hole that stands for each name found."""
        return Hole(self.targets, self.filter, self.deep, attributes=self.attributes, itself=self.itself)


_PASS = frozenset("sort uniq tee cat nl tac shuf head tail sponge rev fmt column paste pv".split())
_CHANGE = frozenset("sed awk gawk mawk cut tr xargs perl dirname basename realpath readlink".split())
_LS = Program(("ls",), options="-I -w -T --ignore --hide --color= --format --sort --time --width")
_LS_FILES = Program(("git",), options="-x -X -C -c --exclude --exclude-from --exclude-per-directory --git-dir --work-tree")
_FD = Program(
    ("fd",),
    options="-e -t -d -E -s -S -c -j -g= --extension --type --max-depth --exclude --size --changed-within "
    "--changed-before --owner --search-path",
)
_GREP = Program(
    ("grep",), options="-e -f -m -A -B -C --include --exclude --exclude-dir --regexp --file --max-count --color= -g --glob -t --type"
)


def listing_of(producers: Iterable[int], scene: Scene, depth: int = 0) -> tuple[Found, ...] | None:
    """What the output of these invocations lists, or None when it is no listing anybody can follow."""
    found: list[Found] = []
    for index in producers:
        if depth > 10 or not 0 <= index < len(scene.invocations):
            return None
        one = _of(scene.invocations[index], scene, depth)
        if one is None:
            return None
        found += one
    return tuple(found) or None


def _of(invocation: Invocation, scene: Scene, depth: int) -> tuple[Found, ...] | None:
    words = invocation.words
    name = (words[0].text or "").rpartition("/")[2] if words else ""
    argv = words[1:]
    if name in ("command", "sudo", "env", "nice") and argv:
        return _of(invocation.replace(words=argv), scene, depth)
    if name == "find":
        from .search import Expression

        return Expression(argv, invocation.cwd).listed()
    if name in ("ls", "dir", "eza", "exa", "lsd", "echo", "printf"):
        return _ls(name, argv, invocation)
    if name == "git":
        return _git(argv, invocation)
    if name in ("fd", "fdfind"):
        return _fd(argv, invocation)
    if name in ("grep", "egrep", "fgrep", "rg", "ag", "ack"):
        return _grep(name, argv, invocation, scene, depth)
    if name == "pwd":
        return tuple(Found((target,)) for target, _ in path_targets(literal("."), invocation.cwd))
    if name in _PASS or name in _CHANGE:
        before = listing_of(invocation.stdin.producers, scene, depth + 1) if invocation.stdin.kind == "pipe" else None
        if before is None or name in _PASS:
            return before
        return tuple(one.replace(filter="") for one in before)
    return None


def _targets(fields: tuple[Field, ...], invocation: Invocation) -> tuple[Target, ...]:
    return tuple(target for field in fields for target, _ in path_targets(field, invocation.cwd))


def _ls(name: str, argv: tuple[Field, ...], invocation: Invocation) -> tuple[Found, ...] | None:
    state = split(_LS, argv)
    operands = tuple(state.operands[1:] if name == "printf" else state.operands)
    if name in ("echo", "printf"):
        # The names themselves, without looking into folders.
        return (Found(_targets(operands, invocation), itself=True),) if operands else None
    itself = "-d" in state.flags or "--directory" in state.flags
    found = []
    for field in operands or (literal("."),):
        targets = _targets((field,), invocation)
        if itself or field.glob:
            found.append(Found(targets, itself=True))
        else:
            found.append(Found(targets, deep="-R" in state.flags, attributes=(("level", "1"),)))
    return tuple(found)


def _git(argv: tuple[Field, ...], invocation: Invocation) -> tuple[Found, ...] | None:
    state = split(_LS_FILES, argv)
    if not state.operands or state.operands[0].text not in ("ls-files", "ls-tree", "diff", "grep", "status"):
        return None
    verb = state.operands[0].text
    if verb == "diff" and not {"--name-only", "--name-status"} & set(state.flags):
        return None
    others = {"-o", "--others", "-i", "--ignored"} & set(state.flags)
    pathspecs = state.operands[1:] if verb == "ls-files" else ()
    attributes = () if others else (("tracked", "1"),)
    found = []
    for field in pathspecs:
        text = field.text or (field.values[0] if len(field.values) == 1 else "")
        if text and "/" not in text and any(c in text for c in "*?["):
            found.append(Found(_targets((literal("."),), invocation), filter=text, attributes=attributes))
        else:
            found.append(Found(_targets((field,), invocation), attributes=attributes))
    return tuple(found) or (Found(_targets((literal("."),), invocation), attributes=attributes),)


def _fd(argv: tuple[Field, ...], invocation: Invocation) -> tuple[Found, ...]:
    state = split(_FD, argv)
    pattern = state.operands[0].text if state.operands else ""
    extension = next((field.text for option, field in state.values if option in ("-e", "--extension")), None)
    folders = tuple(state.operands[1:]) or (literal("."),)
    name = f"*.{extension}" if extension else (pattern or "") if "-g" in state.flags else glob_of(pattern or "")
    return (Found(_targets(folders, invocation), filter="" if name == "*" else name),)


def _grep(name: str, argv: tuple[Field, ...], invocation: Invocation, scene: Scene, depth: int) -> tuple[Found, ...] | None:
    state = split(_GREP, argv)
    flags = set(state.flags)
    given = [field for option, field in state.values if option in ("-e", "--regexp")]
    operands = state.operands if given else state.operands[1:]
    if flags & {"-l", "-L", "--files-with-matches", "--files-without-match", "--files"}:
        include = next((field.text or "" for option, field in state.values if option in ("--include", "-g", "--glob")), "")
        if name == "rg" and "--files" in flags:
            operands = state.operands
        elif not operands and invocation.stdin.kind == "pipe" and not flags & {"-r", "-R", "--recursive"}:
            return None  # it searched what came in
        return (Found(_targets(tuple(operands) or (literal("."),), invocation), filter=include),)
    if operands or invocation.stdin.kind != "pipe":
        return None
    before = listing_of(invocation.stdin.producers, scene, depth + 1)
    if before is None:
        return None
    pattern = given[0].text if given else state.operands[0].text if state.operands else None
    if pattern is None or "-v" in flags or "--invert-match" in flags:
        return before
    literal_text = "-F" in flags or name == "fgrep"
    narrowed = f"*{pattern}*" if literal_text else glob_of(pattern)
    kept = tuple(tuple(pair for pair in one.attributes if pair[0] != "whole") for one in before)  # the rest is no longer everything
    return tuple(
        one.replace(filter=narrowed if narrowed != "*" and not one.filter else one.filter, attributes=left)
        for one, left in zip(before, kept, strict=True)
    )


_SIMPLE = r"(\^?)((?:\\[.\-_/]|[\w\-/ ,@%=:~]|\.\*|\.)+)(\$?)"


def glob_of(pattern: str) -> str:
    """A name glob that matches at least what a simple regular expression matches; "*" when it is not simple."""
    match = re.fullmatch(_SIMPLE, pattern)
    if match is None:
        return "*"
    start, body, end = match.groups()
    text = re.sub(r"\\(.)|\.\*|\.", lambda m: m.group(1) or ("*" if m.group(0) == ".*" else "?"), body)
    if "/" in text:
        text = text.rpartition("/")[2]
        start = "^" if text else ""
    return ("" if start else "*") + text + ("" if end else "*")


__all__ = ["Found", "Known", "TargetKind", "glob_of", "listing_of"]
