"""The host replaces a protected file while a command runs, as an editor's save does: the new file is held too, or the command ends."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path

import pytest
from jail_harness import Caller, base_spec, reachable

pytestmark = pytest.mark.jail
WRITER = """
import os, sys, time
print("ready", flush=True)
deadline = time.monotonic() + 20
while not os.path.exists("stop") and time.monotonic() < deadline:
    time.sleep(0.002)
try:
    open(sys.argv[1], "a").write("HACKED")
    print("wrote", flush=True)
except OSError as problem:
    print("refused", problem.errno, flush=True)
"""
NAMES = [".env", "deep/inner/secret.txt", ".git/config"]


def start(caller: Caller, level: str, workspace: Path, name: str, result: Path) -> subprocess.Popen[bytes]:
    argv = [caller.python, "-I", "-S", "-c", WRITER, name]
    spec = {**base_spec(workspace), "protected": [str(workspace / one) for one in NAMES], "argv": argv}
    words = caller.driver(spec, at=level, result=str(result))
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("name", NAMES)
def test_a_replaced_protected_file_is_held(caller: Caller, level: str, name: str, tmp_path: Path) -> None:
    if level == "partial":
        return  # it holds no file inside a writable folder
    reachable(caller, level)
    workspace, result = caller.folder(), caller.home / f"result{time.monotonic_ns()}"
    for one in NAMES:
        (workspace / one).parent.mkdir(parents=True, exist_ok=True)
        (workspace / one).write_text("KEY=1", encoding="utf-8")
    result.touch()
    caller.own(*workspace.rglob("*"), result)
    with start(caller, level, workspace, name, result) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        for turn in range(3):
            draft = workspace / f"draft{turn}"
            draft.write_text(f"KEY={turn}", encoding="utf-8")
            caller.own(draft)
            os.rename(draft, workspace / name)
        (workspace / "noise").touch()
        select.select([], [], [], 0.5)  # room for the launcher; the promise, fifty milliseconds, is measured by the benchmarks
        (workspace / "stop").touch()
        said = running.stdout.read()
        running.wait(20)
    assert said.startswith(b"refused"), said
    assert (workspace / name).read_text(encoding="utf-8") == "KEY=2"
    assert set(json.loads(result.read_text(encoding="utf-8"))["held_anew"]) == {str(workspace / name)}


def test_other_files_may_come_and_go(caller: Caller, level: str) -> None:
    workspace = caller.folder()
    (workspace / ".env").write_text("KEY=1", encoding="utf-8")
    text = "for i in 1 2 3 4 5 6 7 8 9; do touch f$i; mv f$i g$i; done; ls | wc -l"
    run = caller.shell(workspace, text, at=level, spec={"protected": [str(workspace / ".env")]})
    assert (run.status, run.out.strip(), run.result["held_anew"]) == (0, b"9", [])
