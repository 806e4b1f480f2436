"""Reading and checking the audit trail, without changing it."""

from __future__ import annotations

import json
import os

from ..errors import StorageError
from ..model.digest import sha256, sha256_hex
from ..model.record import AuditRecord
from ..model.refusal import explain
from ..model.value import Value
from .chain import GENESIS, Head, Link, link, read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Break(Value):
    """A place where the trail does not hold together. line counts from 1 in its segment, 0 for the segment (or the trail) as a whole."""

    segment: int
    line: int
    why: str


class TrailReport(Value):
    """What checking the whole trail found.

    breaks: not accounted for, the first one first. mended: breaks that a later anchor in the trail acknowledges (a repair by a person, a power
    cut); what they cost stands in the anchor's note. unfinished: bytes after the last whole line: a writer at work or one that was killed.
    """

    records: int = 0
    segments: int = 0
    last: int = 0  # the highest sequence number seen
    breaks: tuple[Break, ...] = ()
    mended: tuple[Break, ...] = ()
    unfinished: int = 0
    altered: tuple[tuple[str, str], ...] = ()  # kept texts that are missing or were changed: their digest, and the SHA-256 of what is there

    @property
    def ok(self) -> bool:
        """Every record is the one that was appended, in its place, and none is missing."""
        return not self.breaks and not self.altered


def examine(directory: str, head: Head | None) -> TrailReport:
    """Check every segment, the end against `head` (None: it is lost), and the kept texts against their notes."""
    return _Examiner(directory, head).report()


def read_records(directory: str, since: int = 1, run: str = "") -> Iterator[AuditRecord]:
    """All records from a segment on, oldest first; what an anchor closed off unreadable is skipped, any other line that cannot be read is a StorageError.

    run: only the records of this run; lines without its name are passed over unread, since reading a whole segment takes a second.
    """
    name = f'"run":"{run}"'.encode() if run else b""
    numbers = [number for number in segments(directory) if number >= since]
    for index, number in enumerate(numbers):
        for line, whole in _lines(_path(directory, number)):
            if not whole:
                break
            if name not in line:
                continue
            try:
                record = read_line(line)
            except StorageError:
                following = numbers[index + 1] if index + 1 < len(numbers) else 0
                if following and _first_is_anchor(_path(directory, following)):
                    break
                raise
            if record.run == run or not run:
                yield record


def segments(directory: str) -> list[int]:
    """The numbers of the segments that are there, in order."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explain(error, directory) from error
    return sorted(int(name[:-6]) for name in names if name.endswith(".jsonl") and name[:-6].isdigit())


class _Examiner:
    def __init__(self, directory: str, head: Head | None) -> None:
        self._directory = directory
        self._head = head
        self._breaks: list[Break] = []
        self._mended: list[Break] = []
        self._records = 0
        self._seq = 0
        self._hash = GENESIS
        self._last = 0
        self._unfinished = 0
        self._head_seen = head is not None and head.count == 0
        self._kept: dict[str, str] = {}

    def report(self) -> TrailReport:
        numbers = segments(self._directory)
        highest = numbers[-1] if numbers else 0
        for number in range(1, highest + 1):
            if number in numbers:
                self._segment(number, final=number == highest)
            else:
                self._broken(number, 0, "the segment is missing")
                self._hash = ""
        self._check_end(highest)
        altered = self._altered()
        return TrailReport(self._records, highest, self._last, tuple(self._breaks), tuple(self._mended), self._unfinished, altered)

    def _segment(self, number: int, *, final: bool) -> None:
        for place, (line, whole) in enumerate(_lines(_path(self._directory, number)), 1):
            if not whole:
                if final:
                    self._unfinished = len(line)
                else:
                    self._broken(number, place, "the line is cut short")
                return
            found = link(line)
            if found is None:
                self._broken(number, place, "the line was changed, or is not one of ours")
                return
            if place == 1 and found.kind == "note" and self._anchored(number, line, found):
                pass
            elif not self._hash and place == 1:
                pass  # an earlier break is already reported: go on from here, to find the others
            elif found.seq != self._seq + 1 or found.prev != self._hash:
                self._broken(number, place, self._why(found))
                return
            self._take(found, line)

    def _take(self, found: Link, line: bytes) -> None:
        self._records += 1
        self._seq = found.seq
        self._hash = found.hash
        self._last = max(self._last, found.seq)
        if self._head is not None and found.seq == self._head.count:
            self._head_seen = found.hash == self._head.hash
        if found.kind == "note":
            body = json.loads(line)["body"]
            if body.get("note") == "kept":
                self._kept[str(body.get("digest"))] = str(body.get("sha256"))

    def _why(self, found: Link) -> str:
        if found.seq > self._seq + 1:
            return f"records {self._seq + 1} to {found.seq - 1} are missing"
        if found.seq <= self._seq:
            return f"record {found.seq} stands where record {self._seq + 1} belongs"
        return f"record {found.seq} does not continue the one before it: one of the two was replaced"

    def _anchored(self, number: int, line: bytes, found: Link) -> bool:
        """Whether this first line closes the segment before it as it stands; then what is broken there is acknowledged."""
        body = json.loads(line)["body"]
        if body.get("note") != "anchor" or body.get("segment") != number - 1:
            return False
        digest = file_digest(_path(self._directory, number - 1))
        if digest != body.get("sha256") or found.prev != digest:
            self._broken(number - 1, 0, "the segment was changed after it had been closed by an anchor")
            return True
        if found.seq != self._seq + 1 and not any(b.segment == number - 1 for b in self._breaks):
            self._broken(number - 1, 0, f"records {self._seq + 1} to {found.seq - 1} are missing")
        broken = body.get("broken", {})
        for known in tuple(self._breaks):
            # Only what still has the bytes that the anchor saw is accounted for.
            path = _path(self._directory, known.segment)
            if known.segment == number - 1 or broken.get(str(known.segment)) == file_digest(path):
                self._breaks.remove(known)
                self._mended.append(known)
        return True

    def _check_end(self, highest: int) -> None:
        if self._head is None:
            self._broken(highest, 0, "the head is lost or damaged: whether records are missing at the end cannot be told")
        elif not self._head_seen and not self._breaks:
            count = self._head.count
            what = (
                f"records {self._last + 1} to {count} are missing"
                if self._last < count
                else f"record {count} is not the one the head names"
            )
            self._broken(highest, 0, f"{what} (the head counts {count})")

    def _altered(self) -> tuple[tuple[str, str], ...]:
        found = []
        for digest, expected in self._kept.items():
            now = file_digest(os.path.join(self._directory, "kept", digest))
            if now != expected:
                found.append((digest, now))
        return tuple(found)

    def _broken(self, segment: int, line: int, why: str) -> None:
        self._breaks.append(Break(segment, line, why))
        self._hash = ""


def file_digest(path: str) -> str:
    """SHA-256 of a file; of nothing when it is missing."""
    total = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                total.update(block)
    except FileNotFoundError:
        return sha256_hex(b"")
    except OSError as error:
        raise explain(error, path) from error
    return total.hexdigest()


def _first_is_anchor(path: str) -> bool:
    for line, whole in _lines(path):
        try:
            return whole and read_line(line).get("note") == "anchor"
        except StorageError:
            return False
    return False


def _lines(path: str) -> Iterator[tuple[bytes, bool]]:
    """The file's lines without their newline, and whether they had one."""
    try:
        with open(path, "rb", buffering=1 << 18) as file:
            for line in file:
                whole = line.endswith(b"\n")
                yield (line[:-1] if whole else line), whole
    except OSError as error:
        raise explain(error, path) from error


def _path(directory: str, segment: int) -> str:
    return os.path.join(directory, f"{segment:06d}.jsonl")
