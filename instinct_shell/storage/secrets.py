"""Secrets in a text that passes by: keys by their shape, private keys, and the values of the workspace's own `.env` files.

Narrower than the redaction of the trail: a tool's output and a file's content must stay what they are when nothing is surely secret in them, so
`password = "hunter2"` in a test is none, and a key that says that it is an example is none either.
"""

from __future__ import annotations

import os
import re
import stat
from functools import cache

from ..model.value import Value
from .redact import PRIVATE_KEY, SHAPES, URL_PASSWORD, is_harmless, least_length, looks_drawn

LARGEST_FILE = 256 * 1024
MOST_FILES = 64
LEAST_VALUE = 8
_SKIPPED = frozenset("node_modules .git .venv venv env dist build target vendor __pycache__ .next .tox .cache coverage".split())
_SAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_ENTRY = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*$")
_EXAMPLES = ("example", "xxxx", "your", "dummy", "placeholder", "redacted", "fake", "00000000", "123456789", "abcdefgh", "changeme", "....")
_LABELS = {
    "AKIA": "an AWS key", "ASIA": "an AWS key", "gh": "a GitHub token", "github_pat_": "a GitHub token", "glpat-": "a GitLab token", "xox": "a Slack token",
    "AIza": "a Google key", "ya29.": "a Google token", "_live_": "a live Stripe key", "npm_": "an npm token", "pypi-": "a PyPI token", "SG.": "a SendGrid key",
    "hf_": "a Hugging Face token", "dop_v1_": "a DigitalOcean token", "shpat_": "a Shopify token", "sk-": "an API key", "eyJ": "a signed token (JWT)",
}  # fmt: skip


class Found(Value):
    """A secret: where it stands (characters) and in which line from 1, what it is. `text` is the secret itself: never shown, never recorded."""

    start: int
    end: int
    line: int
    what: str
    text: str


def find(text: str, workspace: str) -> tuple[Found, ...]:
    """The secrets of a text, in order, none overlapping another."""
    spans: list[tuple[int, int, str]] = []
    if "PRIVATE KEY-----" in text:
        spans += [
            (*match.span(), "a private key") for match in _compiled(PRIVATE_KEY).finditer(text) if "\n" in match[0] or "\\n" in match[0]
        ]
    for needle, shape in SHAPES:
        if needle in text:
            label = _LABELS.get(needle, "a key")
            spans += [(*match.span(), label) for match in _compiled(shape).finditer(text) if not _is_example(match[0])]
    for value, label in env_values(workspace).items():
        at = text.find(value)
        while at >= 0:
            if _stands_alone(text, at, at + len(value)):
                spans.append((at, at + len(value), label))
            at = text.find(value, at + len(value))
    found: list[Found] = []
    line = 1
    counted = end = 0
    for start, stop, what in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < end:
            continue
        line += text.count("\n", counted, start)
        counted, end = start, stop
        found.append(Found(start, stop, line, what, text[start:stop]))
    return tuple(found)


def redacted(text: str, found: tuple[Found, ...]) -> str:
    """The text with a word in the place of each secret."""
    parts, at = [], 0
    for each in found:
        parts += [text[at : each.start], f"<redacted: {each.what}>"]
        at = each.end
    return "".join((*parts, text[at:]))


# ---------------------------------------------------------------- .env files


def env_values(workspace: str) -> dict[str, str]:
    """The secret values of the workspace's `.env` files, and what to call each. Names and counts of files bound it; what cannot be read is left out."""
    found: dict[str, str] = {}
    for path in _env_files(workspace):
        for line in _text(path).splitlines():
            match = _ENTRY.match(line)
            if match is None:
                continue
            name, value = match[1], _bare(match[2])
            password = _compiled(URL_PASSWORD).search(value)
            if password is not None:
                value = password["value"]
            if _is_secret(name, value, named=password is not None):
                found.setdefault(value, f"the value of {name} in {os.path.relpath(path, workspace)}")
    return found


def _env_files(workspace: str) -> list[str]:
    found: list[str] = []
    level = [workspace]
    for depth in range(3):
        following: list[str] = []
        for folder in level:
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            if depth < 2 and entry.name not in _SKIPPED and len(following) < 200:
                                following.append(entry.path)
                        elif _is_env_file(entry.name) and len(found) < MOST_FILES:
                            found.append(entry.path)
            except OSError:
                continue
        level = following
    return sorted(found)


def _is_env_file(name: str) -> bool:
    return (name == ".env" or name.startswith(".env.") or name.endswith(".env")) and not name.endswith(_SAMPLES)


def _text(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with open(fd, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(LARGEST_FILE) if stat.S_ISREG(os.fstat(fd).st_mode) else ""


def _bare(value: str) -> str:
    """The value without its quotes and without a comment behind it."""
    if value[:1] in ("'", '"') and value[0] in value[1:]:
        return value[1 : value.index(value[0], 1)]
    return value.partition(" #")[0].strip()


def _is_secret(name: str, value: str, *, named: bool) -> bool:
    if len(value) < LEAST_VALUE or is_harmless(value) or _is_example(value):
        return False
    if named or least_length(name) or looks_drawn(value):
        return not value.isalpha() or len(value) >= 12
    plain = "://" in value or any(c in value for c in " /,@") or value.replace(".", "").replace("-", "").isdigit()
    return len(value) >= 16 and not plain and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_example(text: str) -> bool:
    low = text.lower()
    return any(word in low for word in _EXAMPLES) or len(set(text)) < 6


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether it is not a part of a longer word, as `postgres12` would be of `postgres123`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (after.isalnum() and text[end - 1].isalnum())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
