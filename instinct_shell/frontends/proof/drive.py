"""Run a real agent against a scripted model, for a bounded time, and leave no process of it behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

from ...errors import UsageError
from ...model.value import Value
from .model import ScriptedModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .clients import Client
    from .wires import ToolCall

LIMIT = 60.0  # seconds for everything that one start of an agent does
GRACE = 3.0  # seconds to end by itself after the model's last words; some agents wait for something that never comes
DEAD_END = "http://127.0.0.1:9"  # the discard port: whatever does not go to the scripted model goes nowhere


class Driven(Value):
    """What became of one start. results: what reached the model, a text for each tool call. status: None when we ended it."""

    results: tuple[str, ...]
    output: str
    status: int | None
    seconds: float


def drive(
    client: Client,
    program: Sequence[str],
    calls: Sequence[ToolCall],
    *,
    cwd: str,
    folder: str,
    environ: Mapping[str, str],
) -> Driven:
    """Start `program` (words, a starter in front if one is needed) and let the model make these calls. Raises UsageError when it cannot start.

    folder: an existing folder for our own files, below none that others may write (Gemini reads no settings there).
    """
    with ScriptedModel(calls) as model:
        start = client.start(model.url, folder)
        for path, content in start.settings.items():
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
        offline = {"HTTP_PROXY": DEAD_END, "HTTPS_PROXY": DEAD_END, "NO_PROXY": "127.0.0.1,localhost"}
        offline |= {name.lower(): value for name, value in offline.items()}
        began = time.monotonic()
        with open(os.path.join(folder, "output"), "w+b") as output:
            try:
                process = subprocess.Popen(
                    [*program, *start.words],
                    cwd=cwd,
                    env={**environ, **offline, **start.environ},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise UsageError(f"`{program[0]}` cannot be started: {(error.strerror or str(error)).lower()}") from error
            status = _end_of(process, model, began + LIMIT)
            output.seek(0)
            said = output.read().decode("utf-8", "replace")
        return Driven(tuple(model.results), said, status, time.monotonic() - began)


def _end_of(process: subprocess.Popen[bytes], model: ScriptedModel, deadline: float) -> int | None:
    """Wait for the end, or make one; the exit status, None when the agent had to be ended."""
    status: int | None = None
    try:
        while status is None and time.monotonic() < deadline:
            last = model.closed.is_set()
            try:
                status = process.wait(GRACE if last else 0.2)
            except subprocess.TimeoutExpired:
                if last:
                    break
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all of it has ended
        process.wait()
    return status
