"""Fuzz the judge for a time: `bin/fuzz [MINUTES] [--seed N] [--keep]`. Exit status 1 when anything was found.

Two kinds of round take turns:

- *oracle*: texts that name no program but mocks are run by real bash in a throw-away root (tests/bash_oracle.py); what a mock logged must be
  in the model. These are the only texts that are run.
- *judge*: the same texts, and the labelled cases bent at random, are judged whole. No exception but a refusal of ours, and no text may take
  more than 200 ms of processor time, the least of three tries; time spent waiting belongs to whoever else uses the machine, and the parsers
  have deadlines of their own.

What gave a combination of effects, decision and instinct that was not seen before is kept in tests/fuzz/corpus.txt with --keep (JSON strings, one a line); later runs bend it
further, and test_shell_fuzz.py judges all of it again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

import bash_oracle
from grammar import Sentences
from score import read_rows

from instinct_shell.errors import DescribeFault, InstinctError
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.shell import outputs
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings
from instinct_shell.wiring import Guard, open_guard

CORPUS = HERE / "corpus.txt"
HANG_MS = 200
ROUND = 400
MOST_KEPT = 600
LONGEST_KEPT = 200


def known_lines() -> list[str]:
    """The commands of the labelled cases; they are judged, never run."""
    out = []
    for path in sorted((HERE.parent / "cases").glob("*.tsv")):
        for row in read_rows(path):
            text = row.get("command") or row.get("minimal_input") or ""
            out.append(text.replace("\u2424", "\n").replace("\u2409", "\t"))
    return [text for text in out if text]


def corpus() -> list[str]:
    """The kept texts."""
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()] if CORPUS.exists() else []


def comparable(text: str) -> bool:
    """Whether bash's own run of the text says anything; a lone backslash at the end and coproc's own naming are known to differ harmlessly."""
    return not text.endswith("\\") and "coproc" not in text and "\0" not in text


def lacking(texts: list[str], root: Path, parser: WorkerParser, status: int = 0) -> tuple[list[str], int]:
    """Runs the texts in real bash: one line for each that ran a command the model has not, and how many commands bash ran."""
    found = []
    commands = 0
    table = outputs._TABLE
    outputs._TABLE = {name: made for name, made in table.items() if name in ("echo", "printf", "pwd")}  # the rest are mocks there, or not there
    try:
        for number, (text, ran) in enumerate(zip(texts, bash_oracle.run(texts, root, status=status, timeout=1_200), strict=True)):
            commands += len(ran)
            here = Surroundings(bash_oracle.cwd_of(number), bash_oracle.HOME, (("HOME", bash_oracle.HOME), ("PATH", "/nowhere")))
            try:
                evaluation = evaluate(parser.parse(text).script, here, parser.parse)
            except InstinctError:
                continue
            except Exception as error:  # noqa: BLE001 - what the fuzzer is for
                found.append(f"crash {type(error).__name__}: {error}: {text!r}")
                continue
            if missing := bash_oracle.missing(ran, evaluation):
                found.append(f"lacking {missing[:3]!r}: {text!r}")
    finally:
        outputs._TABLE = table
    return found, commands


def judged(guard: Guard, text: str) -> tuple[str, str]:
    """What the text's verdict rests on, and what is wrong ("" for nothing)."""
    least = float("inf")
    for _ in range(3):
        guard.pipeline._parser._cache.clear()  # type: ignore[attr-defined]  # a text parsed before is no measurement
        start = time.process_time()
        try:
            judgement = guard.judge(guard.shell_intent(text, door="check"))
            signature = " ".join(sorted({str(effect.kind) for effect in judgement.effects}))
            verdict = judgement.verdict
            signature += f" {verdict.decision.word} {verdict.findings[0].instinct if verdict.findings else ''}"
        except DescribeFault as error:
            return "crash", f"crash, {error}: {text!r}"
        except InstinctError as error:
            signature = error.code
        except Exception as error:  # noqa: BLE001 - what the fuzzer is for
            import traceback

            at = traceback.extract_tb(error.__traceback__)[-1]
            return "crash", f"crash {type(error).__name__} at {Path(at.filename).name}:{at.lineno}: {text!r}"
        least = min(least, (time.process_time() - start) * 1_000)
        if least <= HANG_MS:
            return signature, ""
    return signature, f"slow, {least:.0f} ms: {text!r}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", nargs="?", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="write new kinds of texts to tests/fuzz/corpus.txt")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    sentences = Sentences(args.seed)
    with tempfile.TemporaryDirectory(prefix="instinct-fuzz-") as folder:
        base = Path(folder)
        base.chmod(0o755)  # the oracle runs as an ordinary user
        workspace, state, root = base / "workspace", base / "state", base / "root"
        for each in (workspace / ".git", state, root):
            each.mkdir(parents=True)
        os.environ |= {"XDG_STATE_HOME": str(state), "HOME": "/home/dev"}
        guard = open_guard(profile="dev", workspace=str(workspace), cwd=str(workspace))
        reading = WorkerParser(deadline_ms=2_000)
        oracle = bash_oracle.available()
        if not oracle:
            print("no bash with unprivileged namespaces: nothing is compared with a real run", file=sys.stderr)
        bash_oracle.prepare(root)
        kept = {judged(guard, text)[0]: text for text in corpus()}
        lines = known_lines() + list(kept.values())
        counts = {"compared": 0, "ran": 0, "judged": 0}
        findings: list[str] = []

        def report(found: list[str]) -> None:
            for each in found:
                findings.append(each)
                print(each, flush=True)

        for number in itertools.count():
            if time.monotonic() >= until:
                break
            plain = [sentences.sentence() if sentences.chance.random() < 0.7 else sentences.fragments() for _ in range(ROUND)]
            if oracle:
                texts = [text for text in plain if comparable(text)]
                found, ran = lacking(texts, root, reading, status=number % 2)
                report(found)
                counts["compared"] += len(texts)
                counts["ran"] += ran
                if not counts["ran"]:
                    raise SystemExit("bash ran nothing at all: the comparison would be empty")
            for text in plain[: ROUND // 4] + [sentences.bent(lines) for _ in range(ROUND)]:
                signature, wrong = judged(guard, text)
                counts["judged"] += 1
                if wrong:
                    report([wrong])
                elif signature not in kept and len(text) <= LONGEST_KEPT and len(kept) < MOST_KEPT:
                    kept[signature] = text
                    lines.append(text)
            done = f"{counts['compared']} texts compared with bash, which ran {counts['ran']} commands, {counts['judged']} judged"
            print(f"seed {args.seed}: {done}, {len(kept)} kept, {len(findings)} found", file=sys.stderr, flush=True)
        guard.pipeline._parser.close()  # type: ignore[attr-defined]  # a Parser of the port need not have it; ours has
        reading.close()
        if args.keep:
            CORPUS.write_text("".join(json.dumps(text) + "\n" for text in sorted(kept.values())), encoding="utf-8")
        shutil.rmtree(root, ignore_errors=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
