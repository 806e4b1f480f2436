"""What bin/bench measures, in the order in which it is shown, and the most that the design allows (section 11)."""

from __future__ import annotations

from enum import Enum


class Row(Enum):
    """A name, a unit, and the promise; None where this release promises nothing. `x` is a ratio: to `python3 -I -S -c pass` unless the name says to what."""

    PYTHON = ("python3 -I -S -c pass", "ms", None)
    BASH = ("bash -c true", "x", None)
    BARE_JAIL = ("bwrap --ro-bind / / --unshare-all bash -c true", "x", None)
    COLD_CHECK = ("cold instinct check -c 'git status'", "x", 7.0)
    WARM_CHECK = ("warm instinct check -c 'git status'", "x", 1.7)
    WARM_HOOK = ("warm instinct-hook on git status", "x", None)
    COLD_EXEC = ("cold instinct-exec true, jailed and audited", "x", None)
    WARM_EXEC = ("warm instinct-exec true, by Python", "x", 2.3)
    C_EXEC = ("warm instinct-exec true, by C", "x", None)
    C_OR_BARE_JAIL = ("the same by C, against bare bwrap", "x", 1.0)
    SAFETY_NET = ("cc-safety-net 2.4.5, its hook on git status", "x", None)
    SRT = ("srt 0.0.83, true", "x", None)
    SANDLOCK = ("sandlock 0.9.0, true", "x", None)
    ENGINE = ("engine and workers, memory", "MB", 60.0)
    LOST = ("16 clients at once, lost", "", 0.0)
    AT_ONCE = ("16 clients at once, p95 against one alone", "x", 8.0)
    REFLEX_P99 = ("reflex tier, p99", "ms", 1.0)
    VERDICT_P50 = ("text to verdict, warm, p50", "ms", 2.0)
    VERDICT_P99 = ("text to verdict, warm, p99", "ms", 12.0)
    AUDIT = ("audit, one record (dev)", "ms", 1.0)
    LEDGER = ("ledger, one reserve, p50", "ms", 0.1)
    EXEC = ("exec outside the watch set, added", "ms", 0.3)
    EXEC_AGAIN = ("watched exec, the same again, added", "ms", None)
    EXEC_JUDGED = ("watched exec, judged each time, added", "ms", None)
    MAKE = ("make -j2 in the jail against bare", "x", 1.05)
    MAKE_JUDGED = ("make -j2 with execs judged against bare", "x", 1.15)
    STATUS = ("git status, 20,000 files, inside the jail", "x", 1.1)
    SMALL = ("5,000 files written and removed, in the jail", "x", None)
    CAT = ("cat of 1 GB into the caller's pipe, time", "x", 1.25)
    OVERLAY = ("overlay, set-up, workspace of 20,000 files", "ms", 10.0)

    def __init__(self, what: str, unit: str, promise: float | None) -> None:
        self.what, self.unit, self.promise = what, unit, promise
