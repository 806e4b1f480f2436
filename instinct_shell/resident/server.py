"""The engine's first process: it owns the socket, keeps warm workers forked ahead, and ends when it is stale, idle or replaced.

It reads nothing that a caller sent: each call is one worker's (worker.py), whose loss is the loss of that call alone. Newest wins: an engine that
starts takes the socket's name over in one step, and one whose socket is no longer found under that name ends.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from _socket import AF_UNIX, SOCK_CLOEXEC, SOCK_STREAM, socket
from mmap import mmap

from ..errors import StorageError, UsageError
from ..execution.jail import inside, privileges
from ..storage import audit
from . import protocol, worker
from .code import Code, watch
from .protocol import Hangup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from .worker import Program

POOL = max(2, min(6, os.cpu_count() or 1))
CALLS = 500  # that one worker answers before a fresh one takes its place
IDLE_S = 30 * 60.0
BACKLOG = 128
SYNCED_S = 0.1  # what a command left in the trail is on disk by then
_LOOK_S = 10.0  # seconds between looks at what an idle engine would otherwise not notice
_STARTS_A_SECOND = 4.0  # of workers that end at once: something is wrong then, and forking faster does not mend it
_COLLECT_EVERY = 25  # calls

PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def make_folder() -> bytes:
    """The runtime directory, made when it is missing. Raises StorageError when there is no place, or somebody else's."""
    path = protocol.folder(os.environb, os.getuid())
    if not path:
        raise StorageError("no place for the engine's socket", hint="set XDG_RUNTIME_DIR or HOME to a folder of yours")
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        os.close(protocol.open_folder(path, os.getuid()))
    except OSError as error:
        from ..model.refusal import explain

        raise explain(error, os.fsdecode(path)) from error
    return path


class Engine:
    """One engine from its start to its end. programs: what callers may ask for. warm: called once, before the first worker is made."""

    def __init__(self, programs: Mapping[str, Program], warm: Callable[[str], None], *, idle_s: float = IDLE_S, pool: int = POOL) -> None:
        if inside.inside():
            raise UsageError("an engine inside a jail would judge for itself", hint="start it from your own terminal")
        self._programs = programs
        self._warm = warm
        self._idle_s = idle_s
        self._pool = pool
        self._workers: dict[int, float] = {}  # pid -> when it was made
        self._started = time.monotonic()
        self._not_before = 0.0
        self._ending = False
        self._unsynced: dict[str, float] = {}  # in a worker: path of a trail's file -> when it has to be on disk

    def run(self) -> int:
        """Serve until it is time to end; returns the exit status."""
        os.umask(0o077)
        os.chdir("/")
        path = self._path = make_folder()
        lock = _only_starter(path)
        if lock is None:
            return 0  # another one is starting right now
        self._warm(os.fsdecode(path))
        self._code = Code(PACKAGE)
        self._listen(path)
        os.close(lock)
        gc.collect()
        gc.freeze()
        gc.disable()
        self._serve()
        return 0

    def _listen(self, path: bytes) -> None:
        self._folder = protocol.open_folder(path, os.getuid())
        self._name = protocol.socket_name(PACKAGE)
        draft = f"{self._name}.{os.getpid()}"
        self._listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)
        os.fchdir(self._folder)  # a path may be too long for a socket's name
        self._listener.bind(draft)
        os.chdir("/")
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        os.rename(draft, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._identity = self._found()

    def _found(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return None  # taken away, perhaps with its folder
        return found.st_dev, found.st_ino

    # ------------------------------------------------------------ the loop

    def _serve(self) -> None:
        self._clock = mmap(-1, 4096)  # shared with the workers: when the last call came, so that none of them has to wake us
        self._told, self._tell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        poll = select.poll()
        place = watch([os.fsdecode(self._path)])  # another engine comes, or the folder goes
        for fd in (wake, self._told, place):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        while not self._ending:
            while len(self._workers) < self._pool and time.monotonic() >= self._not_before:
                self._fork()
            quiet = not poll.poll(min(self._idle_s, _LOOK_S) * 1000)
            for fd in (wake, place):
                _drain(fd)
            self._reap()
            self._hear()
            idle = time.monotonic() - max(self._started, self._last_call())
            if idle > self._idle_s or self._found() != self._identity or (quiet and self._code.differs()):
                break
        self._finish()

    def _finish(self) -> None:
        """No new calls; those in hand are ended first."""
        if self._found() == self._identity:
            os.unlink(self._name, dir_fd=self._folder)
        self._listener.close()
        until = time.monotonic() + protocol.JUDGING_S + worker.LINGER_S
        for pid in self._workers:
            os.kill(pid, signal.SIGTERM)
        while self._workers and time.monotonic() < until:
            signal.sigtimedwait({signal.SIGCHLD}, 0.05)
            self._reap()
        # What is left is killed by the kernel, since its parent ends: die_with_parent.

    def _end(self, *_: object) -> None:
        self._ending = True

    def _hear(self) -> None:
        """A worker found the code changed, or was told to have the engine stop."""
        try:
            self._ending = bool(os.read(self._told, 512)) or self._ending
        except BlockingIOError:
            pass  # none of them said anything

    def _last_call(self) -> float:
        return int.from_bytes(self._clock[:8], "little") / 1000

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            now = time.monotonic()
            if now - self._workers.pop(pid, 0.0) < 1 / _STARTS_A_SECOND:
                self._not_before = now + 1 / _STARTS_A_SECOND

    # ------------------------------------------------------------ a worker

    def _fork(self) -> None:
        master = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._work(master)
        self._workers[pid] = time.monotonic()

    def _work(self, master: int) -> NoReturn:
        """In the forked child: answer calls until told to end."""
        try:
            woken, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            signal.set_wakeup_fd(waker, warn_on_full_buffer=False)  # a SIGTERM at any moment ends the next wait for a call
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, self._end)
            privileges.die_with_parent(signal.SIGKILL)
            if os.getppid() != master:
                os._exit(0)
            self._warm(os.fsdecode(self._path))  # a forked page is copied when it is first touched: better now than in somebody's call
            # Of those that wait, the kernel wakes the one that came last, whose memory is still in the processor's caches; accept wakes the first.
            calls = select.epoll()
            calls.register(self._listener.fileno(), select.EPOLLIN | select.EPOLLEXCLUSIVE)
            calls.register(woken, select.EPOLLIN)
            for count in range(1, CALLS + 1):
                self._sync(calls)
                calls.poll()
                if self._ending:
                    break
                self._answer_one()
                if count % _COLLECT_EVERY == 0:
                    gc.collect()
        finally:
            self._sync(None)
            os._exit(0)

    def _answer_one(self) -> None:
        try:
            fd, _ = self._listener._accept()  # type: ignore[attr-defined]  # what socket.accept calls; that module costs 8 ms and 1 MB
        except BlockingIOError:
            return  # another worker was faster
        os.set_inheritable(fd, False)
        with_caller = socket(fileno=fd)
        if self._code.changed():
            self._stop()
            self._sync(None)
            os._exit(0)  # the caller judges by itself, and the next engine is the new code's
        self._clock[:8] = int(time.monotonic() * 1000).to_bytes(8, "little")
        try:
            questions = {protocol.STOP: self._stop, protocol.ABOUT: self._about}
            worker.answer(with_caller, self._listener.fileno(), self._programs, questions, self._later)
        except Hangup:
            pass  # the launcher sees it, and judges by itself
        finally:
            with_caller.close()
            os.chdir("/")

    def _later(self, path: str) -> None:
        self._unsynced.setdefault(path, time.monotonic() + SYNCED_S)

    def _sync(self, calls: select.epoll | None) -> None:
        """Bring what the calls wrote down to disk: when nobody waits, or when it is time. No command has to wait for a disk. None: now."""
        while self._unsynced:
            path, due = next(iter(self._unsynced.items()))
            left = due - time.monotonic()
            if calls is not None and left > 0 and calls.poll(left):
                return
            del self._unsynced[path]
            try:
                audit.sync(path)
            except StorageError:
                pass  # that trail is gone, or its disk fails: the next record that goes there says so

    def _stop(self) -> str:
        os.write(self._tell, b"x")
        return ""

    def _about(self) -> str:
        return f"process {os.getppid()}, up {int(time.monotonic() - self._started) // 60} minutes, {self._pool} workers"


def _nothing(*_: object) -> None:
    """A handler only so that the signal interrupts the wait."""


def _drain(fd: int) -> None:
    try:
        while fd >= 0 and os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _only_starter(path: bytes) -> int | None:
    """A lock that one starting engine holds until it listens; None when another one has it."""
    import fcntl

    fd = os.open(os.path.join(path, b"starting"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd
