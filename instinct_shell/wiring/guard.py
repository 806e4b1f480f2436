"""What front doors hold: one profile, one workspace, one session, and the adapters for them, each made by need."""

from __future__ import annotations

import os
import time

from ..engine.confine import cache_variables
from ..errors import JailError, UsageError
from ..execution.caches import folder_of
from ..execution.host import (
    Person,
    ancestors,
    forget,
    guard_paths,
    keep_line,
    pinned_bash,
    refuse_exposed,
    standard_input,
    visible_environment,
)
from ..model.effect import EffectKind
from ..model.intent import Intent, IntentType
from ..model.jailspec import JailLevel
from ..model.situation import Situation
from .causes import Causes
from .clock import SystemClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..engine.judgement import Judgement, Outcome
    from ..execution.overlays import Overlays
    from ..execution.parsers import WorkerParser
    from ..instincts.base import Instinct
    from ..model.effect import Effect
    from ..model.jailspec import JailSpec, RunResult, Session
    from ..model.ports import FactSource, GrantStore, Jail, Ledger, NearMissLog, Observer, Parser, Undo
    from ..model.profile import Profile
    from ..pipeline import Pipeline
    from .execs import ExecSteps
    from .newcomers import Lookout

FACT_DEADLINE_MS = 400
LEVELS = frozenset(str(level) for level in JailLevel)


class Guard:
    """One profile, one workspace, one session: makes intents, judges them, runs them."""

    caller = 0  # the process whose ancestors are the agent; 0: this one
    lookout: Lookout  # of the command that was confined last
    later: Callable[[str], None] | None = None  # as AuditTrail takes it

    def __init__(
        self,
        profile: Profile,
        workspace: str,
        session: str,
        person: Person,
        state: str,
        cwd: str,
        environ: Mapping[str, str],
        *,
        one_shot: bool = True,
        dedicated: bool = False,
        parser: WorkerParser | None = None,
    ) -> None:
        self.profile = profile
        self.workspace = workspace
        self.session = session
        self.person = person
        self.state = state
        self.cwd = cwd
        self.one_shot = one_shot
        self.environ = visible_environment(environ, profile)
        if profile.caches:  # judged with the variables that it runs with
            self.environ |= cache_variables(self.environ, profile.caches, folder_of(person.home, workspace), (workspace,))
        self._guard_paths = guard_paths(state, self.person)
        self._dedicated = dedicated
        self._begun = parser
        self._extra: tuple[Instinct, ...] = ()
        self.adapt: Callable[[JailSpec], JailSpec] = lambda spec: spec  # a front door's last word on argv, environment and its own files
        self.held: Jail | None = None  # the jail that a front door keeps open for its session, in place of one for each command
        self.announce: Callable[[str], None] = _nobody_listens
        self.denial: Callable[[Judgement], str] = _plain_denial  # how this front door tells a denial, to programs inside too
        self._pipeline: Pipeline | None = None
        self.execs: ExecSteps | None = None
        self._causes = Causes()

    def register(self, instinct: object) -> None:
        """Add an instinct, or an object in the seeds' shape, after the built-in ones of its tier. Raises UsageError for anything else."""
        from ..execution.registered import adapt

        self._extra = (*self._extra, adapt(instinct))
        self._pipeline = None

    # ------------------------------------------------------------ intents

    def shell_intent(self, text: str, *, door: str, argv0: str = "bash", positional: tuple[str, ...] = (), stdin: str = "") -> Intent:
        """A shell command in this guard's folder and environment; stdin: as in the intent. Raises IntentError."""
        return Intent(
            IntentType.SHELL_COMMAND, text, cwd=self.cwd, env=tuple(sorted(self.environ.items())), argv0=argv0, positional=positional,
            session=self.session, door=door, stdin=stdin,
        )  # fmt: skip

    def callers_stdin(self) -> str:
        """What the caller has on fd 0, for a door whose commands get that very descriptor (Intent.stdin)."""
        return standard_input(self.caller)

    def intent_from(self, line: Mapping[str, object], *, door: str) -> Intent:
        """The intent of a JSON object as `check --batch` and the API take it. Raises IntentError naming the key."""
        from ..model.intent_reader import read_intent

        return read_intent(line, cwd=self.cwd, env=self.environ, session=self.session, door=door)

    # ------------------------------------------------------------ what front doors do with them

    def judge(self, intent: Intent) -> Judgement:
        """Decide; nothing is written down and nothing runs."""
        return self.pipeline.judge(intent)

    def check(self, intent: Intent) -> Judgement:
        """Decide and write it down; nothing runs."""
        return self.pipeline.check(intent)

    def preview(self, intent: Intent) -> Outcome:
        """What `run` would answer, without running anything."""
        from ..engine.judgement import Outcome

        return Outcome(self.pipeline.check(intent))

    def run(self, intent: Intent, *, apart: str = "") -> Outcome:
        """Decide, and run what is allowed in the jail. apart: keep | commit | discard, as Pipeline.run takes it."""
        if intent.type is not IntentType.SHELL_COMMAND:
            raise UsageError(f"a {intent.type} is judged here, not run", hint="use check, and do it yourself when it is allowed")
        try:
            return self.pipeline.run(intent, apart=apart)
        except JailError:
            forget(self._level_file())  # the machine may have changed since the last look
            raise

    def close(self) -> None:
        """End what judging keeps running beside this process. The guard may be used again."""
        if self._begun is not None:
            self._begun.close()

    # ------------------------------------------------------------ the adapters, each made by need

    @property
    def pipeline(self) -> Pipeline:
        """The steps, wired to this machine."""
        if self._pipeline is None:
            self._pipeline = self.steps(confine=self.confine, jail=self._jail, undo=self.undo, observer=lambda: self.lookout)
        return self._pipeline

    def steps(
        self,
        *,
        confine: Callable[[Judgement], JailSpec],
        jail: Callable[[], Jail],
        undo: Callable[[], Undo] | None,
        observer: Callable[[], Observer] | None = None,
    ) -> Pipeline:
        """The steps, wired to this machine and to what carries out an allowed intent."""
        from ..instincts.registry import BUILTIN
        from ..pipeline import Pipeline
        from ..storage.audit import AuditTrail, new_run

        return Pipeline(
            profile=self.profile,
            parser=self._parser(),
            instincts=(*BUILTIN, *self._plugged(), *self._extra),
            situation=self._situation,
            facts=self._facts,
            audit=AuditTrail(self.state, profile=self.profile, later=self.later),
            clock=SystemClock(),
            new_id=new_run,
            grants=self._grants,
            ledger=self._ledger,
            confine=confine,
            jail=jail,
            undo=undo,
            observer=observer,
            near_misses=self._near_misses,
            announce=self.announce,
            cause=self.cause,
            overlays=None if self.held is not None else self.overlays,  # what a session's shell knows, another one does not
        )

    def pipeline_for_execs(self, parser: Parser, situation: Situation) -> Pipeline:
        """The steps that judge one exec inside a running command: the instincts that act there, and the rest as for the command itself."""
        from ..engine.execs import acting, without_rules
        from ..pipeline import Pipeline
        from ..storage.audit import AuditTrail, new_run

        return Pipeline(
            profile=without_rules(self.profile),
            parser=parser,
            instincts=acting(),
            situation=lambda _intent, _effects: situation,
            facts=self._facts,
            audit=AuditTrail(self.state, profile=self.profile, later=self.later),
            clock=SystemClock(),
            new_id=new_run,
        )

    def overlays(self) -> Overlays:
        """The copy-on-write views of this state directory."""
        from ..execution.overlays import Overlays
        from ..execution.undo import Undo

        return Overlays(self.state, lambda: Undo(self.state), self.announce)  # all that a commit replaces, build output too

    def _plugged(self) -> tuple[Instinct, ...]:
        """The instincts of installed packages that the person's profile names. Raises ProfileError for one that is not what it names."""
        if not self.profile.plugged:
            return ()
        from ..execution.plugged import load

        return tuple(load(each) for each in self.profile.plugged)

    def _parser(self) -> Parser:
        from ..execution.parsers import WorkerParser

        self._begun = self._begun or WorkerParser()
        return self._begun

    def _situation(self, intent: Intent, effects: tuple[Effect, ...]) -> Situation:
        from ..pipeline import needs_books
        from ..storage.tasks import current

        home = dict(intent.env).get("HOME", "")
        task = current(self.state, intent.session, self.workspace)
        kills = any(effect.kind is EffectKind.PROCESS_KILL for effect in effects)
        level = self._jail_level()
        return Situation(
            now=time.time(),
            home=home if home.startswith("/") else self.person.home,
            user=self.person.name,
            uid=self.person.uid,
            workspace=self.workspace,
            jail_level=level,
            own_processes=kills and level == JailLevel.FULL and self._session(intent, "") is not None,
            guard_paths=self._guard_paths,
            agent_pids=ancestors(self.caller) if kills else (),
            spend=self._ledger().spends(intent.session) if needs_books(intent, effects) else (),
            task=task.text if task else "",
            task_paths=task.paths if task else (),
            task_operations=task.operations if task else (),
            homes=self.person.homes,
            cache=folder_of(self.person.home, self.workspace) if self.profile.caches else "",
        )

    def _facts(self, situation: Situation, intent: Intent) -> FactSource:
        from ..execution.facts import HostFacts
        from .files import contents

        return HostFacts(self.profile, situation, deadline_ms=FACT_DEADLINE_MS, contents=contents(self, situation, intent))

    def _ledger(self) -> Ledger:
        from ..storage.ledger import LedgerStore

        return LedgerStore(self.state)

    def _grants(self) -> GrantStore:
        from ..storage.grants import GrantBook

        return GrantBook(self.state)

    def _near_misses(self) -> NearMissLog:
        from ..storage.nearmiss import NearMisses

        return NearMisses(self.state)

    def confine(self, judgement: Judgement) -> JailSpec:
        """Step 10: effects and profile to a jail. Raises GuardExposedError when the jail could not hold our own files (docs/decisions/0004)."""
        from ..engine.confine import confine, moves_tree, program_names
        from .disk import disk_of, with_credentials, with_sockets
        from .newcomers import Lookout

        situation = judgement.situation
        programs = program_names(judgement)
        shell = pinned_bash()
        disk = disk_of(self, situation)
        self._seed_caches(judgement, disk.cache)
        moves = moves_tree(judgement)
        spec = confine(judgement.intent, judgement.effects, self.profile, situation, disk=disk, programs=programs, shell=shell, moves=moves)
        self._causes.confined(spec, moves=moves)
        self.lookout = Lookout(self, judgement.run)
        if spec.supervise_execs:
            self.execs = self._judge_execs(judgement)
        spec = with_credentials(self, judgement, spec) if self.profile.network_credentials else spec
        spec = with_sockets(self, spec) if self.profile.sockets else spec
        level = JailLevel(situation.jail_level)
        if level is JailLevel.PARTIAL:
            refuse_exposed(situation.guard_paths, spec.writable)
        spec = spec.replace(session=self._session(judgement.intent, " ".join((spec.network, *spec.network_allow, *map(str, spec.publish)))))
        # INVARIANT: a command never runs in a weaker jail than the one it was judged for.
        return self.adapt(spec.replace(least_level=level) if level is JailLevel.FULL else spec)

    def _judge_execs(self, judgement: Judgement) -> ExecSteps:
        """Who judges what the programs of this allowed command start."""
        from .execs import ExecSteps

        if self.execs is not None and self.execs.shared:
            self.execs.cover(judgement)
            return self.execs
        return ExecSteps(self, judgement)

    def share_execs(self) -> ExecSteps | None:
        """For a jail that another process keeps open for many commands: it judges execs by what was allowed last, here. None when nothing is to."""
        if self.execs is not None:
            self.execs.share()
        return self.execs

    def _session(self, intent: Intent, network: str) -> Session | None:
        """The jail session that an agent's commands share; None for one-shot jails."""
        if self.one_shot or self.profile.one_shot:
            return None
        from ..execution.sessions import session_for

        above = ancestors(self.caller)
        return session_for(
            self.state, self.profile, self.workspace, asked=intent.session, environ=os.environ, above=above, network=network
        )

    def _seed_caches(self, judgement: Judgement, cache: str) -> None:
        """Before a package manager's first run here: its cache begins with what the person has."""
        if cache and judgement.evaluation is not None:
            from ..execution.caches import fill, unseeded

            words = {word.text or "" for invocation in judgement.evaluation.invocations for word in invocation.words}
            for seed, source in unseeded(cache, words, os.environ, self.person.home):
                self.before_filling()
                fill(cache, seed, source)

    def before_filling(self) -> None:
        """A cache is about to be filled, which may take a few seconds."""

    def cause(self, judgement: Judgement, spec: JailSpec, result: RunResult) -> str:
        """Why a command failed, when it was the jail; "" when not, or when that cannot be told."""
        return self._causes.tell(judgement, spec, result, self.last_words())

    def last_words(self) -> str | None:
        """The end of what the last command wrote to stderr; None where that cannot be read again."""
        return self._causes.last_words()

    def undo(self) -> Undo:
        from ..execution.undo import Undo

        return Undo(self.state, rebuilt=self.profile.build_output)

    def _jail(self) -> Jail:
        from ..execution.gitconfig import Vetting
        from ..execution.launcher import Launcher

        self._causes.starting()
        return Vetting(self.held or Launcher(dedicated=self._dedicated, execs=self.execs, vigil=self.lookout.vigil), self.announce)

    def _jail_level(self) -> str:
        """What the jail reaches here: what the last look since this start of the machine found, else a look now.

        It may have changed meanwhile. Then a run fails, since its jail is never weaker than what was judged, and the next one looks anew.
        """
        from ..storage.host import boot_id

        path, boot = self._level_file(), boot_id()
        try:
            with open(path, encoding="ascii") as file:
                seen, _, level = file.read(200).partition(" ")
            if seen == boot and level in LEVELS:
                return level
        except (OSError, ValueError):
            pass  # not looked yet
        from ..execution.jail.probe import probe

        level = str(probe().level)
        keep_line(path, f"{boot} {level}")
        return level

    def _level_file(self) -> str:
        return os.path.join(self.state, "jail-level")


def _plain_denial(judgement: Judgement) -> str:
    """Where no front door has a better way."""
    return f"instinct: denied by {judgement.verdict.reason}\n"


def _nobody_listens(_: str) -> None:
    """A program that uses the Python API reads the outcome instead."""
