"""Pathspecs of git: what means the whole tree, what looks like a file rather than a branch, and the folder git works in."""

from __future__ import annotations

import re

from ..model.effect import Target, TargetKind
from ..shell.invocation import Field
from .call import Call, path_targets

_WHOLE = frozenset((".", "./", ":/", ":", "*", "./*", ":/*", ":(top)", "/", ":!", ":/.", "..", "../"))
_FILE_LIKE = r"(?:\.{0,2}/.*|.*/|(?:[^~^:@]*/)?[^/~^:@]*\.(?![\dx]+$)[A-Za-z]\w{0,9})"


def looks_like_file(text: str) -> bool:
    """Whether a lone operand of checkout is rather a file than a branch: it has a path's ends or an extension that is no version."""
    return re.fullmatch(_FILE_LIKE, text) is not None


def whole_tree(field: Field, call: Call) -> bool:
    """Whether a pathspec means everything below the folder (or more)."""
    text = field.text if field.text is not None else field.values[0] if len(field.values) == 1 else ""
    if text in _WHOLE:
        return True
    cwd = call.invocation.cwd.text
    return cwd is not None and text.startswith("/") and any(target.text == cwd for target, _ in path_targets(field, call.invocation.cwd))


def after_dashes(call: Call) -> tuple[Field, ...] | None:
    """The words after `--`, or None when there is none."""
    for at, word in enumerate(call.argv):
        if word.text == "--":
            return call.argv[at + 1 :]
    return None


def here(call: Call) -> Target:
    """The folder git works in, as a target."""
    cwd = call.invocation.cwd
    return (
        Target(TargetKind.PATH, cwd.text) if cwd.text is not None else Target(TargetKind.PATH, cwd.prefix, cwd.reason or "unknown folder")
    )
