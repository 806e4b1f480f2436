"""Runs a command on a copy-on-write view, as the jail tests' callers do: overlay_driver.py CODE STATE WORKSPACE FATE TEXT [STEP]

FATE: commit | discard | keep | carry-on (TEXT is unused). STEP: the rename or unlink of the commit, counted from 1, before which the process is killed.
Prints one JSON object: status, changes as [what, kind, path], obstacles, committed or why not.
"""

from __future__ import annotations

import json
import os
import signal
import sys


def main() -> None:
    code, state, workspace, fate, text, *step = sys.argv[1:]
    sys.path.insert(0, code)
    from instinct_shell.errors import InstinctError
    from instinct_shell.execution import overlay_commit
    from instinct_shell.execution.launcher import Launcher
    from instinct_shell.execution.overlays import Overlays
    from instinct_shell.execution.undo import Undo
    from instinct_shell.model.jailspec import JailSpec, Limits
    from instinct_shell.model.overlay import Kept

    if step:
        left = int(step[0])
        for module, name in ((overlay_commit, "_rename"), (overlay_commit.os, "unlink"), (overlay_commit.os, "mkdir"), (overlay_commit.os, "rmdir"), (overlay_commit.os, "fchmod")):
            real = getattr(module, name)

            def counted(*words: object, _real: object = real, **named: object) -> object:
                nonlocal left
                left -= 1
                if left == 0 and committing[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return _real(*words, **named)  # type: ignore[operator]

            setattr(module, name, counted)
    committing = [False]
    said: list[str] = []
    overlays = Overlays(state, lambda: Undo(state), said.append)
    if fate == "carry-on":
        found = overlays.list()
        print(json.dumps({"said": said, "kept": [kept.run for kept in found], "left": sorted(os.listdir(os.path.join(state, "overlays")))}))
        return
    spec = JailSpec(
        workspace=workspace, cwd=workspace, writable=(workspace,), masked=(state,), network="none", private_tmp=True,
        limits=Limits(wall_seconds=60), env=(("PATH", os.defpath), ("LC_ALL", "C.UTF-8")), argv=("/bin/bash", "--norc", "--noprofile", "-c", text),
    )  # fmt: skip
    run = os.urandom(8).hex()
    answer: dict[str, object] = {"run": run}
    try:
        result = Launcher().run(overlays.begin(run, spec))
        change = overlays.changes(run, workspace)
        answer |= {
            "status": result.status,
            "changes": [[one.what, one.kind, one.path] for one in change.changes],
            "moved": [[one.moved_from, one.path] for one in change.changes if one.moved_from],
            "obstacles": list(change.obstacles),
        }
        kept = Kept(run, 0.0, 1e12, change)
        if fate == "discard":
            overlays.drop(run)
        else:
            overlays.keep(kept.replace(at=__import__("time").time()))
        if fate == "commit":
            committing[0] = True
            if step:
                left = int(step[0])
            answer["committed"] = overlays.commit(kept)
    except InstinctError as error:
        answer["why"] = f"{error.message} / {error.hint}"
        if "changes" not in answer:
            overlays.drop(run)
    answer |= {"said": said, "left": sorted(os.listdir(os.path.join(state, "overlays")))}
    print(json.dumps(answer))


main()
