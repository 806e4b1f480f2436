"""The processes between the launcher's fork and the command's exec. Every path ends in exec or `_exit`; nothing of the host program runs here.

In a jail of its own the attendant is the first process inside, and makes the mounts before it forks the command. In a session it stays outside, where
nothing inside can reach it, and the command's own process, which is inside, makes them. What goes wrong is one line on the report pipe,
`failed ERRNO STEP`, and no command. The order of the layers is fixed: namespaces, mounts, capabilities, Landlock (paths are opened through the new
mounts), the system call filter, exec.
"""

from __future__ import annotations

import os
import signal

from ...errors import Exit
from .. import supervise
from . import descriptors, landlock, namespaces, privileges, seccomp, view
from .descriptors import Handed
from .syscalls import StepFailed, call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from ...model.jailspec import JailSpec
    from .plan import Plan
    from .session import Membership

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
_WRITABLE = landlock.EVERYTHING & ~(landlock.MAKE_CHAR | landlock.MAKE_BLOCK | landlock.IOCTL_DEV)
_CLOSE_ON_EXEC = 4  # CLOSE_RANGE_CLOEXEC
_HIGHEST = 0xFFFFFFFF


class Confinement:
    """One command about to be jailed, as its processes know it.

    inner_ends: pipe ends that replace standard descriptors. session: the session that it joins. supervisor: where the listener of the filter goes
    that has execs judged; passage: where the listeners of its network go (network.Passage); lifeline: see bubblewrap.py; -1 for none.
    """

    def __init__(
        self,
        spec: JailSpec,
        plan: Plan,
        handed: tuple[Handed, ...],
        inner_ends: dict[int, int],
        abi: int,
        mask: Iterable[int],
        with_namespaces: bool,
        session: Membership | None = None,
        supervisor: int = -1,
        passage: int = -1,
        lifeline: int = -1,
    ) -> None:
        self.spec = spec
        self.plan = plan
        self.handed = handed
        self.inner_ends = inner_ends
        self.abi = abi
        self.mask = mask
        self.with_namespaces = with_namespaces
        self.session = session
        self.supervisor = supervisor
        self.passage = passage
        self.lifeline = lifeline
        # A group of its own lets a script say `kill 0`, which must not reach the caller; on a terminal it has to be the caller's group.
        self.own_group = session is not None and not any(one.how == "pass" and os.isatty(one.fd) for one in handed)

    def enter_bubblewrap(self, report: int) -> NoReturn:
        """As `enter`, where bubblewrap makes the namespaces and the mounts; what it starts inside is `take_over`."""
        from . import bubblewrap

        try:
            self._close_all_but(report, *self.needed())
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a caller that ignores it would have the kernel take our children unseen
            self._stay_with_launcher(supervise.PARENT_DIED, report)
            privileges.adopt_orphans()
            lifeline, held = os.pipe2(os.O_CLOEXEC)
            program = bubblewrap.start(self, report, lifeline)
            self._empty_standard_descriptors()
            self._close_all_but(held)
            supervise.stay_beside(program)
        except BaseException as problem:  # noqa: BLE001  # as in `enter`
            step = problem.step if isinstance(problem, StepFailed) else f"{bubblewrap.STEP}: {type(problem).__name__} {problem}"
            _tell(report, getattr(problem, "errno", 0) or 0, step)
        finally:
            os._exit(Exit.FAILED)

    def take_over(self, report: int, folder: tuple[int, int]) -> NoReturn:
        """As the first process of a jail whose mounts are made: the attendant."""
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, supervise.ALL_SIGNALS)  # bubblewrap has let SIGCHLD through
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._close_all_but(report, *self.needed())
            privileges.die_with_parent(signal.SIGKILL)
            supervise.signal_at(self.lifeline)
            if supervise.is_cut(self.lifeline):
                os._exit(0)
            here = os.stat(".")
            if (here.st_dev, here.st_ino) != folder:
                raise StepFailed(f"entering `{self.spec.cwd}`: it is not the folder that was judged")
            self._hand_out_listeners()
            privileges.hide_memory()
            self._start_command(report)
        except StepFailed as failure:
            _tell(report, failure.errno, failure.step)
        except BaseException as problem:  # noqa: BLE001  # as in `enter`
            _tell(report, getattr(problem, "errno", 0) or 0, f"{type(problem).__name__} while making the jail: {problem}")
        finally:
            os._exit(Exit.FAILED)

    def needed(self) -> tuple[int, ...]:
        """The descriptors that the command's own process, or one on the way to it, needs beside the standard ones."""
        return (*self.inner_ends.values(), *self.spec.descriptors, *(fd for fd in (self.supervisor, self.passage, self.lifeline) if fd >= 0))

    def _start_command(self, report: int) -> NoReturn:
        privileges.no_new_privileges()
        privileges.drop_capabilities()
        command = os.fork()
        if command == 0:
            self._become_command()
        self._attend(command, report)

    def enter(self, report: int) -> NoReturn:
        """In the launcher's forked child, all signals blocked: becomes the attendant (or makes it) and never returns."""
        try:
            joining = self.session.descriptors() if self.session else ()
            self._close_all_but(report, *self.needed(), *joining)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if self.session:
                os.write(report, b"attendant %d\n" % os.getpid())
                self._stay_with_launcher(signal.SIGKILL, report)
                namespaces.join(self.session.holder, own_network=self.spec.own_network)
                self._hand_out_listeners()
                privileges.no_new_privileges()
                command = os.fork()
                if command == 0:
                    self._enter_session(report)
                privileges.drop_capabilities()
                privileges.hide_memory()
                self._attend(command, report)
            elif self.with_namespaces:
                self._stay_with_launcher(signal.SIGKILL, report)
                namespaces.enter(own_network=self.spec.own_network)
                if (attendant := namespaces.fork_sibling()) != 0:
                    os.write(report, b"attendant %d\n" % attendant)
                    os._exit(0)
                self._stay_with_launcher(signal.SIGKILL, report)
                if self.spec.own_network:
                    namespaces.raise_loopback()
                    self._hand_out_listeners()
                view.build(self.plan, self.spec, os.getuid(), self._terminal())
                privileges.hide_memory()
            else:
                self._stay_with_launcher(supervise.PARENT_DIED, report)
                self._leave_one_beside()
                os.write(report, b"attendant %d\n" % os.getpid())
                privileges.adopt_orphans()
                self._enter_folder()
            self._start_command(report)
        except StepFailed as failure:
            _tell(report, failure.errno, failure.step)
        except BaseException as problem:  # noqa: BLE001  # ends in a refusal: an error of ours must not run the host program's code a second time
            _tell(report, getattr(problem, "errno", 0) or 0, f"{type(problem).__name__} while making the jail: {problem}")
        finally:
            os._exit(Exit.FAILED)

    def _enter_session(self, report: int) -> NoReturn:
        """In the command's process, as a member of the session: its own mounts, and then as every command."""
        assert self.session is not None
        # An attendant that has ended alone, unseen from inside, is the launcher's to see: it has the holder end us.
        self._stay_with_launcher(signal.SIGKILL, report)
        if self.own_group:
            os.setpgid(0, 0)
        namespaces.own_mounts()
        self.session.begin()
        view.build(self.plan, self.spec, os.getuid(), self._terminal())
        privileges.drop_capabilities()
        self._become_command()

    def _stay_with_launcher(self, death_signal: int, report: int) -> None:
        """Ends with the launcher, also when it has ended before we could ask for the signal: then nobody reads the pipe."""
        privileges.die_with_parent(death_signal)
        try:
            os.write(report, b"\n")
        except BrokenPipeError:
            os._exit(0)

    def _leave_one_beside(self) -> None:
        """Goes on in a child. Without a pid namespace nothing ends with the attendant by itself: each of the two ends what the other one leaves."""
        privileges.adopt_orphans()
        beside = os.getpid()
        if attendant := os.fork():
            self._empty_standard_descriptors()
            self._close_all_but()
            supervise.stay_beside(attendant)
        privileges.die_with_parent(supervise.PARENT_DIED)
        if os.getppid() != beside:
            os._exit(0)

    def _hand_out_listeners(self) -> None:
        if self.passage >= 0:
            from . import network

            network.hand_out(self.passage, self.spec)

    def _close_all_but(self, *needed: int) -> None:
        kept = sorted({*descriptors.STANDARD, *needed})
        for before, after in zip(kept, [*kept[1:], _HIGHEST], strict=True):
            if after - before > 1:
                call("closing the caller's descriptors", "close_range", before + 1, after - (after != _HIGHEST), 0)

    def _terminal(self) -> str:
        for one in self.handed:
            if one.how == "pass" and os.isatty(one.fd):
                name = os.readlink(f"/proc/self/fd/{one.fd}")
                if name.startswith("/dev/pts/"):
                    return name
        return ""

    def _enter_folder(self) -> None:
        step = f"entering `{self.spec.cwd}`"
        try:
            os.chdir(self.spec.cwd)
            real = os.getcwd()
        except OSError as problem:
            raise StepFailed(step, problem.errno or 0) from None
        if real != self.spec.cwd:
            raise StepFailed(f"{step}: it is not the folder that was judged")

    def _empty_standard_descriptors(self) -> None:
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        for fd in descriptors.STANDARD:
            os.dup2(null, fd)  # a pipe must close when the command closes it

    def _attend(self, command: int, report: int) -> NoReturn:
        self._empty_standard_descriptors()
        self._close_all_but(report, *((self.lifeline,) if self.lifeline >= 0 else ()))
        if not self.with_namespaces:
            os.setpgid(0, 0)  # survives a kill of the caller's whole group, to end what left that group
        try:
            supervise.attend(command, report, owns_namespace=self.with_namespaces, own_group=self.own_group, lifeline=self.lifeline)
        finally:
            if not self.with_namespaces:
                supervise.end_descendants()
            os._exit(0)

    # --- the command's own process

    def _become_command(self) -> NoReturn:
        privileges.die_with_parent(signal.SIGKILL)
        spec = self.spec
        try:
            supervise.apply_limits(spec.limits, own_user_namespace=self.with_namespaces)
        except OSError as problem:
            raise StepFailed("setting the resource limits", problem.errno or 0) from None
        if self.abi:
            landlock.restrict(self.abi, self.grants(), signals=self.session is None)
        self._take_descriptors()
        scoped = self.own_group or (self.abi >= 6 and self.session is None)
        seccomp.install(seccomp.assemble(self.families(), spec.read_only, scoped, self.with_namespaces))
        handled = [number for number in supervise.FORWARDED if callable(signal.getsignal(number))]
        for number in (signal.SIGPIPE, signal.SIGXFSZ, *handled):  # Python ignores the first two
            signal.signal(number, signal.SIG_DFL)
        call("marking descriptors to close", "close_range", 3, _HIGHEST, _CLOSE_ON_EXEC)
        for fd in spec.descriptors:
            os.set_inheritable(fd, True)
        if self.supervisor >= 0:
            from ..exec_talk import hand_over

            hand_over(seccomp.listen(seccomp.execs()), self.supervisor)  # the last filter: from here on this very process has to ask
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)
        try:
            os.execve(spec.argv[0], spec.argv, dict(spec.env))  # noqa: S606  # no shell: the argv was judged
        except OSError as problem:
            raise StepFailed(f"starting `{spec.argv[0]}`", problem.errno or 0) from None

    def _take_descriptors(self) -> None:
        for one in self.handed:
            if one.how == "closed":
                os.close(one.fd)
            elif one.how == "relay":
                os.dup2(self.inner_ends[one.fd], one.fd)
            elif one.how == "reopen":
                descriptors.reopen(one)

    def grants(self) -> list[tuple[str | int, int]]:
        """Landlock's rules. At full the mounts hide; without them, secrets and device nodes are left out of what may be read."""
        hidden = ("/dev",) if self.with_namespaces else ("/dev", *self.spec.masked)
        grants = landlock.readable_grants(hidden)
        grants += [(f"/dev/{name}", landlock.DEVICE) for name in _DEVICES]
        grants += [(one.fd, landlock.DEVICE) for one in self.handed if one.how == "pass" and os.isatty(one.fd)]
        if self.with_namespaces:
            grants.append(("/dev/pts", landlock.DEVICE | landlock.READ_DIR))
            grants += [(path, _WRITABLE) for path in self.plan.writable()]
        elif not self.spec.read_only:
            grants += [(path, _WRITABLE) for path in self.spec.writable]
        return grants

    def families(self) -> tuple[int, ...]:
        """Socket families the command may use. Pathname sockets can only be told apart by mounts or by Landlock from ABI 9 on, abstract ones from
        ABI 6 on or by an own network; without either, unix sockets stay closed."""
        own_network = self.with_namespaces and self.spec.own_network
        inner_unix = self.abi >= 9 or (self.with_namespaces and (self.abi >= 6 or own_network))
        unix = (seccomp.AF_UNIX,) if inner_unix else ()
        if self.spec.own_network and not own_network:
            return unix
        return (*unix, seccomp.AF_INET, seccomp.AF_INET6, seccomp.AF_NETLINK)


def _tell(report: int, errno: int, step: str) -> None:
    line = step.replace("\n", " ")[:2000]
    try:
        os.write(report, f"failed {errno} {line}\n".encode(errors="surrogateescape"))
    except OSError:
        pass  # the launcher is gone: there is nobody to tell
