"""cd, pushd, popd and mkdir: where later commands run. A failed `cd` leaves the old directory, so both are followed."""

from __future__ import annotations

import posixpath

from . import simple, values
from .call import Call
from .invocation import Origin, folder_patterns
from .state import State
from .values import Text
from .words import escape_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

# directories that every machine has, so that `cd` into them succeeds
_SURE = frozenset("/ /tmp /var /etc /usr /home /root /opt /var/tmp /dev /proc /sys /usr/local /var/log".split())


def change(ev: Evaluator, call: Call) -> State | None:
    shown = [f.text for f in call.args] == ["-"] or ev.lookup("CDPATH") is not None  # then it prints where it went
    call.record(ev, None if shown else values.EMPTY)
    words = [f for f in call.args if f.text not in ("-P", "-L", "-e", "-@", "--")]
    if words and words[0].text == "-":
        held = ev.lookup("OLDPWD")
        target, certain = held if isinstance(held, Text) else values.unknown("previous directory", "variable", "OLDPWD"), "OLDPWD" not in ev.state.variables
    elif words:
        target, certain = values.from_field(words[0]), False
    else:
        home = ev.lookup("HOME")
        target, certain = home if isinstance(home, Text) else values.known("/"), True
    return _change(ev, target, certain)


def _change(ev: Evaluator, target: Text, certain: bool) -> State | None:
    state = ev.state
    failed = state.copy()
    new = _resolved(ev, target)
    path = new.text
    fresh = any(origin.kind == "mktemp" for origin in new.origins)
    if fresh or (path is not None and (certain or _exists(ev, path))):
        failed.dead = True
    old = ev.lookup("PWD")
    state.oldpwd = old if isinstance(old, Text) else values.EMPTY
    state.variables.pop("PWD", None)
    state.variables.pop("OLDPWD", None)
    state.cwd = new
    state.version += 1
    return failed


def _resolved(ev: Evaluator, target: Text) -> Text:
    """A directory argument as an absolute path, on each value of the current directory."""
    if not target.known:
        if not target.prefix.startswith("/"):
            prefix = (
                ""
                if target.prefix.startswith("..") or ev.state.cwd.text is None or not target.prefix
                else f"{ev.state.cwd.text}/{target.prefix}"
            )
            return Text((), target.reason or "unknown directory", target.origins, prefix, unset=target.unset)
        return target
    if target.glob:
        head = values.common_prefix(tuple(values.literal_head(v) for v in target.values))
        return Text((), "directory given by a pattern", _patterns(ev, target) or target.origins, head)
    cdpath = ev.lookup("CDPATH")
    if isinstance(cdpath, Text) and cdpath.values not in (("",), (".",)) and any(not v.startswith(("/", ".")) for v in target.values):
        if cdpath.text is None:
            return values.unknown("`CDPATH` decides the directory", "variable", "CDPATH")
        folders = [folder or "." for folder in cdpath.text.split(":")]
        found = [posixpath.join(folder, v) for folder in [*folders, "."] for v in target.values]
        target = values.one_of(found)
    paths = []
    for value in target.values:
        if value.startswith("/"):
            paths.append(_fold(value))
        elif value == "":
            return ev.state.cwd
        elif ev.state.cwd.known:
            paths += [_fold(f"{base.rstrip('/')}/{value}") for base in ev.state.cwd.values]
        else:
            cwd = ev.state.cwd
            prefix = _fold(cwd.prefix) if cwd.prefix.startswith("/") and not value.startswith("..") else ""
            if folder_patterns(cwd.origins):
                patterns = tuple(Origin("glob", f"{pattern.rstrip('/')}/{escape_glob(value)}") for pattern in folder_patterns(cwd.origins))
                return Text((), cwd.reason, patterns, prefix)
            if cwd.origins and cwd.origins[0].kind == "mktemp":
                below = posixpath.normpath(f"{cwd.suffix.lstrip('/')}/{value}".lstrip("/"))  # with `..` in front when it leads out again
                return Text((), cwd.reason, cwd.origins, cwd.prefix if below[:2] != ".." else "", f"/{below}" if below != "." else "")
            return Text((), cwd.reason, cwd.origins, prefix)
    return values.one_of(paths, unset=target.unset)


def _patterns(ev: Evaluator, target: Text) -> tuple[Origin, ...]:
    """The absolute patterns of a directory that a pattern gives, () when one of them is relative to who knows where."""
    base = ev.state.cwd.text
    if base is None and not all(value.startswith("/") for value in target.values):
        return ()
    return tuple(Origin("glob", value if value.startswith("/") else f"{escape_glob(base or '').rstrip('/')}/{value}") for value in target.values)


def _fold(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _exists(ev: Evaluator, path: str) -> bool:
    """Directories that are surely there: well-known ones, the start directory with its parents, home, and what this text made."""
    start = ev.surroundings.cwd
    if path in _SURE or path in (ev.surroundings.home, start) or start.startswith(path.rstrip("/") + "/"):
        return True
    return path in ev.state.made


def push(ev: Evaluator, call: Call) -> State | None:
    call.record(ev, None)
    words = [f for f in call.args if f.text != "-n"]
    if not words:
        if not ev.state.stack:
            return None
        target, rest = ev.state.stack[0], ev.state.stack[1:]
        ev.state.stack = (ev.state.cwd, *rest)
        return _change(ev, target, True)
    if (words[0].text or "").startswith(("+", "-")):
        ev.state.cwd = values.unknown("directory stack was rotated", "variable", "DIRSTACK")
        return None
    held = ev.state.stack
    ev.state.stack = (ev.state.cwd, *held)
    failed = _change(ev, values.from_field(words[0]), False)
    if failed is not None:
        failed.stack = held
    return failed


def pop(ev: Evaluator, call: Call) -> State | None:
    call.record(ev, None)
    if ev.state.stack and not call.args:
        target, ev.state.stack = ev.state.stack[0], ev.state.stack[1:]
        return _change(ev, target, True)
    if call.args or not ev.state.stack:
        return None
    return None


def make(ev: Evaluator, call: Call) -> State | None:
    index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
    simple.finish(ev, index, call.words)
    made: list[str] = []
    for field in call.args:
        if field.text is not None and not field.text.startswith("-"):
            path = _resolved(ev, values.known(field.text)).text
            while path is not None and path != "/" and len(made) < 200:
                made.append(path)
                path = posixpath.dirname(path)
    ev.state.made |= frozenset(made)
    ev.state.version += 1
    return None
