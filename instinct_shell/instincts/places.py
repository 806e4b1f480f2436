"""Which environment a text points at: production, a throw-away one of this machine, or nobody can tell.

A place is a URL, a host, a database, a context, a variable's name (`$PROD_URL`) or several of them in one text (`DB_HOST=... RAILS_ENV=...`).
It is taken apart into names (host, its labels, user, database, query values), and the profile's patterns are compared with each of them
whole, `_` read as `-`: so `prod-*` finds `prod_db` and `prod-1.example.com`, and does not find `products.example.com`.
"""

from __future__ import annotations

import functools

from .patterns import any_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.profile import Profile

# Values of these say how a program is built or logs, not where it connects.
_MODES = frozenset("NODE_ENV BUILD_ENV VITE_MODE FLASK_ENV MODE CONFIGURATION BUILD_TYPE".split())
_FILE_SCHEMES = ("sqlite:", "sqlite3:", "file:", "jdbc:sqlite:", "jdbc:h2:")
_LOCAL = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"))  # noqa: S104  # a name to compare with


def production_name(profile: Profile, text: str) -> str:
    """The name in the text that means production, or ""."""
    if not text:
        return ""
    patterns = _normal(profile.production_patterns)
    return next((name for name in names_in(text) if any_matches(patterns, name.replace("_", "-"))), "")


def development_name(profile: Profile, text: str) -> str:
    """The name that means a throw-away place of this machine, or "": never when something in the text means production."""
    if not text or production_name(profile, text):
        return ""
    for piece in _pieces(text):
        if piece.lower().startswith(_FILE_SCHEMES):
            return piece
    patterns = _normal(profile.development_patterns)
    return next((name for name in _whole_names(text) if any_matches(patterns, name.replace("_", "-"))), "")


def is_local(text: str) -> bool:
    """Whether the text names a host of this machine and no other."""
    hosts = [host for piece in _pieces(text) if (host := _split(piece)[0])]
    return bool(hosts) and all(host in _LOCAL or host.endswith(".localhost") for host in hosts)


@functools.lru_cache(64)
def names_in(text: str) -> tuple[str, ...]:
    """Every name that a text of places holds, lower case, in reading order."""
    found: dict[str, None] = {}
    for name in _whole_names(text):
        found[name] = None
        if "." in name and not name.replace(".", "").isdigit():
            found |= dict.fromkeys(part for part in name.split(".") if part)
    return tuple(found)


def _whole_names(text: str) -> list[str]:
    found: list[str] = []
    for piece in _pieces(text):
        host, rest = _split(piece)
        found += [name for name in (host, *rest) if name]
    return found


def _pieces(text: str) -> list[str]:
    """The places in a text: `NAME=value` gives the value, modes of a build are left out, variables give their names."""
    pieces = []
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            if name in _MODES:
                continue
            word = value
        pieces.append(word.strip("'\";,"))
    return [piece for piece in pieces if piece]


def _split(piece: str) -> tuple[str, list[str]]:
    """(host, other names) of one place, lower case."""
    piece = piece.lower()
    if "$" in piece:
        # `$PROD_URL`, `postgres://$PROD_HOST/app`: a variable's name says what is in it
        names = "".join(c if c.isalnum() or c in "_-." else " " for c in piece).split()
        return "", names
    _, slashes, rest = piece.rpartition("://")
    if not slashes:
        user, at, host = piece.rpartition("@")
        if at and ":" in host:
            host = host.partition(":")[0]  # user@host:path
        return (host, [user]) if at else ("", [part for part in piece.replace(":", "/").replace(",", "/").split("/") if part])
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    user, _, hosts = authority.rpartition("@")
    names = [user.partition(":")[0], *path.split("/"), *(pair.partition("=")[2] for pair in query.split("&"))]
    first, *others = [_without_port(host) for host in hosts.split(",")]
    return first, [*others, *(name for name in names if name)]


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


@functools.lru_cache(16)
def _normal(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern.lower().replace("_", "-") for pattern in patterns)
