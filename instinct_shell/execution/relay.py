"""Pumps bytes between the caller's file and the command where the file itself must not go in, and counts output where it is limited."""

from __future__ import annotations

import os
import select
import signal

from .plan_descriptors import is_same_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Lock, Thread
    from typing import NoReturn

    from .jail.descriptors import Handed

_PIECE = 1 << 16
_DRAIN_MS = 1000  # how long what is in a pipe may take to be passed on while somebody goes on writing


class Relays:
    """The pipes of one run. Made before the fork, pumped by one thread each after it; without a relay nothing is made and nothing imported."""

    def __init__(self, handed: tuple[Handed, ...], most_output: int) -> None:
        self._handed = [one for one in handed if one.how == "relay"]
        self._budget = _Budget(most_output or None)
        self._inner: dict[int, int] = {}
        self._outer: dict[int, int] = {}
        self._pumps: list[_Pump] = []

    def __enter__(self) -> Relays:
        for one in self._handed:
            if one.fd == 2 and 1 in self._outer and is_same_file(1, 2):
                self._inner[2] = self._inner[1]  # one relay for both, so that the order stays
                continue
            reader, writer = os.pipe2(os.O_CLOEXEC)
            self._inner[one.fd], self._outer[one.fd] = (reader, writer) if one.reads else (writer, reader)
        return self

    def __exit__(self, *_: object) -> None:
        for fd in {*self._inner.values(), *self._outer.values()}:
            os.close(fd)
        self._inner.clear()
        self._outer.clear()

    def inner_ends(self) -> dict[int, int]:
        """Standard descriptor -> the pipe end that takes its place in the command."""
        return dict(self._inner)

    def start(self, when_full: Callable[[], None]) -> None:
        """In the launcher, after the fork. `when_full` is called once, from a thread, when the output limit is reached."""
        for fd in set(self._inner.values()):
            os.close(fd)
        self._inner.clear()
        if self._handed:
            import threading

            for one in (each for each in self._handed if each.fd in self._outer):
                outside, pipe = os.dup(one.fd), self._outer.pop(one.fd)  # the launcher may give its own standard descriptors away
                pump = _Pump(outside, pipe, None, threading.Lock()) if one.reads else _Pump(pipe, outside, self._budget, threading.Lock())
                pump.thread = threading.Thread(target=pump.run, args=(when_full,), daemon=True)
                self._pumps.append(pump)
                pump.thread.start()

    def finish(self) -> None:
        """Waits until everything the command wrote has been passed on; call it when the whole tree has ended."""
        for pump in self._pumps:
            pump.thread.join()

    def leave(self, *, dedicated: bool) -> None:
        """As `finish`, when the command has ended and what it left in the background may hold its pipes for long.

        What has been written is passed on before this returns. What will be is passed on by our threads in a host program; a dedicated launcher,
        which ends, leaves a process behind that ends with the last writer.
        """
        going_on = [pump for pump in self._pumps if pump.counted and not pump.drained()]
        if going_on and dedicated:
            if os.fork() == 0:
                _stay_behind(going_on)
        else:
            for pump in going_on:
                pump.lock.release()


class _Budget:
    """How many bytes of output may still pass; None for any number."""

    def __init__(self, left: int | None) -> None:
        self.left = left

    def take(self, wanted: int) -> int:
        """How many of the wanted bytes may pass."""
        if self.left is None:
            return wanted
        allowed = min(wanted, self.left)
        self.left -= allowed
        return allowed


class _Pump:
    """One direction of one descriptor. The lock is held while bytes are on their way. budget: None for what the command reads."""

    thread: Thread

    def __init__(self, source: int, sink: int, budget: _Budget | None, lock: Lock) -> None:
        self.source = source
        self.sink = sink
        self.lock = lock
        self._budget = budget

    @property
    def counted(self) -> bool:
        """Whether it carries output."""
        return self._budget is not None

    def run(self, when_full: Callable[[], None]) -> None:
        """Until either side is gone. Closing both ends tells the one that is left, as with a plain pipe."""
        poll = select.poll()
        poll.register(self.source, select.POLLIN)
        try:
            while True:
                poll.poll()
                with self.lock:
                    if not self.move(when_full):
                        break
        except OSError:
            pass  # the other side is gone
        finally:
            os.close(self.source)
            os.close(self.sink)

    def move(self, when_full: Callable[[], None]) -> bool:
        """Passes one piece on; False at the end or at the limit. Raises OSError."""
        piece = os.read(self.source, _PIECE)
        allowed = self._budget.take(len(piece)) if self._budget else len(piece)
        _write_all(self.sink, piece[:allowed])
        if allowed < len(piece):
            when_full()
        return bool(piece) and allowed == len(piece)

    def drained(self) -> bool:
        """Waits until nothing is left to pass on now. True: for ever. Else False, and our thread stands still until the lock is released."""
        poll = select.poll()
        poll.register(self.source, select.POLLIN)
        for _ in range(_DRAIN_MS):
            self.lock.acquire()
            if not self.thread.is_alive():
                return True
            if not poll.poll(0):
                return False
            self.lock.release()
            self.thread.join(0.001)
        self.lock.acquire()
        return not self.thread.is_alive()


def _stay_behind(pumps: list[_Pump]) -> NoReturn:
    """In the process that outlives the launcher: nothing of the launcher's but these pipes, until nobody writes to them any more."""
    try:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        kept = sorted({fd for pump in pumps for fd in (pump.source, pump.sink)})
        for before, after in zip([2, *kept], [*kept, 1 << 16], strict=True):
            os.closerange(before + 1, after)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        poll = select.poll()
        by_source = {pump.source: pump for pump in pumps}
        for source in by_source:
            poll.register(source, select.POLLIN)
        while by_source:
            for fd, _ in poll.poll():
                try:
                    more = by_source[fd].move(lambda: None)
                except OSError:
                    more = False
                if not more:
                    poll.unregister(fd)
                    os.close(fd)
                    os.close(by_source.pop(fd).sink)
    finally:
        os._exit(0)


def _write_all(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]
