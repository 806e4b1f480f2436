"""What a process that waits for an answer is about to run, read from its memory.

Nothing read here can be relied on: another thread, or a process that shares the memory, may change it before the kernel reads it again. So it may
lead to a refusal, and to nothing that the jail would not grant anyway.
"""

from __future__ import annotations

import os
import struct

from ..model.execs import ExecRequest
from .jail import syscalls

_PIECE = 4096
_MOST_PATH = 4096
_MOST_BYTES = 4 << 20  # argv and environment together; the kernel itself takes a quarter of the stack limit, usually 2 MB
_MOST_WORDS = 1 << 18
_SPAN = 1 << 18  # words that lie as close together as this are read at once
_AT_EMPTY_PATH = 0x1000
_SELF = (b"/proc/self/fd/", b"/proc/thread-self/fd/", b"/dev/fd/")


class Unreadable(Exception):
    """The memory cannot be read, or holds more than any exec takes."""


class Tracee:
    """One waiting process. `pid` is of the waiting thread. arguments: the six of the call; at: it is execveat. Raises Unreadable."""

    def __init__(self, pid: int, arguments: tuple[int, ...], *, at: bool) -> None:
        self.pid = pid
        self._folder = arguments[0] if at else None
        self._path, self._argv, self._envp = arguments[1:4] if at else arguments[:3]
        self._empty = at and bool(arguments[4] & _AT_EMPTY_PATH)
        self._left = _MOST_BYTES
        try:
            self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            # Of a process that hides (ssh-agent, gpg-agent) the file is root's; who owns the jail's user namespace may read the memory all the same.
            self._memory = -1
            if not self._read(self._path, 1):
                raise Unreadable("its memory is closed to us") from None
        except OSError as problem:
            raise Unreadable(f"its memory is closed to us ({problem.strerror})") from None

    def close(self) -> None:
        if self._memory >= 0:
            os.close(self._memory)

    def path(self) -> bytes:
        """The path as it was given; of a descriptor, what that leads to."""
        path = self._text(self._path, _MOST_PATH)
        if not path and self._empty:
            return self._link(f"fd/{_signed(self._folder)}")
        if not path.startswith((b"/proc/", b"/dev/")):
            return path
        if path in (b"/proc/self/exe", b"/proc/thread-self/exe"):
            return self._link("exe")
        for prefix in _SELF:
            if path.startswith(prefix):
                return self._link(f"fd/{os.fsdecode(path[len(prefix) :])}")
        return path

    def leads_to(self, path: bytes) -> bytes:
        """The name that a link outside the system's folders leads to; b"" for anything else."""
        full = path if path.startswith(b"/") else self._base() + b"/" + path
        try:
            return os.readlink(b"/proc/%d/root" % self.pid + full)
        except (OSError, ValueError):
            return b""

    def exists(self, path: bytes) -> bool:
        """Whether there is anything of this name for the process."""
        full = path if path.startswith(b"/") else self._base() + b"/" + path
        try:
            os.lstat(b"/proc/%d/root" % self.pid + full)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError):
            return True  # better to ask once too often
        return True

    def words(self) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """argv and environment."""
        return self._strings(self._argv), self._strings(self._envp)

    def caller(self) -> bytes:
        """The program that the process is now. Raises Unreadable."""
        return self._link("exe")

    def request(self, path: bytes, argv: tuple[bytes, ...], env: tuple[bytes, ...], caller: bytes) -> ExecRequest:
        """The whole question."""
        full = os.fsdecode(os.path.normpath(path if path.startswith(b"/") else self._base() + b"/" + path))
        pairs = (os.fsdecode(entry).partition("=") for entry in env)
        return ExecRequest(
            program=full,
            argv=tuple(map(os.fsdecode, argv)),
            cwd=os.fsdecode(self.folder()),
            env=tuple((name, value) for name, equals, value in pairs if equals and name),
            caller=os.fsdecode(caller),
        )

    def folder(self) -> bytes:
        """Where the process stands. Raises Unreadable."""
        return self._link("cwd")

    def _base(self) -> bytes:
        """What a relative path starts from."""
        if self._folder is None or _signed(self._folder) == -100:  # AT_FDCWD
            return self.folder()
        return self._link(f"fd/{_signed(self._folder)}")

    def _link(self, name: str) -> bytes:
        try:
            return os.readlink(os.fsencode(f"/proc/{self.pid}/{name}"))
        except (OSError, ValueError) as problem:
            raise Unreadable(f"`{name}` of the process cannot be read ({getattr(problem, 'strerror', problem)})") from None

    def _read(self, address: int, size: int) -> bytes:
        """Up to `size` bytes; less where the memory ends."""
        if self._memory < 0:
            return syscalls.read_memory(self.pid, address, size)
        try:
            return os.pread(self._memory, size, address)
        except (OSError, OverflowError, ValueError):
            return b""

    def _text(self, address: int, most: int) -> bytes:
        """The bytes up to a NUL."""
        found = b""
        while len(found) <= most:
            piece = self._read(address + len(found), _PIECE - (address + len(found)) % _PIECE)
            if not piece:
                raise Unreadable("its memory ends in the middle of a word")
            head, nul, _ = piece.partition(b"\0")
            found += head
            if nul:
                return found
        raise Unreadable("a word without an end")

    def _strings(self, address: int) -> tuple[bytes, ...]:
        if not address:
            return ()
        pointers = self._pointers(address)
        if not pointers:
            return ()
        low = min(pointers)
        block = self._read(low, max(pointers) - low + _PIECE) if max(pointers) - low < _SPAN else b""
        found = []
        for pointer in pointers:
            start = pointer - low
            end = block.find(b"\0", start) if start < len(block) else -1
            word = block[start:end] if end >= 0 else self._text(pointer, _MOST_BYTES)
            self._left -= len(word) + 1
            if self._left < 0:
                raise Unreadable("more words than any exec takes")
            found.append(word)
        return tuple(found)

    def _pointers(self, address: int) -> list[int]:
        found: list[int] = []
        size = struct.calcsize("@P")
        while len(found) < _MOST_WORDS:
            at = address + size * len(found)
            piece = self._read(at, max(size, _PIECE - at % _PIECE))
            values = struct.unpack(f"@{len(piece) // size}P", piece[: len(piece) // size * size])
            if not values:
                raise Unreadable("its memory ends in the middle of the words")
            for value in values:
                if not value:
                    return found
                found.append(value)
        raise Unreadable("more words than any exec takes")


def _signed(number: int | None) -> int:
    """A descriptor as the kernel takes it: the low half, with its sign."""
    low = (number or 0) & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
