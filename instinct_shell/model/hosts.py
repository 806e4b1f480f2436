"""Network allow-lists: which host and port an entry names, and which addresses are reached only when an entry names that very address.

An entry is a name (`example.com`), all names below one (`*.example.com`), every name (`*`), an address (`10.0.0.5`, `[::1]`) or a network
(`10.0.0.0/8`), each with an optional `:PORT` or `:*`; without one the web's ports are meant.

INVARIANT: a name leads to public addresses only. Whatever it resolves to, a private address is reached when an entry names the address itself, so
that nobody who answers for a name (rebinding, a wildcard) decides about this machine and its neighbours.
"""

from __future__ import annotations

from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv6Address

    Address = IPv4Address | IPv6Address

OPEN, ALLOWLIST, NONE = "host", "allowlist", "none"  # JailSpec.network
REGISTRIES = "@package-registries"  # the entry that stands for whatever index this machine's package managers are configured for
PROXY_PORT = 18128  # of the proxy, on the loopback interface of a jail's own network; fixed, so that a ready-made plan can name it
WEB_PORTS = (80, 443)
_ANY_PORT = -1
# Services of the machine's own cloud, which tell credentials to whoever asks: only an entry of exactly this address reaches one, no network does.
_METADATA = frozenset("169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:ec2::23".split())
_LOOPBACK = ((4, 0x7F000001, 0x7F000001), (6, 1, 1))
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


class HostRule(Value):
    """One entry. host: a name, `*.name` or `*`; "" for addresses. port: 0 the web's ports, -1 any. addresses: (4 or 6, first, last) as numbers."""

    host: str = ""
    port: int = 0
    addresses: tuple[tuple[int, int, int], ...] = ()

    def at(self, port: int) -> bool:
        """Whether the entry speaks of this port."""
        return self.port == _ANY_PORT or (port in WEB_PORTS if self.port == 0 else port == self.port)

    def names(self, host: str) -> bool:
        """Whether the entry names this host, a name as `normal_host` gives it."""
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host == "*" or self.host == host != ""

    def covers(self, address: Address) -> bool:
        """Whether the entry names this address, or a network that holds it."""
        number, exact = int(address), str(address) in _METADATA
        return any(version == address.version and first <= number <= last and (first == last or not exact) for version, first, last in self.addresses)


def parse_rule(text: str) -> HostRule:
    """One entry of an allow-list. Raises ValueError with the reason, in words."""
    if "://" in text:
        raise ValueError("write the host alone, not an address of a page")
    host, port_text = text, ""
    if text.startswith("["):
        host, bracket, port_text = text[1:].partition("]")
        if not bracket or (port_text and not port_text.startswith(":")):
            raise ValueError("an IPv6 address is written `[::1]:443`")
        host, port_text = _checked_v6(host), port_text[1:]
        if text.endswith(":"):
            raise ValueError("the port is missing after `:`")
    elif text.count(":") == 1:
        host, _, port_text = text.partition(":")
        if not port_text:
            raise ValueError("the port is missing after `:`")
    port = _port(port_text)
    host = host.lower().removesuffix(".")
    if ":" in host or "/" in host or host.rpartition(".")[2].isdigit():
        return HostRule("", port, (_network(host),))
    if host == "localhost":
        return HostRule("", port, _LOOPBACK)
    name = host.removeprefix("*.")
    if host != "*" and not is_name(name):
        raise ValueError("it is neither a host name, nor an address, nor a network; names beyond ASCII are written as `xn--...`")
    return HostRule(host, port)


def _checked_v6(host: str) -> str:
    if ":" not in host:
        raise ValueError("brackets are for IPv6 addresses")
    return host


def _port(text: str) -> int:
    if text == "*":
        return _ANY_PORT
    if not text:
        return 0
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 65535:
        raise ValueError(f"`{text[:10]}` is no port: 1 to 65535, or `*`")
    return int(text)


def _network(text: str) -> tuple[int, int, int]:
    import ipaddress

    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise ValueError(f"`{text[:50]}` is no address, and no network whose other bits are 0") from None
    return network.version, int(network.network_address), int(network.broadcast_address)


def is_name(host: str) -> bool:
    """Whether this can be the name of a host: letters, digits, `-` and `_` between dots, and no number at its end."""
    labels = host.split(".")
    return (
        0 < len(host) <= 253
        and _NAME_CHARACTERS.issuperset(host)
        and all(0 < len(label) <= 63 and not label.startswith("-") and not label.endswith("-") for label in labels)
        and not labels[-1].isdigit()
    )


def normal_host(text: str) -> str:
    """A host as a client writes it (a name, an address, an IPv6 address in brackets), in one spelling; "" when it is none."""
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    host = host.lower().removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"  # by RFC 6761, whatever a resolver says
    address = parse_address(host)
    if address is not None:
        return str(address)
    return host if is_name(host) else ""


def parse_address(text: str) -> Address | None:
    """The address, an IPv4 one that is wrapped in IPv6 as itself; None when the text is none."""
    import ipaddress

    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.version == 6 and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """Whether the address belongs to the internet at large: no private, loopback, link-local, shared, multicast, reserved or metadata one,
    also when it is carried inside an IPv6 address (NAT64, 6to4)."""
    if address.version == 4:
        return address.is_global and not address.is_multicast and str(address) not in _METADATA
    number = int(address)
    if number >> 32 == 0x64FF9B << 64:  # 64:ff9b::/96, what an IPv6-only network makes of an IPv4 address
        return is_public(_v4(number & 0xFFFFFFFF))
    if number >> 112 == 0x2002:
        return is_public(_v4(number >> 80 & 0xFFFFFFFF))
    return number >> 125 == 1 and address.is_global  # 2000::/3 is all that is handed out


def _v4(number: int) -> Address:
    import ipaddress

    return ipaddress.IPv4Address(number)


class AllowList:
    """The entries of one allow-list, read once."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.rules = tuple(parse_rule(entry) for entry in entries)

    def names(self, host: str, port: int) -> bool:
        """Whether an entry lets this host and port through, as far as can be said before a name is resolved. host: as `normal_host` gives it."""
        address = parse_address(host)
        if address is None:
            return any(rule.at(port) and rule.names(host) for rule in self.rules)
        return self.reaches(address, port) and (
            self._names_address(address, port) or any(rule.at(port) and rule.host == "*" for rule in self.rules)
        )

    def reaches(self, address: Address, port: int) -> bool:
        """Whether a connection may go to this very address: it is public, or an entry names it."""
        return is_public(address) or self._names_address(address, port)

    def _names_address(self, address: Address, port: int) -> bool:
        return any(rule.at(port) and rule.covers(address) for rule in self.rules)

    def local_ports(self) -> tuple[int, ...]:
        """Ports of this machine's loopback interface that entries name one by one."""
        found = [rule.port for rule in self.rules if rule.port > 0 and _LOOPBACK[0] in rule.addresses]
        return tuple(port for port in dict.fromkeys(found) if port != PROXY_PORT)
