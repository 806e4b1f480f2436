"""Which package indexes this machine is configured for: what `@package-registries` in a network allow-list means here.

Read from the files of the person's account and of the system alone. A project's `.npmrc` and the variables of whoever starts us could name any host,
and they may only tighten. What no file names is not guessed: a tool's built-in default is put on the list by its name.
"""

from __future__ import annotations

import os
import re

from ..model.hosts import ALLOWLIST, REGISTRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.profile import Profile

_MOST_BYTES = 1 << 18
_MOST_HOSTS = 64
_URL = re.compile(r"(?:sparse\+|registry\+)?(https?)://(?:[^/?#\s@]*@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?(?=[/?#\s\"',|]|$)")
# Per file, the keys whose values are addresses of indexes. pip's continue on indented lines.
_PIP = re.compile(r"^[ \t]*(?:index[-_]url|extra[-_]index[-_]url|index|find[-_]links)[ \t]*[=:](.*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE)
_NPM = re.compile(r"^[ \t]*(?:@[^=\s:]+:)?registry[ \t]*=(.*)", re.MULTILINE)
_TOML = re.compile(r"^[ \t]*(?:registry|index|index-url|extra-index-url|url|default-index)[ \t]*=[ \t]*(\[[^\]]*\]|.*)", re.MULTILINE)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|UV_INDEX_URL|UV_DEFAULT_INDEX|UV_INDEX|UV_EXTRA_INDEX_URL|"
    r"(?:NPM_CONFIG|npm_config)_(?:REGISTRY|registry)|GOPROXY|CARGO_REGISTRIES_[A-Z0-9_]+_INDEX)=(.*)",
    re.MULTILINE,
)
_YARN = re.compile(r"^[ \t]*npmRegistryServer:(.*)", re.MULTILINE)
_FILES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (_PIP, ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "{home}/.config/pip/pip.conf", "{home}/.pip/pip.conf")),
    (_NPM, ("/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc", "{home}/.npmrc", "{home}/.config/pnpm/rc")),
    (_TOML, ("/etc/uv/uv.toml", "{home}/.config/uv/uv.toml", "{home}/.cargo/config.toml", "{home}/.cargo/config")),
    (_YARN, ("{home}/.yarnrc.yml",)),
    (_ASSIGNED, ("/etc/environment", "{home}/.config/go/env")),
)


def account_home() -> str:
    """The home of the account by the user database: a variable could name a folder that a command has filled."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def registries_for(profile: Profile) -> tuple[str, ...]:
    """The entries that `@package-registries` stands for; none where the profile does not say it."""
    wanted = profile.network == ALLOWLIST and REGISTRIES in profile.network_allow
    return package_registries(account_home()) if wanted else ()


def package_registries(home: str) -> tuple[str, ...]:
    """Their hosts as entries of an allow-list, each with its port. home: of the account; "" for none."""
    found: dict[str, None] = {}
    for pattern, places in _FILES:
        for place in places:
            if place.startswith("{home}") and not home.startswith("/"):
                continue
            for entry in _entries(pattern, _text(place.replace("{home}", home.rstrip("/"), 1))):
                found[entry] = None
    return tuple(found)[:_MOST_HOSTS]


def _entries(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    from ..model.hosts import parse_rule

    for value in pattern.findall(text):
        for scheme, host, port in _URL.findall(value):
            entry = f"{host.lower()}:{port or {'http': '80', 'https': '443'}[scheme]}"
            try:
                parse_rule(entry)
            except ValueError:
                continue  # a host that no client could reach either
            yield entry


def _text(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""  # not there, or not for us: it names nothing
