"""How a hook hands an agent's shell call to `instinct-exec`, and how the original text is found again in what the agent reports later."""

from __future__ import annotations

from .instinct_exec import quote


def rewritten(command: str, exec_path: str, session: str) -> str:
    """Shell text that runs `command` under guard, in the same session. INVARIANT: `original` gives `command` back."""
    return f"{_prefix(exec_path)}{f'--session {quote(session)} ' if session else ''}-c {quote_always(command)}"


def original(text: str, exec_path: str) -> str:
    """The command inside text that `rewritten` made with this `exec_path`; any other text unchanged."""
    if not exec_path or not text.startswith(_prefix(exec_path)):
        return text
    rest = text[len(_prefix(exec_path)) :]
    if not rest.startswith("--session "):
        command = unquote(rest[len("-c ") :]) if rest.startswith("-c ") else None
        return text if command is None else command
    rest = rest[len("--session ") :]
    place = rest.find(" -c ")
    while place >= 0:
        session, command = unquote(rest[:place]), unquote(rest[place + len(" -c ") :])
        if session is not None and command is not None and quote(session) == rest[:place]:
            return command
        place = rest.find(" -c ", place + 1)
    return text


def _prefix(exec_path: str) -> str:
    return f"{quote(exec_path)} "


def quote_always(text: str) -> str:
    """The text as one single-quoted word, quotes inside as `'\"'\"'`."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def unquote(word: str) -> str | None:
    """The text of exactly one word that `quote_always` or `quote` made, or Claude's and Codex's quoting; None for any other text."""
    if not word.startswith("'"):
        return word if word and quote(word) == word else None
    if len(word) < 2 or not word.endswith("'"):
        return None
    pieces = word[1:-1].replace("'\"'\"'", "\0").replace("'\\''", "\0")
    return None if "'" in pieces or "\0" in word else pieces.replace("\0", "'")
