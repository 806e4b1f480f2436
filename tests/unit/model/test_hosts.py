"""Allow-lists: what an entry names, and which addresses are public."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given, strategies as st

from instinct_shell.model.hosts import AllowList, is_public, normal_host, parse_address, parse_rule

NAMED = [
    # entries, host, port, is let through (before the name is resolved)
    (["example.com"], "example.com", 443, True),
    (["example.com"], "EXAMPLE.com.", 80, True),
    (["example.com"], "example.com", 22, False),
    (["example.com"], "www.example.com", 443, False),
    (["example.com"], "example.com.evil.net", 443, False),
    (["example.com"], "notexample.com", 443, False),
    (["example.com:22"], "example.com", 22, True),
    (["example.com:22"], "example.com", 443, False),
    (["example.com:*"], "example.com", 9999, True),
    (["*.example.com"], "a.b.example.com", 443, True),
    (["*.example.com"], "example.com", 443, False),
    (["*.example.com"], "evilexample.com", 443, False),
    (["*"], "anything.net", 443, True),
    (["*"], "anything.net", 8080, False),
    (["*:*"], "anything.net", 8080, True),
    (["*"], "1.1.1.1", 443, True),
    (["*:*"], "127.0.0.1", 8080, False),
    (["*:*"], "169.254.169.254", 80, False),
    (["*:*"], "localhost", 80, False),
    (["*:*"], "app.localhost", 80, False),
    (["1.1.1.1"], "1.1.1.1", 443, True),
    (["1.1.1.1"], "1.1.1.2", 443, False),
    (["10.0.0.5:5432"], "10.0.0.5", 5432, True),
    (["10.0.0.5:5432"], "10.0.0.5", 5433, False),
    (["10.0.0.5:5432"], "::ffff:10.0.0.5", 5432, True),
    (["10.0.0.0/8:443"], "10.255.0.1", 443, True),
    (["10.0.0.0/8:443"], "11.0.0.1", 443, False),
    (["169.254.0.0/16"], "169.254.169.254", 80, False),
    (["169.254.0.0/16"], "169.254.1.1", 80, True),
    (["169.254.169.254"], "169.254.169.254", 80, True),
    (["0.0.0.0/0:80"], "168.63.129.16", 80, False),
    (["localhost:3000"], "localhost", 3000, True),
    (["localhost:3000"], "127.0.0.1", 3000, True),
    (["localhost:3000"], "[::1]", 3000, True),
    (["localhost:3000"], "127.0.0.2", 3000, False),
    (["127.0.0.1:3000"], "localhost", 3000, True),
    (["[::1]:80"], "::1", 80, True),
    (["::1"], "::1", 80, True),
    (["[fd00::/8]:80"], "fd12::1", 80, True),
    (["xn--bcher-kva.example"], "xn--bcher-kva.example", 443, True),
    ([], "example.com", 443, False),
]


@pytest.mark.parametrize(("entries", "host", "port", "through"), NAMED)
def test_what_entries_name(entries: list[str], host: str, port: int, through: bool) -> None:
    normal = normal_host(host)
    assert normal
    assert AllowList(entries).names(normal, port) is through


WRONG = [
    "", ":80", "example.com:", "example.com:0", "example.com:65536", "example.com:http", "example.com:80:80", "http://example.com", "a b", "ex*mple.com",
    "*example.com", "**.example.com", "example..com", "-x.example", "user@example.com", "example.com/path", "bücher.example", "10.0.0.5/8", "10.0.0.0/33",
    "300.1.1.1", "1.2.3", "[::1", "[::1]x", "[::1]:", "[example.com]:80", "@registries", "a" * 64 + ".example", "a.\n.example", "fd00::/8:80",
]  # fmt: skip


@pytest.mark.parametrize("entry", WRONG)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_rule(entry)


@given(st.text(max_size=80))
def test_any_text_is_an_entry_or_none(text: str) -> None:
    with contextlib.suppress(ValueError):
        rule = parse_rule(text)
        assert rule.host or rule.addresses


@given(st.text(max_size=300))
def test_any_text_is_a_host_or_none(text: str) -> None:
    host = normal_host(text)
    assert host == "" or normal_host(host) == host


PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "64:ff9b::101:101", "2002:101:101::1"]
NOT_PUBLIC = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "192.0.0.192", "192.168.1.1",
    "198.18.0.1", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "fe80::1", "fec0::1", "fc00::1",
    "fd00:ec2::254", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001::1", "::127.0.0.1", "100::1",
]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert is_public(address)


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_addresses_that_are_not_public(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_the_same_in_every_wrapping(address: ipaddress.IPv4Address) -> None:
    mapped = parse_address(f"::ffff:{address}")
    assert mapped == address
    inside = ipaddress.IPv6Address((0x64FF9B << 96) | int(address))
    assert is_public(inside) == is_public(address)


def test_local_ports_are_forwarded_one_by_one() -> None:
    assert AllowList(["127.0.0.1:5432", "localhost:6379", "127.0.0.1:*", "127.0.0.0/8:99", "10.0.0.1:70", "127.0.0.1:18128"]).local_ports() == (5432, 6379)
