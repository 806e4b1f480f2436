"""bashlex in a process of its own, which can be killed: it can loop for ever on eleven characters of valid bash, eating memory.

Protocol over two pipes: four bytes of length, then UTF-8 text (surrogateescape) one way, a `marshal` value the other way: the packed tree, or
None when bashlex did not read the text. The worker ends when its pipe is closed, is ended by the kernel when a parse goes over the deadline
(a timer is set before each) and may use 512 MB of address space.
"""

from __future__ import annotations

import marshal
import os
import select
import sys
from time import monotonic

from ..shell import wire
from ..shell.syntax import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_KILL = 9
_MEMORY = 512 * 1024 * 1024
_READY = b"\0\0\0\0"
_GRACE = 1.5  # the kernel's own timer in the worker runs this much longer than the parent's deadline


class Worker:
    """One forked worker. `dead` is set once it was killed; its owner then makes a new one."""

    def __init__(self) -> None:
        self.dead = False
        self._ready = False
        from_parent, self._to = os.pipe()
        self._from, to_parent = os.pipe()
        self._owner = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _serve(from_parent, to_parent)
        os.close(from_parent)
        os.close(to_parent)

    def ready(self, wait_ms: int) -> bool:
        """Whether bashlex is imported and the worker answers."""
        if not self._ready and not self.dead:
            head = self._read(4, monotonic() + wait_ms / 1000, kill=False)
            self._ready = head == _READY
        return self._ready and not self.dead

    def parse(self, text: str, deadline_ms: int) -> Script | None:
        """The tree, or None when bashlex rejects the text or does not answer in time (then the worker is dead)."""
        until = monotonic() + deadline_ms / 1000
        data = text.encode("utf-8", "surrogateescape")
        try:
            _write(self._to, deadline_ms.to_bytes(4, "big") + len(data).to_bytes(4, "big") + data)
        except OSError:
            self.close()
            return None
        head = self._read(4, until)
        body = self._read(int.from_bytes(head, "big"), until) if head else None
        if body is None:
            return None
        packed: Any = marshal.loads(body)  # noqa: S302  # written by our own child
        if packed is None:
            return None
        found: Script = wire.unpack(packed)
        return found

    def close(self) -> None:
        """Ends the worker and reaps it."""
        if self.dead:
            return
        self.dead = True
        os.close(self._to)
        os.close(self._from)
        os.kill(self._pid, _KILL)
        os.waitpid(self._pid, 0)

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # Nobody asks any more. In a process that was forked meanwhile the worker is not ours to end; in one that ends, it sees its pipe close.
        if not ending() and hasattr(self, "_pid") and self._owner == os.getpid():
            self.close()

    def _read(self, size: int, until: float, *, kill: bool = True) -> bytes | None:
        """Exactly this many bytes before the deadline; else the worker is killed (unless it may still be starting)."""
        pieces = []
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        while size:
            left = until - monotonic()
            if not poll.poll(max(0, int(left * 1000 + 0.999))):
                if kill:
                    self.close()
                return None
            piece = os.read(self._from, size)
            if not piece:
                self.close()
                return None
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _serve(source: int, target: int) -> NoReturn:
    """The worker's life. Nothing of the parent's is touched: its descriptors are closed and it leaves by `_exit`."""
    status = 1
    try:
        import fcntl
        import resource
        import signal

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
        for number in (signal.SIGALRM, signal.SIGIO):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a launcher has all of them blocked
        _close_others(source, target)
        # Nothing is asked before we are ready. On a busy machine the import takes its time, and an end of the parent's ends it.
        fcntl.fcntl(source, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(source, fcntl.F_SETFL, os.O_ASYNC)
        poll = select.poll()
        poll.register(source, 0)
        if poll.poll(0):
            os._exit(status)
        limit = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY if limit < 0 else min(_MEMORY, limit), limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        from ..shell.bashlex_adapter import parse
        from ..shell.lexer import Untrusted

        parse("true")
        fcntl.fcntl(source, fcntl.F_SETFL, 0)
        _write(target, _READY)
        while True:
            head = _read_all(source, 8)
            if head is None:
                break
            text = _read_all(source, int.from_bytes(head[4:], "big"))
            if text is None:
                break
            signal.setitimer(signal.ITIMER_REAL, int.from_bytes(head[:4], "big") / 1000 * _GRACE)
            try:
                answer: Any = wire.pack(parse(text.decode("utf-8", "surrogateescape")))
            except (Untrusted, RecursionError):
                answer = None
            signal.setitimer(signal.ITIMER_REAL, 0)
            body = marshal.dumps(answer)
            _write(target, len(body).to_bytes(4, "big") + body)
        status = 0
    except BaseException:  # noqa: BLE001  # whatever it is, the worker must not return into the parent's code; its death is the answer
        status = 1
    finally:
        os._exit(status)


def _close_others(source: int, target: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        if fd not in (source, target):
            os.dup2(null, fd)
    keep = sorted({source, target})
    low = 3
    for fd in keep:
        if fd > low:
            os.closerange(low, fd)
        low = max(low, fd + 1)
    os.closerange(low, max(low, 65536))


def _read_all(fd: int, size: int) -> bytes | None:
    pieces = []
    while size:
        piece = os.read(fd, size)
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
