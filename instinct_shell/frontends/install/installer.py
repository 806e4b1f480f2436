"""Plan an installation, carry it out, and take it back byte for byte.

A plan is made without touching anything. Before a file is changed for the first time, its bytes and mode are kept in the state directory, where no
judged command can write. `uninstall` puts exactly those bytes back; where somebody changed the file since, it only takes our entries out.
"""

from __future__ import annotations

import difflib
import json
import os
import stat

from ...errors import InstinctError, StorageError, UsageError
from ...model.digest import sha256_hex
from ...model.refusal import explain
from ...model.value import Value
from ...storage.files import replace
from ...storage.state import subdirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .edits import FileEdit


class Change(Value):
    """One file of a plan. before: None when there is no file."""

    path: str
    before: bytes | None
    after: bytes
    mode: int

    @property
    def needed(self) -> bool:
        """Whether anything would be written."""
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = ((data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (self.before, self.after))
        names = (self.path if self.before is not None else "/dev/null", self.path)
        return "".join(line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(old, new, *names))


def plan(edits: tuple[FileEdit, ...]) -> tuple[Change, ...]:
    """What would be written. Raises UsageError, naming the file, for one that cannot be changed safely."""
    found = []
    for edit in edits:
        path = os.path.realpath(edit.path)  # a linked configuration is changed where it lies, the link stays
        before, mode = _read(path)
        try:
            text = before.decode("utf-8") if before is not None else None
            after = edit.change(text).encode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"`{edit.path}` is not UTF-8", hint="mend it by hand, then install again") from None
        except InstinctError as error:
            raise UsageError(f"`{edit.path}` was not changed: {error.message}", hint=error.hint) from error
        found.append(Change(path, before, after, 0o755 if edit.executable else mode))
    return tuple(found)


class Installations:
    """What is installed, kept below the state directory: for each file the bytes it had before us."""

    def __init__(self, state: str) -> None:
        self._folder = os.path.join(state, "install")
        self._state = state

    def apply(self, agent: str, changes: tuple[Change, ...]) -> None:
        """Keep what was there, then write. Raises StorageError."""
        subdirectory(self._state, "install")
        known, made = self._load()
        for change in changes:
            if not change.needed and change.path in known:
                continue
            entry = known.get(change.path)
            if entry is None:
                entry = {"agents": [], "existed": change.before is not None, "mode": change.mode, "backup": "", "exact": True}
                if change.before is not None:
                    entry["backup"] = f"{sha256_hex(change.path.encode())[:16]}-{sha256_hex(change.before)[:16]}"
                    replace(os.path.join(self._folder, str(entry["backup"])), change.before)
            elif change.before is not None and sha256_hex(change.before) != entry["written"]:
                entry["exact"] = False  # changed by somebody since: giving the old bytes back would lose that
            agents = entry["agents"]
            assert isinstance(agents, list)
            if agent not in agents:
                agents.append(agent)
            made += _make_folders(os.path.dirname(change.path))
            entry["written"] = sha256_hex(change.after)
            known[change.path] = entry
            self._save(known, made)  # before the file is touched: a kill in between leaves a backup, never a change without one
            _write(change.path, change.after, change.mode)

    def paths(self, agent: str) -> tuple[str, ...]:
        """The files that were changed for an agent."""
        return tuple(path for path, entry in self._load()[0].items() if agent in _list(entry["agents"]))

    def agents(self) -> frozenset[str]:
        """All agents with an installation."""
        return frozenset(str(agent) for entry in self._load()[0].values() for agent in _list(entry["agents"]))

    def remove(self, agent: str, path: str, mark: str) -> str:
        """Take one file back. Returns what was done: restored | removed | cleaned | gone. Raises StorageError and UsageError.

        mark: the path of our hook program, which all our entries name.
        """
        known, made = self._load()
        entry = known[path]
        others = [each for each in _list(entry["agents"]) if each != agent]
        current, _ = _read(path)
        if others:
            done = self._clean(path, current, mark, entry, agent)
            entry["agents"] = others
        else:
            done = self._give_back(path, current, mark, entry, agent)
            del known[path]
        made = [folder for folder in reversed(made) if not _remove_folder(folder)]
        self._save(known, made[::-1])
        if not others and entry["backup"]:
            _unlink(os.path.join(self._folder, str(entry["backup"])))
        return done

    def _give_back(self, path: str, current: bytes | None, mark: str, entry: dict[str, object], agent: str) -> str:
        backup = self._backup(entry)
        if current is None:
            return "gone"
        if current == backup:
            return "restored"
        if sha256_hex(current) != entry.get("written") or not entry["exact"]:
            return self._clean(path, current, mark, entry, agent)
        if backup is None:
            _unlink(path)
            return "removed"
        _write(path, backup, int(str(entry["mode"])))
        return "restored"

    def _clean(self, path: str, current: bytes | None, mark: str, entry: dict[str, object], agent: str) -> str:
        """Somebody changed the file since: only our entries go."""
        from .cleaning import cleaned

        if current is None:
            return "gone"
        left = cleaned(current, mark, agent)
        if left is None:
            raise UsageError(
                f"`{path}` was changed since, and our part of it cannot be told apart", hint=f"take out by hand what names `{mark}`"
            )
        _write(path, left, stat.S_IMODE(os.stat(path).st_mode))
        entry["written"] = sha256_hex(left)
        return "cleaned"

    def _backup(self, entry: dict[str, object]) -> bytes | None:
        if not entry["existed"]:
            return None
        data, _ = _read(os.path.join(self._folder, str(entry["backup"])))
        if data is None:
            raise StorageError(f"the backup `{entry['backup']}` is missing in `{self._folder}`", hint="take our entries out by hand")
        return data

    def _manifest(self) -> str:
        return os.path.join(self._folder, "manifest.json")

    def _load(self) -> tuple[dict[str, dict[str, object]], list[str]]:
        """The files, by path, and the folders that we made, outermost first."""
        data, _ = _read(self._manifest())
        if data is None:
            return {}, []
        try:
            found = json.loads(data)
            return dict(found["files"]), [str(folder) for folder in found["folders"]]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"`{self._manifest()}` is damaged", hint="take our entries out by hand, then remove it") from error

    def _save(self, files: dict[str, dict[str, object]], folders: list[str]) -> None:
        replace(self._manifest(), json.dumps({"files": files, "folders": folders}, indent=1).encode())


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _read(path: str) -> tuple[bytes | None, int]:
    try:
        with open(path, "rb") as file:
            return file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        return None, 0o644
    except OSError as error:
        raise explain(error, path) from error


def _write(path: str, data: bytes, mode: int) -> None:
    draft = f"{path}.instinct-{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        _unlink(draft)
        raise explain(error, path) from error


def _make_folders(folder: str) -> list[str]:
    """Make a folder and what is missing above it; those made, outermost first."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made = list(reversed(missing))
    try:
        for each in made:
            os.mkdir(each, 0o755)
    except OSError as error:
        raise explain(error, folder) from error
    return made


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass  # gone is what was wanted
    except OSError as error:
        raise explain(error, path) from error


def _remove_folder(folder: str) -> bool:
    """Whether the folder is gone; one that somebody uses stays."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
