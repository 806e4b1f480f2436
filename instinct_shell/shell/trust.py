"""Which texts bashlex may be believed on, and the limits that come before any parser.

bashlex accepts and silently mis-reads a dozen families of valid bash and can hang (docs/decisions/0003-parsers.md). Outside the constructs
named here it agreed with mvdan/sh on every command compared.
"""

from __future__ import annotations

import re
from functools import cache

from ..errors import IntentError, LimitError

MAX_BYTES = 64 * 1024
MAX_WORDS = 2_000
MAX_NESTING = 50
_PLAIN = frozenset("'\"\\#<")
_BASHLEX_CHARACTERS = 6_000  # above, bashlex comes near the parsers' deadline


@cache
def _risky() -> re.Pattern[str]:
    """Heredocs, backticks, `$'..'`, `$".."`, arithmetic, `{fd}>`, comments glued to an operator, CR; extglob and arrays; what bashlex rejects."""
    return re.compile(r"""<<|`|\$['"\[]|\(\(|\[\[|\{[A-Za-z0-9_]+\}[<>]|[;&|(]\#|\r|[?*+@!]\(|\w\+?=\(|\w\[[^]]*\]\+?=|\\\n""")


def check_limits(text: str) -> None:
    """Raises IntentError for what is no text (a NUL, a lone surrogate), LimitError (naming the limit) for too much text or nesting."""
    if "\0" in text:
        raise IntentError("the command holds a NUL byte, which no shell can be given", hint="remove the NUL byte")
    try:
        size = len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise IntentError("the command holds half a character (a lone surrogate)", hint="send the command as UTF-8") from None
    if size > MAX_BYTES:
        raise LimitError(f"the command is longer than {MAX_BYTES // 1024} KB", hint="write the data to a file and name the file")
    if len(text) > 2 * MAX_WORDS and _PLAIN.isdisjoint(text) and len(text.split()) > MAX_WORDS:
        # without quotes and heredocs each piece is a word; the parsers count the words of all other texts
        raise LimitError(f"the command has more than {MAX_WORDS:,} words", hint="split it, or put the data into a file")
    if text.count("(") + text.count("{") > MAX_NESTING and nesting(text) > MAX_NESTING:
        raise LimitError(f"the command is nested deeper than {MAX_NESTING} levels", hint="split the command into simpler ones")


def trusted(text: str) -> bool:
    """Whether bashlex reads this text as bash does. False sends it to the reference parser."""
    if len(text) > _BASHLEX_CHARACTERS or _risky().search(text):
        return False
    if "$" not in text and "(" not in text:
        return True
    if re.search(r"\$\{[^}]*[$`'\"{\\]|\$\{[^}]*[<>]\(|\$\{[^}]*$|\$\{ ", text):  # expansions and quotes inside `${..}`: bashlex cuts it at the first `}`
        return False
    if "\n" in text and re.search(r"[$<>]\(", text):  # only the first line of a substitution is parsed
        return False
    if "'" in text and re.search(r"'[^\n]*[$<>]\(", text):  # `'a'$(b)'c'` is taken for one quoted string
        return False
    if re.search(r"\$\([^)]*(?:&|\|\|)", text):  # `$(a && b)` is rejected
        return False
    return not re.search(r"'[^'\n]*\$\{", text)  # `${` in single quotes hangs bashlex


def nesting(text: str) -> int:
    """How deep `(`, `{`, `$(` and `${` nest outside of single quotes and heredoc-like quoting; an estimate that the deadline backs."""
    depth = deepest = 0
    double = False
    at = 0
    for found in re.finditer(r"""\\.|['"(){}]""", text, re.DOTALL):
        if found.start() < at:
            continue
        char = found[0]
        if char == "'" and not double:
            close = text.find("'", found.end())
            if close >= 0:
                at = close + 1
        elif char == '"':
            double = not double
        elif char in "({":
            if not double or text[found.start() - 1 : found.start()] in ("$", "(", "{", "<", ">"):
                depth += 1
                deepest = max(deepest, depth)
        elif char in ")}":
            depth = max(0, depth - 1)
    return deepest
