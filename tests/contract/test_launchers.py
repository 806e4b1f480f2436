"""The launchers for ready-made plans, Python and C, by the jail's own contract: what holds for a spec holds for its plan."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from jail_harness import MUST_WORK, NOBODY, TOP, Caller, Run, caller_names, reachable

from instinct_shell.errors import InstinctError
from instinct_shell.execution.jail import order

OURS = ("caller", "level", "pytestmark", "Caller", "Run")
SUITES = ("test_jail_pass_through", "test_jail_hostile", "test_jail_descriptors")


class PlanCaller(Caller):
    """A caller whose launcher gets plans. `launcher`: python or c."""

    def __init__(self, name: str, uid: int | None, launcher: str) -> None:
        super().__init__(name, uid)
        self.launcher = launcher
        shutil.copy(TOP / "tests" / "plan_jail_driver.py", self.code)
        (self.code / "plan_jail_driver.py").chmod(0o644)
        self._program = self._build() if launcher == "c" else ""

    def _build(self) -> str:
        if shutil.which("cc") is None:
            self.close()
            if MUST_WORK:
                pytest.fail("no C compiler, and everything must work here")
            pytest.skip("no C compiler on this machine: the Python launcher is the one in use")
        program = self.code / "c_jail_driver"
        build = [TOP / "bin" / "launcher" / "build.sh", self.python, self.code, program]
        env = {**os.environ, "INSTINCT_FRONT": str(TOP / "tests" / "carry_out.c"), "CPATH": str(TOP / "bin" / "launcher")}
        subprocess.run(build, check=True, env=env)
        program.chmod(0o755)
        return str(program)

    def driver(self, spec: dict[str, object], *, at: str = "full", result: str = "") -> list[str]:
        words = super().driver(spec, at=at, result=result)
        place = words.index(str(self.code / "jail_driver.py"))
        words[place] = str(self.code / "plan_jail_driver.py")
        start = place - 3  # the interpreter
        return [*words[:start], "env", f"INSTINCT_TEST_C={self._program}", *words[start:]]

    def run(self, spec: dict[str, object], *, at: str = "full", **options: object) -> Run:
        result = self.home / f"result{os.urandom(4).hex()}"
        result.touch()
        self.own(result)
        whole = {"capture_output": True, "timeout": 120, "stdin": subprocess.DEVNULL, **options}
        done = subprocess.run(self.driver(spec, at=at, result=str(result)), check=False, **whole)  # type: ignore[call-overload]
        text = result.read_text(encoding="utf-8")
        result.unlink()
        run = Run(done, {})
        if text.startswith("{"):
            run.result = json.loads(text)
        elif text:
            try:
                found = order.result(text.encode())
                run.result = json.loads(json.dumps({name: getattr(found, name) for name in found._fields}))
            except InstinctError as problem:
                run.result = {"error": problem.message, "hint": problem.hint, "status": 125, "started": False}
                run.err += f"{problem.message}\n{problem.hint}\n".encode()
        return run


@pytest.fixture(scope="session", params=[f"{launcher}-{name}" for launcher in ("python", "c") for name in caller_names()])
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """A user and a launcher."""
    launcher, name = request.param.split("-")
    made = PlanCaller(name, NOBODY if name == "ordinary" and os.geteuid() == 0 else None, launcher)
    yield made
    made.close()


@pytest.fixture(scope="session", params=["full", "session"])
def level(request: pytest.FixtureRequest, caller: Caller) -> str:
    """The levels that plans are for."""
    reachable(caller, request.param)
    return str(request.param)


def suite(name: str) -> ModuleType:
    """One of the jail's own test modules."""
    spec = importlib.util.spec_from_file_location(f"{name}_for_launchers", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


for _name in SUITES:
    _module = suite(_name)
    globals().update({name: value for name, value in vars(_module).items() if name not in OURS and not name.startswith("__")})
pytestmark = pytest.mark.jail
