"""Where the proxy connects to: names are resolved once, checked, and that very address is used. Real sockets; only the resolver is ours."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator

import pytest

from instinct_shell.execution.jail import network, proxy
from instinct_shell.execution.jail.pump import Traffic
from instinct_shell.execution.jail.requests import Request
from instinct_shell.model.hosts import AllowList


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine where somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def book() -> Iterator[int]:
    """An empty book."""
    fd = network.new_book()
    yield fd
    os.close(fd)


class Resolver:
    """Answers one name after the other list of addresses; counts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[str, ...]) -> None:
        self.asked = 0
        self._answers = answers
        monkeypatch.setattr(socket, "getaddrinfo", self)

    def __call__(self, host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer]


def reach(entries: list[str], host: str, port: int, book: int) -> tuple[str, str]:
    """The address that was connected to, and why none was."""
    server, why = proxy.Proxy(AllowList(entries), "", proxy.Book(book))._reach(Request("connect", host, port))
    if server is None:
        return "", why
    with server:
        return server.getpeername()[0], why


def test_a_name_that_leads_to_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch, port: int, book: int) -> None:
    Resolver(monkeypatch, ("127.0.0.1",))
    address, why = reach([f"app.example:{port}"], "app.example", port, book)
    assert address == ""
    assert "127.0.0.1, which is no public address" in why


def test_the_entry_of_the_very_address_opens_it_at_its_port_only(monkeypatch: pytest.MonkeyPatch, port: int, book: int) -> None:
    Resolver(monkeypatch, ("127.0.0.1",))
    assert reach([f"app.example:{port}", f"127.0.0.1:{port}"], "app.example", port, book) == ("127.0.0.1", "")
    assert reach([f"app.example:{port}", "127.0.0.1:1"], "app.example", port, book)[0] == ""


def test_a_name_is_asked_for_once(monkeypatch: pytest.MonkeyPatch, port: int, book: int) -> None:
    resolver = Resolver(monkeypatch, ("127.0.0.1",), ("10.0.0.1",))
    assert reach([f"app.example:{port}", f"127.0.0.1:{port}"], "app.example", port, book)[0] == "127.0.0.1"
    assert resolver.asked == 1


def test_of_several_addresses_those_that_may_be_reached_are(monkeypatch: pytest.MonkeyPatch, port: int, book: int) -> None:
    Resolver(monkeypatch, ("169.254.169.254", "10.0.0.1", "127.0.0.1"))
    assert reach([f"app.example:{port}", f"127.0.0.1:{port}"], "app.example", port, book)[0] == "127.0.0.1"


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "10.0.0.1", "192.168.0.1", "224.0.0.1", "fd00:ec2::254"])  # refused
def test_no_name_leads_to_a_private_address(monkeypatch: pytest.MonkeyPatch, address: str, book: int) -> None:
    Resolver(monkeypatch, (address,))
    assert reach(["*:*"], "anything.example", 80, book)[0] == ""
    assert reach(["*:*"], address, 80, book) == ("", "it is not on the network allow-list")


def test_a_name_that_is_not_listed_is_not_asked_for(monkeypatch: pytest.MonkeyPatch, book: int) -> None:
    resolver = Resolver(monkeypatch, ("1.1.1.1",))
    assert reach(["app.example"], "data.evil.example", 443, book)[1] == "it is not on the network allow-list"
    assert resolver.asked == 0  # a question to a name server is a message out, too


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch, book: int) -> None:
    Resolver(monkeypatch, ())
    assert reach(["*"], "nobody.example", 443, book)[1] == "the name is not known"


def test_a_book_is_read_once_and_bounded(monkeypatch: pytest.MonkeyPatch, book: int) -> None:
    monkeypatch.setattr(proxy, "MOST_BOOK", 2000)
    kept = proxy.Book(book)
    traffic = Traffic()
    traffic.up, traffic.down = 3, 4
    first_entry: dict[str, object] = {"how": "connect", "host": "a.example", "port": 443, "address": "1.1.1.1"}
    kept.end(kept.begin(first_entry), first_entry, traffic)
    kept.begin({"how": "connect", "host": "b.example", "port": 443, "refused": "no"})
    first = network.collected(book)
    assert [(one.host, one.allowed, one.up, one.down, one.state) for one in first] == [
        ("a.example", True, 3, 4, "closed"),
        ("b.example", False, 0, 0, "refused"),
    ]
    assert network.collected(book) == ()
    entry: dict[str, object] = {"how": "connect", "host": "long.example", "port": 443, "address": "1.1.1.1"}
    number = kept.begin(entry)
    assert [one.state for one in network.collected(book)] == ["open"]
    kept.end(number, entry, traffic)
    assert [(one.how, one.host, one.up) for one in network.collected(book)] == [("earlier", "long.example", 3)]
    for _ in range(500):
        kept.begin({"how": "connect", "host": "c.example", "port": 443, "refused": "no"})
    assert os.fstat(book).st_size < 4000
    network.collected(book)
    kept.begin({"how": "connect", "host": "d.example", "port": 443, "refused": "no"})
    assert [one.state for one in network.collected(book)] == ["refused", "left out"]


def test_a_torn_line_is_left_out() -> None:
    line = json.dumps({"by": 1, "id": 1, "how": "http", "host": "a.example", "port": 80, "refused": "no"}).encode()
    assert [one.host for one in network.read_book(line + b"\n" + line[:20])] == ["a.example"]


def test_a_proxy_whose_launcher_ends_before_there_is_a_jail_ends_too(book: int) -> None:
    """Somebody else may still have the channel on which the listeners would come."""
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    lifeline, kept = os.pipe()
    with theirs, ours:
        ours.send(json.dumps({"allow": ["a.example"], "publish": [], "advice": "", "session": False}).encode())
        pid = network._spawn(theirs.fileno(), lifeline, book)
        os.close(lifeline)
        os.close(kept)
        assert os.waitpid(pid, 0) == (pid, 0)
