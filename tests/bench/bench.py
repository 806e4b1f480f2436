"""Benchmarks: `bin/bench [--quick] [--peers] [--write [PAGE]]`. Process figures are ratios to `python3 -I -S -c pass` in one run; rounds alternate,
so that a busy machine slows both sides; medians are shown. Exits 1 when a number that the design promises (section 11) is missed.

--peers also times what others take for the same: pinned packages, installed once into ${XDG_CACHE_HOME:-~/.cache}/instinct-shell-bench.
The corpora are read from ../shared/corpora beside the checkout; without them the project's own cases stand in, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "tests")]

from bench.clock import middle, timed
from bench.jailed import apart, bulk, supervision
from bench.page import machine, measured, replaced
from bench.processes import processes
from bench.rows import Row
from bench.table import Table

PAGE = TOP / "docs" / "performance.md"
CORPORA = TOP.parent / "shared" / "corpora"


def corpus(limit: int) -> tuple[list[str], str]:
    """Command texts, and where they come from."""
    texts: list[str] = []
    for path in sorted(CORPORA.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        texts += [row["src"] for row in rows if row["bash_n"]][: limit // 3]
    if texts:
        return texts, "corpora"
    rows = (TOP / "tests/cases/commands.tsv").read_text(encoding="utf-8").splitlines()
    return [row.split("\t")[2] for row in rows if not row.startswith("#")][1:limit], "own cases (no corpora here)"


def judging(table: Table, limit: int, env: dict[str, str], cwd: str) -> None:
    """Warm judging over the corpora, in this process: all reflexes together, and everything from text to verdict."""
    os.environ.update(env)
    from instinct_shell.model.verdict import Tier
    from instinct_shell.wiring import open_guard

    guard = open_guard(profile="dev", workspace=cwd, cwd=cwd)
    texts, source = corpus(limit)
    reflex: list[float] = []
    whole: list[float] = []
    for text in texts[:200] + texts:  # the first ones warm the parser worker and the caches
        judgement = guard.judge(guard.shell_intent(text, door="bench"))
        reflex.append(sum(timing.elapsed_us for timing in judgement.verdict.ran if timing.tier is Tier.REFLEX) / 1000)
        whole.append(judgement.elapsed_us / 1000)
    note = f"{len(texts)} commands, {source}"
    table.row(Row.REFLEX_P99, middle(reflex[200:], 0.99), note)
    table.row(Row.VERDICT_P50, middle(whole[200:]), note)
    table.row(Row.VERDICT_P99, middle(whole[200:], 0.99), note)


def books(table: Table, rounds: int, state: str) -> None:
    """Audit and ledger."""
    from instinct_shell.model.record import AuditRecord, RecordKind
    from instinct_shell.storage.audit import AuditTrail
    from instinct_shell.storage.ledger import LedgerStore

    trail = AuditTrail(state)
    body = (("v", 1), ("door", "bench"), ("decision", "allow"), ("effects", [{"kind": "file.read", "target": "/x"}] * 4))
    note = AuditRecord(RecordKind.NOTE, "bench", 1.0, body)
    table.row(Row.AUDIT, timed(rounds, lambda: trail.append(note, durable=False)))
    ledger = LedgerStore(state)
    holds: list[str] = []
    reserve = timed(
        rounds, lambda: holds.append(ledger.reserve("bench", 1, {"session": 10_000_000}).id), between=lambda: ledger.commit(holds.pop())
    )
    table.row(Row.LEDGER, reserve)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    parser.add_argument("--peers", action="store_true", help="install the pinned peers if need be, and time them beside ours")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help="write what was measured into the page, docs/performance.md"
    )
    args = parser.parse_args()
    table, rounds = Table(), 5 if args.quick else 31
    where = machine(rounds, quick=args.quick)
    with tempfile.TemporaryDirectory(prefix="instinct-bench-") as folder:
        work, state, runtime = Path(folder, "app"), Path(folder, "state"), Path(folder, "run")
        work.mkdir()
        state.mkdir(mode=0o700)
        runtime.mkdir(mode=0o700)
        subprocess.run(["git", "init", "-q", str(work)], check=True)
        # A runtime folder of its own: the engine that is measured is not the one that anybody works with.
        env = {**os.environ, "XDG_STATE_HOME": str(state), "XDG_RUNTIME_DIR": str(runtime)}
        # What fills the workspace with files comes last.
        processes(table, rounds, env, Path(folder), str(work), peers=args.peers)
        judging(table, 300 if args.quick else 3000, env, str(work))
        books(table, 50 if args.quick else 500, str(state / "instinct-shell"))
        supervision(table, 3 if args.quick else 11, env, str(work))
        bulk(table, 2 if args.quick else 5, env, str(work))
        apart(table, rounds, str(state / "instinct-shell"), str(work))
    if args.write:
        args.write.write_text(replaced(args.write.read_text(encoding="utf-8"), measured(table, where)), encoding="utf-8")
    if table.missed:
        print("missed: " + ", ".join(table.missed))
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
