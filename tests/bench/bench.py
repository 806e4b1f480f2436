"""Benchmarks: `bin/bench [--quick]`. Process figures are ratios to `python3 -I -S -c pass` in one run; rounds alternate, so that a busy
machine slows both sides; medians are shown. Exits 1 when a number that the design promises (section 11) is missed.

The corpora are read from ../shared/corpora beside the checkout; without them the project's own cases stand in, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
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
BARE_JAIL = "bwrap --ro-bind / / --unshare-all bash -c true"
BY_C = "warm instinct-exec true, by C"


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
    """Whole processes against the bare interpreter: cold (each judges by itself), and warm (an engine judges), by both launchers."""
    start = [PYTHON, "-I", "-S", "-B", "-X", "utf8", str(TOP / "bin/launch.py")]
    check = [str(TOP / "bin/instinct"), "check", "--workspace", cwd, "-c", "git status"]
    run = ["--workspace", cwd, "--", "true"]
    c_launcher, bubblewrap = TOP / "bin/launcher/build/instinct-exec", shutil.which("bwrap")
    cold, warm = {**env, "INSTINCT_ENGINE": "off"}, {name: value for name, value in env.items() if name != "INSTINCT_ENGINE"}
    rows: dict[str, tuple[list[str], dict[str, str], float | None]] = {
        "bare": ([PYTHON, "-I", "-S", "-c", "pass"], env, None),
        "bash -c true": (["bash", "-c", "true"], env, None),
        "cold instinct check -c 'git status'": (check, cold, 7.0),
        "warm instinct check -c 'git status'": (check, warm, 1.7),
        "cold instinct-exec true, jailed and audited": ([*start, "instinct-exec", *run], cold, None),
        "warm instinct-exec true, by Python": ([*start, "instinct-exec", *run], warm, 2.3),
    }
    if bubblewrap:
        rows[BARE_JAIL] = ([bubblewrap, "--ro-bind", "/", "/", "--unshare-all", "bash", "-c", "true"], env, None)
    if c_launcher.exists():
        rows[BY_C] = ([str(c_launcher), *run], warm, None)
    subprocess.run([str(TOP / "bin/instinct"), "engine", "start"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    try:
        times: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds + 4):  # the first ones warm each worker
            for name, (command, environment, _) in rows.items():
                times[name].append(wall_ms(command, environment, cwd))
        taken = {name: middle(times[name][4:]) for name in rows}
        print(f"python3 -I -S -c pass: {taken['bare']:.2f} ms (median of {rounds})")
        for name, (_, _, promise) in list(rows.items())[1:]:
            table.row(name, taken[name] / taken["bare"], "x", promise, f"{taken[name]:.1f} ms")
        if not bubblewrap:
            print("no bwrap on this machine: nothing to compare the C launcher with (apt-get install bubblewrap)")
        elif BY_C in taken:
            table.row("C launcher against bare bwrap", taken[BY_C] / taken[BARE_JAIL], "x", 1.0)
        if BY_C not in taken:
            print("no C launcher: bin/setup builds it where there is a compiler")
        engine_size(table, warm, cwd)
        at_once(table, warm, cwd, [str(TOP / "bin/instinct-exec"), *run])
    finally:
        subprocess.run([str(TOP / "bin/instinct"), "engine", "stop"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def engine_size(table: Table, env: dict[str, str], cwd: str) -> None:
    """Memory of the engine with its workers, shared pages counted once."""
    said = subprocess.run(
        [str(TOP / "bin/instinct"), "engine", "status"], env=env, cwd=cwd, check=True, capture_output=True, text=True
    ).stdout
    first = int(said.split("process ")[1].split(",")[0])
    family = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split())]
    kilobytes = 0
    for pid in family:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        kilobytes += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    table.row("engine and workers, memory", kilobytes / 1024, "MB", 60.0, f"{len(family)} processes")


def at_once(table: Table, env: dict[str, str], cwd: str, command: list[str]) -> None:
    """Sixteen clients together: none lost, and how long the slowest of twenty waits against one alone."""
    alone = middle([wall_ms(command, env, cwd) for _ in range(7)])
    waited: list[float] = []
    lost = 0
    for _ in range(5):
        start = time.perf_counter()
        calls = [subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(16)]
        pending = dict.fromkeys(calls)
        while pending:
            pid, status = os.wait()
            call = next(one for one in pending if one.pid == pid)
            call.returncode = os.waitstatus_to_exitcode(status)
            lost += call.returncode != 0
            del pending[call]
            waited.append(1000 * (time.perf_counter() - start))
    table.row("16 clients at once, lost", lost, "", 0.0)
    table.row(
        "16 clients at once, p95 against one alone",
        middle(waited, 0.95) / alone,
        "x",
        8.0,
        f"{middle(waited, 0.95):.0f} ms, {alone:.1f} ms",
    )


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


def supervision(table: Table, rounds: int, env: dict[str, str], cwd: str) -> None:
    """What it costs that each program a command starts is judged: by the exec, and for a whole build. Least of the rounds, which alternate."""

    def took(judged: str, text: str) -> float:
        return run_ms(cwd, judged, text, env)

    many = 200
    loop = f"for ((i = 0; i < {many}; i++)); do {{}}; done >/dev/null"
    rows = {
        "exec outside the watch set, added": (loop.format("/bin/true"), 0.3),
        "watched exec, the same again, added": (loop.format("/bin/cat /dev/null"), None),
        "watched exec, judged each time, added": (loop.format("/bin/cat /dev/null $i"), None),
    }
    Path(cwd, "0").touch()
    for name, (text, promise) in rows.items():
        if "$i" in text:
            for number in range(many):
                Path(cwd, str(number)).touch()
        times: dict[str, list[float]] = {"on": [], "off": []}
        for _ in range(rounds):
            for judged, known in times.items():
                known.append(took(judged, text))
        added = (min(times["on"]) - min(times["off"])) / many
        table.row(name, added, "ms", promise, f"{many} execs, least of {rounds}, {min(times['off']) / many:.2f} ms each without")
    if shutil.which("make") is None or shutil.which("cc") is None:
        print("no make or no C compiler: no build to measure")
        return
    build(Path(cwd), 60)
    times = {"bare": [], "on": [], "off": []}
    for _ in range(rounds):
        for judged, known in times.items():
            subprocess.run(["make", "-s", "clean"], cwd=cwd, check=True)
            known.append(wall_ms(["make", "-s", "-j2"], env, cwd) if judged == "bare" else took(judged, "make -s -j2"))
    note = f"60 files of C, least of {rounds}, {min(times['bare']):.0f} ms bare"
    table.row("make -j2 in the jail against bare", min(times["off"]) / min(times["bare"]), "x", 1.05, note)
    table.row("make -j2 with execs judged against bare", min(times["on"]) / min(times["bare"]), "x", 1.15, note)


def bulk(table: Table, rounds: int, env: dict[str, str], cwd: str) -> None:
    """What the jail costs work that touches much: many files, and many bytes on the way to the caller. Least of the rounds, which alternate."""
    many, times_each, size = 20_000, 5, 1 << 30
    top = Path(cwd, "many")
    for number in range(many):
        path = top / f"d{number // 100}" / f"f{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number), encoding="ascii")
    git = ["git", "-C", str(top), "-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)
    work = f"for i in {' '.join(map(str, range(times_each)))}; do git -C many status --short; done"
    clock = Path(cwd, "clock")
    text = f"begin=${{EPOCHREALTIME/[.,]}}; {work}; echo $((${{EPOCHREALTIME/[.,]}} - begin)) >{clock.name}"  # the start of a jail has rows of its own
    status: dict[str, list[float]] = {"bare": [], "jailed": []}
    for _ in range(rounds):
        wall_ms(["bash", "-c", text], env, cwd)
        status["bare"].append(int(clock.read_text(encoding="ascii")) / 1000)
        run_ms(cwd, "off", text, env)
        status["jailed"].append(int(clock.read_text(encoding="ascii")) / 1000)
    least = min(status["bare"])
    table.row("git status, 20,000 files, inside the jail", min(status["jailed"]) / least, "x", 1.1, f"{least / times_each:.0f} ms bare")
    big = Path(cwd, "big")
    with big.open("wb") as file:
        file.truncate(size)
    launcher = [str(TOP / "bin/instinct-exec"), "--workspace", cwd, "--", f"cat {big.name}"]
    rate: dict[str, list[float]] = {"bare": [], "jailed": []}
    for _ in range(rounds):
        rate["bare"].append(taken_in(["cat", str(big)], env, cwd, size))
        rate["jailed"].append(taken_in(launcher, env, cwd, size))
    note = f"{min(rate['bare']):.0f} ms bare"
    table.row("cat of 1 GB into the caller's pipe, time", min(rate["jailed"]) / min(rate["bare"]), "x", 1.25, note)
    big.unlink()


def taken_in(command: list[str], env: dict[str, str], cwd: str, size: int) -> float:
    """Milliseconds until all that a command writes has been read: by a process on one processor, from one on another, so that chance has no say."""
    usable = sorted(os.sched_getaffinity(0))
    here, there = {usable[0]}, {usable[-1]}
    os.sched_setaffinity(0, here)
    try:
        start = time.perf_counter()
        with subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, there),  # noqa: PLW1509 - nothing else runs here
        ) as running:  # fmt: skip
            assert running.stdout is not None
            into, seen = bytearray(1 << 20), 0
            while part := running.stdout.readinto(into):  # type: ignore[attr-defined]  # a buffered reader
                seen += part
        if seen != size:
            sys.exit(f"{command[0]} wrote {seen} bytes of {size}")
        return 1000 * (time.perf_counter() - start)
    finally:
        os.sched_setaffinity(0, usable)


def run_ms(cwd: str, judged: str, text: str, env: dict[str, str]) -> float:
    """Milliseconds from the launcher's fork to the command's end, in a jail whose execs are judged (`on`) or not (`off`)."""
    words = [PYTHON, "-I", "-B", "-X", "utf8", str(TOP / "tests/bench/supervised.py"), cwd, judged, text]
    said = subprocess.run(words, env=env, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return int(said.split()[-1]) / 1000


def build(folder: Path, files: int) -> None:
    """A small C project."""
    for number in range(files):
        text = f'#include <stdio.h>\nint part{number}(int n) {{ for (int i = 0; i < n; i++) printf("%d", i); return n + {number}; }}\n'
        Path(folder, f"part{number}.c").write_text(text, encoding="ascii")
    objects = " ".join(f"part{number}.o" for number in range(files))
    rules = (
        f"all: out.a\nout.a: {objects}\n\tar rc $@ $^\n%.o: %.c\n\tcc -O2 -c -o $@ $<\nclean:\n\trm -f out.a {objects}\n.PHONY: all clean\n"
    )
    Path(folder, "Makefile").write_text(rules, encoding="ascii")


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


def apart(table: Table, rounds: int, state: str, cwd: str) -> None:
    """What a copy-on-write view costs beside the same jail without one, in the workspace that `bulk` has filled. Least of the rounds, which alternate."""
    from instinct_shell.execution.launcher import Launcher
    from instinct_shell.execution.overlays import Overlays
    from instinct_shell.execution.undo import Undo
    from instinct_shell.model.jailspec import JailSpec

    overlays, launcher = Overlays(state, lambda: Undo(state)), Launcher()
    spec = JailSpec(
        cwd,
        cwd,
        writable=(cwd,),
        masked=(state,),
        network="none",
        private_tmp=True,
        env=(("PATH", os.defpath),),
        argv=("/bin/bash", "-c", "true"),
    )
    if not overlays.possible():
        print("no overlay can be made here; its rows are left out")
        return
    plain, view = [], []
    for number in range(rounds):
        plain.append(timed(1, lambda: launcher.run(spec)))
        run = f"bench{number}"
        view.append(timed(1, lambda run=run: launcher.run(overlays.begin(run, spec))))  # type: ignore[misc]  # the loop's own value
        overlays.drop(run)
    table.row("overlay, set-up, workspace of 20,000 files", min(view) - min(plain), "ms", 10.0, f"{min(plain):.0f} ms the jail alone")


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
        # What fills the workspace with files comes last.
        processes(table, 5 if args.quick else 31, env, str(work))
        judging(table, 300 if args.quick else 3000, env, str(work))
        books(table, 50 if args.quick else 500, str(state / "instinct-shell"))
        supervision(table, 3 if args.quick else 11, env, str(work))
        bulk(table, 2 if args.quick else 5, env, str(work))
        apart(table, 5 if args.quick else 31, str(state / "instinct-shell"), str(work))
    if table.missed:
        print("missed: " + ", ".join(table.missed))
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
