"""The audit trail: one line per record, hash-chained, appended by any number of launchers at once, none lost.

    <state>/audit/head            where the chain ends, in two slots written in turn; its lock makes writers take turns
    <state>/audit/000001.jsonl    segments; a new one begins at 16 MiB
    <state>/audit/torn-*          tails that a crash cut in the middle of a line, kept as they were
    <state>/audit/kept/<digest>   texts that many records refer to (resolved profiles), each vouched for by a record

Every append checks what the head says against what the segment holds. A writer that died after its line and before the head: the line is
adopted. A line cut short: set aside, and a note in the trail says so. Anything else that does not fit (fewer bytes than the head counted,
bytes that do not chain, a last line that was changed) is refused until a person has looked: `instinct audit verify`, `instinct audit repair`.

Durability. A record is in the kernel's hands when `append` returns, so a crash or `kill -9` of ours loses nothing. `durable=True` also waits
for the disk. Otherwise the kernel is told to start writing at once, without waiting; after a power cut the file system's journal decides what
was kept (ext4: all but the last five seconds), and the next append notes what is missing.
"""

from __future__ import annotations

import os

from ..errors import StorageError
from ..model.digest import sha256, sha256_hex
from ..model.record import AuditRecord, RecordKind
from ..model.refusal import explain
from ..model.value import Value
from .chain import SLOT, Head, follows, link, pack, seal, unpack
from .files import append_whole, replace, write_all
from .host import boot_id
from .lock import lock
from .redact import Redactor
from .state import subdirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..model.profile import Profile
    from .verify import TrailReport

SEGMENT_BYTES = 16 * 1024 * 1024
LOOK = "run `instinct audit verify` to see where, then `instinct audit repair` to go on with a new anchor"
_PAGE = 4096  # or a part of one, where pages are larger


def new_run() -> str:
    """A fresh run id: twelve hexadecimal digits from the kernel's generator."""
    return os.urandom(6).hex()


class Repair(Value):
    """What `repair` did: the records counted before the break, the segment that was closed as it stands, and why."""

    count: int
    segment: int
    why: str


class AuditTrail:
    """Appends to and reads from the trail below one state directory. Cheap to make; opens nothing before it is used."""

    def __init__(
        self,
        state: str,
        *,
        profile: Profile | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        later: Callable[[str], None] | None = None,
    ) -> None:
        """profile: kept beside the trail at the first append, so that what it judged can be judged again after it changed.

        later: for a process that lives on: gets the path of each file that it has to `sync` within a tenth of a second.
        """
        self._later = later
        self._state = state
        self._directory = os.path.join(state, "audit")
        self._profile = profile
        self._segment_bytes = segment_bytes
        self._written: str = ""

    # ------------------------------------------------------------ writing

    def append(self, *records: AuditRecord, durable: bool = False) -> None:
        """Write the records down, without their secrets. Raises StorageError; then nothing was added."""
        if self._profile is not None:
            self._keep_profile(self._profile, records[0].at)
            self._profile = None
        self._append(tuple((record, Redactor(self._state).data(dict(record.body))) for record in records), durable=durable)

    def keep(self, digest: str, text: str, at: float) -> None:
        """Keep a text under a digest that records name (a resolved profile), once; a note in the trail vouches for its bytes."""
        path = self._kept(digest)
        if os.path.exists(path):
            return
        data = text.encode("utf-8", "surrogatepass")
        subdirectory(subdirectory(self._state, "audit"), "kept")
        note = {"note": "kept", "digest": digest, "sha256": sha256_hex(data)}
        self._append(((AuditRecord(RecordKind.NOTE, "", at, tuple(note.items())), note),), durable=False)
        replace(path, data)

    def kept(self, digest: str) -> str:
        """The text kept under this digest. Raises StorageError when there is none."""
        path = self._kept(digest)
        try:
            with open(path, encoding="utf-8", errors="surrogatepass") as file:
                return file.read()
        except OSError as error:
            raise explain(error, path) from error

    def _keep_profile(self, profile: Profile, at: float) -> None:
        if not os.path.exists(self._kept(profile.digest)):
            import json

            from ..model.codec import encode

            self.keep(profile.digest, json.dumps(encode(profile)), at)

    def flush(self) -> None:
        """Wait until what this object appended is on disk."""
        if self._written:
            sync(self._written)

    def repair(self, why: str, at: float) -> Repair | None:
        """Close the segment where the trail is broken, as it stands, and go on in a new one; None when nothing is broken.

        The new segment's first record names the closed one's digest, so the broken bytes stay evidence and cannot change any more.
        """
        from .verify import examine

        with _Open(self._directory, make=self._state) as opened:
            try:
                head: Head | None = opened.head()
            except StorageError:
                head = None
            report = examine(self._directory, head)
            if report.ok:
                return None
            if report.breaks:
                broken = {str(b.segment): opened.digest(b.segment) for b in report.breaks}
                count = max(head.count if head else 0, report.last)
                head = self._anchor(opened, Head(report.segments, count=count), why, at, broken)
            repair = Repair(report.records, report.segments, why)
        for digest, now in report.altered:
            body = {"note": "kept", "digest": digest, "sha256": now, "why": why}
            self._append(((AuditRecord(RecordKind.NOTE, "", at, tuple(body.items())), body),), durable=True)
        return repair

    def _append(self, records: tuple[tuple[AuditRecord, object], ...], *, durable: bool) -> int:
        """Write these lines, and whatever note the trail needs before them; returns the last one's sequence number."""
        with _Open(self._directory, make=self._state) as opened:
            head, notes = self._settle(opened, opened.head(), records[0][0].at)
            if head.size >= self._segment_bytes:
                head = opened.save(head.replace(segment=head.segment + 1, size=0, last=0), durable=True)
            fd = opened.segment(head.segment)
            data = b""
            new = head
            for record, body in notes + records:
                line, digest = seal(record, body, new.count + 1, new.hash)
                data += line
                new = new.replace(size=new.size + len(line), count=new.count + 1, hash=digest, last=len(line))
            opened.extend(fd, data, head.size)
            opened.save(new.replace(boot=boot_id()))
            self._written = opened.path(new.segment)
            if not durable and self._later is None:
                opened.start_writing(fd, head.size, new.size)
        if not durable and self._later is not None:
            self._later(self._written)
        if durable:
            sync(self._written)  # outside the lock: writers that wait here together share one disk write
        return new.count

    def _settle(self, opened: _Open, head: Head, at: float) -> tuple[Head, tuple[tuple[AuditRecord, object], ...]]:
        """Bring head and segment together. Returns the head to go on from, and notes to write first."""
        size = opened.size(head.segment)
        if size < head.size or not opened.fits(head):
            if head.boot in ("", boot_id()):
                what = "is shorter than its head says" if size < head.size else "was changed in its last line"
                raise StorageError(f"the audit trail {what} (`{opened.path(head.segment)}`)", hint=LOOK)
            anchor = head.replace(size=size)
            return self._anchor(opened, anchor, "the machine went down before the last records were on disk", at), ()
        if size == head.size:
            return head, ()
        tail = opened.read(head.segment, head.size, size - head.size)
        while (end := tail.find(b"\n")) >= 0:
            line = link(tail[:end])
            if line is None or not follows(head, line):
                break
            head = head.replace(size=head.size + end + 1, count=line.seq, hash=line.hash, last=end + 1)
            tail = tail[end + 1 :]
        if not tail:
            return head, ()
        if b"\n" in tail and head.boot in ("", boot_id()):
            raise StorageError(f"the end of the audit trail does not chain (`{opened.path(head.segment)}`, byte {head.size})", hint=LOOK)
        name = opened.set_aside(head.segment, head.size, tail)
        body = {"note": "torn tail", "segment": head.segment, "byte": head.size, "bytes": len(tail), "file": name}
        return head, ((AuditRecord(RecordKind.NOTE, "", at, tuple(body.items())), body),)

    def _anchor(self, opened: _Open, head: Head, why: str, at: float, broken: dict[str, str] | None = None) -> Head:
        """Begin a new segment whose first line chains to the digest of the closed segment as it stands, and names all `broken` ones."""
        closed = opened.digest(head.segment)
        body: dict[str, object] = {"note": "anchor", "why": why, "segment": head.segment, "sha256": closed, "broken": broken or {}}
        record = AuditRecord(RecordKind.NOTE, "", at, tuple(body.items()))
        line, digest = seal(record, body, head.count + 1, closed)
        new = Head(head.segment + 1, len(line), head.count + 1, digest, len(line), boot_id())
        opened.extend(opened.segment(new.segment), line, opened.size(new.segment))
        opened.save(new, durable=True)
        sync(opened.path(new.segment))
        return new

    def _kept(self, digest: str) -> str:
        if not digest.isalnum():
            raise StorageError(f"`{digest[:80]}` is not a digest")
        return os.path.join(self._directory, "kept", digest)

    # ------------------------------------------------------------ reading

    def records(self, *, since: int = 1, run: str = "") -> Iterator[AuditRecord]:
        """All records (run: of this run) from this segment on, oldest first. Raises StorageError at a line that cannot be read; one still being
        written ends it."""
        from .verify import read_records

        return read_records(self._directory, since, run)

    def segments(self) -> list[int]:
        """The numbers of the segments, oldest first."""
        from .verify import segments

        return segments(self._directory)

    def verify(self) -> TrailReport:
        """Check the whole chain: every byte, every sequence number, the end against the head, the kept texts against their notes."""
        from .verify import examine

        if not os.path.isdir(self._directory):
            return examine(self._directory, Head())
        try:
            with _Open(self._directory, shared=True) as opened:
                head: Head | None = opened.head()
        except StorageError:
            head = None
        return examine(self._directory, head)  # without the lock: what the head counts does not change any more


def sync(path: str) -> None:
    """Wait until this file of a trail is on disk. Raises StorageError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fdatasync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise explain(error, path) from error


class _Open:
    """The trail's files during one locked stretch: head and segments by number. Every refusal of the system is explained here."""

    def __init__(self, directory: str, *, make: str = "", shared: bool = False) -> None:
        self._directory = directory
        self._fds: list[int] = []
        self._slot = 0
        self._writable = not shared
        if make:
            subdirectory(make, "audit")
        path = self._head_path = os.path.join(directory, "head")
        try:
            flags = os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT
            self._head = self._keep(os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise explain(error, path) from error
        try:
            lock(self._head, path, shared=shared)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> _Open:
        return self

    def __exit__(self, *_: object) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def _keep(self, fd: int) -> int:
        self._fds.append(fd)
        return fd

    def path(self, segment: int) -> str:
        return os.path.join(self._directory, f"{segment:06d}.jsonl")

    def head(self) -> Head:
        """Where the chain ends. Raises StorageError when that is lost while segments are there."""
        data = os.pread(self._head, 2 * SLOT, 0)
        found = unpack(data)
        if found is not None:
            head, self._slot = found
            return head
        if not data and not os.path.exists(self.path(1)):
            return self._begin() if self._writable else Head()
        raise StorageError(f"the audit trail's head `{self._head_path}` is lost or damaged", hint=LOOK)

    def _begin(self) -> Head:
        """The first head, in both slots. It is there before any segment is, so that a lost head is never taken for a new trail."""
        try:
            self.save(Head())
            return self.save(Head())
        except StorageError:
            os.ftruncate(self._head, 0)
            raise

    def save(self, head: Head, *, durable: bool = False) -> Head:
        data = pack(head)
        try:
            done = 0
            while done < SLOT:  # a full disk answers with a short write first, with its reason at the next try
                done += os.pwrite(self._head, data[done:], self._slot + done)
            if durable:
                os.fdatasync(self._head)
        except OSError as error:
            raise explain(error, self._head_path) from error
        self._slot = SLOT - self._slot
        return head

    def size(self, segment: int) -> int:
        try:
            return os.lstat(self.path(segment)).st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise explain(error, self.path(segment)) from error

    def segment(self, segment: int) -> int:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            return self._keep(os.open(self.path(segment), flags, 0o600))
        except OSError as error:
            raise explain(error, self.path(segment)) from error

    def read(self, segment: int, start: int, count: int) -> bytes:
        try:
            with open(self.path(segment), "rb", buffering=0) as file:
                file.seek(start)
                return file.read(count) or b""
        except OSError as error:
            raise explain(error, self.path(segment)) from error

    def fits(self, head: Head) -> bool:
        """Whether the last line that the head counted is still the one it hashed."""
        if not head.last:
            return True
        line = link(self.read(head.segment, head.size - head.last, head.last).rstrip(b"\n"))
        return line is not None and line.hash == head.hash

    def digest(self, segment: int) -> str:
        total = sha256()
        if self.size(segment):
            with open(self.path(segment), "rb") as file:
                while block := file.read(1 << 20):
                    total.update(block)
        return total.hexdigest()

    def extend(self, fd: int, data: bytes, size: int) -> None:
        """All of the bytes at the end of the segment, or none of them."""
        try:
            append_whole(fd, data, size)
        except OSError as error:
            raise explain(error, self._directory) from error

    def start_writing(self, fd: int, start: int, end: int) -> None:
        """Ask the kernel to begin writing these bytes to disk, and do not wait.

        `POSIX_FADV_DONTNEED` does that first. Where the range holds a whole page it goes on to drop it, which makes all processors empty their lists:
        dozens of milliseconds when many commands run at once. So it is said of one byte of each page.
        """
        try:
            for page in range(start - start % _PAGE, end, _PAGE):
                os.posix_fadvise(fd, page + 1, 1, os.POSIX_FADV_DONTNEED)
        except OSError:
            pass  # advice that a file system does not take changes nothing that was promised

    def set_aside(self, segment: int, start: int, tail: bytes) -> str:
        """Move the bytes from `start` on into a file of their own, and end the segment there."""
        name = f"torn-{segment:06d}-{start}-{os.urandom(3).hex()}"
        path = os.path.join(self._directory, name)
        try:
            fd = self._keep(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            write_all(fd, tail)
            os.fdatasync(fd)
            os.ftruncate(self.segment(segment), start)
        except OSError as error:
            raise explain(error, path) from error
        return name
