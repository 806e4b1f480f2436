"""Taking pre-images: from predicted effects to the files they would destroy, and those into a folder of the state directory."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat

from ..errors import StorageError
from ..instincts.patterns import PathSet
from ..model.codec import decode, encode
from ..model.effect import EffectKind, TargetKind
from ..shell.patterns import matches
from .beneath import FOLDER, copy, look, open_file, walk
from .gitindex import read_index, unchanged
from .undo import Entry, Journal, UndoReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model.effect import Effect
    from .gitindex import Indexed

# Below this, copying is cheaper than reading a git index.
ASK_GIT_FILES = 20
ASK_GIT_BYTES = 1 << 20
SPARE_BYTES = 64 << 20  # left free on the state directory's disk


def take(
    folder: str, run: str, now: int, effects: Iterable[Effect], workspace: str, rebuilt: PathSet, most_files: int, most_bytes: int
) -> UndoReport:
    """Keep what the effects would destroy. Raises OSError when the state directory cannot hold it; what cannot be read is a note."""
    try:
        root = os.open(workspace, FOLDER)
    except OSError as error:
        return UndoReport(run, notes=(f"`{workspace}` cannot be opened ({_words(error)})",))
    try:
        plan = _Plan(root, workspace, rebuilt, most_files, most_bytes)
        for effect in effects:
            plan.add(effect)
        return keep(folder, run, now, plan)
    finally:
        os.close(root)


def take_paths(folder: str, run: str, now: int, paths: Iterable[str], workspace: str, root: int, most_bytes: int) -> UndoReport:
    """Keep what stands at these relative paths now, itself without what is below (before a restore overwrites it)."""
    plan = _Plan(root, workspace, PathSet(()), 1 << 30, most_bytes)
    for path in paths:
        plan.add_tree(path, deep=False)
    return keep(folder, run, now, plan)


def keep(folder: str, run: str, now: int, plan: _Plan) -> UndoReport:
    """Write a plan's files and journal into a new folder, which appears whole or not at all."""
    if not plan.found:
        return UndoReport(run, notes=tuple(plan.notes))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    free = os.statvfs(folder)
    if plan.bytes + SPARE_BYTES > free.f_bavail * free.f_frsize:
        raise OSError(errno.ENOSPC, "no space for what the command would destroy", folder)
    draft = os.path.join(folder, f".new-{run}-{os.getpid()}")
    os.mkdir(draft, 0o700)
    try:
        entries, size = plan.copy_to(draft)
        journal = Journal(run, now, plan.workspace, tuple(entries), tuple(plan.notes))
        with open(os.open(os.path.join(draft, "journal"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
            json.dump(encode(journal), file, separators=(",", ":"))
        os.rename(draft, os.path.join(folder, f"{now}-{run}-{size}"))
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    files = sum(1 for entry in entries if entry.kind != "dir")
    return UndoReport(run, files, size, sum(1 for entry in entries if entry.blob), tuple(plan.notes))


def read_journal(folder: str) -> Journal:
    """The journal of one run's folder. Raises StorageError."""
    path = os.path.join(folder, "journal")
    try:
        with open(path, encoding="ascii") as file:
            return decode(Journal, json.load(file))
    except (OSError, ValueError) as error:
        raise StorageError(f"the undo journal `{path}` cannot be read", hint=f"remove it: rm -r {folder}") from error


class _Plan:
    """What is to be kept: relative path -> how it looked, in the order found, within the caps."""

    def __init__(self, root: int, workspace: str, rebuilt: PathSet, most_files: int, most_bytes: int) -> None:
        self.root = root
        self.workspace = workspace
        self.found: dict[str, os.stat_result] = {}
        self.notes: list[str] = []
        self.bytes = 0  # that must be copied
        self._rebuilt = rebuilt
        self._most_files = most_files
        self._most_bytes = most_bytes
        self._git: dict[str, tuple[dict[str, Indexed], int]] = {}
        self._blobs: dict[str, tuple[str, str]] = {}  # path -> (blob, checkout top)

    # ------------------------------------------------------------ which files

    def add(self, effect: Effect) -> None:
        """Everything that one effect would destroy."""
        if effect.target.dynamic:
            # An overwrite of a name that is only known later is too common to be told each time; a delete is not.
            if effect.kind is not EffectKind.FILE_WRITE and not effect.has("bound"):
                self._note(f"what `{effect.program or effect.kind}` takes away is only known when it runs")
            return
        if effect.kind is EffectKind.GIT_DISCARD:
            self._add_discard(effect)
            return
        deep = effect.kind is EffectKind.FILE_MOVE or effect.has("recursive") or effect.has("sweep")
        for path in self._paths(effect):
            self.add_tree(path, deep=deep, name=effect.get("filter"))

    def add_tree(self, path: str, *, deep: bool, name: str = "") -> None:
        """One path, and all below it when `deep`; `name` is a pattern that the last part must match."""
        status = look(self.root, path)
        if status is None or self._is_rebuilt(path):
            return
        below = ((inner, found) for inner, found in walk(self.root, path) if not self._is_rebuilt(inner)) if deep else ()
        group = {path: status} if path and (not name or matches(name, path.rpartition("/")[2])) else {}
        for inner, found in below:
            if not name or matches(name, inner.rpartition("/")[2]):
                group[inner] = found
            if len(group) > 8 * self._most_files:
                break  # over the cap, however much of it git has
        self._add_group(path, group)

    def _add_discard(self, effect: Effect) -> None:
        """Tracked files that differ from the index, and untracked ones: what a checkout, reset or clean may throw away."""
        if effect.get("stash"):
            self._note("a dropped stash is not kept (`git fsck --no-reflogs` finds it for a while)")
            return
        sweep = effect.has("sweep") or effect.target.kind not in (TargetKind.PATH, TargetKind.PATTERN)
        for path in self._paths(effect) if effect.target.kind in (TargetKind.PATH, TargetKind.PATTERN) else [""]:
            group: dict[str, os.stat_result] = {}
            status = look(self.root, path)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                group[path] = status
            elif status is not None and (sweep or effect.has("named")):
                below = walk(self.root, path)
                group = {inner: found for inner, found in below if ".git" not in inner.split("/") and not self._is_rebuilt(inner)}
            self._add_group(path, {inner: found for inner, found in group.items() if self._blob(inner, found) is None})

    def _add_group(self, path: str, group: dict[str, os.stat_result]) -> None:
        """Take these in, or say why not; a target is kept whole or not at all."""
        fresh = {inner: found for inner, found in group.items() if inner not in self.found}
        size = sum(found.st_size for found in fresh.values() if stat.S_ISREG(found.st_mode))
        if len(fresh) > ASK_GIT_FILES or size > ASK_GIT_BYTES:
            for inner, found in fresh.items():
                blob = self._blob(inner, found)
                if blob is not None:
                    self._blobs[inner] = blob
            if any(inner == ".git" or inner.endswith("/.git") for inner in fresh):
                self._blobs.clear()  # the objects go with the files: git gives nothing back
            size = sum(found.st_size for inner, found in fresh.items() if stat.S_ISREG(found.st_mode) and inner not in self._blobs)
        count = sum(1 for inner in fresh if inner not in self._blobs)
        here = sum(1 for inner in self.found if inner not in self._blobs)
        shown = path or self.workspace
        if here + count > self._most_files:
            self._note(f"`{shown}` holds more than {self._most_files:,} files")
        elif self.bytes + size > self._most_bytes:
            self._note(f"`{shown}` is larger than {self._most_bytes >> 20:,} MiB")
        else:
            self.found |= fresh
            self.bytes += size

    def _paths(self, effect: Effect) -> list[str]:
        """Relative paths inside the workspace that the target names on this disk; what a write through a symlink reaches."""
        text = effect.target.text
        if effect.target.kind is TargetKind.PATTERN:
            return list(self._expand(text))
        parent, _, name = text.rstrip("/").rpartition("/")
        real = os.path.realpath(text) if effect.kind is EffectKind.FILE_WRITE else os.path.join(os.path.realpath(parent or "/"), name)
        inside = self._inside(real)
        return [] if inside is None else [inside]

    def _inside(self, path: str) -> str | None:
        if path == self.workspace:
            return ""
        return path[len(self.workspace) + 1 :] if path.startswith(self.workspace.rstrip("/") + "/") else None

    def _expand(self, pattern: str) -> Iterator[str]:
        """Matches of an absolute pattern below the workspace, by bash's rules: no part crosses a slash, a leading dot is matched by a dot only."""
        parts = [part for part in pattern.split("/") if part]
        base = [part for part in self.workspace.split("/") if part]
        if not all(matches(part, real) for part, real in zip(parts, base, strict=False)):
            return
        if len(parts) <= len(base):
            yield ""
            return
        level = [""]
        for part in parts[len(base) :]:
            level = [inner for path in level for inner in self._children(path, part)]
            if len(level) > 8 * self._most_files:
                self._note(f"`{pattern}` matches too many files")
                return
        yield from level

    def _children(self, path: str, part: str) -> Iterator[str]:
        if part == "**":
            yield path
            yield from (inner for inner, found in walk(self.root, path) if stat.S_ISDIR(found.st_mode))
            return
        try:
            names = sorted(os.listdir(os.path.join(self.workspace, path)))
        except OSError:
            return
        for name in names:
            if matches(part, name) and (not name.startswith(".") or part.startswith((".", "\\."))):
                yield f"{path}/{name}" if path else name

    def _is_rebuilt(self, path: str) -> bool:
        return bool(self._rebuilt.find(f"/{path}"))

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    # ------------------------------------------------------------ what git has

    def _blob(self, path: str, found: os.stat_result) -> tuple[str, str] | None:
        """The blob that holds this very content, and the checkout it belongs to; None when git does not surely have it."""
        if not stat.S_ISREG(found.st_mode):
            return None
        top = self._checkout(path)
        if top is None:
            return None
        index, time_ns = self._git[top]
        known = index.get(os.path.relpath(os.path.join(self.workspace, path), top))
        return (known.blob, top) if known is not None and unchanged(known, found, time_ns) else None

    def _checkout(self, path: str) -> str | None:
        """The nearest folder at or above that holds `.git`, its index read."""
        place = os.path.dirname(os.path.join(self.workspace, path))
        while True:
            if place in self._git:
                return place
            if os.path.lexists(os.path.join(place, ".git")):
                self._git[place] = read_index(place)
                return place
            if place == "/":
                return None
            place = os.path.dirname(place)

    # ------------------------------------------------------------ copying

    def copy_to(self, draft: str) -> tuple[list[Entry], int]:
        """Copy what is planned, numbered; parents before their children. Raises OSError when the draft's disk refuses."""
        entries: list[Entry] = []
        size = number = 0
        for path in sorted(self.found):
            found = self.found[path]
            entry = Entry(path, "dir", stat.S_IMODE(found.st_mode), found.st_mtime_ns)
            if stat.S_ISDIR(found.st_mode):
                entries.append(entry)
            elif path in self._blobs:
                blob, top = self._blobs[path]
                entries.append(entry.replace(kind="file", size=found.st_size, blob=blob, top=top))
            elif stat.S_ISLNK(found.st_mode):
                to = self._read_link(path)
                if to is not None:
                    entries.append(entry.replace(kind="link", to=to))
            elif stat.S_ISREG(found.st_mode):
                copied = self._copy(path, found, os.path.join(draft, f"{number + 1:06d}"))
                if copied is not None:
                    number += 1
                    size += copied
                    entries.append(entry.replace(kind="file", size=copied, data=number))
            else:
                self._note(f"`{path}` is neither a file nor a folder nor a link")
        return entries, size

    def _copy(self, path: str, found: os.stat_result, to: str) -> int | None:
        try:
            source = open_file(self.root, path)
        except OSError as error:
            self._note(f"`{path}` cannot be read ({_words(error)})")
            return None
        try:
            target = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                return copy(source, target, found.st_size)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _read_link(self, path: str) -> str | None:
        try:
            return os.readlink(os.path.join(self.workspace, path))
        except OSError as error:
            self._note(f"`{path}` cannot be read ({_words(error)})")
            return None


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
