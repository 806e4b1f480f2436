"""What this process stands on: whose account, which environment commands see, which paths are the guard's own, which processes the agent's."""

from __future__ import annotations

import os
import stat
import sys
from functools import cache

from ..errors import GuardExposedError, JailError
from .looking import beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.profile import Profile


class Person:
    """Whose account this is. `home` is what commands will take for `~`; `homes` adds `account`, the account's own, which no variable can hide."""

    __slots__ = ("account", "home", "homes", "name", "uid")

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.uid = os.getuid()
        self.name, self.account = _account(self.uid, _accounts_changed())
        named = environ.get("HOME", "")
        self.home = named if named.startswith("/") else self.account or "/nonexistent"
        self.homes = tuple(dict.fromkeys(home for home in (self.home, self.account) if home))


def _accounts_changed() -> int:
    try:
        return os.stat("/etc/passwd").st_mtime_ns
    except OSError:
        return 0


@cache
def _account(uid: int, changed: int) -> tuple[str, str]:  # noqa: ARG001  # a process that serves many commands looks again when the accounts changed
    """(name, home) of an account."""
    import pwd

    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # an account without an entry, as in containers
        return str(uid), ""
    return entry.pw_name, entry.pw_dir


def visible_environment(environ: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """The variables that a command sees: those the profile's allow-list names and its deny-list does not. Judged and run with the same ones."""
    allowed, denied = names(profile.env_allow), names(profile.env_deny)
    return {name: value for name, value in environ.items() if allowed.match(name) and not denied.match(name)}


@cache
def names(patterns: tuple[str, ...]) -> Names:
    """These patterns, sorted once for a process that serves many commands."""
    return Names(patterns)


class Names:
    """Name patterns with any number of `*`, sorted by shape once: every start of ours matches some thousand pairs, and fnmatch imports re."""

    __slots__ = ("_ends", "_exact", "_inner", "_others", "_starts")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._exact = {pattern for pattern in patterns if "*" not in pattern}
        starred = [pattern for pattern in patterns if "*" in pattern]
        self._starts = tuple(pattern[:-1] for pattern in starred if pattern.index("*") == len(pattern) - 1)
        self._ends = tuple(pattern[1:] for pattern in starred if pattern.rindex("*") == 0)
        rest = [pattern for pattern in starred if pattern.rindex("*") > 0 and pattern.index("*") < len(pattern) - 1]
        self._inner = tuple(pattern[1:-1] for pattern in rest if pattern[0] == pattern[-1] == "*" and pattern.count("*") == 2)
        self._others = tuple(pattern for pattern in rest if pattern[1:-1] not in self._inner)

    def match(self, name: str) -> bool:
        """Whether a name fits one of the patterns."""
        return (
            name in self._exact
            or name.startswith(self._starts)
            or name.endswith(self._ends)
            or any(piece in name for piece in self._inner)
            or any(_fits(name, pattern) for pattern in self._others)
        )


def _fits(name: str, pattern: str) -> bool:
    first, *rest = pattern.split("*")
    if not name.startswith(first):
        return False
    position = len(first)
    for piece in rest[:-1]:
        position = name.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return len(name) - position >= len(rest[-1]) and name.endswith(rest[-1])


def guard_paths(state: str, person: Person) -> tuple[str, ...]:
    """What no judged command may ever write: our package, launchers, interpreter, profiles, configuration and state, as real paths."""
    package, *others = _installed(__file__, sys.executable)
    # Of each home also the places that no variable names now: another command's launcher will go by them.
    places = (".config", ".local/state", ".local/share")
    found = [state, *(f"{home.rstrip('/')}/{place}/instinct-shell" for home in person.homes for place in places)]
    return tuple(dict.fromkeys((package, *map(os.path.realpath, found), *others)))


@cache
def _installed(source: str, interpreter: str) -> tuple[str, ...]:
    """The real paths of what a process with this very file and interpreter was started from, the package first."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(source)))
    top = os.path.dirname(package)
    found = []
    if os.path.isfile(os.path.join(top, "bin", "launch.py")):  # a checkout: what its launchers use
        found += [os.path.join(top, name) for name in ("bin", "profiles", ".venv")]
    elif os.path.basename(top) in ("site-packages", "dist-packages") and not top.startswith("/usr/"):
        found.append(top)  # what we import lies there too, and whoever may add to it adds to us
        venv = os.path.dirname(os.path.dirname(interpreter))
        if os.path.isfile(os.path.join(venv, "pyvenv.cfg")):
            found.append(venv)
    found.append(os.path.realpath(interpreter))
    # The interpreter's library, unless it is the system's, which nobody but root writes and no jail makes writable.
    library = os.path.dirname(os.path.realpath(os.__file__))
    if not library.startswith("/usr/lib/"):
        found.append(library)
    return (package, *(os.path.realpath(path) for path in found))


def ancestors(of: int = 0) -> tuple[int, ...]:
    """The process ids above this one, or above `of`, nearest first: the agent and what started it. Empty where /proc does not say."""
    found: list[int] = []
    pid = _parent(of) if of else os.getppid()
    while pid > 1 and len(found) < 64:
        found.append(pid)
        pid = _parent(pid)
    return tuple(found)


def _parent(pid: int) -> int:
    """The parent of a process; 0 where /proc does not say."""
    try:
        return int(beginning(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def standard_input(of: int = 0) -> str:
    """What this process, or `of`, has on fd 0: "pipe" (a socket too, or a file that cannot be read from its start by name), a file's path, "" for
    a terminal, nothing, or where /proc does not say."""
    place = f"/proc/{of or 'self'}"
    try:
        found = os.stat(f"{place}/fd/0")
    except OSError:
        return ""
    if not stat.S_ISREG(found.st_mode):
        return "pipe" if stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) else ""
    try:
        path = os.readlink(f"{place}/fd/0")
        at_start = beginning(f"{place}/fdinfo/0", 64).split()[:2] == [b"pos:", b"0"]
        named = os.stat(path)
    except OSError:
        return "pipe"
    return path if at_start and (named.st_dev, named.st_ino) == (found.st_dev, found.st_ino) else "pipe"


def pinned_bash() -> str:
    """The shell that runs what was judged: the system's own bash, never one that PATH or the workspace offers. Raises JailError."""
    for path in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"):
        if os.access(path, os.X_OK):
            return path
    raise JailError("no bash on this machine; nothing ran", hint="install bash; commands are judged as bash reads them")


def refuse_exposed(own: tuple[str, ...], writable: tuple[str, ...]) -> None:
    """Raise GuardExposedError when one of our own paths lies where the command may write and no mount can hold it."""
    for path in own:
        for folder in writable:
            if (path == folder or path.startswith(folder.rstrip("/") + "/")) and os.path.lexists(path):
                raise GuardExposedError(
                    f"the guard's own `{path}` lies in `{folder}`, which commands may write, and this machine's jail cannot hold it",
                    hint="move the guard elsewhere or choose another --workspace; `instinct doctor` says what the jail lacks",
                )


def forget(path: str) -> None:
    """Remove a file that is only a memory."""
    try:
        os.unlink(path)
    except OSError:
        pass  # nothing to forget


def keep_line(path: str, line: str) -> None:
    """Write a small file whole, or not at all: what it holds is only a memory, and may be missing."""
    draft = f"{path}.{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(line)
        os.replace(draft, path)
    except OSError:
        pass  # it is looked up again next time
