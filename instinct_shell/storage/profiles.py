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
from .profile_build import build_profile, digest_of
from .profile_schema import KEYS, MAPS, SHIPPED, check, direction, nearest, tighter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.profile import Profile

    Table = dict[str, object]

PROJECT_FILE = ".instinct.toml"
CONFIG_FILE = "config.toml"
DEFAULT = "dev"
SIZE_LIMIT = 256 * 1024
CACHE_FORMAT = 3


class Resolved(Value):
    """A profile as plain data: flattened keys, `[caches]`, rules as tuples of fields, the names it extends, the digest."""

    name: str
    values: dict[str, object]
    caches: tuple[tuple[str, str], ...]
    rules: tuple[tuple[object, ...], ...]
    extends: tuple[str, ...]
    digest: str = ""


def shipped_directory() -> str:
    """Where the shipped profiles lie: inside the installed package, or beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "profiles")
    return inside if os.path.isfile(os.path.join(inside, "base.toml")) else os.path.join(os.path.dirname(package), "profiles")


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
        self._seen: list[tuple[str, tuple[int, int, int] | None]] = []

    def load(self, name: str, workspace: str, overrides: Mapping[str, str]) -> Profile:
        """The profile for this workspace.

        name: what `--profile` asks for, or "" for the person's choice (`profile = "..."` in config.toml, else dev). overrides: the variable
        INSTINCT_PROFILE under its own name, and dotted keys with TOML values, as flags give them.
        """
        project = os.path.join(workspace, PROJECT_FILE) if workspace else ""
        # Without a project file every workspace resolves to the same, and shares one cache entry.
        wanted = (name, workspace if project and os.path.lexists(project) else "", tuple(sorted(overrides.items())))
        cached = self._read_cache(wanted) if self._cache else None
        if cached is None:
            self._seen = []
            cached = self._resolve(name, workspace, overrides)
            if self._cache:
                self._write_cache(wanted, cached)
        return build_profile(cached.name, cached.digest, cached.values, cached.caches, cached.rules, cached.extends)

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
        return current.replace(digest=digest_of(current.values, current.caches, current.rules))

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
            if not isinstance(parent, str) or parent not in SHIPPED:
                raise ProfileError(
                    f"{source}: extends: `{parent}` is not a shipped profile{nearest(str(parent), SHIPPED)}",
                    hint='start with extends = "dev"',
                )
            start = self._from_shipped(parent)
        values, caches, rules = _flatten(table, source)
        merged = {**start.values, **{path: _changed(path, start.values.get(path, ()), value, source) for path, value in values.items()}}
        missing = [path for path in KEYS if path not in merged and not path.startswith("effects.")]
        if missing:
            raise ProfileError(f"{source}: {missing[0]}: missing", hint="every key stands in base.toml")
        return Resolved(
            name,
            merged,
            tuple({**dict(start.caches), **dict(caches)}.items()),
            (*start.rules, *rules),
            (*((parent,) if parent else ()), *start.extends),
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
        values, caches, rules = _flatten(table, source)
        if caches:
            raise ProfileError(f"{source}: caches: may not be set here", hint=f"set it in a profile in {self.config}")
        merged = dict(current.values)
        for path, value in values.items():
            if KEYS[path].order == "free":
                continue
            before = current.values.get(path, current.values["effects.default"] if path.startswith("effects.") else ())
            after = _changed(path, before, value, source)
            if KEYS[path].order == "grows" and isinstance(value, tuple):
                after = tuple(dict.fromkeys((*_strings(before), *value)))
            if not tighter(path, before, after):
                raise ProfileError(
                    f"{source}: {path}: `{_show(value)}` would loosen `{_show(before)}` of profile `{current.name}` ({direction(path)})",
                    hint=f"remove the key, or change the person's own profile in {self.config}",
                )
            merged[path] = after
        for rule in rules:
            if rule[1] == "allow":
                raise ProfileError(
                    f"{source}: rule `{rule[0]}`: decision `allow` would loosen; rules here may only ask or deny",
                    hint='write decision = "ask"',
                )
        return current.replace(values=merged, rules=(*current.rules, *rules))

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
            _plant(table, path, value)
        return table

    # ------------------------------------------------------------------------------------------------------------- files

    def _read(self, path: str, *, private: bool = False) -> Table | None:
        """The parsed file, or None when it does not exist. private: refuse a file that somebody else could have written."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
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
        self._seen.append((path, _mark(found)))
        import tomllib

        try:
            return tomllib.loads(data.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProfileError(f"`{path}` is not valid TOML: {str(error)[:200]}", hint="mend the line it names") from error

    # ------------------------------------------------------------------------------------------------------------- cache

    def _read_cache(self, wanted: tuple[object, ...]) -> Resolved | None:
        from .profile_build import stamp

        for folder in (os.path.join(self.shipped, "__pycache__"), os.path.join(self.home, ".local", "state", "instinct-shell")):
            data = _trusted_bytes(os.path.join(folder, _cache_name(wanted)))
            if data is None:
                continue
            import marshal

            try:
                form, mark, key, seen, plain = marshal.loads(data)
            except (ValueError, EOFError, TypeError):
                continue  # torn or of another version: the files are read instead
            if (form, mark, key) == (CACHE_FORMAT, stamp(), wanted) and all(_current_mark(path) == then for path, then in seen):
                return Resolved(*plain)
        return None

    def _write_cache(self, wanted: tuple[object, ...], resolved: Resolved) -> None:
        """Keep the result; a cache that cannot be written is only slower."""
        import sys

        from .profile_build import stamp

        personal = any(mark is not None and os.path.dirname(path) != self.shipped for path, mark in self._seen)
        folder = os.path.join(self.home, ".local", "state", "instinct-shell") if personal else os.path.join(self.shipped, "__pycache__")
        if sys.dont_write_bytecode:
            return
        import marshal

        plain = (resolved.name, resolved.values, resolved.caches, resolved.rules, resolved.extends, resolved.digest)
        target = os.path.join(folder, _cache_name(wanted))
        spare = f"{target}.{os.getpid()}"
        try:
            if not personal:
                os.makedirs(folder, exist_ok=True)
            handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600 if personal else 0o644)
            with os.fdopen(handle, "wb") as stream:
                stream.write(marshal.dumps((CACHE_FORMAT, stamp(), wanted, tuple(self._seen), plain)))
            os.replace(spare, target)
        except OSError:
            return


def loosening(before: Resolved, after: Resolved) -> str | None:
    """The first key in which `after` is looser than `before`, or None."""
    for path in KEYS:
        if path.startswith("effects."):
            one, two = (side.values.get(path, side.values["effects.default"]) for side in (before, after))
        else:
            one, two = before.values[path], after.values[path]
        if not tighter(path, one, two):
            return path
    kept = {rule[0] for rule in after.rules}
    for rule in before.rules:
        if rule[1] != "allow" and rule[0] not in kept:
            return f"rule `{rule[0]}`"
    return next((f"rule `{rule[0]}`" for rule in after.rules if rule[1] == "allow" and rule not in before.rules), None)


def _flatten(table: Table, source: str) -> tuple[dict[str, object], tuple[tuple[str, str], ...], tuple[tuple[object, ...], ...]]:
    """Dotted keys with checked values, the caches, and the rules. `{add, remove}` tables of list keys are kept as dicts."""
    from .profile_build import read_rules

    values: dict[str, object] = {}
    caches: tuple[tuple[str, str], ...] = ()
    rules: tuple[tuple[object, ...], ...] = ()

    def walk(node: Table, prefix: str) -> None:
        for name, value in node.items():
            path = f"{prefix}{name}"
            if path in KEYS:
                values[path] = (
                    _edit(path, value, source) if isinstance(value, dict) and KEYS[path].kind == "list" else check(path, value, source)
                )
            elif isinstance(value, dict) and any(known.startswith(path + ".") for known in KEYS):
                walk(value, path + ".")
            else:
                raise ProfileError(
                    f"{source}: {path}: unknown key{nearest(path, _NAMES)}",
                    hint="instinct profile show lists all keys",
                )

    for name, value in table.items():
        if name == "extends":
            continue
        if name == "rule":
            rules = read_rules(value, source)
        elif name == "caches":
            if not isinstance(value, dict) or not all(
                isinstance(v, str) and v and "/" not in v and not v.startswith(".") for v in value.values()
            ):
                raise ProfileError(f"{source}: caches: must map variables to plain folder names", hint='write PIP_CACHE_DIR = "pip"')
            caches = tuple((str(k), str(v)) for k, v in value.items())
        else:
            walk({name: value}, "")
    return values, caches, rules


_NAMES = (*KEYS, *MAPS, "extends", "rule", *dict.fromkeys(path.rpartition(".")[0] for path in KEYS if "." in path))


def _edit(path: str, value: Table, source: str) -> dict[str, tuple[str, ...]]:
    for name in value:
        if name not in ("add", "remove"):
            raise ProfileError(
                f"{source}: {path}.{name}: unknown key{nearest(name, ('add', 'remove'))}",
                hint="a list is changed by { add = [...], remove = [...] }",
            )
    return {name: _strings(check(path, entries, source)) for name, entries in value.items()}


def _changed(path: str, before: object, value: object, source: str) -> object:
    """The new value of a key: replaced, or the inherited list with entries added and removed."""
    if not isinstance(value, dict):
        return value
    entries = _strings(before)
    gone = value.get("remove", ())
    for entry in gone:
        if entry not in entries:
            raise ProfileError(
                f"{source}: {path}.remove: `{entry}` is not in the inherited list{nearest(entry, entries)}", hint="remove the entry"
            )
    return tuple(dict.fromkeys([entry for entry in entries if entry not in gone] + list(value.get("add", ()))))


def _strings(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _show(value: object) -> str:
    text = str(list(value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _plant(table: Table, path: str, value: object) -> None:
    head, _, rest = path.partition(".")
    if not rest or head in ("effects",):
        inner = table.setdefault(head, {}) if rest else table
        assert isinstance(inner, dict)
        inner[rest or head] = value
        return
    inner = table.setdefault(head, {})
    assert isinstance(inner, dict)
    _plant(inner, rest, value)


def _mark(found: os.stat_result) -> tuple[int, int, int]:
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _current_mark(path: str) -> tuple[int, int, int] | None:
    try:
        return _mark(os.stat(path))
    except OSError:
        return None


def _cache_name(wanted: tuple[object, ...]) -> str:
    import binascii

    return f"resolved-{binascii.crc32(repr(wanted).encode('utf-8', 'surrogateescape')):08x}.marshal"


def _trusted_bytes(path: str) -> bytes | None:
    """The file's bytes when it is a regular file that only its owner (us or root) can write; else None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if (
            not stat.S_ISREG(found.st_mode)
            or found.st_mode & 0o022
            or found.st_uid not in (0, os.getuid(), _owner(os.path.dirname(__file__)))
        ):
            return None
        return os.read(handle, 2 * SIZE_LIMIT)
    except OSError:
        return None
    finally:
        os.close(handle)


def _owner(path: str) -> int:
    return os.stat(path).st_uid
