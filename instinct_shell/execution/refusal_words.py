"""The paths in a command's last words to which the kernel said no: `touch: cannot touch '/etc/x': Read-only file system`."""

from __future__ import annotations

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What libc and the usual runtimes say for EROFS, EACCES, EPERM, EBUSY, EXDEV; the last two mean that a name could not go.
_REFUSALS = (
    "read-only file system", "permission denied", "operation not permitted", "erofs", "eacces", "eperm", "readonly database",
    "unable to open database",
)  # fmt: skip
_BUSY = ("device or resource busy", "resource busy", "invalid cross-device link", "ebusy", "exdev")
# What else a refusal of the jail's may look like: a name that is masked or private, a process or host that is out of reach, a call that is closed.
_OTHERS = (
    "no such file", "enoent", "no such process", "esrch", "not found", "unreachable", "could not resolve", "resolution", "name or service",
    "enotfound", "eai_again", "getaddrinfo", "cannot connect", "can't connect", "could not connect", "failed to connect", "couldn't connect",
    "cannot open", "can't open", "not implemented", "enosys", "not permitted", "no permission", "must be", "are you root", "root privileges",
    "denied", "agent", "failed", "refused", "setuid", "unable to", "invalid argument", "error",
)  # fmt: skip
_QUOTES = "'\"`\u2018\u2019"
_MOST_LINES = 40


_READ_ONLY = ("read-only file system", "erofs")
_NO_NETWORK = ("unreachable", "could not resolve", "resolution", "name or service", "enotfound", "eai_again", "getaddrinfo", "enetunreach")


def read_only(said: str) -> bool:
    """Whether something was to be written where the file system is read-only."""
    small = said.lower()
    return any(words in small for words in _READ_ONLY)


def no_network(said: str) -> bool:
    """Whether a name or a host was out of reach."""
    small = said.lower()
    return any(words in small for words in _NO_NETWORK)


def complains(said: str) -> bool:
    """Whether the words tell of any refusal at all."""
    small = said.lower()
    return any(words in small for words in (*_REFUSALS, *_BUSY, *_OTHERS))


def refused_paths(said: str, cwd: str) -> Iterator[tuple[str, bool]]:
    """(absolute path, whether its name was to go), the last line first."""
    for line in list(reversed(said.splitlines()))[:_MOST_LINES]:
        small = line.lower()
        busy = any(words in small for words in _BUSY)
        if busy or any(words in small for words in _REFUSALS):
            for word in _words(line):
                yield posixpath.normpath(posixpath.join(cwd, word)), busy


def _words(line: str) -> Iterator[str]:
    """What may be a path: quoted text first, then each word, trailing punctuation off."""
    for quote in _QUOTES:
        line = line.replace(quote, "\0")
    quoted = line.split("\0")
    yield from (piece for piece in quoted[1::2] if piece and "\n" not in piece)
    for word in line.replace("\0", " ").split():
        word = word.lstrip("([{<").rstrip(":;,.)]}>")
        if "/" in word or word.startswith("."):
            yield word
