"""Runs one JailSpec, given as JSON on the command line, as a program whose only purpose is that command. Used by the jail tests.

usage: jail_driver.py PACKAGE_PARENT SPEC_JSON RESULT_FILE AT     (RESULT_FILE "" : print nothing; AT: a level, or bubblewrap)
"""

import json
import os
import signal
import sys

sys.path.insert(0, sys.argv[1])

from instinct_shell.errors import InstinctError
from instinct_shell.execution.launcher import Launcher
from instinct_shell.model.jailspec import JailLevel, JailSpec, Limits, Session


def spec_from(data: dict) -> JailSpec:
    data = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    data["limits"] = Limits(**data.get("limits", {}))
    data["least_level"] = JailLevel(data.get("least_level", "full"))
    data["env"] = tuple((name, value) for name, value in data["env"])
    data["session"] = Session(**data["session"]) if data.get("session") else None
    return JailSpec(**data)


def main() -> int:
    answer: dict[str, object] = {}
    status = 125
    result = None
    try:
        own = sys.argv[4] != "bubblewrap"
        launcher = Launcher(dedicated=True, at=JailLevel(sys.argv[4]) if own else JailLevel.FULL, own_namespaces=own)
        result = launcher.run(spec_from(json.loads(sys.argv[2])))
        answer = {name: getattr(result, name) for name in result._fields}
        status = result.status
    except InstinctError as problem:
        answer = {"error": problem.message, "hint": problem.hint, "status": 125, "started": False}
        sys.stderr.write(f"{problem.message}\n{problem.hint}\n")
    if sys.argv[3]:
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            json.dump(answer, file)
    if result is not None and result.signal and not result.limit:
        signal.signal(result.signal, signal.SIG_DFL) if result.signal not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), result.signal)
    return status


sys.exit(main())
