"""What appeared since the command before among the things that the host runs or trusts: laid to the runs that the trail knows, and set aside."""

from __future__ import annotations

import time

from ..execution.unjudged import Window, fixed, is_fixed, settle
from ..instincts.ground import RUN_ELSEWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..execution.observe import Changes, Observer, Seen
    from ..execution.vigil import Vigil
    from ..model.effect import Effect
    from ..model.profile import Profile
    from ..storage.audit import AuditTrail
    from .guard import Guard

GIT_WITHOUT_PATTERN = ".git/commondir"  # where git finds the rest of a repository, and its configuration


class Lookout:
    """Who looks before, during and after one run: the Observer port, and the vigil that a run gets when it takes long."""

    def __init__(self, guard: Guard, run: str) -> None:
        self._guard = guard
        self._run = run
        self._seen: Seen | None = None
        self._vigil: Vigil | None = None
        self.told: list[str] = []  # what a vigil kept by another process has set aside

    def before(self, effects: Iterable[Effect], workspace: str) -> Seen:
        self._seen = self._observer().before(effects, workspace)
        return self._seen

    def after(self, seen: Seen, workspace: str) -> Changes:
        changes = self._observer().after(seen, workspace)
        away = (*(self._vigil.lines if self._vigil else ()), *self.told)
        if not away:
            return changes
        return changes.replace(surprises=(*changes.surprises, *away), set_aside=(*away, *changes.set_aside))

    def vigil(self) -> Vigil | None:
        """A watch to be begun now; None when nobody has looked before."""
        from ..execution.vigil import Vigil

        if self._seen is None:
            return None
        guard = self._guard
        names = [f"{guard.workspace}/{name}" for name in _held_names(guard.profile) if is_fixed(name)]
        self._vigil = Vigil(guard.workspace, names, self._seen.watched, self._seen.effects, guard.profile.git_config_risky, self._note)
        return self._vigil

    def _observer(self) -> Observer:
        from ..execution.observe import Observer

        profile = self._guard.profile
        return Observer((*profile.host_executed, *profile.never_write), held=_held_names(profile), risky=profile.git_config_risky)

    def _note(self, what: str, lines: list[str]) -> None:
        """In the trail at once: the run may go on for days."""
        from ..errors import InstinctError
        from ..model.record import AuditRecord, RecordKind
        from ..storage.audit import AuditTrail

        body = (("note", what), ("lines", lines))
        try:
            AuditTrail(self._guard.state).append(AuditRecord(RecordKind.NOTE, self._run, time.time(), body))
        except InstinctError:
            pass  # the end of the run writes it down again


def _held_names(profile: Profile) -> tuple[str, ...]:
    """Names, from the workspace on, that must not come into being unjudged."""
    return (*profile.never_write, *(name for name in profile.host_executed if name not in RUN_ELSEWHERE), GIT_WITHOUT_PATTERN)


def set_aside_in(trail: AuditTrail, run: str) -> list[str]:
    """What was set aside while a run went on, by the notes of the trail."""
    from ..execution.vigil import SET_ASIDE
    from ..model.record import RecordKind

    records = trail.records(since=(trail.segments() or [1])[-2:][0], run=run)
    notes = (each for each in records if each.kind is RecordKind.NOTE and each.get("note") == SET_ASIDE)
    return [str(line) for each in notes for line in each.get("lines", [])]  # type: ignore[attr-defined]  # as `_note` has written it


def settle_newcomers(guard: Guard, guarded: Iterable[str]) -> None:
    """Before a command: all guarded paths that there are. What is set aside is told and remembered as a surprise."""
    _tell(guard, settle(guard.state, guard.workspace, guarded, lambda: _windows(guard), risky=guard.profile.git_config_risky))


def settle_at_the_end(guard: Guard) -> None:
    """After a run whose beginning nobody remembers: what has a fixed name. The next command looks at the rest."""
    present = fixed(guard.workspace, _held_names(guard.profile))
    _tell(guard, settle(guard.state, guard.workspace, present, lambda: _windows(guard), risky=guard.profile.git_config_risky, whole=False))


def _tell(guard: Guard, lines: tuple[str, ...]) -> None:
    if lines:
        from ..model.record import NearMiss
        from ..storage.nearmiss import NearMisses

        for words in lines:
            guard.announce(words)
        NearMisses(guard.state).append(NearMiss("surprise", time.time(), "", (), "; ".join(lines)))


def _windows(guard: Guard) -> list[Window]:
    """When commands ran in this workspace, by the trail, and how long what they left in the background could write."""
    from ..execution.sessions import left_behind
    from ..model.codec import decode
    from ..model.effect import Effect
    from ..model.record import RecordKind
    from ..storage.audit import AuditTrail

    trail = AuditTrail(guard.state)
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}
    effects: dict[str, tuple[Effect, ...]] = {}
    for record in trail.records(since=(trail.segments() or [1])[-2:][0]):
        if record.kind is RecordKind.JUDGED and record.get("workspace") == guard.workspace:
            run = str(record.get("change_of") or record.run)  # what an overlay run really changed was judged on its own
            effects[run] = effects.get(run, ()) + decode(tuple[Effect, ...], record.get("effects", []))
        elif record.kind is RecordKind.STARTED:
            begun[record.run] = record.at
        elif record.kind in (RecordKind.FINISHED, RecordKind.FAULT):
            ended[record.run] = record.at
    now = time.time()
    found = [Window(begun[run], ended.get(run, now), made) for run, made in effects.items() if run in begun]
    return found + [Window(since, now) for since in left_behind(guard.state, guard.workspace)]
