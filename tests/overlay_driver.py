"""Runs commands on copy-on-write views, as the jail tests' callers do: overlay_driver.py CODE STATE JOBS > ANSWERS

JOBS: a file with one JSON list of objects. `list`: true: say what is kept after a sweep. Else workspace, text, fate (commit | discard | keep) and perhaps
`expires`; `bare`: the same text without us, in another folder; `kill`: the step, from 1, before which the process that commits is killed; then also
`killed` and what a sweep says;
`swap`: [folder, outside, step]: before that step the folder is moved away and a link to outside takes its place; `touch`: a path that is rewritten
between run and commit. ANSWERS: one JSON list, as the last line of stdout.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

sys.path.insert(0, sys.argv[1])

from instinct_shell.errors import InstinctError
from instinct_shell.execution import overlay_commit, overlays as overlays_module
from instinct_shell.execution.launcher import Launcher
from instinct_shell.execution.overlays import Overlays
from instinct_shell.execution.undo import Undo
from instinct_shell.model.jailspec import JailSpec, Limits
from instinct_shell.model.overlay import Kept

ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": "/nowhere"}
SHELL = ("/bin/bash", "--norc", "--noprofile", "-c")


class Steps:
    """What a commit does to the disk, counted; `act` is called before the chosen step."""

    def __init__(self) -> None:
        self.left = 0
        self.act: Callable[[], None] = lambda: None
        for module, name in ((overlay_commit, "_rename"), *((os, name) for name in ("unlink", "mkdir", "rmdir", "fchmod", "symlink", "rename"))):
            setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, real: Callable[..., object]) -> Callable[..., object]:
        def step(*words: object, **named: object) -> object:
            if self.left:
                self.left -= 1
                if not self.left:
                    self.act()
            return real(*words, **named)

        return step


STEPS = Steps()
assert overlays_module.os is os  # the steps of the store are counted too


def swap(folder: str, outside: str) -> None:
    STEPS.left = 0
    os.rename(folder, f"{folder}.away")
    os.symlink(outside, folder)


def killed(overlays: Overlays, kept: Kept, step: int, state: str) -> dict[str, object]:
    """The commit in a process that is killed before this step; then what the next look at the overlays finds."""
    child = os.fork()
    if child == 0:
        STEPS.act, STEPS.left = lambda: os.kill(os.getpid(), signal.SIGKILL), step
        overlays.commit(kept)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return {"killed": os.WIFSIGNALED(status), **carry_out(state, {"list": True})}


def carry_out(state: str, job: dict) -> dict[str, object]:
    said: list[str] = []
    overlays = Overlays(state, lambda: Undo(state), said.append)
    if job.get("list"):
        found = overlays.list()
        return {"said": said, "kept": [kept.run for kept in found], "left": sorted(os.listdir(os.path.join(state, "overlays")))}
    workspace, text = job["workspace"], job["text"]
    if "bare" in job:
        privileges = ("setpriv", "--bounding-set", "-all", "--") if os.geteuid() == 0 else ()  # root has none inside either
        subprocess.run([*privileges, *SHELL, text], cwd=job["bare"], env=ENVIRONMENT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spec = JailSpec(
        workspace=workspace, cwd=workspace, writable=(workspace,), masked=(state,), network="none", private_tmp=True,
        limits=Limits(wall_seconds=60), env=tuple(ENVIRONMENT.items()), argv=(*SHELL, text),
    )  # fmt: skip
    run = os.urandom(8).hex()
    answer: dict[str, object] = {"run": run}
    try:
        answer["status"] = Launcher().run(overlays.begin(run, spec)).status
        change = overlays.changes(run, workspace)
        answer |= {
            "changes": sorted([one.what, one.kind, one.path] for one in change.changes),
            "moved": sorted([one.moved_from, one.path] for one in change.changes if one.moved_from),
            "obstacles": list(change.obstacles),
        }
        kept = Kept(run, time.time(), job.get("expires", 1e12), change)
        if job["fate"] == "discard":
            overlays.drop(run)
        else:
            overlays.keep(kept)
        if job["fate"] == "commit":
            if "touch" in job:
                with open(os.path.join(workspace, job["touch"]), "w", encoding="utf-8") as file:
                    file.write("from outside\n")
            if "kill" in job:
                return answer | killed(overlays, kept, job["kill"], state)
            if "swap" in job:
                folder, outside, STEPS.left = job["swap"]
                STEPS.act = lambda: swap(folder, outside)
            answer["committed"] = overlays.commit(kept)
    except InstinctError as error:
        answer["why"] = error.message
        if "changes" not in answer:
            overlays.drop(run)
    STEPS.left = 0
    return answer | {"said": said, "left": sorted(os.listdir(os.path.join(state, "overlays")))}


def main() -> None:
    with open(sys.argv[3], encoding="utf-8") as file:
        jobs = json.load(file)
    print("\n" + json.dumps([carry_out(sys.argv[2], job) for job in jobs]))


main()
