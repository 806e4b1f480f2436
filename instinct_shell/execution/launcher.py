"""Runs one command in the jail that its spec describes, as the command's ancestor in the caller's own process group, cgroup and terminal.

    launcher -> (a short-lived process that enters the namespaces) -> attendant, PID 1 inside -> the command
    launcher -> attendant, outside -> the command, in the namespaces of a session that its holder keeps (jail/session.py)
    launcher -> a process that stays beside -> bubblewrap -> attendant, PID 1 inside -> the command
    launcher -> a process that stays beside -> attendant -> the command, at level partial

Where we make the namespaces the attendant is the launcher's own child, so that the launcher sees it end, and with it everything in a jail that is the
command's alone. Nothing runs unless every step succeeded: each process writes the step that failed to one close-on-exec pipe, and the launcher turns
that into a JailError.
"""

from __future__ import annotations

import errno
import os
import signal
import time

from ..errors import JailError
from ..model.jailspec import JailLevel, RunResult
from . import supervise
from .jail import bubblewrap, confinement, descriptors, landlock, mounts, namespaces, network, overlay, probe, syscalls, view
from .jail.syscalls import StepFailed
from .relay import Relays
from .renames import Renames
from .watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.jailspec import JailSpec
    from ..model.ports import ExecJudge
    from .execs import Supervisor
    from .jail.session import Membership
    from .vigil import Vigil


class NamespacesUnavailable(Exception):
    """This host does not let us make a full jail; carries the StepFailed."""

    def __init__(self, failure: StepFailed) -> None:
        super().__init__(failure.step)
        self.failure = failure


class Launcher:
    """The Jail port. One launcher may run many commands, one after the other or from several threads.

    dedicated: this process exists for the command alone (instinct-exec, the shell). Then signals to it are passed on, its stdin and stdout are given
    away so that pipes close when the command closes them, and it stops and continues with the command. In a host program (the Python API)
    nothing of the program is touched.
    execs: who judges what programs inside start, for specs that want it.
    vigil: makes the watch over names that are not there yet, for a command that takes long (vigil.py).
    book: where connections of a network allow-list are written down, for a caller that reads it meanwhile (jail/network.py).
    at: never go above this level; own_namespaces: try to make them ourselves. Both for tests; what the spec demands still holds.
    """

    def __init__(
        self,
        *,
        dedicated: bool = False,
        at: JailLevel = JailLevel.FULL,
        own_namespaces: bool = True,
        execs: ExecJudge | None = None,
        book: int = -1,
        vigil: Callable[[], Vigil | None] | None = None,
    ) -> None:
        self._dedicated = dedicated
        self._execs = execs
        self._book = book
        self._vigil = vigil
        self._at = at
        self._own_namespaces = own_namespaces

    def level(self) -> str:
        """The level a run would reach here."""
        if self._at is JailLevel.FULL:
            return probe.probe().level
        return probe.level_of(with_namespaces=False, landlock_abi=landlock.abi())

    def run(self, spec: JailSpec) -> RunResult:
        """Runs spec.argv to its end. Raises JailError when the demanded level cannot be made or a step failed; then nothing ran."""
        if not syscalls.supported():
            raise JailError(f"no jail on this processor: `{syscalls.MACHINE}`", hint="x86_64 and aarch64 are supported")
        if spec.supervise_execs and self._execs is None:
            raise JailError("the programs that this command starts are to be judged, and nobody is there to do it; nothing ran")
        abi = landlock.abi()
        obstacle: StepFailed | None = None
        second = ""
        try:
            if self._at is JailLevel.FULL and probe.reaches(probe.level_of(with_namespaces=True, landlock_abi=abi), spec.least_level):
                try:
                    if not self._own_namespaces or not mounts.supported():
                        raise NamespacesUnavailable(StepFailed(mounts.READ_ONLY_CALL, errno.ENOSYS))
                    return self._run_full(spec, abi)
                except NamespacesUnavailable as unavailable:
                    obstacle = unavailable.failure
                if bubblewrap.find() and not spec.overlay:
                    try:
                        return self._run(spec, abi, with_namespaces=True, bubblewrapped=True)
                    except NamespacesUnavailable as unavailable:
                        second = probe.describe(unavailable.failure)
            if not spec.overlay and probe.reaches(probe.level_of(with_namespaces=False, landlock_abi=abi), spec.least_level):
                if network.is_served(spec):
                    raise _network_refusal(obstacle)
                return self._run(spec, abi, with_namespaces=False)
        except StepFailed as failure:
            raise JailError(f"the jail could not be made: {probe.describe(failure)}; nothing ran", hint=probe.hint_for(failure)) from None
        raise _level_refusal(spec.least_level, abi, obstacle, second)

    def _run_full(self, spec: JailSpec, abi: int) -> RunResult:
        if spec.session is None or abi < 2:  # without Landlock a command could trace its session's holder
            return self._run(spec, abi, with_namespaces=True)
        from .jail import session

        for last in (False, True):
            try:
                membership = session.enter(spec.session, own_network=spec.own_network)
            except StepFailed as failure:
                if failure.step.startswith(probe.NAMESPACE_STEPS):
                    raise NamespacesUnavailable(failure) from None
                raise
            try:
                return self._run(spec, abi, with_namespaces=True, membership=membership)
            except StepFailed as failure:
                if last or not failure.step.startswith(namespaces.JOIN):
                    raise
            finally:
                membership.conclude(by_itself=False)
        raise AssertionError  # the last round returned or raised

    def _run(
        self, spec: JailSpec, abi: int, *, with_namespaces: bool, membership: Membership | None = None, bubblewrapped: bool = False
    ) -> RunResult:
        started_at = time.monotonic()
        missing = _fill_standard_descriptors()
        try:
            plan = view.plan_for(spec, bubblewrap.own_paths() if bubblewrapped else ())
            handed = descriptors.examine(plan.access, capped=spec.limits.output_bytes > 0, missing=missing)
            descriptors.check_extra(spec.descriptors)
            with Relays(handed, spec.limits.output_bytes) as relays, network.Passage(spec, membership, self._book) as passage:
                reader, writer = os.pipe2(os.O_CLOEXEC)
                supervisor = self._supervisor() if spec.supervise_execs else None
                renames = Renames(plan) if with_namespaces and not spec.read_only else None
                mask = signal.pthread_sigmask(signal.SIG_BLOCK, supervise.ALL_SIGNALS)
                watch = None
                try:
                    child = os.fork()
                    if child == 0:
                        jailed = confinement.Confinement(
                            spec, plan, handed, relays.inner_ends(), abi, mask, with_namespaces, membership,
                            supervisor=supervisor.inner if supervisor else -1, passage=passage.inner,
                        )  # fmt: skip
                        jailed.enter_bubblewrap(writer) if bubblewrapped else jailed.enter(writer)
                    os.close(writer)
                    passage.close_inner()
                    if supervisor is not None:
                        supervisor.start()
                    watch = Watch(child, reader, relays, spec.limits.wall_seconds, dedicated=self._dedicated, own_tree=with_namespaces)
                    watch.overgrown = (lambda: overlay.overgrown(spec.overlay)) if spec.overlay else None
                    watch.session, watch.renames = membership, renames
                    watch.vigil = None if spec.read_only or spec.overlay else self._vigil
                    watch.end_child = supervise.PARENT_DIED if bubblewrapped or not with_namespaces else signal.SIGKILL
                    watch.run(mask)
                finally:
                    if supervisor is not None:
                        supervisor.leave() if watch is not None and watch.left_something else supervisor.finish()
                    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                    if renames is not None:
                        renames.close()
        finally:
            for fd in missing:
                os.close(fd)
        if watch.failure is not None:
            if with_namespaces and watch.failure.step.startswith((*probe.NAMESPACE_STEPS, bubblewrap.STEP)):
                raise NamespacesUnavailable(watch.failure)
            raise watch.failure
        maker = "bubblewrap" if bubblewrapped else "namespaces"
        kinds = (maker, *(("session",) if membership else ())) if with_namespaces else ()
        execs = ("execs",) if supervisor is not None else ()
        layers: tuple[str, ...] = (*kinds, *(("landlock",) if abi else ()), "seccomp", *execs, "rlimits")
        level = probe.level_of(with_namespaces=with_namespaces, landlock_abi=abi)
        result = watch.result(level, layers, abi, int((time.monotonic() - started_at) * 1e6))
        result = result.replace(connections=passage.connections) if passage.connections else result
        return result.replace(execs_denied=supervisor.denied) if supervisor is not None and supervisor.denied else result

    def _supervisor(self) -> Supervisor:
        """Who answers the execs of one run."""
        from .execs import Supervisor

        assert self._execs is not None  # `run` has looked
        return Supervisor(self._execs, dedicated=self._dedicated)


def _fill_standard_descriptors() -> tuple[int, ...]:
    """Opens /dev/null on each of 0, 1, 2 that the caller left closed, so that our own pipes get other numbers; the numbers filled."""
    filled = []
    for fd in descriptors.STANDARD:
        try:
            os.fstat(fd)
        except OSError:
            opened = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
            if opened != fd:
                os.dup2(opened, fd)
                os.close(opened)
            filled.append(fd)
    return tuple(filled)


def _network_refusal(obstacle: StepFailed | None) -> JailError:
    """A list of hosts is held by a network of its own. Without one the choice is everything or nothing, and neither was asked for."""
    reason = f": {probe.describe(obstacle)}" if obstacle else ""
    return JailError(
        f"the network allow-list of this profile needs a network of its own, which cannot be made here{reason}; nothing ran",
        hint=probe.hint_for(obstacle) if obstacle else 'set [network] mode = "none" in your own profile, or run it where namespaces can be made',
    )


def _level_refusal(least: JailLevel, abi: int, obstacle: StepFailed | None, second: str) -> JailError:
    parts = [text for text in (probe.describe(obstacle) if obstacle else "", second) if text]
    if abi < 2:
        parts.append("Landlock is missing" if abi == 0 else "Landlock is too old (ABI 1; 2 is needed)")
    reasons = "; ".join(parts) or "a lower level was asked for"
    hint = probe.hint_for(obstacle) if obstacle else "boot a kernel from 5.19 on with `lsm=landlock,...`, or accept level `partial` in your user profile"
    return JailError(f"this profile needs a jail of level `{least}`, which cannot be made here: {reasons}; nothing ran", hint=hint)
