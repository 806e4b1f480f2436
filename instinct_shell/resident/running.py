"""One run as the engine's caller sees it: the plan comes from the engine, the command is ours, and its end is recorded whatever becomes of the engine.

The Python twin of bin/launcher/launcher.c. Built-in modules only.
"""

from __future__ import annotations

from ..execution.last_words import LastWords
from ..execution.planned import FAILED, PlannedRun
from . import client, protocol

LOST = b"instinct: the command ran, but not all of its output could be written to its file\n  mend: see whether that disk is full\n"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable


def run(connection: socket, missing: tuple[int, ...], tell: Callable[[dict[int, bytes]], None]) -> int | None:
    """The exit status; None when the engine did not answer and nothing was run. Ends this process by the command's signal.

    missing: as PlannedRun takes it.
    """
    answer = client.hear(connection)
    if answer is None:
        return None
    tell(answer)
    if protocol.PLAN not in answer:
        return int(answer[protocol.STATUS])
    planned = PlannedRun(list(protocol.records(answer[protocol.PLAN])), missing)
    if not planned.join():
        client.trouble = client.DECLINED
        return None
    # While the engine writes it down, the jail is made; the command starts when that is done.
    planned.prepare()
    second = client.hear(connection)
    if second is None or protocol.GO not in second:
        planned.give_up()
        if second is None:
            return None
        tell(second)
        return int(second[protocol.STATUS])
    tell(second)
    stderr = LastWords(2)
    planned.go(lambda ending: _report(connection, ending, stderr, planned))
    _hear_end(connection, answer[protocol.RUN], planned.ending, tell)
    if planned.lost:
        tell({protocol.TO_STDERR: LOST})
    status = planned.status()
    return FAILED if planned.lost and not status else status


def _report(connection: socket, ending: bytes, stderr: LastWords, planned: PlannedRun) -> None:
    said = None
    if not ending.startswith(b"ended 0 "):
        planned.drain()
        said = stderr.read_bytes()
    last = () if said is None else (protocol.record(protocol.SAID, said),)
    client.say(connection, protocol.message(protocol.record(protocol.END, ending), *last))


def _hear_end(connection: socket, run_id: bytes, ending: bytes, tell: Callable[[dict[int, bytes]], None]) -> None:
    """Make sure that the end is recorded: by the worker that judged, else by another one, else by ourselves."""
    answer = client.hear(connection)
    if answer is None:
        words = [run_id.decode("ascii"), ending.decode("utf-8", "surrogateescape"), "again"]
        other = client.call()
        answer = client.ask(other, client.request(b"end", words)) if other is not None else None
        if answer is None or protocol.STATUS not in answer:
            from .last import record_here

            record_here(words)
            return
    tell({tag: answer[tag] for tag in answer if tag == protocol.TO_STDERR})
