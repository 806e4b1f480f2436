"""Review what is denied, asked and allowed on public command corpora: `tests/review.py judge | sample | check`. Nothing of them is run.

judge    judges all of nl2bash and intercode-agents, profile dev, and prints how many lines got which verdict from which instinct
sample   draws lines to judge by hand: `sample stopped 300 --seed 1` (denials and asks) or `sample allowed 300`
check    compares tests/cases/false_alarms.tsv, the samples judged by hand, with today's verdicts

The corpora lie in ../shared/corpora beside the checkout (JSON lines with `src`); they are not part of this repository, only the samples are.

The world: those lines speak of files in general (`file.txt`, `src`, `*.log`, `/testbed`), so a repository with such files is made, all of it
committed. The intercode lines were written for machines whose data lay in /testbed, /system and /workspace; there the workspace stands.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import score

CORPORA = score.TOP.parent / "shared" / "corpora"
SAMPLES = score.CASES / "false_alarms.tsv"
NAMES = ("nl2bash", "intercode-agents")
_DATA_FOLDERS = re.compile(r"(?<![\w./~-])/(?:testbed|system|workspace)(?![\w.-])")
FILES = dict.fromkeys(
    "file file1 file2 file.txt file1.txt file2.txt input.txt output.txt data.txt data.csv list.txt names.txt log.txt test.txt foo foo.txt bar a.txt b.txt "
    "access.log error.log app.log test.log main.c main.cpp hello.c util.h index.html index.php style.css script.sh test.sh run.sh main.py test.py app.js "
    "Main.java FooBar.java photo.jpg image.png doc.pdf archive.tar.gz archive.zip dir/file.txt dir1/a.txt dir1/subdir1/jsonfile1.json dir2/b.txt "
    "dir3/subdir1/subsubdir1/FooBar/file.txt dir3/subdir1/subsubdir1/tmp/t.txt folder1/data.csv folder1/a.log folder1/old/o.txt folder2/special.php "
    "folder2/folder3/f.txt temp/temp1/t.c temp/t.txt test/foo.txt src/a.c src/b.h images/a.jpg logs/a.log docs/readme.txt lib/x.so my_folder/m.txt".split(),
    "text\n",
)


def corpus(name: str) -> list[dict[str, object]]:
    """The batch lines of one corpus; ids are `name-number`, counted from 1 in the file's order."""
    lines = []
    with (CORPORA / f"{name}.jsonl").open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            lines.append(intent(f"{name}-{number}", json.loads(line)["src"]))
    return lines


def intent(identity: str, text: str) -> dict[str, object]:
    """A line of a corpus as an intent in the world."""
    if identity.startswith("intercode"):
        text = _DATA_FOLDERS.sub(score.WORLD, text)
    return {"id": identity, "type": "shell_command", "content": text, "cwd": score.WORLD, "env": {"HOME": score.HOME, "USER": "dev", "PWD": score.WORLD}}


def judged(lines: list[dict[str, object]]) -> list[tuple[dict[str, object], dict[str, object]]]:
    """Each line with its answer."""
    answers = score.judge_all(lines, "dev", __file__)
    return [(line, answers[line["id"]]) for line in lines]


def rows() -> list[dict[str, str]]:
    """The samples judged by hand: columns id, text, verdict, label, why. Newlines are written as the symbol for newline."""
    return score.read_rows(SAMPLES)


def changed() -> list[str]:
    """One line for each sample whose verdict is no longer the one that was judged."""
    texts = {row["id"]: row for row in rows()}
    lines = [intent(name, row["text"].replace("\u2424", "\n").replace("\u2409", "\t")) for name, row in texts.items()]
    out = []
    for line, answer in judged(lines):
        row = texts[str(line["id"])]
        if answer.get("decision") != row["verdict"]:
            out.append(f"{line['id']}: {row['verdict']} was {row['label']}, now {answer.get('decision')} by {answer.get('instinct')}: {row['text'][:160]}")
    return out


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("judge", "sample", "check"))
    parser.add_argument("side", nargs="?", choices=("stopped", "allowed"), default="stopped")
    parser.add_argument("count", nargs="?", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.verb == "check":
        found = changed()
        print("\n".join(found) or "as judged")
        return 1 if found else 0
    pairs = [pair for name in NAMES for pair in judged(corpus(name))]
    if args.verb == "judge":
        for (decision, instinct), count in collections.Counter((a.get("decision", "error"), a.get("instinct") or "") for _, a in pairs).most_common():
            print(f"{count:6} {decision:6} {instinct}")
        return 0
    chosen = [pair for pair in pairs if (pair[1].get("decision") == "allow") == (args.side == "allowed")]
    for line, answer in random.Random(args.seed).sample(chosen, min(args.count, len(chosen))):
        text = str(line["content"]).replace("\n", "\u2424").replace("\t", "\u2409")
        print("\t".join((str(line["id"]), text, str(answer.get("decision")), str(answer.get("instinct") or ""), str(answer.get("reason") or answer.get("error") or ""))))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        score.FILES |= FILES
        score.inside(sys.argv[2])
    sys.exit(main())
