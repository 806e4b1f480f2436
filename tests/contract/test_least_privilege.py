"""A command that surely only reads runs without write rights, and no other does (what that stops is in test_jail_hostile.py)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import Engines, own_engines
from jail_harness import cannot

pytestmark = pytest.mark.jail


@pytest.fixture
def engines(workspace: Path, tmp_path: Path) -> Iterator[Engines]:
    for engines in own_engines(workspace, tmp_path):
        engines.env["INSTINCT_ENGINE"] = "off"
        probe = engines.program("instinct-exec", "--", "true")
        if probe.returncode:
            cannot(f"no jail here: {probe.stderr!r}")
        yield engines


def run(engines: Engines, text: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return engines.program("instinct-exec", "--workspace", str(engines.workspace), "--", text, env={**engines.env, **env})


ONLY_READS = [
    ("cat README.md", True),
    ("ls -la | head -3 && grep -rn app . | wc -l", True),
    ("find . -name '*.md'", True),
    ("cat README.md > copy", False),
    ("find . -name none -delete", False),
    ("sed -i s/a/b/ README.md", False),
    ("cat $(ls *.md)", True),
    ("python3 -c 'print(1)'", False),
    ("git status", False),
    ("sort README.md", False),  # it may write temporary files
    ("A=1 cat README.md", False),
]


@pytest.mark.parametrize(("text", "only_reads"), ONLY_READS)
def test_what_is_predicted_stands_in_the_record(engines: Engines, text: str, only_reads: bool) -> None:
    assert run(engines, text).returncode == 0
    started = [record["body"]["read_only"] for record in engines.records() if record["kind"] == "started"]
    assert started[-1] is only_reads


def test_a_reader_that_stands_elsewhere_is_no_plain_reader(engines: Engines) -> None:
    """PATH of the caller finds another `cat` first, in the workspace: what that does was not predicted to be reading."""
    folder = engines.workspace / "tools"
    folder.mkdir()
    (folder / "cat").write_text("#!/bin/sh\nmkdir made\n", encoding="utf-8")
    (folder / "cat").chmod(0o755)
    run(engines, "cat README.md", PATH=f"{folder}:/usr/bin:/bin")
    started = [record["body"]["read_only"] for record in engines.records() if record["kind"] == "started"]
    assert (engines.workspace / "made").exists() is not started[-1]
