"""Profiles: found, read, resolved, compared and cached.

Promise: `ProfileStore.load` returns a profile that is at least as strict as what the person configured, or raises ProfileError naming the
file, the key and the next step. A project file, the environment and flags can only tighten.

Reading and resolving TOML costs more than the rest of a cold `instinct check` (tomllib alone about 10 ms), so the resolved plain tables are
kept beside the sources they came from and used again while path, inode, size and modification time of every source agree. The cache of
shipped profiles lies in the package's own `profiles/__pycache__` (as trusted as the code), that of the person's in the state directory of
their home. A judged command can write neither: both are guard paths.
"""

from __future__ import annotations

import os
import stat

from ..errors import ProfileError
from ..model.value import Value
from .profile_build import build_profile, digest_of, tables_of
from .profile_cache import Mark, dangling, mark, read_cache, write_cache
from .profile_layers import changed, flatten, plant, show, strings
from .profile_schema import KEYS, SHIPPED, direction, nearest, tighter
from .profile_tables import read_plugged, read_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.profile import Profile

    Table = dict[str, object]

PROJECT_FILE = ".instinct.toml"
CONFIG_FILE = "config.toml"
DEFAULT = "dev"
SIZE_LIMIT = 256 * 1024


class Resolved(Value):
    """A profile as plain data: flattened keys, `[caches]`, rules as tuples of fields, the names it extends, the digest."""

    name: str
    values: dict[str, object]
    caches: tuple[tuple[str, str], ...]
    rules: tuple[tuple[object, ...], ...]
    extends: tuple[str, ...]
    digest: str = ""
    programs: tuple[tuple[object, ...], ...] = ()
    plugged: tuple[tuple[str, str], ...] = ()

    @property
    def computed_digest(self) -> str:
        """The digest of these tables."""
        return digest_of(self.values, self.caches, self.rules, self.programs, self.plugged)

    def lines(self) -> list[str]:
        """These tables as TOML that reads back to the same."""
        return tables_of(self.values, self.caches, self.rules, self.programs, self.plugged)


def shipped_directory() -> str:
    """Where the shipped profiles lie: inside the installed package, or beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "profiles")
    return inside if os.path.isfile(os.path.join(inside, "base.toml")) else os.path.join(os.path.dirname(package), "profiles")


_built: dict[tuple[str, str, tuple[str, ...]], Profile] = {}
_MOST_BUILT = 16


class ProfileStore:
    """The `ProfileSource` port on disk.

    home: the person's home from the user database, never from the environment, which a command's author may have set. cache: False reads
    every file anew.
    """

    def __init__(self, *, home: str = "", shipped: str = "", cache: bool = True) -> None:
        if not home:
            import pwd

            try:
                home = pwd.getpwuid(os.getuid()).pw_dir
            except KeyError:
                home = "/nonexistent"
        self.home = home
        self.config = os.path.join(home, ".config", "instinct-shell")
        self.shipped = shipped or shipped_directory()
        self._cache = cache
        self._seen: list[tuple[str, Mark | None]] = []

    def load(self, name: str, workspace: str, overrides: Mapping[str, str]) -> Profile:
        """The profile for this workspace.

        name: what `--profile` asks for, or "" for the person's choice (`profile = "..."` in config.toml, else dev). overrides: the variable
        INSTINCT_PROFILE under its own name, and dotted keys with TOML values, as flags give them.
        """
        project = os.path.join(workspace, PROJECT_FILE) if workspace else ""
        # Without a project file every workspace resolves to the same, and shares one cache entry.
        # The home is part of it: a shared cache must not answer one person with what another's configuration (or its absence) says.
        wanted = (name, workspace if project and os.path.lexists(project) else "", tuple(sorted(overrides.items())), self.home)
        places = (os.path.join(self.shipped, "__pycache__"), os.path.join(self.home, ".local", "state", "instinct-shell"))
        plain = read_cache(places, wanted) if self._cache else None
        resolved = Resolved(*plain) if plain is not None else None
        if resolved is None:
            self._seen = []
            resolved = self._resolve(name, workspace, overrides)
            if self._cache:
                personal = any(then is not None and os.path.dirname(path) != self.shipped for path, then in self._seen)
                write_cache(
                    places[personal],
                    wanted,
                    tuple(self._seen),
                    tuple(getattr(resolved, field) for field in resolved._fields),
                    make=not personal,
                )
        key = (resolved.name, resolved.digest, resolved.extends)
        if key not in _built:  # the digest stands for all the rest
            if len(_built) > _MOST_BUILT:
                _built.clear()
            _built[key] = build_profile(
                resolved.name, resolved.digest, resolved.values, resolved.caches, resolved.rules, resolved.extends, resolved.programs, resolved.plugged
            )
        return _built[key]

    def effective(self, name: str, workspace: str, overrides: Mapping[str, str]) -> Resolved:
        """What `load` would build the profile from, read anew."""
        return self._resolve(name, workspace, overrides)

    def resolve(self, name: str) -> Resolved:
        """One named profile with everything it extends, without project file and overrides."""
        return self._named(name)

    def resolve_file(self, path: str) -> Resolved:
        """A profile file anywhere, as `instinct profile validate FILE` reads it."""
        table = self._read(path)
        if table is None:
            raise ProfileError(f"`{path}` does not exist", hint="name a profile or a .toml file")
        if os.path.basename(path) == PROJECT_FILE:
            return self._project(self._named(str(table.get("extends", DEFAULT))), table, path)
        return self._extend(os.path.basename(path).removesuffix(".toml"), table, path)

    def names(self) -> tuple[str, ...]:
        """Every profile that can be chosen: shipped ones and the person's."""
        own: list[str] = []
        try:
            own = [entry.removesuffix(".toml") for entry in os.listdir(self.config) if entry.endswith(".toml") and entry != CONFIG_FILE]
        except OSError:
            own = []  # no configuration directory: only the shipped ones
        return tuple(dict.fromkeys([name for name in SHIPPED if name != "base"] + sorted(own)))

    # ------------------------------------------------------------------------------------------------------------- choosing

    def _resolve(self, name: str, workspace: str, overrides: Mapping[str, str]) -> Resolved:
        current = self._named(self._configured())
        for request, where in ((overrides.get("INSTINCT_PROFILE", ""), "INSTINCT_PROFILE"), (name, "--profile")):
            if not request or request == current.name:
                continue
            asked = self._named(request)
            loose = loosening(current, asked)
            if loose is None:
                current = asked
            else:
                raise ProfileError(
                    f"{where}: profile `{request}` is looser than the configured `{current.name}` in {loose}; flags and environment may only tighten",
                    hint=f'choose it in {self.config}/{CONFIG_FILE}: profile = "{request}"',
                )
        project_path = os.path.join(workspace, PROJECT_FILE) if workspace else ""
        table = self._read(project_path) if project_path and os.path.lexists(project_path) else None
        if table is not None:
            current = self._project(current, table, project_path)
        dotted = {key: value for key, value in overrides.items() if key != "INSTINCT_PROFILE"}
        if dotted:
            current = self._tighten(current, self._from_flags(dotted), "flag")
        return current.replace(digest=current.computed_digest)

    def _configured(self) -> str:
        path = os.path.join(self.config, CONFIG_FILE)
        table = self._read(path, private=True)
        if table is None:
            return DEFAULT
        for key in table:
            if key != "profile":
                raise ProfileError(f"{path}: {key}: unknown key{nearest(key, ('profile',))}", hint='the only key is profile = "name"')
        choice = table.get("profile", DEFAULT)
        if not isinstance(choice, str):
            raise ProfileError(f"{path}: profile: `{choice}` is not a string", hint='write profile = "dev"')
        return choice

    def _named(self, name: str) -> Resolved:
        if name == "base":
            raise ProfileError("profile `base` is common ground and not chosen by itself", hint="choose one of: " + ", ".join(self.names()))
        if not name or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise ProfileError(
                f"`{name[:60]}` is not a profile name (letters, digits, - and _)", hint="choose one of: " + ", ".join(self.names())
            )
        own = os.path.join(self.config, f"{name}.toml")
        table = self._read(own, private=True)
        if table is not None:
            return self._extend(name, table, own)
        if name not in SHIPPED:
            raise ProfileError(f"unknown profile `{name}`{nearest(name, self.names())}", hint="choose one of: " + ", ".join(self.names()))
        return self._from_shipped(name)

    def _from_shipped(self, name: str) -> Resolved:
        path = os.path.join(self.shipped, f"{name}.toml")
        table = self._read(path)
        if table is None:
            raise ProfileError(f"the shipped profile `{path}` is missing", hint="reinstall instinct-shell")
        return self._extend(name, table, path)

    # ------------------------------------------------------------------------------------------------------------- layering

    def _extend(self, name: str, table: Table, source: str) -> Resolved:
        parent = table.get("extends")
        if parent is None and name == "base" and os.path.dirname(source) == self.shipped:
            start = Resolved(name, {}, (), (), ())
        else:
            if parent is None:
                raise ProfileError(f"{source}: extends: missing; a profile builds on a shipped one", hint='start with extends = "dev"')
            if not isinstance(parent, str) or parent not in SHIPPED:
                raise ProfileError(
                    f"{source}: extends: `{parent}` is not a shipped profile{nearest(str(parent), SHIPPED)}",
                    hint='start with extends = "dev"',
                )
            start = self._from_shipped(parent)
        values, caches, rules = flatten(table, source)
        merged = {**start.values, **{path: changed(path, start.values.get(path, ()), value, source) for path, value in values.items()}}
        missing = [path for path in KEYS if path not in merged and not path.startswith("effects.")]
        if missing:
            raise ProfileError(f"{source}: {missing[0]}: missing", hint="every key stands in base.toml")
        return Resolved(
            name,
            merged,
            tuple({**dict(start.caches), **dict(caches)}.items()),
            (*start.rules, *rules),
            (*((parent,) if parent else ()), *start.extends),
            programs=(*start.programs, *read_programs(table, source, adds=False)),
            plugged=(*start.plugged, *read_plugged(table, source)),
        )

    def _project(self, current: Resolved, table: Table, source: str) -> Resolved:
        parent = table.get("extends", "")
        if parent:
            if not isinstance(parent, str) or parent not in SHIPPED or parent == "base":
                raise ProfileError(
                    f"{source}: extends: `{parent}` is not a shipped profile{nearest(str(parent), SHIPPED)}",
                    hint='write extends = "staging"',
                )
            asked = self._named(parent)
            if (
                loosening(current, asked) is None
            ):  # a project asks for more, never for less: a looser name is what it was written for, not an attack
                current = asked
        return self._tighten(current, table, source)

    def _tighten(self, current: Resolved, table: Table, source: str) -> Resolved:
        values, caches, rules = flatten(table, source)
        if caches:
            raise ProfileError(f"{source}: caches: may not be set here", hint=f"set it in a profile in {self.config}")
        merged = dict(current.values)
        for path, value in values.items():
            if KEYS[path].order == "free":
                continue
            before = current.values.get(path, current.values["effects.default"] if path.startswith("effects.") else ())
            after = changed(path, before, value, source)
            if KEYS[path].order == "grows" and isinstance(value, tuple):
                after = tuple(dict.fromkeys((*strings(before), *value)))
            if not tighter(path, before, after):
                raise ProfileError(
                    f"{source}: {path}: `{show(value)}` would loosen `{show(before)}` of profile `{current.name}` ({direction(path)})",
                    hint=f"remove the key, or change the person's own profile in {self.config}",
                )
            merged[path] = after
        for rule in rules:
            if rule[1] == "allow":
                raise ProfileError(
                    f"{source}: rule `{rule[0]}`: decision `allow` would loosen; rules here may only ask or deny",
                    hint='write decision = "ask"',
                )
        if "instinct" in table:
            raise ProfileError(f"{source}: instinct: may not be set here", hint=f"set it in a profile in {self.config}")
        programs = read_programs(table, source, adds=True)
        return current.replace(values=merged, rules=(*current.rules, *rules), programs=(*current.programs, *programs))

    def _from_flags(self, dotted: Mapping[str, str]) -> Table:
        import tomllib

        table: Table = {}
        for path, text in dotted.items():
            if path not in KEYS:
                raise ProfileError(f"flag: {path}: unknown key{nearest(path, KEYS)}", hint="instinct profile show lists all keys")
            try:
                value = tomllib.loads(f"v = {text}")["v"]
            except tomllib.TOMLDecodeError:
                value = text
            plant(table, path, value)
        return table

    # ------------------------------------------------------------------------------------------------------------- files

    def _read(self, path: str, *, private: bool = False) -> Table | None:
        """The parsed file, or None when it does not exist. private: refuse a file that somebody else could have written."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError) as error:
            if link := dangling(path):
                raise ProfileError(f"cannot read `{path}`: `{link}` is a link that leads nowhere", hint="mend the link or remove it") from error
            self._seen.append((path, None))
            return None
        except OSError as error:
            raise ProfileError(f"cannot read `{path}`: {error.strerror}", hint="mend its permissions or move it away") from error
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise ProfileError(f"`{path}` is not a regular file", hint="move it away")
            if private and (found.st_uid not in (0, os.getuid()) or found.st_mode & 0o022):
                raise ProfileError(f"`{path}` can be written by others", hint=f"chmod go-w {path}; it must belong to you or root")
            if found.st_size > SIZE_LIMIT:
                raise ProfileError(f"`{path}` is larger than {SIZE_LIMIT // 1024} KB", hint="a profile is a few pages of text")
            with os.fdopen(os.dup(handle), "rb") as stream:
                data = stream.read(SIZE_LIMIT + 1)
        finally:
            os.close(handle)
        self._seen.append((path, mark(found)))
        import tomllib

        try:
            return tomllib.loads(data.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProfileError(f"`{path}` is not valid TOML: {str(error)[:200]}", hint="mend the line it names") from error


def loosening(before: Resolved, after: Resolved) -> str | None:
    """The first key in which `after` is looser than `before`, or None."""
    for path in KEYS:
        if path.startswith("effects."):
            one, two = (side.values.get(path, side.values["effects.default"]) for side in (before, after))
        else:
            one, two = before.values[path], after.values[path]
        if not tighter(path, one, two):
            return path
    # A row of one's own replaces what is known of a program, so that any other set of rows may be looser.
    for row in (*before.programs, *after.programs):
        if (row in before.programs) != (row in after.programs):
            return f"program `{next(iter(row[0]), '')}`" if isinstance(row[0], tuple) else "program"
    for plugged in before.plugged:
        if plugged not in after.plugged:
            return f"instinct `{plugged[0]}`"
    kept = {rule[0] for rule in after.rules}
    for rule in before.rules:
        if rule[1] != "allow" and rule[0] not in kept:
            return f"rule `{rule[0]}`"
    return next((f"rule `{rule[0]}`" for rule in after.rules if rule[1] == "allow" and rule not in before.rules), None)
