"""Overlays of one state directory: made, read, kept for a day, committed or thrown away; what a kill leaves behind is found by its lock and goes.

    <state>/overlays/<run>/lock     held by the process that runs or commits it, and by no other: the kernel lets go of it however that ends
    <state>/overlays/<run>/phase    running | kept | committing
    <state>/overlays/<run>/change   the change as it was judged, once it is kept (model/overlay.Kept)
    <state>/overlays/<run>/upper    what the command wrote; work: the kernel's own

A running one without its owner goes, a kept one goes after a day, a commit without its owner is carried on. Gone ones are renamed first, so that
nothing is ever half an overlay.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time

from ..errors import InstinctError, OverlayError
from ..model.codec import decode, encode
from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.jailspec import JailLevel
from ..model.overlay import KEPT_S, Kept
from ..model.refusal import explain
from .jail.overlay import UPPER, WORK, mounted_below
from .jail.plan import is_within
from .overlay_changes import changes
from .overlay_commit import Commit
from .overlay_removal import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..model.jailspec import JailSpec
    from ..model.overlay import ChangeSet
    from ..model.ports import Undo

RUNNING, KEPT, COMMITTING = "running", "kept", "committing"
MOST_KEPT = 50
MOST_TOTAL_BYTES = 2 * 1024 * 1024 * 1024
_GONE = "gone-"
_FILE_TIMES = 5  # CLOCK_REALTIME_COARSE: what files are stamped with


class Overlays:
    """The Overlays port. undo: keeps what a commit takes the place of. announce: one line for a person."""

    def __init__(self, state: str, undo: Callable[[], Undo], announce: Callable[[str], None] = lambda _: None) -> None:
        self._state = state
        self._folder = os.path.join(state, "overlays")
        self._undo = undo
        self._announce = announce
        self._locks: dict[str, int] = {}
        self._since: dict[str, int] = {}

    # ------------------------------------------------------------ one run

    def possible(self) -> bool:
        """Whether this machine lets us make an overlay: by namespaces of our own."""
        from .jail.probe import probe

        found = probe()
        return found.level == JailLevel.FULL and not found.obstacle

    def begin(self, run: str, spec: JailSpec) -> JailSpec:
        """The spec whose command will see a copy-on-write view of its workspace. Raises OverlayError, StorageError; then nothing is left."""
        if not run.isalnum():
            raise OverlayError(f"`{run}` is not a run id")
        self._check_place(spec)
        before = time.clock_gettime_ns(_FILE_TIMES)
        try:
            self.sweep()
            with self._lock_all():
                place = os.path.join(self._folder, run)
                os.mkdir(place, 0o700)
                self._locks[run] = _locked(place)
            self._write(run, "phase", RUNNING, durable=False)
            mode = stat.S_IMODE(os.stat(spec.workspace).st_mode)
            for name in (UPPER, WORK):
                os.mkdir(os.path.join(place, name), 0o700)
            os.chmod(os.path.join(place, UPPER), mode)
        except OSError as error:
            raise explain(error, self._folder) from error
        self._since[run] = _tick_after(before)
        return spec.replace(overlay=place)

    def _check_place(self, spec: JailSpec) -> None:
        """A workspace that an overlay shows truly. Raises OverlayError."""
        where = spec.workspace
        try:
            owner = os.stat(where).st_uid
            inner = mounted_below(where)
        except OSError as error:
            raise explain(error, where) from error
        if owner != os.geteuid():
            raise OverlayError(f"the workspace `{where}` belongs to another user", hint="an overlay needs a workspace of your own; run it without")
        if inner:
            raise OverlayError(f"`{inner}` is mounted inside the workspace, and an overlay would not show it", hint="run it without an overlay")
        if is_within(self._state, where):
            raise OverlayError(f"the state directory `{self._state}` lies inside the workspace", hint="set XDG_STATE_HOME to a place outside")

    def changes(self, run: str, workspace: str) -> ChangeSet:
        """What the run changed. Raises OverlayError when it is more than an overlay holds."""
        try:
            return changes(self._upper(run), workspace, self._since[run])
        except OSError as error:
            raise OverlayError(f"what the command changed cannot be read: {(error.strerror or str(error)).lower()}") from error

    def diff(self, run: str, change: ChangeSet) -> tuple[str, ...]:
        """The differences of texts, cut to what is read on a terminal."""
        from .overlay_diff import diff

        return diff(change, self._upper(run))

    def keep(self, kept: Kept) -> None:
        """Let it wait for a day; the oldest go when there are too many."""
        self._write(kept.run, "change", json.dumps(encode(kept)))
        self._write(kept.run, "phase", f"{KEPT} {kept.change.new_bytes()}")
        self._unlock(kept.run)
        number = size = 0
        for run in sorted(self._runs(), key=self._written, reverse=True):
            phase, _, new_bytes = self._phase_file(run).partition(" ")
            if phase == KEPT:
                number, size = number + 1, size + int(new_bytes or 0)
                if number > MOST_KEPT or size > MOST_TOTAL_BYTES:
                    self._drop_if_idle(run)

    def _drop_if_idle(self, run: str) -> None:
        try:
            self.drop(run)
        except OverlayError:
            pass  # somebody is at it: it goes by itself in a day

    def drop(self, run: str) -> None:
        """Throw it away. Raises OverlayError when another process is at it."""
        try:
            self._hold(run)
            self._remove(run)
        except FileNotFoundError:
            pass  # it is gone, as wanted
        except OSError as error:
            raise explain(error, self._folder) from error
        finally:
            self._unlock(run)

    # ------------------------------------------------------------ the kept ones

    def list(self) -> tuple[Kept, ...]:
        """What waits, newest first. What has expired or lost its owner is gone, and commits that were cut short are carried on first."""
        if not os.path.isdir(self._folder):
            return ()
        self.sweep()
        found = []
        for run in self._runs():
            try:
                found.append(self._read(run))
            except OverlayError:
                continue  # still running, or of no use
        return tuple(sorted(found, key=lambda kept: (-kept.at, kept.run)))

    def find(self, name: str) -> Kept:
        """One that waits, by its run, a unique beginning of it, or the request that a person answers. Raises OverlayError."""
        waiting = self.list()
        found = [kept for kept in waiting if name and (kept.run.startswith(name) or (kept.request and kept.request == name.upper()))]
        if len(found) != 1:
            what = f"several changes begin with `{name}`" if found else f"no change `{name}` is kept"
            raise OverlayError(what, hint="see `instinct overlay list`; a change is kept for a day")
        return found[0]

    def upper(self, run: str) -> str:
        """Where the new contents lie."""
        return self._upper(run)

    def commit(self, kept: Kept) -> int:
        """Make the change in the workspace; how many paths it was. Raises OverlayError: then nothing is changed, or the words say how far it came."""
        try:
            self._hold(kept.run)
            again = self._phase(kept.run) == COMMITTING
            commit = Commit(kept.change, self._upper(kept.run), kept.run)
        except OSError as error:
            self._unlock(kept.run)
            raise OverlayError(f"the kept change cannot be read: {(error.strerror or str(error)).lower()}") from error
        try:
            if kept.change.obstacles:
                raise OverlayError("it cannot be committed: " + kept.change.obstacles[0])
            conflicts = commit.look(again=again)
            if conflicts:
                more = f", and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
                state = "some of it is in the workspace already" if again else "nothing was committed"
                raise OverlayError(f"{conflicts[0]}{more}; {state}", hint=_after_conflict(kept, again=again))
            if not again:
                for note in self._undo().snapshot(kept.run, undone_by(kept), kept.change.workspace).notes:
                    self._announce(f"no undo: {note}")
                commit.sync_contents()
                self._write(kept.run, "phase", COMMITTING)
            commit.make()
            self._remove(kept.run)
        except OSError as error:
            raise OverlayError(f"the commit stopped: {(error.strerror or str(error)).lower()}", hint=_after_conflict(kept, again=True)) from error
        finally:
            commit.close()
            self._unlock(kept.run)
        return len(kept.change.changes)

    # ------------------------------------------------------------ hygiene

    def sweep(self) -> None:
        """Take away what nobody owns any more, and carry on commits that were cut short."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            cut_short = []
            with self._lock_all():
                for name in os.listdir(self._folder):
                    if name.startswith(_GONE):
                        remove_tree(os.path.join(self._folder, name))
                    elif name.isalnum() and name not in self._locks and self._is_stale(name):
                        cut_short.append(name)
        except OSError as error:
            raise explain(error, self._folder) from error
        for name in cut_short:
            try:
                self.commit(self._read(name))
                self._announce(f"the commit of {name}, which was cut short, is done")
            except InstinctError as error:
                self._announce(f"the commit of {name} was cut short and cannot be carried on: {error.message}")

    def _is_stale(self, run: str) -> bool:
        """True for a commit to be carried on; what is to go goes. Untouched: what another process holds, and what waits."""
        try:
            self._locks[run] = _locked(os.path.join(self._folder, run))
        except (BlockingIOError, FileNotFoundError):
            return False
        try:
            phase = self._phase(run)
            if phase == COMMITTING:
                return True
            if phase != KEPT or self._is_expired(run):
                self._remove(run)
            return False
        finally:
            self._unlock(run)

    def _is_expired(self, run: str) -> bool:
        try:
            kept = self._read(run)
        except OverlayError:
            return True
        # A clock that was set back must not keep it for ever.
        return not kept.at - KEPT_S <= time.time() < kept.expires

    # ------------------------------------------------------------ files

    def _runs(self) -> Iterator[str]:
        for name in sorted(os.listdir(self._folder)):
            if name.isalnum():
                yield name

    def _upper(self, run: str) -> str:
        return os.path.join(self._folder, run, UPPER)

    def _phase(self, run: str) -> str:
        return self._phase_file(run).partition(" ")[0]

    def _phase_file(self, run: str) -> str:
        """The phase; of a kept one also the bytes of its new contents."""
        try:
            with open(os.path.join(self._folder, run, "phase"), encoding="ascii") as file:
                return file.read(40)
        except FileNotFoundError:
            return ""

    def _written(self, run: str) -> int:
        try:
            return os.stat(os.path.join(self._folder, run, "phase")).st_mtime_ns
        except FileNotFoundError:
            return 0

    def _read(self, run: str) -> Kept:
        try:
            if self._phase(run) not in (KEPT, COMMITTING):
                raise OverlayError(f"`{run}` is not kept")
            with open(os.path.join(self._folder, run, "change"), encoding="ascii") as file:
                return decode(Kept, json.load(file))
        except (OSError, ValueError) as error:
            raise OverlayError(f"the kept change `{run}` cannot be read", hint=f"instinct overlay discard {run}") from error

    def _write(self, run: str, name: str, text: str, *, durable: bool = True) -> None:
        """One small file, on disk before it is seen where that matters."""
        path = os.path.join(self._folder, run, name)
        try:
            fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(fd, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                if durable:
                    os.fsync(fd)
            os.rename(f"{path}.new", path)
        except OSError as error:
            raise explain(error, path) from error

    def _lock_all(self) -> _Locked:
        return _Locked(self._folder)

    def _hold(self, run: str) -> None:
        if run in self._locks:
            return
        try:
            self._locks[run] = _locked(os.path.join(self._folder, run))
        except BlockingIOError:
            raise OverlayError(f"another process is at the change `{run}`", hint="try again when it is done") from None

    def _unlock(self, run: str) -> None:
        fd = self._locks.pop(run, -1)
        if fd >= 0:
            fcntl.flock(fd, fcntl.LOCK_UN)  # also for whoever was forked meanwhile
            os.close(fd)

    def _remove(self, run: str) -> None:
        gone = os.path.join(self._folder, f"{_GONE}{run}")
        os.rename(os.path.join(self._folder, run), gone)
        remove_tree(gone)


class _Locked:
    """One process at a time at the folder of all overlays."""

    def __init__(self, folder: str) -> None:
        self._path = folder
        self._fd = -1

    def __enter__(self) -> None:
        self._fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)


def undone_by(kept: Kept) -> tuple[Effect, ...]:
    """What `instinct undo` has to keep before the commit, as effects: each entry of the workspace that goes or gets another content or mode."""
    top = kept.change.workspace.rstrip("/")
    gone = {change.path for change in kept.change.changes if change.what == "deleted"}
    found = []
    for change in kept.change.changes:
        path = Target(TargetKind.PATH, f"{top}/{change.path}".rstrip("/"))
        if change.what == "deleted" and change.path.rpartition("/")[0] not in gone:
            found.append(Effect(EffectKind.FILE_DELETE, path, attributes=(("recursive", "1"),)))
        elif change.what != "deleted" and change.was is not None:
            found.append(Effect(EffectKind.FILE_DELETE, path))  # itself, and not what a link leads to
    return tuple(found)


def _after_conflict(kept: Kept, *, again: bool) -> str:
    if again:
        return f"what it replaced comes back with: instinct undo restore {kept.run}; forget the rest: instinct overlay discard {kept.run}"
    return f"look: instinct overlay show {kept.run}; forget it: instinct overlay discard {kept.run}"


def _locked(place: str) -> int:
    """The lock of one overlay, as a descriptor. Raises BlockingIOError when somebody has it."""
    fd = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def _tick_after(before: int) -> int:
    """The clock of file times once it has moved on: what was changed before has an earlier time, what is changed from now on has not."""
    while (now := time.clock_gettime_ns(_FILE_TIMES)) == before:
        time.sleep(0.0005)
    return now
