"""Runs one JailSpec as a ready-made plan, by one of the launchers for plans. Takes the arguments of jail_driver.py; used by the jail tests.

usage: plan_jail_driver.py PACKAGE_PARENT SPEC_JSON RESULT_FILE AT     (INSTINCT_TEST_C: the C launcher, "" for the Python one)

RESULT_FILE gets the launcher's own words on how it ended, which execution/jail/order.py reads. What a plan cannot say goes the long way, as in the
product: the partial level, counted output, further descriptors, and for the C launcher files as standard descriptors.
"""

import json
import os
import signal
import sys

sys.path.insert(0, sys.argv[1])

from instinct_shell.errors import InstinctError
from instinct_shell.execution.jail import order, session
from instinct_shell.execution.plan_descriptors import fill_standard_descriptors, is_plain
from instinct_shell.execution.planned import PlannedRun
from instinct_shell.model.jailspec import JailSpec, Limits, Session
from instinct_shell.resident import protocol


def spec_from(data: dict) -> JailSpec:
    data = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    data["limits"] = Limits(**data.get("limits", {}))
    data["env"] = tuple((name, value) for name, value in data["env"])
    data["session"] = Session(**data["session"]) if data.get("session") else None
    return JailSpec(**data)


def is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def long_way() -> None:
    """The launcher for specs, in this process."""
    driver = os.path.join(sys.argv[1], "jail_driver.py")
    os.execv(sys.executable, [sys.executable, "-I", "-S", driver, *sys.argv[1:]])


def main() -> int:
    c_launcher = os.environ.pop("INSTINCT_TEST_C", "") if all(is_open(fd) and is_plain(fd) for fd in (0, 1, 2)) else ""
    spec = spec_from(json.loads(sys.argv[2]))
    if sys.argv[4] == "partial" or spec.limits.output_bytes or spec.descriptors:
        long_way()
    missing = fill_standard_descriptors()
    if spec.session is not None:  # made when there is none
        session.enter(spec.session, own_network=spec.own_network).conclude(by_itself=True)
    try:
        plan = order.encode(spec, terminal=any(os.isatty(fd) for fd in (0, 1, 2)))
    except InstinctError as problem:
        if sys.argv[3]:
            with open(sys.argv[3], "w", encoding="utf-8") as file:
                json.dump({"error": problem.message, "hint": problem.hint, "status": 125, "started": False}, file)
        sys.stderr.write(f"{problem.message}\n{problem.hint}\n")
        return 125
    if c_launcher:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            with open(writer, "wb") as pipe:
                pipe.write(plan)
            os._exit(0)
        os.close(writer)
        os.set_inheritable(reader, True)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, not by whoever calls the launcher
            signal.signal(number, signal.SIG_DFL)
        os.execv(c_launcher, [c_launcher, str(reader), sys.argv[3]])
    run = PlannedRun(list(protocol.records(plan)), missing)
    if not run.join():
        sys.stderr.write("no session\n")
        return 125
    run.prepare()
    run.go(lambda _: None)
    if sys.argv[3]:
        with open(sys.argv[3], "wb") as file:
            file.write(run.ending)
    try:
        order.result(run.ending)
    except InstinctError as problem:
        sys.stderr.write(f"{problem.message}\n{problem.hint}\n")
    return run.status()


sys.exit(main())
