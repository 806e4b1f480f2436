"""One command apart: run on a copy-on-write view, its change listed and judged, then kept, committed or thrown away.

Judged twice: the text before it runs, and what it really changed before anything of that reaches the workspace. Whatever fails on the way throws
the view away; the workspace is as it was.
"""

from __future__ import annotations

from ..errors import InstinctError, OverlayError
from ..model.digest import text_digest
from ..model.overlay import KEPT_S, Apart, Kept
from ..model.record import RecordKind
from ..model.verdict import Decision
from . import records
from .apart import effects_of, git_of, lines_of
from .judgement import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.effect import Effect
    from ..model.intent import Intent
    from ..model.jailspec import JailSpec, RunResult
    from ..model.overlay import ChangeSet
    from ..model.ports import Clock, GrantStore, Jail, Overlays
    from ..model.profile import Profile
    from .judgement import Judgement

    Write = Callable[..., None]

FATES = ("keep", "commit", "discard")
_COMMAND_CHARACTERS = 200
_LIMITS = {"overlay": "it wrote more than an overlay holds, and was ended", "wall_seconds": "it ran longer than an overlay is for, and was ended"}


class ApartRun:
    """The steps, with what they need of the pipeline. judge_change: a judgement of effects for the same intent."""

    def __init__(
        self,
        *,
        overlays: Overlays,
        jail: Jail,
        clock: Clock,
        grants: GrantStore | None,
        write: Write,
        remember: Callable[[Judgement], None],
        request: Callable[[Judgement], str],
        judge_change: Callable[[Intent, tuple[Effect, ...]], Judgement],
        profile: Profile,
    ) -> None:
        self._overlays = overlays
        self._jail = jail
        self._clock = clock
        self._grants = grants
        self._write = write
        self._remember = remember
        self._request = request
        self._judge_change = judge_change
        self._profile = profile

    def run(self, judgement: Judgement, spec: JailSpec, fate: str, *, unanswered: bool, durable: bool) -> Outcome:
        """fate: keep | commit | discard. unanswered: an ask that nobody has answered: whatever it changed waits for a person.

        Raises InstinctError when the view could not be made; then nothing ran, and of an unanswered ask a person can allow the run itself.
        """
        try:
            spec = self._overlays.begin(judgement.run, spec)
            self._write(RecordKind.STARTED, judgement, (*records.started(spec, None, None), ("apart", 1)), durable=durable)
            result = self._jail.run(spec)
        except InstinctError as error:
            self._overlays.drop(judgement.run)
            self._write(RecordKind.FAULT, judgement, records.fault(error), durable=False)
            if not unanswered:
                raise
            return Outcome(judgement, None, self._request(judgement), error.message)
        try:
            outcome = self._after(judgement, result, fate, unanswered=unanswered)
        except InstinctError as error:
            self._overlays.drop(judgement.run)
            refused = Apart(judgement.run, "refused", status=result.status, why=error.message)
            outcome = Outcome(judgement, None, self._request(judgement) if unanswered else "", _ran(result), apart=refused)
        apart = outcome.apart
        assert apart is not None  # every path above gives one
        body = (*records.finished(result, None), ("apart", apart.fate), ("apart_changes", apart.changes), ("apart_request", apart.request))
        self._write(RecordKind.FINISHED, judgement, body, durable=False)
        return outcome

    def _after(self, judgement: Judgement, result: RunResult, fate: str, *, unanswered: bool) -> Outcome:
        run = judgement.run
        if result.limit:
            raise OverlayError(_LIMITS.get(result.limit, f"it was ended by the limit on {result.limit}, in the middle of its work"))
        change = self._overlays.changes(run, judgement.situation.workspace)
        lines, diff = lines_of(change), self._overlays.diff(run, change)
        apart = Apart(run, "discarded", lines, diff, len(change.changes), status=result.status, replaces=change.replaces())
        if not change.changes or fate == "discard":
            self._overlays.drop(run)
            return self._ended(judgement, result, apart, unanswered=unanswered and bool(change.changes))
        wrong = change.obstacles or ((f"`{inside}` belongs to git's own store",) if (inside := git_of(change)) else ())
        if wrong:
            raise OverlayError(wrong[0])
        real = self._judge_change(judgement.intent, effects_of(change))
        self._write(RecordKind.JUDGED, real, (*records.judged(real, self._profile), ("change_of", run)), durable=False)
        self._remember(real)
        if real.verdict.decision is Decision.DENY:
            self._overlays.drop(run)
            return Outcome(real, None, "", _ran(result), apart=apart.replace(fate="refused"))
        return self._settle(judgement, real, result, change, apart, fate, unanswered=unanswered)

    def _settle(
        self, judgement: Judgement, real: Judgement, result: RunResult, change: ChangeSet, apart: Apart, fate: str, *, unanswered: bool
    ) -> Outcome:
        """A change that may be committed, at once or by a person."""
        asked = real if real.verdict.decision is Decision.ASK else judgement if unanswered else None
        needs, request, now = "", "", self._clock.now()
        if asked is not None:
            needs = asked.verdict.reason
            summary = f"commit {len(change.changes)} changes of `{judgement.intent.content[:_COMMAND_CHARACTERS]}`: {needs}"
            digest = text_digest(f"{records.grant_digest(judgement, self._profile)}\0{change.digest()}")
            request = self._grants.request(digest, summary, now) if self._grants is not None else ""
            if not request:
                raise OverlayError(f"{needs}; and nobody can approve it, since no passphrase is set")
        kept = Kept(
            judgement.run, now, now + KEPT_S, change, judgement.intent.content[:_COMMAND_CHARACTERS], result.status, needs, request
        )  # fmt: skip
        self._overlays.keep(kept)
        apart = apart.replace(fate="kept", needs=needs, request=request)
        if fate == "commit" and not needs and not result.status:
            try:
                self._overlays.commit(kept)
                apart = apart.replace(fate="committed")
            except InstinctError as error:
                apart = apart.replace(why=error.message)
        elif fate == "commit":
            apart = apart.replace(why=needs or f"the command ended with status {result.status}")
        return self._ended(asked or judgement, result, apart, unanswered=unanswered)

    def _ended(self, judgement: Judgement, result: RunResult, apart: Apart, *, unanswered: bool) -> Outcome:
        """For an ask that nobody answered, front doors say what they say of any: it did not run, here is how to allow it."""
        if not unanswered:
            return Outcome(judgement, result, apart.request, apart=apart)
        return Outcome(judgement, None, apart.request, _ran(result), apart=apart)


def _ran(result: RunResult) -> str:
    return f"the command ran on a copy of the workspace and ended with status {result.status}"
