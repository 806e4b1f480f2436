"""Random sequences of shell fragments against real bash. INVARIANT: what mock-bash ran is in the model. `FUZZ_TEXTS` sets how many."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import bash_oracle
import pytest
from shell_texts import FRAGMENTS

from instinct_shell.errors import InstinctError
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.shell import outputs
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings

pytestmark = pytest.mark.skipif(not bash_oracle.available(), reason="needs bash, timeout and unprivileged namespaces (unshare -Urmpfn)")
COUNT = int(os.environ.get("FUZZ_TEXTS", "600"))
SEED = int(os.environ.get("FUZZ_SEED", "20260"))


def test_random_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "_TABLE", {name: made for name, made in outputs._TABLE.items() if name in ("echo", "printf", "pwd")})
    chance = random.Random(SEED)
    texts = ["".join(chance.choice(FRAGMENTS) for _ in range(chance.randint(2, 14))) for _ in range(COUNT)]
    # a lone backslash at the end and coproc's own naming are known differences that run nothing harmful
    texts = [text for text in texts if not text.endswith("\\") and "coproc" not in text]
    root = Path(tempfile.mkdtemp(prefix="instinct-fuzz-"))
    parser = WorkerParser(deadline_ms=2_000)
    missing = []
    try:
        bash_oracle.prepare(root)
        for number, (text, ran) in enumerate(zip(texts, bash_oracle.run(texts, root, timeout=1_200), strict=True)):
            here = Surroundings(bash_oracle.cwd_of(number), bash_oracle.HOME, (("HOME", bash_oracle.HOME), ("PATH", "/nowhere")))
            try:
                evaluation = evaluate(parser.parse(text).script, here, parser.parse)
            except InstinctError:
                continue
            if lacking := bash_oracle.missing(ran, evaluation):
                missing.append((text, lacking))
    finally:
        parser.close()
        shutil.rmtree(root, ignore_errors=True)
    assert missing == []
