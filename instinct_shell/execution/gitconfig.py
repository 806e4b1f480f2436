"""git's own notes in `.git/config`: opened for a command that was judged to make them, compared afterwards, and put back when more was changed.

Tracking, remotes and renames of branches are written by git itself into a file that can also make git run programs. A mount cannot tell keys apart,
so the command that was judged to need it gets the file writable, and only the keys below, and those that the judgement saw, may come out different.
"""

from __future__ import annotations

import os
import re
import stat
from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.jailspec import JailSpec, RunResult
    from ..model.ports import Jail

# What git writes by its own verbs, and none of which makes it run anything. Sections and names in small letters.
VETTED = (
    "branch.*.remote branch.*.merge branch.*.rebase branch.*.pushremote branch.*.description branch.*.gh-merge-base branch.*.vscode-merge-base "
    "remote.*.url remote.*.pushurl remote.*.fetch remote.*.push remote.*.tagopt remote.*.prune remote.*.mirror remote.*.gh-resolved remote.pushdefault "
    "user.name user.email submodule.*.url submodule.*.active submodule.*.branch submodule.active submodule.recurse "
    "core.repositoryformatversion core.filemode core.bare core.ignorecase core.logallrefupdates core.symlinks core.precomposeunicode "
    "core.sparsecheckout core.sparsecheckoutcone extensions.worktreeconfig extensions.partialclone extensions.objectformat "
    "push.default push.autosetupremote pull.rebase pull.ff fetch.prune lfs.repositoryformatversion husky.installed"
).split()
_URL = re.compile(r"ext::|-|.*[\n\0]", re.DOTALL)  # a transport that is a command, an option, more than one line
_HEAD = re.compile(r'\[\s*([-.A-Za-z0-9]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_NAME = re.compile(r"([A-Za-z][-A-Za-z0-9]*)\s*(=?)\s*(.*)", re.DOTALL)
_MOST_BYTES = 1 << 20


class Vetting:
    """The Jail port, around another: looks after the files that a spec opens for vetted keys. announce: one line for the caller's stderr."""

    def __init__(self, jail: Jail, announce: Callable[[str], None]) -> None:
        self._jail = jail
        self._announce = announce

    def level(self) -> str:
        """That of the jail inside."""
        return self._jail.level()

    def run(self, spec: JailSpec) -> RunResult:
        """Runs it; what was put back is told and stands in the result."""
        before = {path: _read(path) for path in spec.vetted}
        try:
            result = self._jail.run(spec)
        finally:
            notes = tuple(note for path, content in before.items() if (note := _settle(path, content, spec.vetted_keys)))
        for note in notes:
            self._announce(note)
        return result.replace(put_back=notes) if notes else result


def _settle(path: str, before: bytes | None, also: tuple[str, ...]) -> str:
    after = _read(path)
    if after == before:
        return ""
    wrong = unvetted(before or b"", after, also)
    if not wrong:
        return ""
    _put_back(path, before)
    return f"`{path}` was put back: `{wrong[0]}` was changed in it, which nothing was judged to do"


def unvetted(before: bytes, after: bytes | None, also: tuple[str, ...] = ()) -> list[str]:
    """The keys that differ and may not. also: further keys that may; `*` for any. A file that is gone, or no configuration, differs in all."""
    if "*" in also:
        return []
    old, new = settings(before), settings(after) if after is not None else None
    if old is None or new is None:
        return ["(all)"]
    changed = [pair for pair in new if pair not in old] + [pair for pair in old if pair not in new]
    return [key for key, value in changed if not _allowed(key, value, also)]


def _allowed(key: str, value: str, also: tuple[str, ...]) -> bool:
    if key.lower() in also:
        return True
    return any(fnmatchcase(key, pattern) for pattern in VETTED) and not (key.endswith("url") and _URL.match(value))


def settings(content: bytes) -> list[tuple[str, str]] | None:
    """(key, value) of each line, as git reads it: section and name in small letters, the part between as it is. None for what is no configuration."""
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    found: list[tuple[str, str]] = []
    section = ""
    lines = iter(text.split("\n"))
    for line in lines:
        rest = line.strip()
        while _continues(rest):
            rest = rest[:-1] + next(lines, "").rstrip()
        if head := _HEAD.match(rest):
            inner = f".{head[2]}" if head[2] is not None else ""
            section = head[1].lower() + re.sub(r"\\(.)", r"\1", inner)
            rest = rest[head.end() :].strip()
        if not rest or rest[0] in "#;":
            continue
        named = _NAME.fullmatch(rest)
        if named is None or not section:
            return None
        found.append((f"{section}.{named[1].lower()}", named[3].strip() if named[2] else "true"))
    return found


def _continues(line: str) -> bool:
    """Whether a value goes on in the next line. A comment never does, whatever it ends with: what follows it is read."""
    quoted = False
    letters = iter(line)
    for letter in letters:
        if letter == "\\":
            if next(letters, "") == "":
                return True
        elif letter == '"':
            quoted = not quoted
        elif letter in "#;" and not quoted:
            return False
    return False


def _read(path: str) -> bytes | None:
    """The content of a regular file; None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        return file.read(_MOST_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else None


def _put_back(path: str, content: bytes | None) -> None:
    """By one rename in the folder that was opened, whatever stands under the name now."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    name = os.path.basename(path)
    try:
        if content is None:
            os.unlink(name, dir_fd=folder)
            return
        draft = f"{name}.instinct-{os.urandom(4).hex()}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
