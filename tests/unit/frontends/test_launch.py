"""The two texts that start a program, the checkout's and the installed one, over a package that stands in for ours."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from instinct_shell.frontends.install.launchers import LAUNCH

TOP = Path(__file__).resolve().parents[3]
INTERRUPT = "import os\nimport signal\n\nos.kill(os.getpid(), signal.SIGINT)\n"
COLD = "def warm(*_):\n    return None\n"
MAIN = "import os\nimport signal\n\n\ndef main(_):\n    try:\n        os.kill(os.getpid(), signal.SIGINT)\n    except KeyboardInterrupt:\n        return 7\n    return 8\n"


@pytest.fixture(params=["checkout", "installed"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    package = tmp_path / "instinct_shell"
    installed = LAUNCH.format(mark="x", path=[str(tmp_path)], package=str(package))
    text = (TOP / "bin" / "launch.py").read_text(encoding="utf-8") if request.param == "checkout" else installed
    launch = tmp_path / "bin" / "launch.py"
    launch.parent.mkdir()
    launch.write_text(text, encoding="utf-8")
    launching = (TOP / "instinct_shell" / "frontends" / "launching.py").read_text(encoding="utf-8")
    for name, code in (("resident/front", COLD), ("frontends/instinct_exec", MAIN), ("frontends/launching", launching)):
        path = package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    return launch


def _run(launch: Path, *before: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*before, sys.executable, "-I", "-S", "-B", str(launch), "instinct-exec", "true"], capture_output=True, check=False)


@pytest.mark.parametrize("module", ["resident/front", "frontends/instinct_exec"])
def test_an_interrupt_before_anything_is_judged_ends_it_without_a_traceback(start: Path, module: str) -> None:
    (start.parent.parent / "instinct_shell" / f"{module}.py").write_text(INTERRUPT, encoding="utf-8")
    done = _run(start)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_from_then_on_it_is_an_exception_again(start: Path) -> None:
    assert _run(start).returncode == 7


def test_a_caller_that_has_it_ignored_keeps_it_so(start: Path) -> None:
    assert _run(start, "env", "--ignore-signal=INT").returncode == 8
