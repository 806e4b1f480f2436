"""Published ports: a port of the host's loopback interface that leads to the same port inside a jail's own network.

A socket belongs to the network in which it was made. So the listeners are made first, outside; then the process that serves them moves into the
jail's network, where it can connect. It has no place among the jail's processes and its mounts, so that nothing inside can see it.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time

from . import privileges
from .pump import Traffic, forward
from .syscalls import call

_NS_GET_USERNS = 0xB701
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_MOST_CONNECTIONS = 64
_CONNECT_SECONDS = 5.0
_SIGKILL = 9


def start(ports: list[int], network: int, lifeline: int) -> list[int]:
    """Serves the ports from a child of this process, which must have one thread; the ports that are taken. network: descriptor of the jail's."""
    listeners: list[tuple[int, socket.socket]] = []
    taken = []
    for port in ports:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(_MOST_CONNECTIONS)
        except OSError:
            listener.close()
            taken.append(port)
            continue
        listeners.append((port, listener))
    if listeners and os.fork() == 0:
        try:
            _serve(listeners, network, lifeline)
        finally:
            os._exit(1)
    for _, listener in listeners:
        listener.close()
    return taken


def _serve(listeners: list[tuple[int, socket.socket]], network: int, lifeline: int) -> None:
    import fcntl

    parent = os.getppid()
    owner = fcntl.ioctl(network, _NS_GET_USERNS)  # the one that may enter it; bubblewrap's command is in another one below
    call("entering the jail's user namespace", "setns", owner, _NEW_USER)
    call("entering the jail's network", "setns", network, _NEW_NET)
    os.close(owner)
    os.close(network)
    privileges.no_new_privileges()
    privileges.drop_capabilities()
    privileges.die_with_parent(_SIGKILL)  # not before: the kernel forgets it when credentials change
    if os.getppid() != parent:
        return
    room = threading.BoundedSemaphore(_MOST_CONNECTIONS)
    for port, listener in listeners:
        threading.Thread(target=_accept, args=(port, listener, room), daemon=True).start()
    ended = select.poll()
    ended.register(lifeline, select.POLLIN)
    ended.poll()
    os._exit(0)


def _accept(port: int, listener: socket.socket, room: threading.BoundedSemaphore) -> None:
    while True:
        room.acquire()
        client = None
        try:
            client, _ = listener.accept()
            threading.Thread(target=_one, args=(client, port, room), daemon=True).start()
        except (OSError, RuntimeError):  # no descriptor or no thread left, or the caller has gone
            room.release()
            if client is not None:
                client.close()
            time.sleep(0.05)  # never a busy loop


def _one(client: socket.socket, port: int, room: threading.BoundedSemaphore) -> None:
    with client:
        for address in ("127.0.0.1", "::1"):  # what a server takes for `localhost`
            try:
                with socket.create_connection((address, port), _CONNECT_SECONDS) as inside:
                    forward(client, inside, b"", Traffic())
                    break
            except OSError:
                continue  # nobody listens there; if nowhere, the caller sees a closed connection
    room.release()
