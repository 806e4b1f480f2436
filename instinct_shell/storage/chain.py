"""The audit trail's file format, pure: lines that chain by SHA-256, and the head that says where the chain ends.

A line is one JSON object. Its `hash` is the SHA-256 of the same line's bytes with `,"hash":"..."` left out, and it holds the hash of the line
before it, so a reader needs nothing of ours to check it:

    {"seq":2,"prev":"<64 hex>","kind":"judged","at":1764450000.1,"run":"a1b2c3","body":{...},"hash":"<64 hex>"}
"""

from __future__ import annotations

import json

from ..errors import StorageError
from ..model.digest import sha256_hex
from ..model.record import AuditRecord, RecordKind
from ..model.value import Value

GENESIS = "0" * 64
SLOT = 512  # bytes of one head slot, a disk sector; two of them, written in turn, so that a torn write leaves the other
TAIL = len(',"hash":""}') + 64  # bytes of a line from `,"hash"` on, without the newline
_HASH = b',"hash":"'


class Link(Value):
    """What one line says about its place in the chain. `hash` is computed from the bytes, not read from them."""

    seq: int
    prev: str
    kind: str
    hash: str


class Head(Value):
    """Where the chain ends: `count` records so far, the last one with `hash` and `last` bytes long, `size` bytes in segment `segment`.

    boot: the kernel's boot id when it was written: only a machine that went down may have lost bytes it had accepted.
    """

    segment: int = 1
    size: int = 0
    count: int = 0
    hash: str = GENESIS
    last: int = 0
    boot: str = ""


def seal(record: AuditRecord, body: object, seq: int, prev: str) -> tuple[bytes, str]:
    """The record's line with its newline, and its hash. `body` is the redacted body, a JSON object."""
    try:
        text = json.dumps(
            {"seq": seq, "prev": prev, "kind": record.kind.value, "at": record.at, "run": record.run, "body": body},
            separators=(",", ":"),
            allow_nan=False,
        )
    except (TypeError, ValueError) as error:
        raise StorageError(f"this {record.kind.value} record cannot be written down: {error}") from error
    data = text.encode("ascii")
    digest = sha256_hex(data)
    return b'%s%s%s"}\n' % (data[:-1], _HASH, digest.encode("ascii")), digest


def link(line: bytes) -> Link | None:
    """The line's place in the chain, or None when it is not a whole line of ours whose bytes fit its own hash. `line` has no newline."""
    if len(line) < 160 or line[-TAIL : -TAIL + len(_HASH)] != _HASH or not line.startswith(b'{"seq":') or line[-2:] != b'"}':
        return None
    digest = sha256_hex(line[:-TAIL] + b"}")
    if line[-66:-2] != digest.encode("ascii"):
        return None
    comma = line.find(b",", 7)
    prev = line[comma + 9 : comma + 73]
    end = line.find(b'"', comma + 83)
    if not line[7:comma].isdigit() or line[comma + 74 : comma + 83] != b',"kind":"':
        return None
    return Link(int(line[7:comma]), prev.decode("ascii", "replace"), line[comma + 83 : end].decode("ascii", "replace"), digest)


def follows(head: Head, line: Link) -> bool:
    """Whether the line is the next one after this head."""
    return line.seq == head.count + 1 and line.prev == head.hash


def read_line(line: bytes) -> AuditRecord:
    """The record in a line. Raises StorageError when it is not one."""
    try:
        data = json.loads(line)
        return AuditRecord(RecordKind(data["kind"]), data["run"], float(data["at"]), tuple(data["body"].items()), int(data["seq"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError("a line of the audit trail cannot be read", hint="run `instinct audit verify`") from error


def pack(head: Head) -> bytes:
    """One head slot: a JSON line padded with blanks, readable by a person, closed by a check sum."""
    text = json.dumps({field: getattr(head, field) for field in Head._fields}, separators=(",", ":"))
    return f"{text} {sha256_hex(text.encode())[:16]}".ljust(SLOT - 1).encode("ascii") + b"\n"


def unpack(data: bytes) -> tuple[Head, int] | None:
    """The newer of the two heads that are whole, and the byte at which its successor goes (the other slot); None when neither is whole."""
    best: tuple[Head, int] | None = None
    for start in (0, SLOT):
        text, _, check = data[start : start + SLOT].rstrip().rpartition(b" ")
        if text and sha256_hex(text)[:16].encode("ascii") == check:
            head = Head(**json.loads(text))
            if best is None or (head.segment, head.count, head.size) > (best[0].segment, best[0].count, best[0].size):
                best = head, SLOT - start
    return best
