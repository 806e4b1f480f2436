"""Carries out a ready-made plan (jail/order.py): from the launcher's fork to the command's exec. Built-in modules only, since every command waits.

The same steps in the same order as jail/confinement.py makes them from a spec, and as bin/launcher/jail.c; docs/protocol/plan.md says what each
record means. Nothing is decided here: every refusal of the kernel is one line on the report pipe, `failed ERRNO STEP`, and no command.
"""

from __future__ import annotations

import posix
import resource
from _ctypes import addressof, get_errno
from _signal import (  # type: ignore[import-not-found]  # the C half of `signal`, whose enums cost 4 ms
    SIG_DFL,
    SIG_SETMASK,
    SIGCHLD,
    SIGKILL,
    SIGPIPE,
    SIGXFSZ,
    pthread_sigmask,
    signal,
    sigtimedwait,
    sigwaitinfo,
    valid_signals,
)

from .plan_kernel import (
    ADD_RULE,
    AMBIENT,
    BOUNDING_SET_DROP,
    CAPSET,
    CLONE,
    CLONE_PARENT,
    CLOSE_RANGE,
    DUMPABLE,
    GONE,
    HIGHEST,
    IOCTL,
    NEW_NET,
    NEW_PRIVATE,
    NO_NEW_PRIVILEGES,
    PARENT_DEATH_SIGNAL,
    PRCTL,
    RESTRICT,
    RULESET,
    SECCOMP,
    SETNS,
    UNSHARE,
    Character,
    Failed,
    call,
    is_folder,
    shown,
    syscall,
    words,
    write,
)
from .plan_records import (
    CLOSED,
    CWD,
    FILTER,
    GRANT,
    GROUP,
    LIMIT,
    NETWORK,
    ON_FILES,
    ON_TERMINALS,
    PASS,
    RELAY,
    REOPEN,
    RULES,
    VARIABLE,
    VERSION,
    WORD,
)
from .plan_view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    Record = tuple[int, bytes]

FORWARDED = frozenset((1, 2, 3, 10, 12, 14, 15, 18, 20, 21, 22, 28))  # HUP INT QUIT USR1 USR2 ALRM TERM CONT TSTP TTIN TTOU WINCH
ALL_SIGNALS = valid_signals()
FIRST_REQUEST = 34
_SAME_SIGNAL_WITHIN = 0.005


def _drop_capabilities() -> None:
    for capability in range(64):
        if syscall(PRCTL, BOUNDING_SET_DROP, capability, 0, 0, 0, 0) < 0:
            if get_errno() == 22:  # one past the kernel's last
                break
            raise Failed(get_errno(), "emptying the bounding set")
    syscall(PRCTL, AMBIENT, 4, 0, 0, 0, 0)  # what is not permitted below is not ambient either
    call("dropping all capabilities", CAPSET, (0x20080522).to_bytes(4, "little") + bytes(4), bytes(24))


def _restrict_files(plan: list[Record], terminals: list[int]) -> None:
    fields = dict(plan)
    on_files, on_terminals = (int.from_bytes(fields[tag], "little") for tag in (ON_FILES, ON_TERMINALS))
    attributes = fields[RULES]
    ruleset = call("making the Landlock ruleset", RULESET, attributes, len(attributes), 0)
    grants = [(int.from_bytes(data[:8], "little"), data[8:], -1) for tag, data in plan if tag == GRANT]
    for rights, path, terminal in (*grants, *((on_terminals, b"the terminal", fd) for fd in terminals)):
        fd = terminal
        if fd < 0:
            try:
                fd = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
            except OSError as problem:
                if problem.errno in GONE:
                    continue
                raise
        rule = words(rights if is_folder(fd) else rights & on_files) + fd.to_bytes(4, "little")
        call(f"granting Landlock rights on `{shown(path)}`", ADD_RULE, ruleset, 1, rule, 0)
        if fd != terminal:
            posix.close(fd)
    call("entering the Landlock domain", RESTRICT, ruleset, 0)
    posix.close(ruleset)


def _filter_calls(program: bytes) -> None:
    code = (Character * len(program)).from_buffer_copy(program)
    call("installing the system call filter", SECCOMP, 1, 0, (len(program) // 8).to_bytes(8, "little") + words(addressof(code)))


def _lower_limits(plan: list[Record]) -> None:
    for tag, data in plan:
        if tag == LIMIT:
            kind, *wanted = map(int, data.split())
            known = resource.getrlimit(kind)
            soft, hard = (new if old == resource.RLIM_INFINITY else min(new, old) for new, old in zip(wanted, known, strict=True))
            try:
                resource.setrlimit(kind, (soft, hard))
            except (OSError, ValueError) as problem:
                raise Failed(getattr(problem, "errno", 0) or 0, "setting the resource limits") from None


class Inside:
    """The processes of one run. handed: for 0, 1 and 2 a letter how each goes in: p as it is, c closed, r replaced by the pipe end in `inner`, o opened
    anew. go: one byte from there starts the command, end of file ends it all. mask: the caller's signal mask. session: (connection, pidfd) of the
    session's holder, None for a jail of its own."""

    def __init__(
        self,
        plan: list[Record],
        handed: bytes,
        inner: dict[int, int],
        report: int,
        go: int,
        mask: Iterable[int],
        session: tuple[int, int] | None,
    ) -> None:
        self._plan = plan
        self._fields = dict(plan)
        self._handed = handed
        self._inner = inner
        self._report = report
        self._go = go
        self._mask = mask
        self._session = session

    def enter(self) -> NoReturn:
        """In the launcher's forked child, all signals blocked; never returns."""
        try:
            self._close_all_but(self._report, self._go, *self._inner.values(), *(self._session or ()))
            signal(SIGCHLD, SIG_DFL)
            if self._fields.get(VERSION) != b"1":
                raise Failed(0, "reading the plan: another version")
            own_network = self._fields[NETWORK] == b"1"
            if self._session is not None:
                self._enter_session(self._session[1], own_network)
            self._enter_own(own_network)
        except Failed as failure:
            self._tell(*failure.args)
        except BaseException as problem:  # noqa: BLE001  # ends in a refusal, whatever it is: nothing of the launcher may run here
            self._tell(getattr(problem, "errno", 0) or 0, f"{type(problem).__name__} while making the jail: {problem}")
        finally:
            posix._exit(125)

    def _enter_own(self, own_network: bool) -> NoReturn:
        """In a jail of its own the attendant is the first process inside, and makes the mounts before it forks the command."""
        self._stay_with_launcher()
        self._enter_namespaces(own_network)
        attendant = call("starting the jail's first process", CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)  # the launcher's own child
        if attendant:
            posix.write(self._report, b"attendant %d\n" % attendant)
            posix._exit(0)
        self._stay_with_launcher()
        if own_network:
            _raise_loopback()
        self._make_view()
        call("making the jail's first process unreadable", PRCTL, DUMPABLE, 0, 0, 0, 0)
        call("setting no_new_privs", PRCTL, NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _drop_capabilities()
        command = posix.fork()
        if command == 0:
            call("asking for the parent's death signal", PRCTL, PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)
            self._become_command()
        self._attend(command, own_group=False)

    def _enter_session(self, holder: int, own_network: bool) -> NoReturn:
        """In a session it stays outside, where nothing inside can reach it, and the command's own process, which is inside, makes them."""
        own_group = self._fields.get(GROUP) == b"1"
        posix.write(self._report, b"attendant %d\n" % posix.getpid())
        self._stay_with_launcher()
        call("joining the session", SETNS, holder, 0x10000000 | 0x20000000 | 0x08000000 | 0x04000000 | (NEW_NET if own_network else 0))
        call("setting no_new_privs", PRCTL, NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        command = posix.fork()
        if command == 0:
            self._stay_with_launcher()  # an attendant that has ended alone, unseen from inside, is the launcher's to see: it has the holder end us
            if own_group:
                posix.setpgid(0, 0)
            call("making new namespaces", UNSHARE, 0x00020000)
            self._begin_in_session()
            self._make_view()
            _drop_capabilities()
            self._become_command()
        _drop_capabilities()
        call("making the attendant unreadable", PRCTL, DUMPABLE, 0, 0, 0, 0)
        self._attend(command, own_group=own_group)

    def _begin_in_session(self) -> None:
        """Tells the session's holder which mounts are the command's: what it leaves behind is found by them."""
        from _socket import SCM_RIGHTS, SOL_SOCKET, socket

        assert self._session is not None
        fd = posix.open("/proc/self/ns/mnt", posix.O_RDONLY | posix.O_CLOEXEC)
        connection = socket(fileno=posix.dup(self._session[0]))
        connection.sendmsg([b"B"], [(SOL_SOCKET, SCM_RIGHTS, fd.to_bytes(4, "little"))])
        connection.close()
        posix.close(fd)

    def _make_view(self) -> None:
        self._paths = {fd: posix.readlink(b"/proc/self/fd/%d" % fd) for fd in (0, 1, 2) if self._handed[fd] in b"po"}
        self._terminals = [fd for fd in (0, 1, 2) if self._handed[fd] == PASS and posix.isatty(fd)]
        terminal = next((self._paths[fd] for fd in self._terminals if self._paths[fd].startswith(b"/dev/pts/")), b"")
        View(self._plan, self._fields[CWD], terminal)

    def _attend(self, command: int, *, own_group: bool) -> NoReturn:
        null = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
        for fd in (0, 1, 2):
            posix.dup2(null, fd)  # a pipe must close when the command closes it
        self._close_all_but(self._report)
        attend(command, self._report, own_group=own_group)

    def _become_command(self) -> NoReturn:
        _lower_limits(self._plan)
        argv = [data for tag, data in self._plan if tag == WORD]
        env = dict(data.split(b"=", 1) for tag, data in self._plan if tag == VARIABLE)
        _restrict_files(self._plan, self._terminals)
        for fd in (0, 1, 2):
            if self._handed[fd] == CLOSED:
                posix.close(fd)
            elif self._handed[fd] == RELAY:
                posix.dup2(self._inner[fd], fd)
            elif self._handed[fd] == REOPEN:
                _reopen(fd, self._paths[fd])
        _filter_calls(self._fields[FILTER])
        for number in (SIGPIPE, SIGXFSZ):  # Python ignores these
            signal(number, SIG_DFL)
        call("marking descriptors to close", CLOSE_RANGE, 3, HIGHEST, 4)
        if not posix.read(self._go, 1):
            posix._exit(0)  # it could not be written down, or the launcher is gone
        pthread_sigmask(SIG_SETMASK, self._mask)
        try:
            posix.execve(argv[0], argv, env)
        except OSError as problem:
            raise Failed(problem.errno or 0, f"starting `{shown(argv[0])}`") from None

    def _stay_with_launcher(self) -> None:
        """Ends with the launcher, also when it has ended before we could ask for the signal: then nobody reads the pipe."""
        call("asking for the parent's death signal", PRCTL, PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)
        try:
            posix.write(self._report, b"\n")
        except BrokenPipeError:
            posix._exit(0)

    def _enter_namespaces(self, own_network: bool) -> None:
        uid, gid = posix.geteuid(), posix.getegid()
        call("making new namespaces", UNSHARE, NEW_PRIVATE | (NEW_NET if own_network else 0))
        for name, text in (("setgroups", b"deny"), ("uid_map", b"%d %d 1" % (uid, uid)), ("gid_map", b"%d %d 1" % (gid, gid))):
            write(f"/proc/self/{name}", text, "mapping the user id")

    def _close_all_but(self, *kept: int) -> None:
        low = 3
        for fd in sorted({*kept} - {0, 1, 2}):
            if fd > low:
                call("closing the caller's descriptors", CLOSE_RANGE, low, fd - 1, 0)
            low = fd + 1
        call("closing the caller's descriptors", CLOSE_RANGE, low, HIGHEST, 0)

    def _tell(self, errno: int, step: str) -> None:
        line = step.replace("\n", " ")[:2000]
        try:
            posix.write(self._report, f"failed {errno} {line}\n".encode("utf-8", "surrogateescape"))
        except OSError:
            pass  # the launcher is gone: there is nobody to tell


def _raise_loopback() -> None:
    """In an own network 127.0.0.1 works, so that test servers do; nothing else is reachable."""
    from _socket import AF_INET, SOCK_CLOEXEC, SOCK_DGRAM, socket

    any_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC)
    request = b"lo".ljust(16, b"\0") + (1).to_bytes(2, "little") + bytes(22)  # IFF_UP
    call("raising the loopback interface", IOCTL, any_socket.fileno(), 0x8914, request)
    any_socket.close()


def _reopen(fd: int, path: bytes) -> None:
    """Replaces the descriptor by a fresh read-only one of the same file, at the same offset."""
    outside, offset = posix.fstat(fd), posix.lseek(fd, 0, 1)
    try:
        fresh = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError as problem:
        raise Failed(problem.errno or 0, f"opening descriptor {fd} `{shown(path)}` inside the jail") from None
    inside = posix.fstat(fresh)
    if (inside.st_dev, inside.st_ino) != (outside.st_dev, outside.st_ino):
        raise Failed(0, f"opening descriptor {fd} `{shown(path)}` inside the jail: it is another file now")
    posix.lseek(fresh, offset, 0)
    posix.dup2(fresh, fd)
    posix.close(fresh)


def attend(command: int, report: int, *, own_group: bool) -> NoReturn:
    """Waits for `command`, reports how it ended, passes signals on, and takes the whole tree with it (supervise.attend)."""
    by_group: set[int] = set()
    while True:
        information = sigwaitinfo(ALL_SIGNALS)
        caught = information.si_signo
        if caught == SIGCHLD:
            if ended := _reap(command, report):
                posix.write(report, ended)
                posix._exit(0)
        elif caught == FIRST_REQUEST + SIGKILL:
            posix._exit(0)
        elif caught in FORWARDED:
            if information.si_code <= 0:  # not from the terminal
                by_group.add(caught)  # sent to the whole group: the command has it already
        elif caught - FIRST_REQUEST in FORWARDED:
            number = caught - FIRST_REQUEST
            if number in by_group or sigtimedwait((number,), _SAME_SIGNAL_WITHIN) is not None:
                by_group.discard(number)
                if own_group:
                    _send(-command, number)  # what the caller's group got, the command's own gets too
            else:
                _send(command, number)


def _send(pid: int, number: int) -> None:
    try:
        posix.kill(pid, number)
    except ProcessLookupError:
        pass  # it ended just now; the wait status tells


def _reap(command: int, report: int) -> bytes:
    ended = b""
    while True:
        try:
            pid, status, usage = posix.wait4(-1, posix.WNOHANG | posix.WUNTRACED | posix.WCONTINUED)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid != command:
            continue
        if posix.WIFSTOPPED(status):
            posix.write(report, b"stopped %d\n" % posix.WSTOPSIG(status))
        elif posix.WIFCONTINUED(status):
            posix.write(report, b"continued\n")
        else:
            ended = b"ended %d %d %d %d\n" % (status, int(usage.ru_utime * 1e6), int(usage.ru_stime * 1e6), usage.ru_maxrss)
