"""How a process is timed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bench.rows import Row
from pinned import first_error


class Call(NamedTuple):
    """A program with its arguments, its environment, and what it is given on stdin."""

    argv: list[str]
    env: dict[str, str]
    given: bytes = b""


def wall_ms(call: Call, cwd: str) -> float:
    """Wall time of one process in milliseconds."""
    given: dict[str, Any] = {"input": call.given} if call.given else {"stdin": subprocess.DEVNULL}
    start = time.perf_counter()
    subprocess.run(call.argv, **given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=call.env, cwd=cwd, check=False)
    return 1000 * (time.perf_counter() - start)


def trouble(call: Call, cwd: str) -> str:
    """Runs it once: "" when it ended well, else its status and the line that names the trouble, so that nobody times a failure."""
    try:
        done = subprocess.run(call.argv, input=call.given, capture_output=True, env=call.env, cwd=cwd, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return f"exit status {done.returncode}: {first_error((done.stderr or done.stdout).decode('utf-8', 'replace'))}"


def medians(calls: Mapping[Row, Call], rounds: int, cwd: str) -> dict[Row, float]:
    """Milliseconds of each call, the median of rounds in which they alternate; the first ones warm each worker and are not counted."""
    times: dict[Row, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 4):
        for name, call in calls.items():
            times[name].append(wall_ms(call, cwd))
    return {name: middle(known[4:]) for name, known in times.items()}


def middle(values: list[float], share: float = 0.5) -> float:
    """The value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def timed(rounds: int, action: Callable[[], object], *, between: Callable[[], object] | None = None) -> float:
    """Median of one call of a function, in milliseconds; `between` runs after each, untimed."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - start))
        if between is not None:
            between()
    return middle(times)
