"""Quick looks at the disk and at /proc: each command waits for some hundred of them."""

from __future__ import annotations

import os
from functools import cache

_MOST_ENTRIES = 1_000  # in a longer folder, looking for each name is quicker than listing it


def beginning(path: str, most: int = 4096) -> bytes:
    """The first bytes of a file, at most this many; a text stream takes twice the calls. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        return os.read(fd, most)
    finally:
        os.close(fd)


def possible(folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the relative names that may be there, in their order: one listing of the folder rules out the others. Whoever asks looks at each of them.

    INVARIANT: what exists is never left out: not where the folder cannot be listed, and not where its file system takes `.GIT` for `.git`.
    """
    wanted = _by_first(names)
    found: set[int] = set()
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count == _MOST_ENTRIES:
                    return names
                found.update(wanted.get(entry.name.casefold(), ()))
    except OSError:
        return names
    return tuple(names[place] for place in sorted(found))


@cache
def _by_first(names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """The places of the names that begin with this folder or file."""
    first: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        first.setdefault(name.partition("/")[0].casefold(), []).append(place)
    return {name: tuple(places) for name, places in first.items()}
