"""Whole processes against the bare interpreter, alone and many at once; the engine they ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.clock import Call, medians, middle, trouble, wall_ms
from bench.peers import NOT_ASKED, PEERS, beside, hook_input
from bench.rows import Row
from bench.table import Table

TOP = Path(__file__).resolve().parents[2]


def processes(table: Table, rounds: int, env: dict[str, str], folder: Path, cwd: str, *, peers: bool) -> None:
    """The bare interpreter, a bare jail, and ours: cold (each judges by itself), and warm (an engine judges), by both launchers. folder: for scratch."""
    instinct = str(TOP / "bin/instinct")
    launch = [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(TOP / "bin/launch.py"), "instinct-exec"]
    check = [instinct, "check", "--workspace", cwd, "-c", "git status"]
    run = ["--workspace", cwd, "--", "true"]
    c_launcher, bubblewrap = TOP / "bin/launcher/build/instinct-exec", shutil.which("bwrap")
    cold, warm = {**env, "INSTINCT_ENGINE": "off"}, {name: value for name, value in env.items() if name != "INSTINCT_ENGINE"}
    calls: dict[Row, Call] = {
        Row.PYTHON: Call([sys.executable, "-I", "-S", "-c", "pass"], env),
        Row.BASH: Call(["bash", "-c", "true"], env),
        Row.COLD_CHECK: Call(check, cold),
        Row.WARM_CHECK: Call(check, warm),
        Row.COLD_EXEC: Call([*launch, *run], cold),
        Row.WARM_EXEC: Call([*launch, *run], warm),
    }
    if bubblewrap:
        calls[Row.BARE_JAIL] = Call([bubblewrap, "--ro-bind", "/", "/", "--unshare-all", "bash", "-c", "true"], env)
    else:
        table.skip(Row.BARE_JAIL, "no bwrap on this machine (apt-get install bubblewrap)")
    if c_launcher.exists():
        calls[Row.C_EXEC] = Call([str(c_launcher), *run], warm)
    else:
        table.skip(Row.C_EXEC, "no C launcher: bin/setup builds it where there is a compiler")
    calls[Row.WARM_HOOK] = Call([installed_hook(folder, env), "--agent", "claude", "--shell-held", "pre"], warm, hook_input(cwd))
    subprocess.run([instinct, "engine", "start"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    try:
        for row, call in calls.items():
            if why := trouble(call, cwd):
                sys.exit(f"{row.what}: {why}")
        # A cold start runs through megabytes and leaves its neighbour cold caches: the cold ones have rounds of their own, with the bare interpreter again.
        slow = (Row.COLD_CHECK, Row.COLD_EXEC)
        taken = medians({row: call for row, call in calls.items() if row not in slow}, rounds, cwd)
        apart = medians({row: calls[row] for row in (Row.PYTHON, *slow)}, rounds, cwd)
        table.row(Row.PYTHON, taken[Row.PYTHON], f"median of {rounds}")
        for row in list(calls)[1:]:
            found = apart if row in slow else taken
            table.row(row, found[row] / found[Row.PYTHON], f"{found[row]:.1f} ms")
        if bubblewrap and c_launcher.exists():
            table.row(Row.C_OR_BARE_JAIL, taken[Row.C_EXEC] / taken[Row.BARE_JAIL])
        else:
            table.skip(Row.C_OR_BARE_JAIL, "one of the two is missing")
        engine_size(table, warm, cwd)
        at_once(table, Call([str(TOP / "bin/instinct-exec"), *run], warm), cwd)
        if peers:
            beside(table, rounds, calls, folder, cwd)
        else:
            for row in PEERS:
                table.skip(row, NOT_ASKED)
    finally:
        subprocess.run([instinct, "engine", "stop"], env=warm, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def installed_hook(folder: Path, env: dict[str, str]) -> str:
    """The hook program that `instinct install` writes, for the state directory of this run."""
    from instinct_shell.frontends.install import launchers

    launchers.write(str(folder / "data"), str(Path(env["XDG_STATE_HOME"], "instinct-shell")))
    return str(folder / "data" / "bin" / "instinct-hook")


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
    table.row(Row.ENGINE, kilobytes / 1024, f"{len(family)} processes")


def at_once(table: Table, call: Call, cwd: str) -> None:
    """Sixteen clients together: none lost, and how long the slowest of twenty waits against one alone."""
    alone = middle([wall_ms(call, cwd) for _ in range(7)])
    waited: list[float] = []
    lost = 0
    for _ in range(5):
        start = time.perf_counter()
        clients = [
            subprocess.Popen(call.argv, env=call.env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(16)
        ]
        pending = dict.fromkeys(clients)
        while pending:
            pid, status = os.wait()
            client = next(one for one in pending if one.pid == pid)
            client.returncode = os.waitstatus_to_exitcode(status)
            lost += client.returncode != 0
            del pending[client]
            waited.append(1000 * (time.perf_counter() - start))
    slowest = middle(waited, 0.95)
    table.row(Row.LOST, lost)
    table.row(Row.AT_ONCE, slowest / alone, f"{slowest:.0f} ms, {alone:.1f} ms")
