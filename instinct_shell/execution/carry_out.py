"""Carries out a ready-made plan (jail/order.py): from the launcher's fork to the command's exec. Built-in modules only, since every command waits.

The same steps in the same order as jail/confinement.py makes them from a spec, and as bin/launcher/jail.c; docs/protocol/plan.md says what each
record means. Nothing is decided here: every refusal of the kernel is one line on the report pipe, `failed ERRNO STEP`, and no command.
"""

from __future__ import annotations

import posix
from _ctypes import FUNCFLAG_CDECL, FUNCFLAG_USE_ERRNO, CFuncPtr, _SimpleCData, addressof, dlopen, dlsym, get_errno
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    Record = tuple[int, bytes]


class _Long(_SimpleCData):  # type: ignore[type-arg]  # `ctypes` would name these types; importing it costs 3 ms
    _type_ = "l"


class _Pointer(_SimpleCData):  # type: ignore[type-arg]  # the same
    _type_ = "P"


class _Character(_SimpleCData):  # type: ignore[type-arg]  # the same
    _type_ = "c"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_syscall: Any = _Function(dlsym(dlopen(None, 0), "syscall"))  # type: ignore[arg-type]  # None: this program itself
_syscall.argtypes = (_Long,) + (_Pointer,) * 6
_OURS = posix.uname().machine == "x86_64"  # the other one that has plans is aarch64
_CLONE, _PRCTL, _CAPSET, _SECCOMP, _MOUNT = (56, 157, 126, 317, 165) if _OURS else (220, 167, 91, 277, 40)
_UNSHARE, _SETNS, _IOCTL = (272, 308, 16) if _OURS else (97, 268, 29)
_OPEN_TREE, _MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT, _CLOSE_RANGE, _OPENAT2, _MOUNT_SETATTR = 428, 429, 430, 431, 432, 436, 437, 442
_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_NEW_PRIVATE = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000 | 0x04000000  # user, pid, mount, ipc, uts
_NEW_NET, _CLONE_PARENT = 0x40000000, 0x8000
_AT_FDCWD, _EMPTY_PATH, _RECURSIVE = -100, 0x1000, 0x8000
_NO_MAGIC_LINKS, _NO_SYMLINKS = 2, 4
_READ_ONLY, _NO_SET_ID, _PLAIN, _NO_EXEC = 1, 2, 2 | 4, 8
_PARENT_DEATH_SIGNAL, _DUMPABLE, _BOUNDING_SET_DROP, _NO_NEW_PRIVILEGES, _AMBIENT = 1, 4, 24, 38, 47
_FOLDER, _LINK = 0o040000, 0o120000
_HIGHEST = 0xFFFFFFFF
_GONE = (2, 13, 20)  # ENOENT, EACCES, ENOTDIR

FORWARDED = frozenset((1, 2, 3, 10, 12, 14, 15, 18, 20, 21, 22, 28))  # HUP INT QUIT USR1 USR2 ALRM TERM CONT TSTP TTIN TTOU WINCH
ALL_SIGNALS = valid_signals()
FIRST_REQUEST = 34
_SAME_SIGNAL_WITHIN = 0.005


class Failed(Exception):
    """One step was refused: (errno, step)."""


def _call(step: str, number: int, *arguments: int | bytes) -> int:
    result: int = _syscall(number, *arguments, *(0,) * (6 - len(arguments)))
    if result < 0:
        raise Failed(get_errno(), step)
    return result


def _number(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)


# ---------------------------------------------------------------- mounting by descriptor


def _open_folder(path: bytes) -> int:
    how = _number(posix.O_PATH | posix.O_CLOEXEC | posix.O_DIRECTORY, 0, _NO_MAGIC_LINKS | _NO_SYMLINKS)
    return _call(f"opening `{_shown(path)}`", _OPENAT2, _AT_FDCWD, path, how, len(how))


def _open_path(path: bytes) -> int:
    how = _number(posix.O_PATH | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0, _NO_MAGIC_LINKS)
    folder, _, name = path.rpartition(b"/")
    parent = _open_folder(folder or b"/")
    try:
        return _call(f"opening `{_shown(path)}`", _OPENAT2, parent, name or b".", how, len(how))
    finally:
        posix.close(parent)


def _try_open_path(path: bytes) -> int | None:
    try:
        return _open_path(path)
    except Failed as failure:
        if failure.args[0] in _GONE:
            return None
        raise


def _copy_tree(fd: int, path: bytes) -> int:
    return _call(f"copying the mount of `{_shown(path)}`", _OPEN_TREE, fd, b"", 1 | posix.O_CLOEXEC | _RECURSIVE | _EMPTY_PATH)


def _make_read_only(fd: int, path: bytes, below: int = _RECURSIVE) -> None:
    _call(f"making `{_shown(path)}` read-only", _MOUNT_SETATTR, fd, b"", _EMPTY_PATH | below, _number(_READ_ONLY, 0, 0, 0), 32)


def _attach(tree: int, target: int, path: bytes) -> None:
    _call(f"mounting `{_shown(path)}`", _MOVE_MOUNT, tree, b"", target, b"", 0x44)
    posix.close(tree)
    posix.close(target)


def _read_only_copy(target: int, path: bytes) -> int:
    tree = _copy_tree(target, path)
    _make_read_only(tree, path)
    return tree


def _new_filesystem(kind: bytes, options: tuple[tuple[bytes, bytes], ...] = (), attributes: int = _PLAIN) -> int:
    step = f"making a new {kind.decode()}"
    context = _call(step, _FSOPEN, kind, 1)
    for key, value in options:
        _call(step, _FSCONFIG, context, 1, key, value, 0)
    _call(step, _FSCONFIG, context, 6, 0, 0, 0)
    made = _call(step, _FSMOUNT, context, 1, attributes)
    posix.close(context)
    return made


def _folder(fd: int) -> bool:
    return posix.fstat(fd).st_mode & 0o170000 == _FOLDER


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


class _View:
    """The command's file tree, step by step in the order of the records."""

    def __init__(self, plan: list[Record], cwd: bytes, terminal: bytes) -> None:
        here = _identity(cwd)
        _call("making the mounts private", _MOUNT, b"none", b"/", 0, 0x4000 | 1 << 18, 0)
        self._originals = [self._take(data[:1], data[1:]) for tag, data in plan if tag == _TAKE]
        console = _copy_tree(_open_path(terminal), terminal) if terminal and _exists(b"/dev/console") else None
        for tag, data in plan:
            if tag == _PIN:  # bound onto itself, so that the name cannot be moved
                fd = _open_path(data)
                _attach(_copy_tree(fd, data), fd, data)
        root = _open_folder(b"/")
        proc = _new_filesystem(b"proc", attributes=_PLAIN | _NO_EXEC)
        pts = _new_filesystem(b"devpts", ((b"mode", b"620"), (b"ptmxmode", b"666")), attributes=_NO_SET_ID)
        _make_read_only(root, b"/")
        self._void = -1
        for tag, data in plan:
            if tag == _LAYER:
                self._mount(data[:1], data[1:2] == b"+", data[2:])
            elif tag == _MAKE:
                _make_folders(data, 0o700)
            elif tag == _CLOSE:
                fd = _open_path(data)
                _make_read_only(fd, data, 0)
                posix.close(fd)
        _attach(pts, _open_path(b"/dev/pts"), b"/dev/pts")
        if console is not None:
            _attach(console, _open_path(b"/dev/console"), b"/dev/console")
        _attach(proc, _open_path(b"/proc"), b"/proc")
        for tag, data in plan:
            if tag == _PROCESSES:
                _write("/proc/sys/kernel/pid_max", data, "limiting the number of processes")
            elif tag == _KNOB and (target := _try_open_path(data)) is not None:
                _attach(_read_only_copy(target, data), target, data)
        posix.chdir(cwd)
        if _identity(b".") != here:
            raise Failed(0, f"entering `{_shown(cwd)}`: it is not the folder that was judged")

    def _take(self, kind: bytes, path: bytes) -> int | None:
        fd = _try_open_path(path) if kind == b"S" else _open_path(path)
        if fd is None:
            return None
        if posix.fstat(fd).st_mode & 0o170000 == _LINK:
            raise Failed(40, f"opening `{_shown(path)}`: it is a symbolic link now")
        tree = _read_only_copy(fd, path) if kind == b"S" else _copy_tree(fd, path)
        posix.close(fd)
        return tree

    def _mount(self, kind: bytes, marked: bool, path: bytes) -> None:
        if kind in b"WS":
            original = self._originals.pop(0)
            if original is not None:
                if marked:
                    _make_place(path, original)
                _attach(original, _open_path(path), path)
            return
        target = _try_open_path(path)
        if target is None:
            return
        if kind == b"R":
            tree = _read_only_copy(target, path)
        elif kind == b"F":
            tree = _new_filesystem(b"tmpfs", ((b"mode", b"755" if path == b"/run" else b"1777"),))
        elif not _folder(target):
            tree = self._empty(b"file")
        else:
            tree = _new_filesystem(b"tmpfs", ((b"mode", b"711"),)) if marked else self._empty(b"folder")
        _attach(tree, target, path)

    def _empty(self, name: bytes) -> int:
        if self._void < 0:
            self._void = _new_filesystem(b"tmpfs", ((b"mode", b"755"), (b"size", b"4k")))
            posix.mkdir(b"folder", 0, dir_fd=self._void)
            posix.close(posix.open(b"file", posix.O_CREAT | posix.O_WRONLY | posix.O_CLOEXEC, 0o444, dir_fd=self._void))
        fd = posix.open(name, posix.O_PATH | posix.O_CLOEXEC | posix.O_NOFOLLOW, dir_fd=self._void)
        tree = _read_only_copy(fd, name)
        posix.close(fd)
        return tree


def _identity(path: bytes) -> tuple[int, int]:
    try:
        found = posix.stat(path)
    except OSError as problem:
        raise Failed(problem.errno or 0, f"entering `{_shown(path)}`") from None
    return found.st_dev, found.st_ino


def _exists(path: bytes) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def _make_folders(path: bytes, mode: int) -> None:
    """The folder and what is missing on the way to it."""
    above = path.rpartition(b"/")[0]
    if above and not _exists(above):
        _make_folders(above, 0o755)
    if not _exists(path):
        posix.mkdir(path, mode)


def _make_place(path: bytes, original: int) -> None:
    if _exists(path):
        return
    try:
        if _folder(original):
            _make_folders(path, 0o755)
        else:
            _make_folders(path.rpartition(b"/")[0], 0o755)
            posix.close(posix.open(path, posix.O_CREAT | posix.O_WRONLY | posix.O_CLOEXEC, 0o644))
    except OSError as problem:
        raise Failed(problem.errno or 0, f"making a place for `{_shown(path)}`") from None


def _write(path: str, text: bytes, step: str) -> None:
    try:
        fd = posix.open(path, posix.O_WRONLY | posix.O_CLOEXEC)
        posix.write(fd, text)
        posix.close(fd)
    except OSError as problem:
        raise Failed(problem.errno or 0, step) from None


# ---------------------------------------------------------------- what the command's process gives up


def _drop_capabilities() -> None:
    for capability in range(64):
        if _syscall(_PRCTL, _BOUNDING_SET_DROP, capability, 0, 0, 0, 0) < 0:
            if get_errno() == 22:  # one past the kernel's last
                break
            raise Failed(get_errno(), "emptying the bounding set")
    _syscall(_PRCTL, _AMBIENT, 4, 0, 0, 0, 0)  # what is not permitted below is not ambient either
    _call("dropping all capabilities", _CAPSET, (0x20080522).to_bytes(4, "little") + bytes(4), bytes(24))


def _restrict_files(plan: list[Record], terminals: list[int]) -> None:
    fields = dict(plan)
    on_files, on_terminals = (int.from_bytes(fields[tag], "little") for tag in (_ON_FILES, _ON_TERMINALS))
    attributes = fields[_RULES]
    ruleset = _call("making the Landlock ruleset", _RULESET, attributes, len(attributes), 0)
    grants = [(int.from_bytes(data[:8], "little"), data[8:], -1) for tag, data in plan if tag == _GRANT]
    for rights, path, terminal in (*grants, *((on_terminals, b"the terminal", fd) for fd in terminals)):
        fd = terminal
        if fd < 0:
            try:
                fd = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
            except OSError as problem:
                if problem.errno in _GONE:
                    continue
                raise
        rule = _number(rights if _folder(fd) else rights & on_files) + fd.to_bytes(4, "little")
        _call(f"granting Landlock rights on `{_shown(path)}`", _ADD_RULE, ruleset, 1, rule, 0)
        if fd != terminal:
            posix.close(fd)
    _call("entering the Landlock domain", _RESTRICT, ruleset, 0)
    posix.close(ruleset)


def _filter_calls(program: bytes) -> None:
    code = (_Character * len(program)).from_buffer_copy(program)
    _call("installing the system call filter", _SECCOMP, 1, 0, (len(program) // 8).to_bytes(8, "little") + _number(addressof(code)))


def _lower_limits(plan: list[Record]) -> None:
    import resource

    for tag, data in plan:
        if tag == _LIMIT:
            kind, *wanted = map(int, data.split())
            known = resource.getrlimit(kind)
            soft, hard = (new if old == resource.RLIM_INFINITY else min(new, old) for new, old in zip(wanted, known, strict=True))
            try:
                resource.setrlimit(kind, (soft, hard))
            except (OSError, ValueError) as problem:
                raise Failed(getattr(problem, "errno", 0) or 0, "setting the resource limits") from None


# ---------------------------------------------------------------- the processes

_VERSION, _CWD, _WORD, _VARIABLE, _NETWORK, SESSION, _GROUP = b"Vcaenjo"
_TAKE, _PIN, _LAYER, _MAKE, _CLOSE, _PROCESSES, _KNOB = b"tpldzxk"
_LIMIT, _RULES, _ON_FILES, _ON_TERMINALS, _GRANT, _FILTER, WALL = b"rGmygsw"
LAYER = _LAYER
_PASS, _CLOSED, _RELAY, _REOPEN = b"pcro"


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
            if self._fields.get(_VERSION) != b"1":
                raise Failed(0, "reading the plan: another version")
            own_network = self._fields[_NETWORK] == b"1"
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
        attendant = _call("starting the jail's first process", _CLONE, _CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)  # the launcher's own child
        if attendant:
            posix.write(self._report, b"attendant %d\n" % attendant)
            posix._exit(0)
        self._stay_with_launcher()
        if own_network:
            _raise_loopback()
        self._make_view()
        _call("making the jail's first process unreadable", _PRCTL, _DUMPABLE, 0, 0, 0, 0)
        _call("setting no_new_privs", _PRCTL, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _drop_capabilities()
        command = posix.fork()
        if command == 0:
            _call("asking for the parent's death signal", _PRCTL, _PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)
            self._become_command()
        self._attend(command, own_group=False)

    def _enter_session(self, holder: int, own_network: bool) -> NoReturn:
        """In a session it stays outside, where nothing inside can reach it, and the command's own process, which is inside, makes them."""
        own_group = self._fields.get(_GROUP) == b"1"
        posix.write(self._report, b"attendant %d\n" % posix.getpid())
        self._stay_with_launcher()
        _call("joining the session", _SETNS, holder, 0x10000000 | 0x20000000 | 0x08000000 | 0x04000000 | (_NEW_NET if own_network else 0))
        _call("setting no_new_privs", _PRCTL, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        command = posix.fork()
        if command == 0:
            _call("asking for the parent's death signal", _PRCTL, _PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)
            if posix.getppid():  # a parent outside shows as 0: this is the holder, so the attendant has ended before we could ask
                posix._exit(0)
            if own_group:
                posix.setpgid(0, 0)
            _call("making new namespaces", _UNSHARE, 0x00020000)
            self._begin_in_session()
            self._make_view()
            _drop_capabilities()
            self._become_command()
        _drop_capabilities()
        _call("making the attendant unreadable", _PRCTL, _DUMPABLE, 0, 0, 0, 0)
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
        self._terminals = [fd for fd in (0, 1, 2) if self._handed[fd] == _PASS and posix.isatty(fd)]
        terminal = next((self._paths[fd] for fd in self._terminals if self._paths[fd].startswith(b"/dev/pts/")), b"")
        _View(self._plan, self._fields[_CWD], terminal)

    def _attend(self, command: int, *, own_group: bool) -> NoReturn:
        null = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
        for fd in (0, 1, 2):
            posix.dup2(null, fd)  # a pipe must close when the command closes it
        self._close_all_but(self._report)
        attend(command, self._report, own_group=own_group)

    def _become_command(self) -> NoReturn:
        _lower_limits(self._plan)
        argv = [data for tag, data in self._plan if tag == _WORD]
        env = dict(data.split(b"=", 1) for tag, data in self._plan if tag == _VARIABLE)
        _restrict_files(self._plan, self._terminals)
        for fd in (0, 1, 2):
            if self._handed[fd] == _CLOSED:
                posix.close(fd)
            elif self._handed[fd] == _RELAY:
                posix.dup2(self._inner[fd], fd)
            elif self._handed[fd] == _REOPEN:
                _reopen(fd, self._paths[fd])
        _filter_calls(self._fields[_FILTER])
        for number in (SIGPIPE, SIGXFSZ):  # Python ignores these
            signal(number, SIG_DFL)
        _call("marking descriptors to close", _CLOSE_RANGE, 3, _HIGHEST, 4)
        if not posix.read(self._go, 1):
            posix._exit(0)  # it could not be written down, or the launcher is gone
        pthread_sigmask(SIG_SETMASK, self._mask)
        try:
            posix.execve(argv[0], argv, env)
        except OSError as problem:
            raise Failed(problem.errno or 0, f"starting `{_shown(argv[0])}`") from None

    def _stay_with_launcher(self) -> None:
        """Ends with the launcher, also when it has ended before we could ask for the signal: then nobody reads the pipe."""
        _call("asking for the parent's death signal", _PRCTL, _PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)
        try:
            posix.write(self._report, b"\n")
        except BrokenPipeError:
            posix._exit(0)

    def _enter_namespaces(self, own_network: bool) -> None:
        uid, gid = posix.geteuid(), posix.getegid()
        _call("making new namespaces", _UNSHARE, _NEW_PRIVATE | (_NEW_NET if own_network else 0))
        for name, text in (("setgroups", b"deny"), ("uid_map", b"%d %d 1" % (uid, uid)), ("gid_map", b"%d %d 1" % (gid, gid))):
            _write(f"/proc/self/{name}", text, "mapping the user id")

    def _close_all_but(self, *kept: int) -> None:
        low = 3
        for fd in sorted({*kept} - {0, 1, 2}):
            if fd > low:
                _call("closing the caller's descriptors", _CLOSE_RANGE, low, fd - 1, 0)
            low = fd + 1
        _call("closing the caller's descriptors", _CLOSE_RANGE, low, _HIGHEST, 0)

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
    _call("raising the loopback interface", _IOCTL, any_socket.fileno(), 0x8914, request)
    any_socket.close()


def _reopen(fd: int, path: bytes) -> None:
    """Replaces the descriptor by a fresh read-only one of the same file, at the same offset."""
    outside, offset = posix.fstat(fd), posix.lseek(fd, 0, 1)
    try:
        fresh = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError as problem:
        raise Failed(problem.errno or 0, f"opening descriptor {fd} `{_shown(path)}` inside the jail") from None
    inside = posix.fstat(fresh)
    if (inside.st_dev, inside.st_ino) != (outside.st_dev, outside.st_ino):
        raise Failed(0, f"opening descriptor {fd} `{_shown(path)}` inside the jail: it is another file now")
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
