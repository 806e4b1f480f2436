"""One command in the jail of a profile, by this process as its launcher. Prints the microseconds from fork to end.

usage: supervised.py WORKSPACE PROFILE on|off TEXT     (on: each program that it starts is judged; off: the very same jail without that)
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from instinct_shell.execution.launcher import Launcher  # the path comes first
from instinct_shell.wiring import open_guard


def main(workspace: str, profile: str, judged: str, text: str) -> int:
    """Its exit status is the command's."""
    guard = open_guard(profile=profile, workspace=workspace, cwd=workspace, dedicated=True)
    judgement = guard.judge(guard.shell_intent(text, door="bench"))
    if not judgement.verdict.allow:
        sys.exit(f"not allowed: {judgement.verdict.reason}")
    spec = guard.confine(judgement)
    out = os.dup(1)
    result = Launcher(dedicated=True, execs=guard.execs).run(spec.replace(supervise_execs=judged == "on", session=None))
    os.write(out, b"%d\n" % result.wall_us)
    return result.status


sys.exit(main(*sys.argv[1:]))
