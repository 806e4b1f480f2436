"""The git index, read without starting git: which files git itself can give back as they are.

Reading is safe in any repository: no configuration is read, no filter, hook or monitor runs. Versions 2 to 4; what cannot be read is answered
with "nothing is known", so files are copied that git would have given back, never the other way round.
"""

from __future__ import annotations

import os
import struct

from ..model.value import Value

HEADER = struct.Struct(">4sII")
ENTRY = struct.Struct(">10I20sH")
LARGEST = 64 * 1024 * 1024
EXTENDED = 0x4000
STAGE = 0x3000


class Indexed(Value):
    """One file as the index knows it. blob: the object that holds its contents."""

    blob: str
    size: int
    mtime_ns: int
    inode: int


def git_folder(top: str) -> str:
    """The folder that holds this checkout's index: `<top>/.git`, or where a linked worktree's `.git` file points."""
    place = os.path.join(top, ".git")
    if os.path.isfile(place):
        try:
            with open(place, encoding="utf-8", errors="surrogateescape") as file:
                line = file.read(4096)
        except OSError:
            return place
        if line.startswith("gitdir:"):
            return os.path.join(top, line[7:].strip())
    return place


def read_index(top: str) -> tuple[dict[str, Indexed], int]:
    """The index by path relative to the checkout's top, and its own time (ns); empty when there is none or it cannot be read."""
    try:
        path = os.path.join(git_folder(top), "index")
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST:
                return {}, 0
            data = file.read()
        return _entries(data), status.st_mtime_ns
    except (OSError, ValueError, struct.error, IndexError):
        return {}, 0


def unchanged(known: Indexed, found: os.stat_result, index_ns: int) -> bool:
    """Whether the file on disk is surely what git stored: same size, time and inode, and older than the index itself (git's own test)."""
    return (
        known.size == found.st_size & 0xFFFFFFFF
        and known.mtime_ns == found.st_mtime_ns
        and known.inode == found.st_ino & 0xFFFFFFFF
        and found.st_mtime_ns < index_ns
    )


def _entries(data: bytes) -> dict[str, Indexed]:
    signature, version, count = HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        return {}
    found: dict[str, Indexed] = {}
    at = HEADER.size
    name = b""
    for _ in range(count):
        fields = ENTRY.unpack_from(data, at)
        flags = fields[11]
        start = at + ENTRY.size + (2 if flags & EXTENDED and version >= 3 else 0)
        if version == 4:
            strip, start = _varint(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - strip] + data[start:end]
            following = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            following = at + ((end - at) // 8 + 1) * 8
        if not flags & STAGE and fields[6] >> 12 == 8:  # no conflict, a regular file
            path = name.decode("utf-8", "surrogateescape")
            found[path] = Indexed(fields[10].hex(), fields[9], fields[2] * 1_000_000_000 + fields[3], fields[5])
        at = following
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """git's offset encoding: seven bits a byte, each continuation adds one."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
