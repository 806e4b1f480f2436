"""Random shell text against real bash, and the kept texts judged whole. `FUZZ_TEXTS` sets how many are drawn; bin/fuzz runs for a time."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import bash_oracle
import fuzz
import pytest
from grammar import Sentences

from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.wiring import Guard, open_guard

COUNT = int(os.environ.get("FUZZ_TEXTS", "600"))
SEED = int(os.environ.get("FUZZ_SEED", "20260"))


@pytest.mark.skipif(not bash_oracle.available(), reason="needs bash, timeout and unprivileged namespaces (unshare -Urmpfn)")
@pytest.mark.parametrize("status", [0, 1])
def test_what_bash_ran_is_in_the_model(status: int) -> None:
    sentences = Sentences(SEED + status)
    texts = [sentences.sentence() if number % 2 else sentences.fragments() for number in range(COUNT // 2)]
    root = Path(tempfile.mkdtemp(prefix="instinct-fuzz-"))
    parser = WorkerParser(deadline_ms=2_000)
    try:
        bash_oracle.prepare(root)
        found, commands = fuzz.lacking([text for text in texts if fuzz.comparable(text)], root, parser, status)
    finally:
        parser.close()
        shutil.rmtree(root, ignore_errors=True)
    assert commands > COUNT // 4, "bash ran next to nothing: the comparison is empty"
    assert found == []


@pytest.fixture
def guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    (tmp_path / "workspace" / ".git").mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", "/home/dev")
    return open_guard(profile="dev", workspace=str(tmp_path / "workspace"), cwd=str(tmp_path / "workspace"))


def test_the_kept_texts_are_judged(guard: Guard) -> None:
    assert len(fuzz.corpus()) > 100
    crashes = [wrong for text in fuzz.corpus() if (wrong := fuzz.judged(guard, text)[1]).startswith("crash")]
    assert crashes == []
