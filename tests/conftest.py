"""Fixtures that every test may use. The rule for all of them: nothing outside a test's own temporary folder is touched."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sampling import sampled

from instinct_shell.execution import sessions

TOP = Path(__file__).resolve().parent.parent
CORPORA = TOP.parent / "shared" / "corpora"

# How long an example takes is the machine's business of the moment, and no assertion: timings are measured by bin/bench.
# No database of examples either: the checkout may be another user's, and nothing is to be left behind.
settings.register_profile("instinct", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("instinct")

# A shell that starts the tests in the background has them ignore these, and so everything that they start: no Ctrl-C would arrive.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Exhaustive products run as a covering sample, unless INSTINCT_TESTS=all asks for the whole, or a test was named on the command line."""
    if any("::" in word for word in config.args):
        return
    kept = sampled(items)
    if len(kept) < len(items):
        chosen = {item.nodeid for item in kept}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = kept


@pytest.fixture(autouse=True)
def _own_state(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has a state directory of its own, and none of the caller's choices reach it; the jail sessions that it opened end with it."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    for name in [name for name in os.environ if name.startswith("INSTINCT_") and name != "INSTINCT_JAIL_MUST_WORK"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("INSTINCT_ENGINE", "off")  # an engine for each test's state would be all that this machine does
    yield
    for top in (state, request.node.funcargs.get("tmp_path", state) / "state"):
        if (top / "instinct-shell" / "jail-sessions").is_dir():
            sessions.end(str(top / "instinct-shell"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, with a home beside it."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small git repository with one commit."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "README.md").write_text("# app\n", encoding="utf-8")
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", "-C", str(folder), *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)
    return folder


GIT_IDENTITY = ["-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false"]


def git_environment() -> dict[str, str]:
    """The environment in which tests call git: no configuration of the machine or the person."""
    return {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def corpora() -> Path:
    """The folder of command corpora beside the checkout; the test is skipped, loudly, when it is not there."""
    if not CORPORA.is_dir():
        pytest.skip(f"no corpora at {CORPORA}: a checkout of the project alone does not have them")
    return CORPORA
