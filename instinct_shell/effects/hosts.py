"""Addresses in commands: the host of a URL, and whether it is this machine, a private network or a cloud's metadata service.

Numeric spellings are folded first: 0xA9FEA9FE, 2852039166, 0251.0376.0251.0376 and ::ffff:169.254.169.254 are one address.
"""

from __future__ import annotations

from ..model.effect import Target, TargetKind
from ..shell.invocation import Field, Known

METADATA = frozenset(
    "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16 metadata.google.internal "
    "metadata "
    "metadata.goog instance-data fd00:ec2::254 metadata.azure.internal metadata.tencentyun.com".split()
)
LOCAL = frozenset("localhost localhost.localdomain ip6-localhost ip6-loopback ::1 ::".split())


def host_of(url: str) -> str:
    """The host of a URL or of `[user@]host[:port][/path]`, lower case, without brackets, numbers folded."""
    rest = url.split("://", 1)[-1]
    for end in "/?#":
        rest = rest.split(end, 1)[0]
    rest = rest.rsplit("@", 1)[-1].replace("\\", "")
    if rest.startswith("["):
        return fold_address(rest[1:].split("]", 1)[0])
    if rest.count(":") == 1:
        rest = rest.split(":", 1)[0]
    return fold_address(rest)


def fold_address(host: str) -> str:
    """An address in its usual spelling; a name in lower case without the final dot."""
    host = host.strip().lower().rstrip(".")
    if host.startswith("::ffff:") and "." in host:
        host = host[7:]
    number = _inet(host)
    if number is None:
        return host
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _inet(host: str) -> int | None:
    """inet_aton: one to four parts, decimal, octal or hexadecimal; None when it is a name."""
    pieces = host.split(".")
    if not 1 <= len(pieces) <= 4 or not all(pieces):
        return None
    numbers = []
    for piece in pieces:
        try:
            if piece.startswith("0x"):
                numbers.append(int(piece, 16))
            elif len(piece) > 1 and piece.startswith("0"):
                numbers.append(int(piece, 8))
            elif piece.isdigit():
                numbers.append(int(piece))
            else:
                return None
        except ValueError:
            return None
    total = numbers[-1]
    for index, value in enumerate(numbers[:-1]):
        total += value << (24 - 8 * index)
    return total if total < 1 << 32 else None


def is_metadata(host: str) -> bool:
    """Whether the host is a cloud metadata service: it hands out credentials."""
    return host in METADATA or host.endswith((".metadata.google.internal", ".169.254.169.254.nip.io"))


def is_local(host: str) -> bool:
    """Whether the host is this machine."""
    return host in LOCAL or host.startswith("127.") or host == "0.0.0.0" or host.endswith(".localhost")  # noqa: S104  # a spelling, not a bind


def is_private(host: str) -> bool:
    """Whether the host is this machine or on a private network."""
    if is_local(host) or host.endswith((".local", ".internal", ".lan", ".home.arpa")):
        return True
    if host.startswith(("10.", "192.168.", "fd", "fe80:")) and (":" in host or host.count(".") == 3):
        return True
    pieces = host.split(".")
    return len(pieces) == 4 and pieces[0] == "172" and pieces[1].isdigit() and 16 <= int(pieces[1]) <= 31


def address_attributes(host: str) -> dict[str, str]:
    """metadata=1, private=1 where they hold."""
    return {"metadata": "1" if is_metadata(host) else "", "private": "1" if is_private(host) else ""}


def url_text(field: Field) -> str | None:
    """The URL a word names; `?` and `[` of a URL match no file, so the shell hands the word on as it stands."""
    if field.text is not None:
        return field.text
    if field.glob and len(field.values) == 1:
        return field.values[0].replace("\\", "")
    return None


def url_target(field: Field) -> Target:
    """A URL target for a word; of a dynamic word the literal prefix."""
    if field.known is Known.DYNAMIC:
        return Target(TargetKind.URL, field.prefix, field.reason or "dynamic word")
    return Target(TargetKind.URL, url_text(field) or (field.values[0] if field.values else ""))


def host_target(field: Field) -> Target:
    """A HOST target for a word that names a host (user and port kept out)."""
    if field.known is Known.DYNAMIC:
        return Target(TargetKind.HOST, host_of(field.prefix), field.reason or "dynamic word")
    return Target(TargetKind.HOST, host_of(field.values[0]) if field.values else "")
