"""Everyday work in a jail as the dev profile makes it: the same exit status and the same output as bare. The table is cases/ordinary_work.toml."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_harness import TOP, Caller, base_spec, caller_names, made_caller, reachable

pytestmark = pytest.mark.jail
WORK = {row["id"]: row for row in tomllib.loads((TOP / "tests/cases/ordinary_work.toml").read_text(encoding="utf-8"))["work"]}


@pytest.fixture(scope="module", params=caller_names())
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """A user that works."""
    yield from made_caller(request.param)


def environment(caller: Caller, home: Path) -> dict[str, str]:
    """What the work sees, bare and jailed. Root's own tools may live in root's home, which nobody else can read."""
    own = caller.uid == os.geteuid()
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}" if own else "/usr/local/bin:/usr/bin:/bin"
    rust = {"RUSTUP_HOME": str(Path.home() / ".rustup")} if own else {}  # where its compilers are, wherever HOME is
    identity = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.net", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.net"}
    dates = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}  # names of commits are shown, and are made of them
    quiet = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", **rust}
    return {"PATH": path, "HOME": str(home), **identity, **dates, **quiet}


def lacking(caller: Caller, row: dict[str, object], env: dict[str, str]) -> str:
    """The first needed program that is not there, or empty."""
    for need in row.get("needs", ()):  # type: ignore[attr-defined]  # a list in the file
        if " " not in need and not shutil.which(need, path=env["PATH"]):
            return str(need)
        if " " in need and caller.plain(["/bin/sh", "-c", need], env=env).returncode:
            return str(need)
    return ""


@pytest.mark.parametrize("level", ["full", "partial"])
@pytest.mark.parametrize("name", WORK)
def test_work_is_as_bare(caller: Caller, level: str, name: str) -> None:
    row = WORK[name]
    if level == "partial" and "full_only" in row:
        pytest.skip(row["full_only"])
    reachable(caller, level)
    home, bare, jailed = (caller.folder() for _ in range(3))
    env = environment(caller, home)
    if missing := lacking(caller, row, env):
        pytest.skip(f"`{missing}` is not here")
    argv = ["/bin/bash", "--norc", "--noprofile", "-c", row["run"]]
    expected = caller.plain(argv, cwd=bare, env=env, stdin=subprocess.DEVNULL)
    assert expected.returncode == 0, f"the row itself is broken: {expected}"
    spec = {**base_spec(jailed), "writable": [str(jailed), "/tmp"], "masked": [str(home / ".ssh")], "argv": argv, "env": list(env.items())}
    run = caller.run(spec, at=level)
    assert run.result.get("started"), run
    same = (run.status, neutral(run.out, jailed)) == (expected.returncode, neutral(expected.stdout, bare))
    assert same, f"jailed: {run.status} {run.out[-2000:]!r} {run.err[-2000:]!r}\nbare: {expected.returncode} {expected.stdout[-2000:]!r}"


def neutral(output: bytes, folder: Path) -> bytes:
    """The output without the one thing that must differ."""
    return output.replace(str(folder).encode(), b"FOLDER")
