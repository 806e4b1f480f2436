"""Secrets leave the trail before anything is hashed: each becomes a placeholder, the same one for the same secret.

The placeholder is keyed (a key of this state directory, never written to the trail), so records correlate without revealing. It is made of
letters, digits and underscores only: inside a path, a URL, a pattern or a shell word it changes no meaning, and a record judged again gives
the verdict it gave. Redacting twice changes nothing. What is found:

- values whose name says so (`DB_PASSWORD=...`, `--token ...`, `"apiKey": "..."`, environment pairs), in texts and in structured data
- `Authorization:` values, `user:password@` in URLs, `curl -u user:password`
- tokens with a known shape (AWS, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, npm, PyPI, Stripe, JWT ...), private key blocks
- long words that look drawn by lot; digests (hexadecimal, `sha256-...`) and paths are not among them

Every detector is guarded by a plain substring test, since compiling a regular expression costs more than a short command may.
"""

from __future__ import annotations

import os
from functools import cache

from ..errors import StorageError
from ..model.refusal import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

PREFIX = "REDACTED_"
KEY_FILE = "redaction.key"
KEY_BYTES = 32

# Parts of a name (split at `_`, `-`, `.` and case changes) that make its value a secret, with the least length of such a value.
SECRET_NAMES = {
    **dict.fromkeys(("password", "passwd", "passphrase", "pgpassword"), 1),
    **dict.fromkeys(("secret", "token", "apikey", "credential", "credentials", "authtoken"), 8),
    "key": 16,
}
NAME_WORDS = ("key", "token", "secret", "passw", "passphrase", "credential")
# In an environment or in metadata the name alone decides, whatever the length.
STRUCTURED = ("env", "metadata", "environment", "headers")

# Each pattern starts only where its first class cannot already be inside a run, or is bounded: no text makes them quadratic.
NAMED = r"""(?ix) (?<![a-z0-9_.\-]) (?P<name> [a-z0-9_.\-]{0,64} (?:passw|passphrase|secret|token|api_?key|credential|key) [a-z0-9_.\-]{0,64} )
            (?P<quote> (?:\\?['"])? ) (?P<between> \s{0,8}[=:]\s{0,8} | [ \t]{1,8} )
            (?P<value> \\"[^"\\\n]*\\" | "[^"\n]*" | '[^'\n]*' | [^\s'";|&<>(){},\\]+ )"""
HEADER = r"(?i)(?P<before>(?:authorization\s{0,8}[:=]\s{0,8}['\"]?(?:[a-z]{1,20}\s{1,8})?|\bbearer\s{1,8}))(?P<value>[a-z0-9._~+/=\-]{6,})"
URL_PASSWORD = r"(?P<before>(?<![a-zA-Z0-9+.\-])[a-zA-Z][a-zA-Z0-9+.\-]{0,20}://[^\s/:@'\"]{0,256}:)(?P<value>[^\s/@'\"]+)(?=@)"
URL_TOKEN = r"(?P<before>(?<![a-zA-Z0-9+.\-])[a-zA-Z][a-zA-Z0-9+.\-]{0,20}://)(?P<value>[^\s/:@'\"]{20,})(?=@)"
USER_PASSWORD = r"(?P<before>(?:^|\s)(?:-u|--user)[= ]?['\"]?[^\s:'\"]+:)(?P<value>[^\s'\"]+)"
PRIVATE_KEY = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|.*\Z)"
LONG_WORD = r"(?<![A-Za-z0-9_+=\-])[A-Za-z0-9_+=\-]{24,}"

# (substring that must occur, the token's shape)
SHAPES = (
    ("AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("ASIA", r"\bASIA[0-9A-Z]{16}\b"),
    ("gh", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    ("glpat-", r"(?<![A-Za-z0-9_\-])glpat-[A-Za-z0-9_\-]{16,}"),
    ("xox", r"(?<![A-Za-z0-9\-])xox[abeprs]-[A-Za-z0-9\-]{10,}"),
    ("AIza", r"(?<![A-Za-z0-9_\-])AIza[A-Za-z0-9_\-]{30,}"),
    ("ya29.", r"(?<![A-Za-z0-9_\-])ya29\.[A-Za-z0-9_\-]{20,}"),
    ("_live_", r"\b[rsp]k_live_[A-Za-z0-9]{10,}"),
    ("npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("pypi-", r"(?<![A-Za-z0-9_\-])pypi-[A-Za-z0-9_\-]{40,}"),
    ("SG.", r"\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    ("hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("dop_v1_", r"\bdop_v1_[a-f0-9]{40,}"),
    ("shpat_", r"\bshpat_[a-fA-F0-9]{32}"),
    ("sk-", r"(?<![A-Za-z0-9_\-])sk-(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{20,}"),
    ("eyJ", r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*"),
)


# Texts in which nothing was found: the names and paths that every record of a process repeats. What is found depends on the text alone.
_clean: set[str] = set()
_CLEAN_MOST, _CLEAN_CHARACTERS = 4_096, 200


class Redactor:
    """Redacts texts and JSON data. `key` keeps placeholders unguessable; with `state` instead it is read from (or made in) that directory."""

    __slots__ = ("_key", "_marks", "_state")

    def __init__(self, state: str = "", *, key: bytes = b"") -> None:
        self._state = state
        self._key = key
        self._marks: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text without its secrets."""
        return self._known(self._found(text))

    def data(self, data: object) -> object:
        """The same JSON data without its secrets. One found anywhere (`--password x9!kd3`) is replaced everywhere, also where no name gives it away."""
        data = self._walk(data, named=False)
        return self._everywhere(data) if self._marks else data

    def _found(self, text: str) -> str:
        if len(text) < 6 or text in _clean:
            return text
        redacted = self._searched(text)
        if redacted == text and len(text) <= _CLEAN_CHARACTERS:
            if len(_clean) >= _CLEAN_MOST:
                _clean.clear()
            _clean.add(text)
        return redacted

    def _searched(self, text: str) -> str:
        low = text.lower()
        if "private key-----" in low:
            text = _compiled(PRIVATE_KEY, dotall=True).sub(self._whole, text)
        for needle, shape in SHAPES:
            if needle in text:
                text = _compiled(shape).sub(self._whole, text)
        if "authorization" in low or "bearer" in low:
            text = _compiled(HEADER).sub(self._after, text)
        if "://" in low and "@" in low:
            text = _compiled(URL_PASSWORD).sub(self._after, text)
            text = _compiled(URL_TOKEN).sub(self._after, text)
        if ":" in low and "-u" in low:
            text = _compiled(USER_PASSWORD).sub(self._after, text)
        if ("=" in low or ":" in low or "--" in low) and any(word in low for word in NAME_WORDS):
            text = _compiled(NAMED).sub(self._named, text)
        if _has_long_word(text):
            text = _compiled(LONG_WORD).sub(self._drawn, text)
        return text

    def _walk(self, data: object, *, named: bool) -> object:
        if isinstance(data, str):
            return self._found(data)
        if isinstance(data, dict):
            return {self._found(name): self._entry(name, item, named=named) for name, item in data.items()}
        if isinstance(data, list | tuple):
            if named and len(data) == 2 and isinstance(data[0], str):
                return [data[0], self._entry(data[0], data[1], named=True)]
            return [self._walk(item, named=named) for item in data]
        return data

    def _entry(self, name: str, item: object, *, named: bool) -> object:
        if named and isinstance(item, str) and item and least_length(name) and not item.startswith(PREFIX) and not is_harmless(item):
            return self._mark(item)
        return self._walk(item, named=named or name in STRUCTURED)

    def _everywhere(self, data: object) -> object:
        if isinstance(data, str):
            return self._known(data)
        if isinstance(data, dict):
            return {name: self._everywhere(item) for name, item in data.items()}
        if isinstance(data, list):
            return [self._everywhere(item) for item in data]
        return data

    def _known(self, text: str) -> str:
        for secret, mark in self._marks.items():
            if secret in text and len(secret) >= 8 and not secret.isalpha():  # a plain word (`postgres`) also names other things
                text = text.replace(secret, mark)
        return text

    def _mark(self, secret: str) -> str:
        # INVARIANT: one secret, one placeholder, wherever and however it was found.
        mark = self._marks.get(secret)
        if mark is None:
            from _blake2 import blake2b

            if not self._key:
                self._key = load_key(self._state)
            tag = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=6).hexdigest()
            mark = self._marks[secret] = PREFIX + tag
        return mark

    def _whole(self, match: re.Match[str]) -> str:
        return self._mark(match[0])

    def _after(self, match: re.Match[str]) -> str:
        value = match["value"]
        if value.startswith((PREFIX, "$")) or value.isdigit():  # `docker run -u 1000:1000`, a port
            return match[0]
        return match["before"] + self._mark(value)

    def _named(self, match: re.Match[str]) -> str:
        name, between, value = match["name"], match["between"], match["value"]
        if not between.strip() and not name.startswith("--"):
            return match[0]  # `token abc` in prose; `--token abc` is an option
        edge = '\\"' if value.startswith('\\"') else value[0] if value[0] in "'\"" else ""
        bare = value[len(edge) : len(value) - len(edge)]
        least = least_length(name)
        if not least or len(bare) < least or bare.startswith(PREFIX) or is_harmless(bare):
            return match[0]
        return f"{name}{match['quote']}{between}{edge}{self._mark(bare)}{edge}"

    def _drawn(self, match: re.Match[str]) -> str:
        word = match[0]
        head, sign, tail = word.partition("=")
        if sign and tail.strip("=") and not looks_drawn(head):  # `name=value` is one word here: only the drawn part goes
            return f"{head}={self._mark(tail)}" if looks_drawn(tail) else word
        return self._mark(word) if looks_drawn(word) else word


def looks_drawn(word: str) -> bool:
    """Whether a word of 24 characters or more looks random: letter cases and digits alternate far more often than in any name."""
    if len(word) < 24 or PREFIX in word or word[:3] == "sha" or word.strip("0123456789abcdefABCDEF-_") == "":
        return False
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in word]
    if not {"d", "u", "l"} <= set(kinds):
        return False
    # A capital before small letters begins a word of a name, so that change counts for nothing. Words drawn by lot: 0.45 of all places on
    # average; CamelCase names: below 0.25.
    changes = sum(1 for pair in _pairs(kinds) if pair[0] != pair[1] and "s" not in pair and pair != ("u", "l"))
    return changes >= 0.32 * (len(word) - 1 - 2 * kinds.count("s"))


def _pairs(items: list[str]) -> zip[tuple[str, str]]:
    return zip(items, items[1:], strict=False)  # noqa: RUF007  # itertools.pairwise would be one more import on the hot path


def load_key(state: str) -> bytes:
    """The placeholder key of this state directory, made on first use. Raises StorageError when it is damaged: old placeholders would not match."""
    path = os.path.join(state, KEY_FILE)
    try:
        key = _read_key(path)
    except FileNotFoundError:
        key = _make_key(path)
    except OSError as error:
        raise explain(error, path) from error
    if len(key) != KEY_BYTES:
        raise StorageError(
            f"`{path}` is damaged ({len(key)} bytes, not {KEY_BYTES})",
            hint=f"remove it: rm {path} (placeholders of old records will no longer match new ones)",
        )
    return key


def _read_key(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return os.read(fd, KEY_BYTES + 1)
    finally:
        os.close(fd)


def _make_key(path: str) -> bytes:
    """Made under a name of its own and linked into place, so that no launcher ever sees half a key and the first one wins."""
    draft = f"{path}.{os.getpid()}"
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, os.urandom(KEY_BYTES))
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(draft)
        return _read_key(path)
    except OSError as error:
        raise explain(error, path) from error


@cache
def _compiled(pattern: str, *, dotall: bool = False) -> re.Pattern[str]:
    import re

    return re.compile(pattern, re.DOTALL if dotall else 0)


@cache
def least_length(name: str) -> int:
    """The least length at which a value under this name is a secret; 0 when the name says nothing."""
    spaced = "".join(" " + c if c.isupper() and i and name[i - 1].islower() else c for i, c in enumerate(name)).lower()
    parts = "".join(c if c.isalnum() else " " for c in spaced).split()
    joined = "".join(parts)
    found = [SECRET_NAMES[part] for part in parts if part in SECRET_NAMES]
    if joined.endswith(("apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey")):
        found.append(8)
    return min(found, default=0)


def is_harmless(value: str) -> bool:
    """References, paths, numbers and words of a yes-or-no kind are no secrets."""
    return value[0] in "$/.~@%{<*" or value.isdigit() or value.lower() in ("true", "false", "none", "null", "yes", "no", "required")


def _has_long_word(text: str) -> bool:
    """Whether a word is long and mixed enough to be worth the expression; a digest in small letters is not."""
    return len(text) >= 24 and any(
        len(word) >= 24 and word.lower() != word != word.upper() and not word.isalpha() for word in text.replace("/", " ").split()
    )
