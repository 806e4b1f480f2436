"""Benchmarks: `bin/bench [--quick]`. Process figures are ratios to `python3 -I -S -c pass` in one run; rounds alternate, so that a busy
machine slows both sides; medians are shown. Exits 1 when a number that the design promises (section 11) is missed.

The corpora are read from ../shared/corpora beside the checkout; without them the project's own cases stand in, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))
PYTHON = str(TOP / ".venv/bin/python3")
CORPORA = TOP.parent / "shared" / "corpora"


def wall_ms(command: list[str], env: dict[str, str], cwd: str) -> float:
    """Wall time of one process in milliseconds."""
    start = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=cwd, check=False)
    return 1000 * (time.perf_counter() - start)


def middle(values: list[float], share: float = 0.5) -> float:
    """The value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


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


class Table:
    """Rows of what was measured; knows whether a promise was missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def row(self, name: str, value: float, unit: str, promise: float | None, note: str = "") -> None:
        """One line; `promise` is the most that the design allows, None where this release promises nothing."""
        state = "-" if promise is None else "ok" if value <= promise else "MISSED"
        if state == "MISSED":
            self.missed.append(name)
        shown = "" if promise is None else f"<= {promise:g}"
        print(f"{name:<44} {value:>9.2f} {unit:<3} {shown:>8}  {state:<7} {note}".rstrip(), flush=True)


def processes(table: Table, rounds: int, env: dict[str, str], cwd: str) -> None:
    """Whole processes against the bare interpreter: cold (each judges by itself), and warm (an engine judges)."""
    check = [str(TOP / "bin/instinct"), "check", "--workspace", cwd, "-c", "git status"]
    run = [str(TOP / "bin/instinct-exec"), "--workspace", cwd, "--", "true"]
    cold, warm = {**env, "INSTINCT_ENGINE": "off"}, {name: value for name, value in env.items() if name != "INSTINCT_ENGINE"}
    rows: dict[str, tuple[list[str], dict[str, str], float | None]] = {
        "bare": ([PYTHON, "-I", "-S", "-c", "pass"], env, None),
        "bash -c true": (["bash", "-c", "true"], env, None),
        "cold instinct check -c 'git status'": (check, cold, 7.0),
        "warm instinct check -c 'git status'": (check, warm, 1.7),
        "cold instinct-exec true, jailed and audited": (run, cold, None),
        "warm instinct-exec true, jailed and audited": (run, warm, 2.3),
    }
    subprocess.run([str(TOP / "bin/instinct"), "engine", "start"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    try:
        times: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds + 2):
            for name, (command, environment, _) in rows.items():
                times[name].append(wall_ms(command, environment, cwd))
    finally:
        subprocess.run([str(TOP / "bin/instinct"), "engine", "stop"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    bare = middle(times["bare"][2:])
    print(f"python3 -I -S -c pass: {bare:.2f} ms (median of {rounds})")
    for name, (_, _, promise) in list(rows.items())[1:]:
        taken = middle(times[name][2:])
        table.row(name, taken / bare, "x", promise, f"{taken:.1f} ms")


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
    table.row("reflex tier, p99", middle(reflex[200:], 0.99), "ms", 1.0, note)
    table.row("text to verdict, warm, p50", middle(whole[200:]), "ms", 2.0, note)
    table.row("text to verdict, warm, p99", middle(whole[200:], 0.99), "ms", 12.0, note)


def books(table: Table, rounds: int, state: str) -> None:
    """Audit and ledger."""
    from instinct_shell.model.record import AuditRecord, RecordKind
    from instinct_shell.storage.audit import AuditTrail
    from instinct_shell.storage.ledger import LedgerStore

    trail = AuditTrail(state)
    body = (("v", 1), ("door", "bench"), ("decision", "allow"), ("effects", [{"kind": "file.read", "target": "/x"}] * 4))
    table.row(
        "audit, one record (dev)",
        timed(rounds, lambda: trail.append(AuditRecord(RecordKind.NOTE, "bench", 1.0, body), durable=False)),
        "ms",
        1.0,
    )
    ledger = LedgerStore(state)
    holds: list[str] = []
    reserve = timed(
        rounds, lambda: holds.append(ledger.reserve("bench", 1, {"session": 10_000_000}).id), between=lambda: ledger.commit(holds.pop())
    )
    table.row("ledger, one reserve, p50", reserve, "ms", 0.1)


def timed(rounds: int, action: Callable[[], object], *, between: Callable[[], object] | None = None) -> float:
    """Median of one call, in milliseconds; `between` runs after each, untimed."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - start))
        if between is not None:
            between()
    return middle(times)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    args = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="instinct-bench-") as folder:
        work, state, runtime = Path(folder, "app"), Path(folder, "state"), Path(folder, "run")
        work.mkdir()
        state.mkdir(mode=0o700)
        runtime.mkdir(mode=0o700)
        subprocess.run(["git", "init", "-q", str(work)], check=True)
        # A runtime folder of its own: the engine that is measured is not the one that anybody works with.
        env = {**os.environ, "XDG_STATE_HOME": str(state), "XDG_RUNTIME_DIR": str(runtime)}
        processes(table, 5 if args.quick else 31, env, str(work))
        judging(table, 300 if args.quick else 3000, env, str(work))
        books(table, 50 if args.quick else 500, str(state / "instinct-shell"))
    if table.missed:
        print("missed: " + ", ".join(table.missed))
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
