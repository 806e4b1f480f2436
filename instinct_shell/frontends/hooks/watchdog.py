"""The answer comes in time and comes whole, whatever happens to the process that works it out.

Agents go on without a hook that is late, and most of them without one that crashed. So the parent does nothing but wait: the child judges and
sends one framed answer; when it is not there at half the agent's time-out, or the child has died, the parent says no.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time

from .protocol import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_INPUT = 16 * 1024 * 1024


class Deadline:
    """Seconds left on a clock that no one can set."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Never below zero."""
        return max(0.0, self._end - time.monotonic())


def read_all(fd: int, deadline: Deadline, begun: bytes = b"") -> bytes | None:
    """Everything up to the end of the input, after what was read of it before; None when it is over the limit or does not end in time."""
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP | select.POLLERR)
    parts = [begun]
    size = len(begun)
    while True:
        if not poll.poll(deadline.left() * 1000):
            return None
        part = os.read(fd, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > MOST_INPUT:
            return None


def in_time(work: Callable[[], Answer], refuse: Callable[[str], Answer], deadline: Deadline) -> Answer:
    """What `work` answers in a child process, or `refuse(why)` when no whole answer is there before the deadline."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        child = os.fork()
    except OSError as error:
        return refuse(f"the judging process could not be started: {(error.strerror or str(error)).lower()}")
    if child == 0:
        _child(work, writer)
    os.close(writer)
    frame = read_all(reader, deadline)
    os.close(reader)
    late = frame is None
    if late:
        os.kill(child, signal.SIGKILL)
    _, ended = os.waitpid(child, 0)
    if late:
        return refuse("no verdict in time")
    answer = _unpack(frame or b"")
    if answer is None or ended != 0:
        return refuse(f"the judging process was ended by signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else "the judging process failed")
    return answer


def _child(work: Callable[[], Answer], writer: int) -> None:
    """Never returns: nothing of the parent's must run twice."""
    status = 1
    try:
        answer = work()
        frame = json.dumps([answer.stdout, answer.stderr, answer.status]).encode()
        frame = b"%d\n" % len(frame) + frame
        while frame:
            frame = frame[os.write(writer, frame) :]
        status = 0
    except BaseException:  # noqa: BLE001, S110  # the missing frame says it, and the parent turns that into a refusal
        pass
    finally:
        os._exit(status)


def _unpack(frame: bytes) -> Answer | None:
    """The answer of a whole frame, else None."""
    size, newline, body = frame.partition(b"\n")
    if not newline or not size.isdigit() or int(size) != len(body):
        return None
    stdout, stderr, status = json.loads(body)
    return Answer(stdout, stderr, status)
