"""Work inside a jail against the same work without one. Least of the rounds, which alternate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.clock import Call, timed, wall_ms
from bench.rows import Row
from bench.table import Table

TOP = Path(__file__).resolve().parents[2]


def supervision(table: Table, rounds: int, env: dict[str, str], cwd: str) -> None:
    """What it costs that each program a command starts is judged: by the exec, and for a whole build. Least of the rounds, which alternate."""

    def took(judged: str, text: str) -> float:
        return run_ms(cwd, "staging", judged, text, env)

    many = 200
    loop = f"for ((i = 0; i < {many}; i++)); do {{}}; done >/dev/null"
    rows = {
        Row.EXEC: loop.format("/bin/true"),
        Row.EXEC_AGAIN: loop.format("/bin/cat /dev/null"),
        Row.EXEC_JUDGED: loop.format("/bin/cat /dev/null $i"),
    }
    Path(cwd, "0").touch()
    for row, text in rows.items():
        if "$i" in text:
            for number in range(many):
                Path(cwd, str(number)).touch()
        times: dict[str, list[float]] = {"on": [], "off": []}
        for _ in range(rounds):
            for judged, known in times.items():
                known.append(took(judged, text))
        added = (min(times["on"]) - min(times["off"])) / many
        table.row(row, added, f"{many} execs, least of {rounds}, {min(times['off']) / many:.2f} ms each without")
    if shutil.which("make") is None or shutil.which("cc") is None:
        for row in (Row.MAKE, Row.MAKE_JUDGED):
            table.skip(row, "no make or no C compiler")
        return
    build(Path(cwd), 60)
    times = {"bare": [], "on": [], "off": []}
    for _ in range(rounds):
        for judged, known in times.items():
            subprocess.run(["make", "-s", "clean"], cwd=cwd, check=True)
            known.append(wall_ms(Call(["make", "-s", "-j2"], env), cwd) if judged == "bare" else took(judged, "make -s -j2"))
    note = f"60 files of C, least of {rounds}, {min(times['bare']):.0f} ms bare"
    table.row(Row.MAKE, min(times["off"]) / min(times["bare"]), note)
    table.row(Row.MAKE_JUDGED, min(times["on"]) / min(times["bare"]), note)


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


def bulk(table: Table, rounds: int, env: dict[str, str], cwd: str) -> None:
    """What the jail costs work that touches much: many files, and many bytes on the way to the caller. Least of the rounds, which alternate."""
    many, few, times_each, size = 20_000, 5_000, 5, 1 << 30
    top = Path(cwd, "many")
    for number in range(many):
        path = top / f"d{number // 100}" / f"f{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number), encoding="ascii")
    git = ["git", "-C", str(top), "-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)
    status = f"for i in {' '.join(map(str, range(times_each)))}; do git -C many status --short; done"
    bare, jailed = inside_ms(status, rounds, env, cwd)
    table.row(Row.STATUS, jailed / bare, f"{bare / times_each:.0f} ms bare")
    small = f"mkdir small; for ((i = 0; i < {few}; i++)); do echo $i >small/$i; done; rm -r small"
    bare, jailed = inside_ms(small, 3 * rounds, env, cwd)  # short, and the disk has moods
    table.row(Row.SMALL, jailed / bare, f"{bare:.0f} ms bare")
    big = Path(cwd, "big")
    with big.open("wb") as file:
        file.truncate(size)
    launcher = [str(TOP / "bin/instinct-exec"), "--workspace", cwd, "--", f"cat {big.name}"]
    rate: dict[str, list[float]] = {"bare": [], "jailed": []}
    for _ in range(rounds):
        rate["bare"].append(taken_in(["cat", str(big)], env, cwd, size))
        rate["jailed"].append(taken_in(launcher, env, cwd, size))
    table.row(Row.CAT, min(rate["jailed"]) / min(rate["bare"]), f"{min(rate['bare']):.0f} ms bare")
    big.unlink()


def inside_ms(work: str, rounds: int, env: dict[str, str], cwd: str) -> tuple[float, float]:
    """Milliseconds that a shell needs for this text, bare and in the jail of dev, as it sees itself: the start of a jail has rows of its own."""
    clock = Path(cwd, "clock")
    text = f"begin=${{EPOCHREALTIME/[.,]}}; {work}; echo $((${{EPOCHREALTIME/[.,]}} - begin)) >{clock.name}"
    bare, jailed = [], []
    for _ in range(rounds):
        wall_ms(Call(["bash", "-c", text], env), cwd)
        bare.append(int(clock.read_text(encoding="ascii")) / 1000)
        run_ms(cwd, "dev", "off", text, env)
        jailed.append(int(clock.read_text(encoding="ascii")) / 1000)
    return min(bare), min(jailed)


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


def run_ms(cwd: str, profile: str, judged: str, text: str, env: dict[str, str]) -> float:
    """Milliseconds from the launcher's fork to the command's end, in a profile's jail whose execs are judged (`on`) or not (`off`)."""
    words = [sys.executable, "-I", "-B", "-X", "utf8", str(TOP / "tests/bench/supervised.py"), cwd, profile, judged, text]
    said = subprocess.run(words, env=env, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return int(said.split()[-1]) / 1000


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
        table.skip(Row.OVERLAY, "no overlay can be made here")
        return
    plain, view = [], []
    for number in range(rounds):
        plain.append(timed(1, lambda: launcher.run(spec)))
        run = f"bench{number}"
        view.append(timed(1, lambda run=run: launcher.run(overlays.begin(run, spec))))  # type: ignore[misc]  # the loop's own value
        overlays.drop(run)
    table.row(Row.OVERLAY, min(view) - min(plain), f"{min(plain):.0f} ms the jail alone")
