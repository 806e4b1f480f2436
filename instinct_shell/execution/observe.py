"""After a run: what became of the predicted targets, and which files changed that nobody had predicted.

A cheap comparison, not a proof: the predicted targets and the few files that the host runs or trusts later are looked at before and after, by
inode, size, mode and both times. A predicted change that did not happen is nothing (a branch not taken). A change of a watched file that no
effect named, or a predicted write that turned out to be a delete, is a surprise: worth a near-miss, since the effect model was wrong there.
What lies outside both sets is not looked at, and the result says how many paths were.

No mount can hold a name that is not there yet. Where such a name would make the host run or trust something (agent configuration, git's `commondir`),
what appeared under it without having been judged is set aside under another name.
"""

from __future__ import annotations

import math
import os
import stat
import time
from functools import cache

from ..instincts.ground import RUN_ELSEWHERE
from ..model.effect import EffectKind, TargetKind
from ..model.value import Value
from .looking import possible
from .unjudged import HOOKS, Window, aside, culprits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..model.effect import Effect

    Look = tuple[int, int, int, int, int] | None

MOST_PATHS = 500
MOST_CHILDREN = 50
CHANGES = frozenset(
    {
        EffectKind.FILE_WRITE,
        EffectKind.FILE_CREATE,
        EffectKind.FILE_APPEND,
        EffectKind.FILE_DELETE,
        EffectKind.FILE_MOVE,
        EffectKind.FILE_METADATA,
        EffectKind.FILE_LINK,
        EffectKind.GIT_DISCARD,
        EffectKind.GIT_CONFIG,
        EffectKind.GIT_HOOK,
    }
)
REMOVES = frozenset({EffectKind.FILE_DELETE, EffectKind.FILE_MOVE, EffectKind.GIT_DISCARD})


class Change(Value):
    """One path that is not what it was. what: created | deleted | changed."""

    path: str
    what: str


class Changes(Value):
    """What was seen after a run. looked_at: how many paths were compared. set_aside: what is not under its name any more, and where it is."""

    changed: tuple[Change, ...] = ()
    surprises: tuple[str, ...] = ()
    looked_at: int = 0
    set_aside: tuple[str, ...] = ()


class Seen:
    """How things looked before a run."""

    __slots__ = ("begun", "effects", "predicted", "watched")

    def __init__(self, effects: tuple[Effect, ...], predicted: dict[str, Look], watched: dict[str, Look]) -> None:
        self.begun = time.time()
        self.effects = effects
        self.predicted = predicted
        self.watched = watched


class Observer:
    """Looks at predicted targets and at `watched` path patterns (the profile's host_executed and never_write; those with stars are skipped).

    held: those of them, from the workspace on, that must not come into being unjudged. risky: what makes a new configuration of git's one of those.
    """

    def __init__(self, watched: tuple[str, ...] = (), *, held: tuple[str, ...] = (), risky: Sequence[str] = ()) -> None:
        self._elsewhere, self._names = _plain((*watched, *held))
        self._held = tuple(name for name in _plain(held)[1] if name not in RUN_ELSEWHERE)
        self._risky = risky

    def before(self, effects: Iterable[Effect], workspace: str) -> Seen:
        """Look before the run. Never raises: what cannot be looked at counts as not there."""
        changing = tuple(effect for effect in effects if effect.kind in CHANGES)
        predicted = {
            effect.target.text: _look(effect.target.text)
            for effect in changing[:MOST_PATHS]
            if effect.target.kind is TargetKind.PATH and effect.target.text and not effect.target.dynamic
        }
        return Seen(changing, predicted, dict(self._looks(workspace)))

    def after(self, seen: Seen, workspace: str) -> Changes:
        """Look again and compare."""
        changed = []
        surprises = []
        moved: list[str] = []
        run = (Window(0.0, math.inf, seen.effects),)
        for path, before in seen.predicted.items():
            what = _compare(before, _look(path))
            if what:
                changed.append(Change(path, what))
            if what == "deleted" and not any(effect.kind in REMOVES and covers(effect, path, workspace) for effect in seen.effects):
                surprises.append(f"`{path}` was deleted; only a change was predicted")
        now = dict(self._looks(workspace))
        for path in sorted({*seen.watched, *now}):
            what = _compare(seen.watched.get(path), now.get(path))
            if what and path not in seen.predicted and not any(covers(effect, path, workspace) for effect in seen.effects):
                surprises.append(f"`{path}` was {what}; nothing of the kind was predicted")
            if what == "created" and self._is_held(path, workspace):
                moved += (aside(culprit, workspace, seen.begun) for culprit in culprits(path, run, workspace, self._risky))
        away = tuple(words for words in moved if words)
        return Changes(tuple(changed), tuple(dict.fromkeys((*surprises, *away))), len(seen.predicted) + len(now), away)

    def _is_held(self, path: str, workspace: str) -> bool:
        return any(path == (place := f"{workspace}/{name}") or path.startswith(f"{place}/") for name in self._held)

    def _looks(self, workspace: str) -> Iterator[tuple[str, Look]]:
        top = workspace.rstrip("/")
        for path in (*self._elsewhere, *(f"{top}/{name}" for name in possible(workspace, self._names))):
            found = _look(path)
            if found is None:
                continue
            yield path, found
            if not stat.S_ISDIR(found[2]):
                continue
            try:
                names = possible(path, HOOKS) if path.endswith("/.git/hooks") else sorted(os.listdir(path))[:MOST_CHILDREN]
            except OSError:
                continue
            for name in names:
                inner = f"{path}/{name}"
                if (look := _look(inner)) is not None:
                    yield inner, look


@cache
def _plain(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(absolute paths, names from the workspace on), of the patterns that name one thing. What lies in the home no command can write."""
    plain = dict.fromkeys(pattern.rstrip("/") for pattern in patterns if not any(character in pattern for character in "*?["))
    return tuple(name for name in plain if name.startswith("/")), tuple(name for name in plain if not name.startswith(("/", "{")))


def _look(path: str) -> Look:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns


def _compare(before: Look, after: Look) -> str:
    if before == after:
        return ""
    if before is None:
        return "created"
    if after is None:
        return "deleted"
    # Of a folder, size and times only say that its contents changed, which each path says for itself.
    if stat.S_ISDIR(before[2]) and before[:1] + before[2:3] == after[:1] + after[2:3]:
        return ""
    return "changed"


def covers(effect: Effect, path: str, workspace: str) -> bool:
    """Whether a predicted effect names this path, a folder above it, or git's own files for git's own verbs."""
    if effect.kind in (EffectKind.GIT_CONFIG, EffectKind.GIT_HOOK) and "/.git/" in path:
        return True
    if effect.kind is EffectKind.GIT_DISCARD and not effect.target.text:
        return path.startswith(f"{workspace}/")
    text = effect.target.text
    if effect.target.kind is TargetKind.PATTERN:
        from ..shell.patterns import matches

        return matches(text, path, path=True) or any(matches(text, parent, path=True) for parent in _parents(path))
    return effect.target.kind is TargetKind.PATH and bool(text) and (path == text or path.startswith(text.rstrip("/") + "/"))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
