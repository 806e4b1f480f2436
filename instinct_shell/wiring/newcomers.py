"""What appeared since the command before among the things that the host runs or trusts: laid to the runs that the trail knows, and set aside."""

from __future__ import annotations

import time

from ..execution.unjudged import Window, fixed, settle
from ..instincts.ground import RUN_ELSEWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..execution.observe import Observer
    from ..model.profile import Profile
    from .guard import Guard

GIT_WITHOUT_PATTERN = ".git/commondir"  # where git finds the rest of a repository, and its configuration


def observer_of(guard: Guard) -> Observer:
    """Who looks before and after a run."""
    from ..execution.observe import Observer

    profile = guard.profile
    return Observer((*profile.host_executed, *profile.never_write), held=_held_names(profile), risky=profile.git_config_risky)


def _held_names(profile: Profile) -> tuple[str, ...]:
    """Names, from the workspace on, that must not come into being unjudged."""
    return (*profile.never_write, *(name for name in profile.host_executed if name not in RUN_ELSEWHERE), GIT_WITHOUT_PATTERN)


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
