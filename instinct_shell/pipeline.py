"""One intent, end to end, against ports only: the twelve steps of ARCHITECTURE.md in the order they stand there.

`judge` decides, `check` decides and writes it down, `run` does that and runs what is allowed. Nothing here touches the host: every outside
thing comes in as a port (model/ports.py), so the whole of it is tested with fakes.
"""

from __future__ import annotations

from functools import partial

from .effects.derive import derive_evaluation
from .effects.own_rows import rows_of
from .effects.writes import place_of, placed, read_as
from .engine import records
from .engine.commands import command_effects
from .engine.confine import moves_tree
from .engine.describing import DESCRIBING
from .engine.entry import Entry
from .engine.following import changed, follow
from .engine.judge import judge
from .engine.judgement import Judgement, Outcome
from .engine.rules import rule_costs
from .errors import InstinctError, IntentError
from .model.effect import EffectKind
from .model.intent import Intent, IntentType
from .model.record import AuditRecord, NearMiss, RecordKind
from .model.verdict import Decision, Finding, Tier, Verdict
from .shell.evaluate import evaluate
from .shell.invocation import Stdin, Surroundings, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .effects.derive import Derivation
    from .instincts.base import Instinct
    from .model.effect import Effect
    from .model.fact import Answer, Question
    from .model.jailspec import JailSpec, RunResult
    from .model.ports import AuditLog, Clock, FactSource, GrantStore, Jail, Ledger, NearMissLog, Observer, Overlays, Parser, Undo
    from .model.profile import Profile
    from .model.record import Hold
    from .model.situation import Situation
    from .shell.invocation import Evaluation
    from .shell.syntax import Parsed

# What cannot be taken back: written durably before it starts where the profile says `risky_first`.
RISKY = (
    "file.delete",
    "file.move",
    "git.",
    "db.",
    "infra.",
    "net.",
    "package.publish",
    "system.",
    "spend.",
    "api.",
    "code.opaque",
    "unknown",
)


class Pipeline:
    """The steps, with the ports they need. Ports that only a run needs come as functions, so that a check never opens them."""

    __slots__ = (
        "_announce", "_audit", "_cause", "_clock", "_confine", "_facts", "_grants", "_instincts", "_jail", "_ledger", "_near_misses", "_new_id", "_observer",
        "_overlays", "_parser", "_profile", "_situation", "_undo",
    )  # fmt: skip

    def __init__(
        self,
        *,
        profile: Profile,
        parser: Parser,
        instincts: tuple[Instinct, ...],
        situation: Callable[[Intent, tuple[Effect, ...]], Situation],
        facts: Callable[[Situation, Intent], FactSource],
        audit: AuditLog,
        clock: Clock,
        new_id: Callable[[], str],
        grants: Callable[[], GrantStore] | None = None,
        ledger: Callable[[], Ledger] | None = None,
        confine: Callable[[Judgement], JailSpec] | None = None,
        jail: Callable[[], Jail] | None = None,
        undo: Callable[[], Undo] | None = None,
        observer: Callable[[], Observer] | None = None,
        near_misses: Callable[[], NearMissLog] | None = None,
        announce: Callable[[str], None] | None = None,
        cause: Callable[[Judgement, JailSpec, RunResult], str] | None = None,
        overlays: Callable[[], Overlays] | None = None,
    ) -> None:
        self._profile = profile
        self._parser = parser
        self._instincts = instincts
        self._situation = situation
        self._facts = facts
        self._audit = audit
        self._clock = clock
        self._new_id = new_id
        self._grants = grants
        self._ledger = ledger
        self._confine = confine
        self._jail = jail
        self._undo = undo
        self._observer = observer
        self._near_misses = near_misses
        self._announce = announce or (lambda _: None)
        self._cause = cause
        self._overlays = overlays

    # ------------------------------------------------------------ judging

    def judge(self, intent: Intent) -> Judgement:
        """Decide, write nothing. Input that is no runnable intent is a denial too, with the reason; faults of ours are raised."""
        start = self._clock.monotonic_us()
        run = self._new_id()
        around = self._situation(intent, ())
        surroundings = surroundings_of(intent, around)
        try:
            parsed, derivation, effects = self._read(intent, surroundings)
        except IntentError as error:
            verdict = Verdict(Decision.DENY, (Finding("input", Decision.DENY, error.message, error.hint),), Tier.REFLEX)
            return Judgement(intent, run, verdict, around, elapsed_us=self._clock.monotonic_us() - start, refused=True)
        situation = self._situation(intent, effects)
        evaluation = derivation.evaluation if derivation else None
        if self._profile.allow_programs or self._profile.rules:
            effects += command_effects(evaluation)  # there a program counts even when it changes nothing that is known
        effects = placed(intent, effects + rule_costs(intent, effects, self._profile, situation))
        scripted: tuple[Effect, ...] = ()

        # The host is asked by need: a judgement that its reflexes end never looks at a disk.
        def ask(wanted: Sequence[Question]) -> dict[Question, Answer]:
            return self._facts(situation, intent).answer(wanted)

        def scripts() -> tuple[tuple[Effect, ...], dict[Question, Answer]]:
            nonlocal scripted
            if derivation is None or not derivation.wanted:
                return (), {}
            scripted, read = follow(derivation, partial(self._derive, surroundings, derivation.evaluation), ask)
            scripted = placed(intent, scripted)
            return scripted, read

        verdict, facts = judge(
            intent,
            effects,
            self._profile,
            situation,
            ask,
            self._clock,
            self._instincts,
            unreadable=parsed is not None and bool(parsed.syntax_error),
            follow=scripts,
        )
        elapsed = self._clock.monotonic_us() - start
        return Judgement(
            intent, run, verdict.replace(elapsed_us=elapsed), situation, effects + scripted, facts, evaluation, parsed,
            parsed.parser if parsed else "none", elapsed,
        )  # fmt: skip

    def check(self, intent: Intent) -> Judgement:
        """Decide and write it down, durably enough for the profile; nothing runs."""
        with self._entry(self.judge(intent)) as entry:
            entry.write()
            self._remember(entry.judgement)
        return entry.judgement

    def _read(self, intent: Intent, surroundings: Surroundings) -> tuple[Parsed | None, Derivation | None, tuple[Effect, ...]]:
        """Steps 3 to 5: text to tree, tree to invocations, invocations to effects."""
        text, known = (intent.content, ()) if intent.type is IntentType.SHELL_COMMAND else read_as(intent, surroundings.home)
        if intent.type is not IntentType.SHELL_COMMAND and not text:
            return None, None, known
        check_text(text)
        parsed = self._parser.parse(text)
        with DESCRIBING:
            evaluation = evaluate(parsed.script, surroundings, self._parser.parse)
        derivation = self._derive(surroundings, evaluation, ())
        return parsed, derivation, known + derivation.effects

    def _derive(self, surroundings: Surroundings, evaluation: Evaluation, files: tuple[tuple[str, str], ...]) -> Derivation:
        """The effects of an evaluated text; files: scripts whose text is known."""
        programs = rows_of(self._profile.programs)
        with DESCRIBING:
            return derive_evaluation(
                evaluation, surroundings, self._parser.parse, workspace=surroundings.workspace, files=files, profile_programs=programs
            )

    # ------------------------------------------------------------ running

    def run(self, intent: Intent, *, apart: str = "") -> Outcome:
        """Decide, and run what is allowed in the jail. What was decided is written down before it starts.

        apart: keep | commit | discard: on a copy-on-write view of the workspace, and that is what becomes of its change.
        """
        return self.act_on(self.judge(intent), apart=apart)

    def act_on(self, judgement: Judgement, *, apart: str = "") -> Outcome:
        """The second half of `run`: from the verdict on, which is in the trail whatever comes."""
        with self._entry(judgement) as entry:
            asked = judgement.verdict.decision is Decision.ASK
            entry.grant = self._grant(judgement) if asked else ""
            unanswered = asked and not entry.grant
            if self._runs_apart(judgement, apart, unanswered=unanswered):
                return self._run_apart(entry, apart or "keep")
            if judgement.verdict.allow or entry.grant:
                return self._execute(entry)
            entry.request = self._request(judgement) if unanswered else ""
            entry.write()
            self._remember(judgement)
            return Outcome(judgement, None, entry.request)

    def _entry(self, judgement: Judgement) -> Entry:
        return Entry(judgement, self._profile, self._audit, self._clock)

    def _grant(self, judgement: Judgement) -> str:
        """A live grant for exactly this intent and the scripts it runs, consumed; "" when there is none."""
        if self._grants is None:
            return ""
        book = self._grants()
        digest = records.grant_digest(judgement, self._profile)
        return next((grant.id for grant in book.live(self._clock.now()) if grant.intent_digest == digest and book.consume(grant.id)), "")

    def _request(self, judgement: Judgement) -> str:
        """The id under which a person may allow it; "" when nobody can."""
        if self._grants is None:
            return ""
        summary = "; ".join((judgement.verdict.reason, *judgement.verdict.notes))
        return self._grants().request(records.grant_digest(judgement, self._profile), summary, self._clock.now())

    def _runs_apart(self, judgement: Judgement, wanted: str, *, unanswered: bool) -> bool:
        """Whether it runs on a view: because that is wanted, or as an ask that nobody answered, where the profile says so."""
        if not wanted and not (unanswered and self._profile.ask_becomes == "overlay"):
            return False
        from .engine.apart import runs_apart

        approvable = unanswered and self._grants is not None and self._grants().passphrase_is_set()
        possible = self._overlays is not None and self._overlays().possible()
        return runs_apart(judgement, wanted=bool(wanted), unanswered=unanswered, possible=possible, approvable=approvable)

    def _run_apart(self, entry: Entry, fate: str) -> Outcome:
        """On a copy-on-write view of the workspace. Raises OverlayError when this command cannot run so."""
        from .engine.apart import refuse_unfit, spec_of
        from .engine.apart_run import ApartRun

        assert self._confine is not None and self._jail is not None and self._overlays is not None  # noqa: PT018  # one promise of the wiring
        judgement = entry.judgement
        unanswered = judgement.verdict.decision is Decision.ASK and not entry.grant
        entry.write()
        self._remember(judgement)
        refuse_unfit(judgement)
        self._refuse_changed(judgement)
        spec = spec_of(self._confine(judgement))  # before the jail is asked for: it judges execs by what was confined
        steps = ApartRun(
            overlays=self._overlays(),
            jail=self._jail(),
            clock=self._clock,
            grants=self._grants() if self._grants else None,
            write=self._write,
            remember=self._remember,
            request=self._request,
            judge_change=self._judge_change,
            profile=self._profile,
        )
        entry.open = False  # what happens now they write down
        return steps.run(judgement, spec, fate, unanswered=unanswered, durable=self._durable(judgement))

    def _judge_change(self, intent: Intent, effects: tuple[Effect, ...]) -> Judgement:
        """What a command really changed on a view, judged as the text was."""
        start, situation = self._clock.monotonic_us(), self._situation(intent, effects)
        verdict, facts = judge(intent, effects, self._profile, situation, self._facts(situation, intent).answer, self._clock, self._instincts)
        elapsed = self._clock.monotonic_us() - start
        return Judgement(intent, self._new_id(), verdict.replace(elapsed_us=elapsed), situation, effects, facts, elapsed_us=elapsed)

    def _execute(self, entry: Entry) -> Outcome:
        """Steps 10 and 11: hold the money, keep what can be given back, write `judged` and `started`, run, write `finished`, settle."""
        assert self._confine is not None and self._jail is not None  # noqa: PT018  # wiring: a pipeline that runs was given them
        judgement, workspace = entry.judgement, entry.judgement.situation.workspace
        hold = None
        try:
            spec = self._confine(judgement)
            if entry.grant:
                entry.write()  # it is used up, whatever comes
            self._refuse_changed(judgement)
            jail = self._jail()
            hold = self._reserve(judgement)
            undo = self._undo().snapshot(judgement.run, judgement.effects, workspace) if self._undo else None
            for note in undo.notes if undo else ():
                self._announce(f"no undo: {note}")
            observer = self._observer() if self._observer else None
            seen = observer.before(judgement.effects, workspace) if observer else None
            entry.write((RecordKind.STARTED, records.started(spec, hold, undo)), durable=self._durable(judgement))
            entry.open = False
            result = jail.run(spec)
        except BaseException as error:
            entry.open = entry.open or isinstance(error, InstinctError)  # of a jail: it could not be made
            if entry.open:
                self._settle(hold, spent=False)
            raise
        entry.ended = (result, hold)
        self._settle(hold, spent=result.started)
        changes = observer.after(seen, workspace) if observer else None
        for words in changes.set_aside if changes else ():
            self._announce(words)
        for words in records.refused_connections(result):
            self._announce(words)
        note = ""
        cause = self._cause(judgement, spec, result) if self._cause and (result.status or moves_tree(judgement)) else ""
        try:
            entry.write((RecordKind.FINISHED, records.finished(result, changes, hold, cause)))
            entry.ended = None
            if changes is not None and changes.surprises:
                self._learn("surprise", judgement, "; ".join(changes.surprises))
        except InstinctError as error:
            # The command has run and its status is its own; the trail says "outcome unknown", and so do we.
            note = f"the command ran, but its outcome could not be recorded: {error.message}"
        return Outcome(judgement, result, "", note, cause)

    def _refuse_changed(self, judgement: Judgement) -> None:
        """What was judged is what runs: a script that is another one by now is not it. Raises IntentError."""
        path = changed(judgement.facts, lambda wanted: self._facts(judgement.situation, judgement.intent).answer(wanted))
        if path:
            raise IntentError(f"`{path}` has changed since it was judged", hint="give the command again: it is judged anew")

    def _reserve(self, judgement: Judgement) -> Hold | None:
        """Money for a run whose cost a profile rule names; None when it costs nothing. Raises BudgetError over a ceiling."""
        cost = cost_micros(judgement.effects)
        if not cost or self._ledger is None:
            return None
        profile = self._profile
        ceilings = {"session": profile.session_ceiling_micros, "day": profile.day_ceiling_micros, "month": profile.month_ceiling_micros}
        return self._ledger().reserve(
            judgement.intent.session, cost, {scope: ceiling for scope, ceiling in ceilings.items() if ceiling}, key=judgement.run
        )

    def _settle(self, hold: Hold | None, *, spent: bool) -> None:
        if hold is None or self._ledger is None:
            return
        ledger = self._ledger()
        if spent:
            ledger.commit(hold.id)
        else:
            ledger.release(hold.id)

    def _durable(self, judgement: Judgement) -> bool:
        """Whether `started` must be on disk before anything starts (design section 2, step 10)."""
        if self._profile.durability == "risky_first":
            return any(str(effect.kind).startswith(RISKY) for effect in judgement.effects)
        return self._profile.durability == "always"

    def _remember(self, judgement: Judgement) -> None:
        """What was refused is something to learn from."""
        finding = judgement.verdict.finding
        if finding is not None:
            self._learn("asked" if finding.decision is Decision.ASK else "denied", judgement, f"{finding.instinct}: {finding.reason}")

    def _learn(self, kind: str, judgement: Judgement, summary: str) -> None:
        if self._near_misses is not None:
            signature = tuple(dict.fromkeys(f"{effect.kind} {effect.program}".rstrip() for effect in judgement.effects))
            self._near_misses().append(NearMiss(kind, self._clock.now(), judgement.run, signature, summary))

    def _write(self, kind: RecordKind, judgement: Judgement, body: tuple[tuple[str, object], ...], *, durable: bool) -> None:
        self._audit.append(AuditRecord(kind, judgement.run, self._clock.now(), body), durable=durable)


def check_text(text: str) -> None:
    """Refuse text that is not UTF-8: no two programs would agree on what it says. Raises IntentError."""
    for index, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise IntentError(
                f"the command holds bytes that are not UTF-8, at character {index + 1}",
                hint="write such bytes as escapes, for example $'\\xff'",
            )


def surroundings_of(intent: Intent, situation: Situation) -> Surroundings:
    """What the text is read in: the intent's own environment, and for what that leaves out the situation."""
    env = dict(intent.env)
    home, user = env.get("HOME") or situation.home, env.get("USER") or situation.user
    given = Stdin("inherit", None if intent.stdin == "pipe" else literal(intent.stdin), outer="pipe" if intent.stdin == "pipe" else "file")
    known = Surroundings(place_of(intent, home), home, intent.env, intent.argv0, intent.positional, user, workspace=situation.workspace)
    return known.replace(stdin=given) if intent.stdin else known


def needs_books(intent: Intent, effects: tuple[Effect, ...]) -> bool:
    """Whether judging this needs the ledger: only what spends does."""
    return intent.type is IntentType.API_CALL or any(effect.kind in {EffectKind.API_CALL, EffectKind.SPEND_COMMIT} for effect in effects)


def cost_micros(effects: Iterable[Effect]) -> int:
    """What a run costs by its own estimates, in micro-dollars."""
    return sum(int(effect.get("micros", "0")) for effect in effects if effect.kind is EffectKind.API_CALL)
