"""Runs one JailSpec, given as JSON on the command line, as a program whose only purpose is that command. Used by the jail tests.

usage: jail_driver.py PACKAGE_PARENT SPEC_JSON RESULT_FILE AT     (RESULT_FILE "" : print nothing; AT: a level, or bubblewrap)
A spec with `exec_log` has its execs judged by a judge that obeys words in the arguments, and writes down there what it was asked.
"""

import json
import os
import signal
import sys
import time

sys.path.insert(0, sys.argv[1])

from instinct_shell.errors import InstinctError
from instinct_shell.execution.launcher import Launcher
from instinct_shell.model.codec import encode
from instinct_shell.model.execs import ExecAnswer, ExecRequest
from instinct_shell.model.jailspec import JailLevel, JailSpec, Limits, Session


class ScriptedJudge:
    """Watches what tests start; refuses, hangs or fails where an argument says so."""

    WATCHED = frozenset("rm sh dash bash git env echo xargs python3 hang-me busybox".split())

    def __init__(self, log: str) -> None:
        self._log = log

    def watches(self, name: str) -> bool:
        if name == "explode":
            raise RuntimeError("no answer")
        return name in self.WATCHED or name.startswith("python3")

    def own_step(self, name: str, caller: str) -> bool:
        return False

    def judge(self, request: ExecRequest) -> ExecAnswer:
        with open(self._log, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps([request.program, [word[:200] for word in request.argv], len(request.argv), request.cwd, os.path.basename(request.caller)]) + "\n")
        said = " ".join(request.argv)
        if "hang-me" in said:
            time.sleep(20)
        if "crash-me" in said:
            raise RuntimeError("crashed")
        if "deny-me" in said or dict(request.env).get("DENY"):
            return ExecAnswer(allow=False, words="scripted: denied\n")
        return ExecAnswer(allow=True)

    def unjudged(self, request: ExecRequest, why: str) -> ExecAnswer:
        return ExecAnswer(allow=False, words=f"scripted: not judged, {why}\n", lasting=False)

    def afresh(self, *, alone: bool = False) -> None:
        pass


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
        data = json.loads(sys.argv[2])
        log = data.pop("exec_log", "")
        data["supervise_execs"] = data.get("supervise_execs", bool(log))
        execs = ScriptedJudge(log) if log else None
        launcher = Launcher(dedicated=True, execs=execs, at=JailLevel(sys.argv[4]) if own else JailLevel.FULL, own_namespaces=own)
        result = launcher.run(spec_from(data))
        answer = {name: encode(getattr(result, name), full=True) for name in result._fields}
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
