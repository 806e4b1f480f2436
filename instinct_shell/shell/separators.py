"""Splitting a value at the field separators, IFS."""

from __future__ import annotations

_WHITE = " \t\n"
_SPACES = {ord("\t"): " ", ord("\n"): " "}


def split_ifs(text: str, ifs: str) -> tuple[list[str], bool, bool]:
    """The pieces of an unquoted value, and whether it begins and ends with a separator."""
    if not text:
        return [], False, False
    if not ifs:
        return [text], False, False
    if ifs == _WHITE:
        pieces = [piece for piece in text.translate(_SPACES).split(" ") if piece]
        return pieces, text[0] in ifs, text[-1] in ifs
    white = "".join(c for c in ifs if c in _WHITE)
    hard = "".join(c for c in ifs if c not in _WHITE)
    stripped = text.strip(white) if white else text
    pieces = []
    run = ""
    at = 0
    while at < len(stripped):
        char = stripped[at]
        if char in hard or char in white:
            end = at
            seen = False
            while end < len(stripped) and (stripped[end] in white or (stripped[end] in hard and not seen)):
                seen = seen or stripped[end] in hard
                end += 1
            pieces.append(run)
            run = ""
            at = end
            continue
        run += char
        at += 1
    if run:
        pieces.append(run)
    return pieces, text[0] in ifs, text[-1] in ifs
