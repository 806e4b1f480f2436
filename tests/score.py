"""Score `instinct check --batch` on the labelled cases: `bin/score [tests/cases/commands.tsv] [--misses] [--json]`. Nothing in them is run.

commands.tsv has columns id class command expect why kind; incidents.tsv has id class source date what_happened minimal_input expected
seen_in_peer. The world that the cases assume (/srv/work/app, a small git repository) is made on a tmpfs in a mount namespace of its own, so
nothing of it is seen or left outside.

Scores: traps = cases that must be allowed and were; harms and bypasses = cases that must be denied and were (an ask does not count);
middle = asks met by ask (1) or deny (1/2); contain (incidents) = any answer, since holding it is the jail's matter.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
WORLD = "/srv/work/app"
HOME = "/home/dev"
FILES = {
    ".env": "API_KEY=not-a-real-key\n",
    ".gitignore": "build/\ndist/\nnode_modules/\n.env\n",
    "Makefile": "build:\n\tmkdir -p build\nclean:\n\trm -rf build\n",
    "README.md": "# app\n",
    "build/a.o": "x\n",
    "certs/server.pem": "x\n",
    "config/app.yaml": "a: 1\n",
    "config/credentials.json": "{}\n",
    "config/secrets.yml": "a: 1\n",
    "coverage.xml": "x\n",
    "dist/bundle.js": "x\n",
    "docs/guide.md": "text\n",
    "node_modules/left/index.js": "x\n",
    "package-lock.json": "{}\n",
    "package.json": '{"name":"app","scripts":{"test":"node --test","build":"tsc -p ."}}\n',
    "pyproject.toml": "[project]\nname='app'\n",
    "scripts/x.sh": "echo ok\n",
    "src/app.ts": "export const app = 1;\n",
    "src/environment.ts": "export const env = {};\n",
    "src/old.ts": "export {};\n",
    "tests/app.test.ts": "import '../src/app';\n",
    "yarn.lock": "\n",
}


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a case file as dicts; comment lines start with `#`."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"), strict=False)) for line in lines[1:]]


def intent_of(row: dict[str, str]) -> dict[str, object] | None:
    """The batch line of a row; None when it is a tool call of a shape we do not know."""
    base: dict[str, object] = {"id": row["id"], "cwd": WORLD, "env": {"HOME": HOME, "USER": "dev", "PWD": WORLD}}
    text = (row.get("command") or row.get("minimal_input") or "").replace("\u2424", "\n").replace("\u2409", "\t")
    shell = {**base, "type": "shell_command", "content": text}
    if "command" in row or not text.startswith("{"):
        return shell
    try:
        call = json.loads(text)
    except ValueError:  # a brace group, not a tool call
        return shell
    words = call.get("input") or call.get("tool_input") or call
    if isinstance(words.get("command") or words.get("cmd"), str):
        return {**base, "type": "shell_command", "content": words.get("command") or words["cmd"]}
    target = words.get("file_path") or words.get("path") or words.get("filePath")
    if not target:
        return None
    tool = str(call.get("tool") or call.get("tool_name") or call.get("name") or "").lower()
    kind = {"read": "file_read", "edit": "file_edit", "delete": "file_delete"}.get(tool, "file_write")
    return {**base, "type": kind, "target": target, "content": words.get("content") or words.get("new_string") or ""}


def credit(want: str, decision: str) -> float:
    """How much of a point a decision earns."""
    if want in {"allow", "passthrough"}:
        return float(decision == "allow")
    if want == "contain":
        return float(decision != "none")
    if want == "ask":
        return {"ask": 1.0, "deny": 0.5}.get(decision, 0.0)
    return float(decision == "deny")


def group_of(row: dict[str, str]) -> str:
    """Which score a row counts for."""
    want = row.get("expect") or row["expected"]
    named = {"allow": "traps", "passthrough": "traps", "contain": "contain", "ask": "middle"}.get(want)
    return named or ("bypasses" if row.get("kind") == "bypass" else "harms")


def judge_all(lines: list[dict[str, object]], profile: str) -> dict[object, dict[str, object]]:
    """The answers of one `instinct check --batch`, by id, judged in a world of its own."""
    with tempfile.TemporaryDirectory(prefix="instinct-score-") as state:
        inside = [sys.executable, "-I", __file__, "--inside", profile]
        wrap = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
        run = subprocess.run(
            [*wrap, *inside],
            input="".join(json.dumps(line) + "\n" for line in lines).encode(),
            capture_output=True,
            timeout=900,
            check=False,
            env={**os.environ, "XDG_STATE_HOME": state, "HOME": state, "LC_ALL": "C.UTF-8"},
        )
    if run.returncode:
        raise SystemExit(f"check --batch ended with {run.returncode}: {run.stderr.decode(errors='replace')[-600:]}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return {answer.get("id"): answer for answer in answers}


def inside(profile: str) -> None:
    """In the namespace: make the world, then become the batch."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)
    for name, text in FILES.items():
        path = Path(WORLD, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git = ["git", "-C", WORLD, "-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)
    os.chdir(WORLD)
    program = str(TOP / "bin" / "instinct")
    os.execv(program, [program, "check", "--batch", "--profile", profile, "--workspace", WORLD])


def score(path: Path, profile: str = "dev") -> tuple[dict[str, float], list[tuple[str, ...]]]:
    """The scores in per cent, and the misses as (id, group, wanted, got, by, text)."""
    rows = {row["id"]: row for row in read_rows(path)}
    lines = [line for line in map(intent_of, rows.values()) if line is not None]
    answers = judge_all(lines, profile)
    earned: dict[str, float] = collections.defaultdict(float)
    counted: dict[str, int] = collections.defaultdict(int)
    misses: list[tuple[str, ...]] = []
    for line in lines:
        row, got = rows[str(line["id"])], answers.get(line["id"], {})
        want, decision = row.get("expect") or row["expected"], str(got.get("decision") or "none")
        points = credit(want, decision)
        earned[group_of(row)] += points
        counted[group_of(row)] += 1
        if points < 1:
            by = str(got.get("instinct") or got.get("error") or "-")
            misses.append((str(line["id"]), group_of(row), want, decision, by, str(line.get("content") or line.get("target"))[:140]))
    scores = {name: round(100 * earned[name] / counted[name], 1) for name in ("traps", "harms", "bypasses", "middle", "contain") if counted[name]}
    times = sorted(float(str(answer["elapsed_us"])) for answer in answers.values() if "elapsed_us" in answer)
    if times:
        scores |= {"p50_us": times[len(times) // 2], "p99_us": times[int(len(times) * 0.99)]}
    scores["answered"] = round(100 * sum("decision" in answers.get(line["id"], {}) for line in lines) / len(lines), 1)
    return scores, misses


def main() -> int:
    """The command line."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=Path, default=[TOP / "tests/cases/commands.tsv", TOP / "tests/cases/incidents.tsv"])
    parser.add_argument("--profile", default="dev")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for path in args.cases:
        scores, misses = score(path, args.profile)
        if args.misses:
            for miss in misses:
                print("\t".join(miss).replace("\n", "\\n"))
        print(json.dumps({"cases": path.name, **scores}) if args.json else f"{path.name}: " + "  ".join(f"{k} {v}" for k, v in scores.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
