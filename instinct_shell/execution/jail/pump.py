"""Bytes between two connections, in both directions, until both are done or nothing has moved for long."""

from __future__ import annotations

import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from socket import socket

IDLE_SECONDS = 900
_PIECE = 1 << 16
_SHUT_WR = 1


class Traffic:
    """What has passed. sent: the client has no more to say, and all of it is passed on."""

    def __init__(self, changed: threading.Condition | None = None) -> None:
        self.up = 0
        self.down = 0
        self.sent = False
        self._changed = changed

    def all_sent(self) -> None:
        """Tells who waits for it."""
        self.sent = True
        if self._changed is not None:
            with self._changed:
                self._changed.notify_all()


class _Way:
    """One direction. At most one piece is held, so that a reader who does not read stops its writer and nothing grows here."""

    def __init__(self, source: socket, sink: socket, held: bytes = b"") -> None:
        self.source = source
        self.sink = sink
        self.held = held
        self.open = True

    def move(self) -> int:
        """Passes on what can be passed on without waiting; how many bytes. Raises OSError when a side is gone."""
        try:
            if not self.held and self.open:
                self.held = self.source.recv(_PIECE)
                if not self.held:
                    self.open = False
                    self.sink.shutdown(_SHUT_WR)
            count = self.sink.send(self.held) if self.held else 0
        except BlockingIOError:
            return 0
        self.held = self.held[count:]
        return count


def forward(client: socket, server: socket, first: bytes, traffic: Traffic) -> None:
    """Passes everything on; first: what the server is sent before what the client says from now on."""
    client.setblocking(False)
    server.setblocking(False)
    up, down = _Way(client, server, first), _Way(server, client)
    try:
        while up.open or up.held or down.open or down.held:
            poll = select.poll()
            wanted: dict[int, int] = {}
            for way in (up, down):
                end = way.sink if way.held else way.source
                if way.held or way.open:
                    wanted[end.fileno()] = wanted.get(end.fileno(), 0) | (select.POLLOUT if way.held else select.POLLIN)
            for fd, events in wanted.items():
                poll.register(fd, events)
            if not poll.poll(IDLE_SECONDS * 1000):
                return
            traffic.up += up.move()
            traffic.down += down.move()
            if not up.open and not up.held and not traffic.sent:
                traffic.all_sent()
    except OSError:
        pass  # one side is gone: nobody is left to hear the rest
