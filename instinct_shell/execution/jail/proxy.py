"""The way out of a jail with a network allow-list, and the way in to its published ports. A program of its own, outside the jail.

The jail's first process makes the listener inside, in the jail's own network, and hands its descriptor out; this process serves it from outside, so
that inside there is neither a process to attack nor a socket of the host's. A name is resolved once, here; the addresses are checked, and the very
address that was checked is connected to. What it forwards it does not look into.

usage: proxy.py   descriptors: 3 a socket for the configuration (one packet of JSON) and then the listeners; 4 what ends with the jail: the launcher's
end of a pipe or the pidfd of a session's holder; 5 the file for what was connected, one JSON line each
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from instinct_shell.execution.jail import publish  # the path comes first
from instinct_shell.execution.jail.pump import Traffic, forward
from instinct_shell.execution.jail.requests import (
    SOCKS_VERSION,
    Refusal,
    Request,
    http_refusal,
    read_http,
    read_socks,
    read_socks_greeting,
    socks_reply,
)
from instinct_shell.model.hosts import PROXY_PORT, AllowList, parse_address

CHANNEL, LIFELINE, BOOK = 3, 4, 5
MOST_CONNECTIONS = 256  # at once; what comes on top waits in the kernel's queue
MOST_BOOK = 1 << 20  # bytes of lines that nobody has collected; further connections are only counted
HEAD_SECONDS = 30.0  # for a client to say what it wants
CONNECT_SECONDS = 20.0
MOST_ADDRESSES = 8  # of one name
DRAIN_SECONDS = 1.0  # for what a command wrote just before it ended
_MOST_PACKET = 1 << 18


class Book:
    """What was connected, written down when it begins and when it ends, so that neither a kill nor a long connection hides it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._left_out = 0
        self._last = 0

    def begin(self, entry: dict[str, object]) -> int:
        """A connection that is allowed, or a refusal; its number."""
        with self._lock:
            self._last += 1
            self._write({"id": self._last, **entry})
            return self._last

    def end(self, number: int, entry: dict[str, object], traffic: Traffic) -> None:
        """A connection is over; told whole, since its beginning may have been collected."""
        with self._lock:
            self._write({"id": number, **entry, "up": traffic.up, "down": traffic.down})

    def _write(self, entry: dict[str, object]) -> None:
        import fcntl

        fcntl.lockf(self._fd, fcntl.LOCK_EX)  # against the collector, which reads and truncates
        try:
            if os.fstat(self._fd).st_size > MOST_BOOK:
                self._left_out += 1
                return
            if self._left_out:
                entry, self._left_out = {**entry, "left_out": self._left_out}, 0
            os.write(self._fd, json.dumps({"by": os.getpid(), **entry}).encode() + b"\n")
        finally:
            fcntl.lockf(self._fd, fcntl.LOCK_UN)


class Proxy:
    """Serves connections, one thread each, within fixed bounds."""

    def __init__(self, allow: AllowList, advice: str, book: Book) -> None:
        self._allow = allow
        self._advice = advice
        self._book = book
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._changed = threading.Condition()
        self._live: set[Traffic] = set()

    def serve(self, listener: socket.socket, local_port: int) -> None:
        """Takes connections until the process ends. local_port: what is said to this listener goes to that port of the host; 0: it is the proxy."""
        while True:
            self._room.acquire()
            client = None
            try:
                client, _ = listener.accept()
                threading.Thread(target=self._one, args=(client, local_port), daemon=True).start()
            except (OSError, RuntimeError):  # no descriptor or no thread left, or the client has gone
                self._room.release()
                if client is not None:
                    client.close()
                time.sleep(0.05)  # never a busy loop

    def drain(self) -> None:
        """Returns when all that clients have sent is passed on, or soon anyway."""
        deadline = time.monotonic() + DRAIN_SECONDS
        with self._changed:
            while any(not traffic.sent for traffic in self._live) and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    def _one(self, client: socket.socket, local_port: int) -> None:
        try:
            with client:
                client.settimeout(HEAD_SECONDS)
                if local_port:
                    self._connect(client, Request("local", "127.0.0.1", local_port))
                elif (request := read_request(client)) is not None:
                    self._connect(client, request)
        except OSError:
            pass  # the client is gone
        finally:
            self._room.release()

    def _connect(self, client: socket.socket, request: Request) -> None:
        entry: dict[str, object] = {"how": request.how, "host": request.host, "port": request.port}
        server, why = self._reach(request)
        if server is None:
            self._book.begin({**entry, "refused": why})
            answer(client, request, 403, f"instinct: {request.host}:{request.port} is not reached from here: {why}.\n{self._advice}\n")
            return
        with server:
            traffic = Traffic(self._changed)
            entry["address"] = server.getpeername()[0]
            number = self._book.begin(entry)
            with self._changed:
                self._live.add(traffic)
            try:
                if request.how == "connect":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                elif request.how == "socks":
                    client.sendall(socks_reply(0))
                forward(client, server, request.head + request.rest, traffic)
            finally:
                self._book.end(number, entry, traffic)
                with self._changed:
                    self._live.discard(traffic)
                    self._changed.notify_all()

    def _reach(self, request: Request) -> tuple[socket.socket | None, str]:
        """A connection to a checked address, or why there is none."""
        host, port = request.host, request.port
        if not self._allow.names(host, port):
            return None, "it is not on the network allow-list"
        why = "the name is not known"
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        for family, kind, _, _, place in found[:MOST_ADDRESSES]:
            address = parse_address(str(place[0]))
            if address is None or not self._allow.reaches(address, port):
                why = f"the name leads to {place[0]}, which is no public address, and the list does not name that address itself"
                continue
            server = socket.socket(family, kind | socket.SOCK_CLOEXEC)
            server.settimeout(CONNECT_SECONDS)
            try:
                server.connect(place)  # the very address that was checked
                return server, ""
            except OSError as problem:
                server.close()
                why = f"no connection ({problem.strerror or 'it takes too long'})"
        return None, why


def read_request(client: socket.socket) -> Request | None:
    """What the client asks for; None when it was told that it is no request, or is gone. Raises OSError."""
    deadline = time.monotonic() + HEAD_SECONDS
    data = b""
    greeted = False
    while True:
        client.settimeout(max(deadline - time.monotonic(), 0.001))
        piece = client.recv(1 << 14)
        if not piece:
            return None
        data += piece
        socks = greeted or data[0] == SOCKS_VERSION
        if socks and not greeted:
            length = read_socks_greeting(data)
            if isinstance(length, Refusal):
                client.sendall(bytes((SOCKS_VERSION, length.status)))
                return None
            if length is None:
                continue
            client.sendall(bytes((SOCKS_VERSION, 0)))
            data, greeted = data[length:], True
        asked = read_socks(data) if socks else read_http(data)
        if isinstance(asked, Refusal):
            client.sendall(socks_reply(asked.status) if socks else http_refusal(asked.status, f"instinct: {asked.words}\n"))
            return None
        if asked is not None:
            return asked


def answer(client: socket.socket, request: Request, status: int, text: str) -> None:
    """Says no in the client's own protocol."""
    if request.how == "socks":
        client.sendall(socks_reply(2))
    elif request.how != "local":
        client.sendall(http_refusal(status, text))


def receive_listeners() -> tuple[dict[int, socket.socket], int] | None:
    """The listeners made inside by their ports, and the jail's network; None when the jail has a proxy already, or was never made."""
    waiting = select.poll()
    for fd in (CHANNEL, LIFELINE):
        waiting.register(fd, select.POLLIN)
    if LIFELINE in dict(waiting.poll()):
        return None
    with socket.socket(fileno=CHANNEL) as channel:
        ports, descriptors, _, _ = socket.recv_fds(channel, 1024, 253)
    if not descriptors:
        return None
    *listeners, network = descriptors
    return {int(port): socket.socket(fileno=fd) for port, fd in zip(ports.split(), listeners, strict=True)}, network


def main() -> None:
    """Serves until the jail is gone."""
    with socket.socket(fileno=os.dup(CHANNEL)) as channel:
        told = json.loads(channel.recv(_MOST_PACKET))
    os.closerange(BOOK + 1, 1 << 16)
    os.chdir("/")
    if told["session"] and os.fork():
        os._exit(0)  # nobody's child: whoever started the session need not wait for its end
    received = receive_listeners()
    if received is None:
        os._exit(0)
    listeners, network = received
    import fcntl

    fcntl.flock(BOOK, fcntl.LOCK_EX)  # for as long as this process lives: how others see that it does
    book = Book(BOOK)
    for port in publish.start(told["publish"], network, LIFELINE):
        book.begin({"how": "publish", "host": "127.0.0.1", "port": port, "refused": "the port is taken outside, so it is not published"})
    os.close(network)
    proxy = Proxy(AllowList(told["allow"]), told["advice"], book)
    for port, listener in listeners.items():
        threading.Thread(target=proxy.serve, args=(listener, port if port != PROXY_PORT else 0), daemon=True).start()
    ended = select.poll()
    ended.register(LIFELINE, select.POLLIN)
    ended.poll()
    proxy.drain()
    os._exit(0)  # with every thread, whatever it waits for


if __name__ == "__main__":
    main()
