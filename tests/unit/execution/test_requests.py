"""What a client of the proxy asks for, read from bytes that nobody trusts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from instinct_shell.execution.jail.requests import (
    MOST_HEAD,
    Refusal,
    Request,
    http_refusal,
    read_http,
    read_socks,
    read_socks_greeting,
)

END = b"\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "place"),
    [
        (b"CONNECT example.com:443 HTTP/1.1", ("connect", "example.com", 443)),
        (b"CONNECT EXAMPLE.com.:443 HTTP/1.1\r\nHost: other:1", ("connect", "example.com", 443)),
        (b"CONNECT [::1]:443 HTTP/1.0", ("connect", "::1", 443)),
        (b"CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1", ("connect", "127.0.0.1", 80)),
        (b"GET http://example.com/ HTTP/1.1", ("http", "example.com", 80)),
        (b"GET HTTP://Example.com:8080/a?b HTTP/1.1", ("http", "example.com", 8080)),
        (b"GET http://example.com?q=http://other/ HTTP/1.1", ("http", "example.com", 80)),
        (b"GET http://[::1]/ HTTP/1.1", ("http", "::1", 80)),
        (b"DELETE http://app.localhost/ HTTP/1.1", ("http", "127.0.0.1", 80)),
    ],
)
def test_requests(head: bytes, place: tuple[str, str, int]) -> None:
    asked = read_http(head + END + b"more")
    assert isinstance(asked, Request)
    assert (asked.how, asked.host, asked.port) == place
    assert asked.rest == b"more"


@pytest.mark.parametrize(
    "head",
    [
        b"", b"GET / HTTP/1.1\r\nHost: example.com", b"GET example.com HTTP/1.1", b"GET ftp://example.com/ HTTP/1.1", b"GET https://example.com/ HTTP/1.1",
        b"CONNECT example.com HTTP/1.1", b"CONNECT example.com:0 HTTP/1.1", b"CONNECT example.com:99999 HTTP/1.1", b"CONNECT :443 HTTP/1.1",
        b"CONNECT a@example.com:443 HTTP/1.1", b"CONNECT exa mple:443 HTTP/1.1", b"CONNECT 2130706433:80 HTTP/1.1", b"CONNECT 0177.1:80 HTTP/1.1",
        b"CONNECT example.com:443 HTTP/2.0", b"GET http://a@b/ HTTP/1.1", b"GET http://user:pw@example.com/ HTTP/1.1", b"GET http:///path HTTP/1.1",
        b"GET http://ex%61mple.com/ HTTP/1.1", b"GET http://exa\x00mple.com/ HTTP/1.1", b"GET http://a\\b/ HTTP/1.1", b"G(T http://a/ HTTP/1.1",
        b"GET http://a/ HTTP/1.1\r\n folded: line", b"GET http://a/ HTTP/1.1\r\nX : 1", b"GET http://a/ HTTP/1.1\r\nnothing", b"GET http://a/ HTTP/1.1\nHost: b",
        b"\x16\x03\x01\x02\x00",
    ],
)  # fmt: skip
def test_what_is_no_request(head: bytes) -> None:
    asked = read_http(head + END)
    assert isinstance(asked, Refusal)
    assert asked.status == 400
    assert asked.words


def test_a_plain_request_is_sent_on_with_our_own_host_and_for_one_request_only() -> None:
    head = b"POST http://example.com:81/a?b#c HTTP/1.1\r\nHost: inner\r\nhost : twice\r\nProxy-Authorization: x\r\nConnection: keep-alive, X\r\nX: 1\r\nUpgrade: h2c"
    asked = read_http(head + END + b"body")
    assert isinstance(asked, Request)
    assert asked.head == b"POST /a?b HTTP/1.1\r\nHost: example.com:81\r\nConnection: close\r\nX: 1\r\n\r\n"
    assert asked.rest == b"body"


def test_a_head_is_bounded() -> None:
    line = b"CONNECT example.com:443 HTTP/1.1\r\nX: "
    assert read_http(line) is None
    assert isinstance(read_http(line + b"a" * (MOST_HEAD - len(line)) + END), Request)
    for data in (line + b"a" * MOST_HEAD, line + b"a" * MOST_HEAD + END):
        asked = read_http(data)
        assert isinstance(asked, Refusal)
        assert asked.status == 431


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x05", None), (b"\x05\x02\x00", None), (b"\x05\x01\x00", 3), (b"\x05\x02\x02\x00rest", 4), (b"\x05\x01\x02", "refused"), (b"\x05\x00", "refused"),
    ],
)  # fmt: skip
def test_socks_greetings(data: bytes, expected: object) -> None:
    asked = read_socks_greeting(data)
    assert ("refused" if isinstance(asked, Refusal) else asked) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x05\x01\x00\x03\x0bexample.com\x01\xbb", ("example.com", 443)),
        (b"\x05\x01\x00\x01\x01\x01\x01\x01\x00\x50rest", ("1.1.1.1", 80)),
        (b"\x05\x01\x00\x04" + bytes(15) + b"\x01\x00\x50", ("::1", 80)),
        (b"\x05\x01\x00\x04" + bytes(10) + b"\xff\xff\x7f\x00\x00\x01\x00\x50", ("127.0.0.1", 80)),
        (b"\x05\x01\x00\x03\x09localhost\x00\x50", ("127.0.0.1", 80)),
        (b"\x05\x01\x00\x03\x0bexample.co", None),
        (b"\x05\x01\x00", None),
        (b"\x05\x02\x00\x01\x01\x01\x01\x01\x00\x50", 7),
        (b"\x05\x03\x00\x01\x01\x01\x01\x01\x00\x50", 7),
        (b"\x05\x01\x00\x02\x01\x01\x01\x01\x00\x50", 8),
        (b"\x04\x01\x00\x01\x01\x01\x01\x01\x00\x50", 8),
        (b"\x05\x01\x00\x03\x00\x00\x50", 4),
        (b"\x05\x01\x00\x03\x03a b\x00\x50", 4),
        (b"\x05\x01\x00\x01\x01\x01\x01\x01\x00\x00", 4),
    ],
)
def test_socks_requests(data: bytes, expected: object) -> None:
    asked = read_socks(data)
    if isinstance(asked, Refusal):
        assert asked.status == expected
    elif asked is None:
        assert expected is None
    else:
        assert (asked.host, asked.port) == expected


BYTES = st.one_of(
    st.binary(max_size=400),
    st.lists(
        st.sampled_from([b"GET ", b"CONNECT ", b"http://", b"example.com", b":443", b" HTTP/1.1", b"\r\n", b"\r\n\r\n", b"Host:", b"\x05\x01\x00", b"\x03", b"["]),
        max_size=12,
    ).map(b"".join),
)


@given(BYTES)
def test_any_bytes_have_an_answer(data: bytes) -> None:
    for read in (read_http, read_socks):
        asked = read(data)
        assert asked is None or isinstance(asked, Refusal | Request)
        if isinstance(asked, Request):
            assert asked.host
            assert 1 <= asked.port <= 65535
            assert len(asked.head) <= len(data) + 200
            assert data.endswith(asked.rest)
    greeting = read_socks_greeting(data)
    assert greeting is None or isinstance(greeting, Refusal) or greeting <= len(data)


@given(BYTES)
def test_a_plain_request_never_carries_a_second_host(data: bytes) -> None:
    asked = read_http(data)
    if isinstance(asked, Request) and asked.how == "http":
        lines = asked.head.lower().split(b"\r\n")
        assert sum(line.startswith(b"host") for line in lines[1:]) == 1
        assert asked.head.endswith(END)
        assert asked.head.count(END) == 1


def test_a_refusal_is_told_with_its_length() -> None:
    head, _, body = http_refusal(403, "no\n").partition(END)
    assert b"Content-Length: 3" in head
    assert body == b"no\n"
