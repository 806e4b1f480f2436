"""Pumps bytes between the caller's file and the command where the file itself must not go in, and counts output where it is limited."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Thread

    from .jail.descriptors import Handed

_PIECE = 1 << 16


class Relays:
    """The pipes of one run. Made before the fork, pumped by one thread each after it; without a relay nothing is made and nothing imported."""

    def __init__(self, handed: tuple[Handed, ...], most_output: int) -> None:
        self._handed = [one for one in handed if one.how == "relay"]
        self._left = most_output or None
        self._inner: dict[int, int] = {}
        self._outer: dict[int, int] = {}
        self._threads: list[Thread] = []

    def __enter__(self) -> Relays:
        for one in self._handed:
            reader, writer = os.pipe2(os.O_CLOEXEC)
            self._inner[one.fd], self._outer[one.fd] = (reader, writer) if one.reads else (writer, reader)
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (*self._inner.values(), *self._outer.values()):
            os.close(fd)
        self._inner.clear()
        self._outer.clear()

    def inner_ends(self) -> dict[int, int]:
        """Standard descriptor -> the pipe end that takes its place in the command."""
        return dict(self._inner)

    def start(self, when_full: Callable[[], None]) -> None:
        """In the launcher, after the fork. `when_full` is called once, from a thread, when the output limit is reached."""
        for fd in self._inner.values():
            os.close(fd)
        self._inner.clear()
        if self._handed:
            import threading

            for one in self._handed:
                outside = os.dup(one.fd)  # the launcher may give its own standard descriptors away
                work = (outside, self._outer.pop(one.fd)) if one.reads else (self._outer.pop(one.fd), outside)
                self._threads.append(threading.Thread(target=self._pump, args=(*work, one.reads, when_full), daemon=True))
                self._threads[-1].start()

    def finish(self) -> None:
        """Waits until everything the command wrote has been passed on; call it when the whole tree has ended."""
        for thread in self._threads:
            thread.join()

    def _pump(self, source: int, sink: int, reads: bool, when_full: Callable[[], None]) -> None:
        try:
            while piece := os.read(source, _PIECE):
                allowed = len(piece) if reads or self._left is None else min(len(piece), self._left)
                if not reads and self._left is not None:
                    self._left -= allowed
                _write_all(sink, piece[:allowed])
                if allowed < len(piece):
                    when_full()
                    break
        except OSError:
            pass  # the other side is gone: closing ours tells the one that is left, as with a plain pipe
        finally:
            os.close(source)
            os.close(sink)


def _write_all(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]
