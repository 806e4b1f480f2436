"""Undo: before a run, keep what its predicted effects would destroy inside the workspace; afterwards give it back.

    <state>/undo/<seconds>-<run>-<bytes>/journal     what was there: paths, kinds, modes, times
    <state>/undo/<seconds>-<run>-<bytes>/000001 ...  the contents, copied (sharing blocks where the disk can), mode 0600

Kept are regular files, symlinks and folders that a delete, an overwrite, a move or a git discard names. Contents are copied, never hard-linked:
a link would change together with a file that the command writes in place. Not copied is what git gives back as it is (an unchanged tracked
file: its blob is noted) and what can be built again. What goes over the caps is said before the run, and lost only after that was said.
Not kept: extended attributes, owners other than the person, sockets, pipes and devices.
"""

from __future__ import annotations

import os

from ..errors import StorageError
from ..model.effect import EffectKind, TargetKind
from ..model.refusal import explain
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model.effect import Effect
    from .restore import Restored

MOST_FILES = 5_000
MOST_BYTES = 200 * 1024 * 1024
MOST_RUNS = 50
MOST_TOTAL_BYTES = 2 * 1024 * 1024 * 1024
LIFETIME_S = 7 * 24 * 3600
DESTROYS = frozenset({EffectKind.FILE_DELETE, EffectKind.FILE_WRITE, EffectKind.FILE_MOVE, EffectKind.GIT_DISCARD})


class UndoReport(Value):
    """What was kept before a run. notes: what will not be given back and why, one line each, for people."""

    run: str = ""
    files: int = 0
    bytes: int = 0
    by_git: int = 0
    notes: tuple[str, ...] = ()


class Kept(Value):
    """One run's pre-images: when, where, how much."""

    run: str
    at: int
    bytes: int
    folder: str


class Entry(Value):
    """One thing that was there. kind: file | dir | link; data: the file's number in the folder, 0 when git holds it as `blob` of the checkout
    `top`; to: a symlink's target."""

    path: str
    kind: str
    mode: int
    mtime_ns: int
    size: int = 0
    data: int = 0
    blob: str = ""
    top: str = ""
    to: str = ""


class Journal(Value):
    """What one run's folder says about itself."""

    run: str
    at: int
    workspace: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


class Undo:
    """The pre-images of one state directory. `rebuilt`: path patterns of what is built again rather than kept (the profile's build_output)."""

    def __init__(self, state: str, *, rebuilt: Sequence[str] = (), most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        self._state = state
        self._folder = os.path.join(state, "undo")
        self._rebuilt = tuple(rebuilt)
        self._most_files = most_files
        self._most_bytes = most_bytes

    def snapshot(self, run: str, effects: Sequence[Effect], workspace: str, *, at: float | None = None) -> UndoReport:
        """Keep what these effects would destroy below the workspace. Raises StorageError when the state directory cannot hold it."""
        wanted = [effect for effect in effects if effect.kind in DESTROYS and _names_something(effect)]
        if not wanted:
            return UndoReport()
        if not run.isalnum():
            raise StorageError(f"`{run}` is not a run id")
        import time

        from ..instincts.patterns import PathSet
        from .preimage import take

        now = int(time.time() if at is None else at)
        try:
            self._expire(now)
            return take(self._folder, run, now, wanted, workspace, PathSet(self._rebuilt), self._most_files, self._most_bytes)
        except OSError as error:
            raise explain(error, self._folder) from error

    def list(self) -> tuple[Kept, ...]:
        """The runs that can be undone, newest first."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise explain(error, self._folder) from error
        found = []
        for name in names:
            parts = name.split("-")
            if len(parts) == 3 and parts[0].isdigit() and parts[2].isdigit():
                found.append(Kept(parts[1], int(parts[0]), int(parts[2]), os.path.join(self._folder, name)))
        return tuple(sorted(found, key=lambda kept: (-kept.at, kept.run)))

    def show(self, run: str) -> Journal:
        """What was kept before this run (a unique beginning of its id will do). Raises StorageError when there is nothing."""
        from .preimage import read_journal

        return read_journal(self.find(run).folder)

    def find(self, run: str) -> Kept:
        """The pre-images of a run, by its id or a unique beginning of it."""
        found = [kept for kept in self.list() if kept.run.startswith(run)] if run else []
        exact = [kept for kept in found if kept.run == run]
        if len(exact or found) == 1:
            return (exact or found)[0]
        what = f"several runs begin with `{run}`" if found else f"nothing is kept for run `{run}`"
        raise StorageError(what, hint="see `instinct undo list`")

    def restore(self, run: str, paths: Sequence[str] = (), *, at: float | None = None) -> tuple[Restored, ...]:
        """Give back what was there, all of it or these paths (and what lies below them). What is there now is kept first, so this can be
        undone too. Nothing outside the workspace is written, and no symlink is followed. Raises StorageError."""
        import time

        from .restore import restore

        kept = self.find(run)
        try:
            return restore(kept, paths, int(time.time() if at is None else at), self._most_bytes)
        except OSError as error:
            raise explain(error, kept.folder) from error

    def _expire(self, now: int) -> None:
        """Drop what is too old, too many or too much, oldest first."""
        total = 0
        for number, kept in enumerate(self.list()):
            total += kept.bytes
            if number >= MOST_RUNS - 1 or total > MOST_TOTAL_BYTES or now - kept.at > LIFETIME_S:
                self.drop(kept)

    def drop(self, kept: Kept) -> None:
        """Forget one run's pre-images."""
        import shutil

        shutil.rmtree(kept.folder, ignore_errors=True)


def _names_something(effect: Effect) -> bool:
    return effect.kind is EffectKind.GIT_DISCARD or effect.target.kind in (TargetKind.PATH, TargetKind.PATTERN)
