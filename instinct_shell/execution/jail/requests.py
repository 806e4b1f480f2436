"""What a client asks the proxy for, read from the bytes it sent: HTTP CONNECT, plain HTTP with an absolute address, SOCKS5.

Pure, total and bounded: whatever bytes come, the answer is a `Request`, a `Refusal` in words, or `None` for "not all of it is here yet". The bytes
are those of a command that nobody trusts.
"""

from __future__ import annotations

from ...model.hosts import normal_host
from ...model.value import Value

MOST_HEAD = 16 * 1024  # bytes until the empty line
_TOKEN = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Between the client and us alone, or rewritten by us: the server gets our `Host` and our `Connection`.
_DROPPED = (b"host", b"connection", b"proxy-connection", b"proxy-authorization", b"proxy-authenticate", b"keep-alive", b"te", b"upgrade")
SOCKS_VERSION = 5
_CONNECT, _V4, _NAME, _V6 = 1, 1, 3, 4


class Request(Value):
    """Where to. how: connect | http | socks. head: what the server is sent first (plain HTTP); rest: what the client has sent beyond its request."""

    how: str
    host: str  # as `normal_host` gives it
    port: int
    head: bytes = b""
    rest: bytes = b""


class Refusal(Value):
    """A request that is none. status: of HTTP; for SOCKS5 the reply code."""

    status: int
    words: str


def read_http(data: bytes) -> Request | Refusal | None:
    """The request at the beginning of these bytes."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end or len(head) > MOST_HEAD:
        return Refusal(431, f"the request's head is longer than {MOST_HEAD} bytes") if len(head) > MOST_HEAD else None
    first, *lines = head.split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or not words[0] or not _TOKEN.issuperset(words[0]) or words[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        return Refusal(400, "this is neither HTTP/1.1 nor SOCKS5")
    if any(not 32 <= byte < 127 for byte in words[1]) or any(b"\n" in line or b"\r" in line or b"\0" in line for line in lines):
        return Refusal(400, "the request holds characters that none may hold")
    method, target, version = words
    if method == b"CONNECT":
        place = _authority(target, 0)
        return Request("connect", *place, rest=rest) if place else Refusal(400, "CONNECT needs a host and a port: `example.com:443`")
    scheme, colon, address = target.partition(b"://")
    if not colon or scheme.lower() != b"http":
        return Refusal(400, "a plain request needs a whole address, `http://...`; anything else comes by CONNECT or SOCKS5")
    cut = min((index for mark in b"/?#" if (index := address.find(mark)) >= 0), default=len(address))
    place = _authority(address[:cut], 80)
    if place is None:
        return Refusal(400, "the address names no host that can be reached")
    path = address[cut:].partition(b"#")[0]
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _DROPPED]
    if any(b":" not in line or not _TOKEN.issuperset(line.partition(b":")[0]) for line in kept):
        return Refusal(400, "a header line has no name")  # a folded line would hide what the server reads as a header of its own
    # One request on a connection: a second one could be meant for another host, and would not be looked at.
    own = (b"Host: " + address[:cut], b"Connection: close")
    sent = b"\r\n".join((b" ".join((method, path if path.startswith(b"/") else b"/" + path, version)), *own, *kept))
    return Request("http", *place, head=sent + b"\r\n\r\n", rest=rest)


def _authority(text: bytes, default_port: int) -> tuple[str, int] | None:
    """Host and port. None for anything else, a user name (`@`) included: it would only hide which host is meant."""
    host, colon, port = text.rpartition(b":")
    if not colon or port.endswith(b"]"):
        host, port = text, b"%d" % default_port
    if not port.isdigit() or len(port) > 5 or not 1 <= int(port) <= 65535:
        return None
    name = normal_host(host.decode("latin-1"))
    return (name, int(port)) if name else None


def read_socks_greeting(data: bytes) -> int | Refusal | None:
    """How many bytes the greeting has; a client must offer to come without a password."""
    if len(data) < 2 or len(data) < 2 + data[1]:
        return None
    return 2 + data[1] if 0 in data[2 : 2 + data[1]] else Refusal(0xFF, "the proxy asks for no password")


def read_socks(data: bytes) -> Request | Refusal | None:
    """The request that follows the greeting."""
    if len(data) < 5:
        return None
    length = {_V4: 4, _V6: 16, _NAME: 1 + data[4]}.get(data[3], 0)
    if data[0] != SOCKS_VERSION or not length:
        return Refusal(8, "no SOCKS5 address")
    if len(data) < 4 + length + 2:
        return None
    if data[1] != _CONNECT:
        return Refusal(7, "of SOCKS5 only CONNECT is served")
    place, port = data[4 : 4 + length], int.from_bytes(data[4 + length : 6 + length])
    if data[3] == _NAME:
        host = normal_host(place[1:].decode("latin-1"))
    else:
        import ipaddress

        host = normal_host(str(ipaddress.ip_address(place)))
    if not host or not port:
        return Refusal(4, "the address names no host that can be reached")
    return Request("socks", host, port, rest=data[6 + length :])


def socks_reply(code: int) -> bytes:
    """The answer to a SOCKS5 request; what address we speak from is nobody's business."""
    return bytes((SOCKS_VERSION, code, 0, _V4, 0, 0, 0, 0, 0, 0))


def http_refusal(status: int, text: str) -> bytes:
    """An answer that says why, for a program that shows it and for one that only shows the status line."""
    body = text.encode("utf-8", "replace")
    reason = {403: "Forbidden by the network allow-list", 502: "Bad Gateway", 503: "Too Many Connections"}.get(status, "Refused")
    return (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Proxy-Status: instinct-shell; error=http_request_denied\r\nConnection: close\r\n\r\n"
    ).encode() + body
