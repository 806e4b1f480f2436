"""What a file tool is about to write, seen beside what is there: the facts behind the gates for contents.

Made for one intent. Before and after are worked out once, when the first question comes, and only for a file that the jail would let a command
read. No answer holds text of a file: messages, line numbers and names alone.
"""

from __future__ import annotations

import os
import stat

from ..effects.edits import hunks_of, patched, replaced, replacements
from ..errors import IntentError
from ..model.digest import sha256_hex
from ..model.fact import Answer, QuestionKind
from ..model.intent import Intent, IntentType
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..instincts.ground import Ground

    Secret = tuple[int, str, str]  # line from 1, what it is, the secret itself
    FindSecrets = Callable[[str], list[Secret]]

LARGEST_READ = 16 << 20
LOOKED_AT = 8192  # of a file, to tell text from data
MOST_TEXT = 2 << 20  # above this no parser and no linter looks


class Proposed(Value):
    """A file before and after. was: absent | text | binary | large | other. before, after: the texts; None where they cannot be told.

    misfit: why an edit does not fit what is there, "" when it does.
    """

    path: str
    was: str
    was_bytes: int = 0
    before: str | None = None
    after: str | None = None
    misfit: str = ""


class Contents:
    """Answers the content questions of one intent.

    find_secrets: what is secret in a text. other_session: (path) -> (holder, agent, seconds left) when another session holds the path.
    masked: paths that no linter may see.
    """

    def __init__(
        self,
        intent: Intent,
        ground: Ground,
        *,
        find_secrets: FindSecrets,
        other_session: Callable[[str], tuple[str, str, float] | None],
        masked: Callable[[], tuple[str, ...]],
    ) -> None:
        self._intent = intent
        self._ground = ground
        self._find_secrets = find_secrets
        self._other_session = other_session
        self._masked = masked
        self._proposed: Proposed | None = None

    def answer(self, kind: QuestionKind, subject: str) -> Answer:
        """One answer. Raises OSError for what cannot be looked at; the caller turns it into "no answer"."""
        if kind is QuestionKind.LEASE:
            held = self._other_session(os.path.realpath(subject))
            return _answer(holder=held[0] if held else "", agent=held[1] if held else "", minutes=-(-int(held[2]) // 60) if held else 0)
        if kind is QuestionKind.SECRETS:
            return self._secrets(subject)
        found = self.proposed(subject)
        if kind is QuestionKind.CONTENT:
            size = len(found.after.encode("utf-8", "surrogateescape")) if found.after is not None else 0
            binary = found.after is not None and is_binary(found.after)
            digest = sha256_hex(found.before.encode("utf-8", "surrogateescape")) if found.before is not None else ""
            return _answer(was=found.was, was_bytes=found.was_bytes, bytes=size, binary=binary, misfit=found.misfit, sha256=digest)
        if found.after is None or len(found.after) > MOST_TEXT or is_binary(found.after):
            return _answer(language="", new=[], line=0, tool="", more=0, strange=[])
        if kind is QuestionKind.FILE_SYNTAX:
            from .file_syntax import new_errors

            language, new, line = new_errors(found.path, found.before, found.after, self._ground.workspace)
            return _answer(language=language, new=new, line=line)
        if kind is QuestionKind.LINT:
            from .linters import new_findings

            tool, messages, why = new_findings(found.path, found.before, found.after, self._ground.workspace, self._readable, self._masked)
            if why:
                return Answer(False, (), why)
            return _answer(tool=tool, new=messages[:5], more=max(0, len(messages) - 5))
        from .imports import strange_names

        return _answer(strange=strange_names(found.path, found.before or "", found.after, self._ground.workspace))

    def _readable(self, path: str) -> bool:
        return not (self._ground.secret(os.path.realpath(path)) or self._ground.protected(os.path.realpath(path)))

    def _secrets(self, subject: str) -> Answer:
        """Secrets that come in: those of the text as given, less those that the file holds already."""
        found = self.proposed(subject) if subject else None
        text = found.after if found is not None and found.after is not None else self._intent.content
        known = {secret for *_, secret in self._find_secrets(found.before)} if found is not None and found.before else set()
        shown = [{"line": line, "what": what} for line, what, secret in self._find_secrets(text) if secret not in known]
        return _answer(found=shown[:5], more=max(0, len(shown) - 5))

    def proposed(self, path: str) -> Proposed:
        """Before and after of the path that the intent writes."""
        if self._proposed is None or self._proposed.path != path:
            self._proposed = self._propose(path)
        return self._proposed

    def _propose(self, path: str) -> Proposed:
        real = os.path.realpath(path)
        hidden = any(self._ground.secret(name) or self._ground.protected(name) for name in (path, real))
        was, size, before = ("other", 0, None) if hidden else look(real)
        if self._intent.type is IntentType.FILE_WRITE:
            return Proposed(path, was, size, before, self._intent.content)
        if self._intent.type is not IntentType.FILE_EDIT or before is None:
            return Proposed(path, was, size, before)
        try:
            after = edited(before, self._intent)
        except IntentError as error:
            return Proposed(path, was, size, before, None, error.message)
        return Proposed(path, was, size, before, after)


def edited(before: str, intent: Intent) -> str | None:
    """The text after the intent's edits; None when the intent does not say what they replace. Raises Misfit and IntentError."""
    if intent.meta("edits") is not None:
        return replaced(before, replacements(intent.meta("edits")))
    if intent.meta("hunks") is not None:
        return patched(before, hunks_of(intent.meta("hunks")))
    return None


def look(path: str) -> tuple[str, int, str | None]:
    """(what is there, its bytes, its text when it is text): never waits, never follows a last link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return "absent", 0, ""
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return "other", 0, None
        if found.st_size > LARGEST_READ:
            return "large", found.st_size, None
        data = file.read(LARGEST_READ + 1)
    if not is_text(data):
        return "binary", len(data), None
    return "text", len(data), data.decode("utf-8", "surrogateescape")


def is_text(data: bytes) -> bool:
    """Whether bytes are text as a line editor understands it: no NUL, and mostly UTF-8 or an older 8-bit encoding."""
    head = data[:LOOKED_AT]
    if b"\0" in head:
        return False  # UTF-16 too: an edit by bytes would break it
    controls = sum(1 for byte in head if byte < 32 and byte not in b"\t\n\r\f\x1b\b")
    return controls * 20 <= len(head)


def is_binary(text: str) -> bool:
    """The same for a text that came as characters; it holds no NUL."""
    return not is_text(text[:LOOKED_AT].encode("utf-8", "surrogateescape"))


def _answer(**values: object) -> Answer:
    return Answer(True, tuple(values.items()))
