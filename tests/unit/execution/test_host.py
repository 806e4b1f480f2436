"""Which variables commands see, and which paths are the guard's own."""

from __future__ import annotations

import fnmatch
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from instinct_shell.execution import host
from instinct_shell.execution.host import Names, Person, ancestors, guard_paths, standard_input, visible_environment
from instinct_shell.model.jailspec import JailLevel
from instinct_shell.model.profile import Profile

PROFILE = Profile("test", "0", JailLevel.FULL, env_allow=("PATH", "LC_*", "MY_*"), env_deny=("*_TOKEN", "*SECRET*"))


def test_the_environment_is_an_allow_list() -> None:
    environ = {"PATH": "/bin", "LC_ALL": "C", "MY_TOKEN": "t", "MY_SECRET_X": "s", "OTHER": "o", "MY_HOUSE": "h"}
    assert visible_environment(environ, PROFILE) == {"PATH": "/bin", "LC_ALL": "C", "MY_HOUSE": "h"}


def test_an_empty_allow_list_allows_nothing() -> None:
    assert visible_environment({"PATH": "/bin"}, PROFILE.replace(env_allow=())) == {}


@given(st.text("AB_", max_size=8), st.lists(st.text("AB_*", max_size=6), max_size=4))
def test_name_patterns_mean_what_globs_mean(name: str, patterns: list[str]) -> None:
    assert Names(tuple(patterns)).match(name) == any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def test_the_home_of_the_account_cannot_be_hidden_by_a_variable() -> None:
    account = Person({}).home
    person = Person({"HOME": "/somewhere/else"})
    assert person.home == "/somewhere/else"
    assert person.homes == ("/somewhere/else", account)
    assert Person({"HOME": "relative"}).home == account


def test_guard_paths_hold_package_state_and_interpreter() -> None:
    paths = guard_paths("/state/instinct-shell", Person({}))
    package = os.path.dirname(os.path.realpath(__import__("instinct_shell").__file__))
    assert package in paths
    assert "/state/instinct-shell" in paths
    assert any(path.endswith(".config/instinct-shell") for path in paths)
    # Also where no variable points now: another launcher's state, and the installed launchers.
    account = os.path.realpath(Person({}).home)
    assert {f"{account}/.local/{place}/instinct-shell" for place in ("state", "share")} <= set(paths)
    assert all(path.startswith("/") for path in paths)


def test_an_environment_that_holds_us_is_ours_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = tmp_path.resolve() / ".venv"
    packages = venv / "lib" / "python3.11" / "site-packages"
    for folder in (packages / "instinct_shell" / "execution", venv / "bin"):
        folder.mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    (venv / "bin" / "python3").symlink_to("/bin/sh")
    monkeypatch.setattr(host, "__file__", str(packages / "instinct_shell" / "execution" / "host.py"))
    monkeypatch.setattr(host.sys, "executable", str(venv / "bin" / "python3"))
    assert {str(venv), str(packages)} <= set(guard_paths("/state/instinct-shell", Person({})))


def test_ancestors_begin_with_the_parent() -> None:
    if os.getppid() <= 1:
        pytest.skip("the parent is the first process here")
    assert ancestors()[0] == os.getppid()


class TestStandardInput:
    """What a door finds on fd 0, also on that of the process that called the engine."""

    @pytest.fixture
    def seen(self):
        def look(stdin, at: int = 0) -> str:
            code = "import os,sys; sys.path[:0] = eval(sys.argv[1]); from instinct_shell.execution.host import standard_input; print(standard_input())"
            if at:
                os.lseek(stdin, at, os.SEEK_SET)
            run = subprocess.run([sys.executable, "-c", code, repr(sys.path)], stdin=stdin, capture_output=True, text=True, check=True)
            return run.stdout.strip()

        return look

    def test_nothing_and_pipes(self, seen):
        assert seen(subprocess.DEVNULL) == ""
        reading, writing = os.pipe()
        with os.fdopen(reading), os.fdopen(writing, "w"):
            assert seen(reading) == "pipe"
        ours, theirs = socket.socketpair()
        with ours, theirs:
            assert seen(theirs.fileno()) == "pipe"

    def test_files(self, seen, tmp_path):
        path = tmp_path / "x.sh"
        path.write_text("echo hi\n")
        with path.open() as file:
            assert seen(file.fileno()) == str(path.resolve())
            assert seen(file.fileno(), at=3) == "pipe", "what is left of it is not what its name says"
        with path.open() as file:
            path.unlink()
            assert seen(file.fileno()) == "pipe"

    def test_of_another_process(self):
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as other:
            assert standard_input(other.pid) == "pipe"
            other.communicate(b"")
        assert standard_input(other.pid) == ""
