"""Score `instinct check --batch` on the labelled cases: `bin/score [CASES.tsv] [--misses] [--classes] [--json]`. Nothing in them is run.

Exit status 1 when a side fell below its floor in tests/cases/floors.toml. `bin/score --write docs/quality.md` publishes the result.

commands.tsv has columns id class command expect why kind; incidents.tsv has id class source date what_happened minimal_input expected
seen_in_peer. The world that the cases assume (/srv/work/app, a small git repository) is made on a tmpfs in a mount namespace of its own, so
nothing of it is seen or left outside.

Scores: traps = cases that must be allowed and were; harms and bypasses = cases that must be denied and were (an ask does not count);
middle = asks met by ask (1) or deny (1/2); contain (incidents) = any answer, since holding it is the jail's matter.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
CASES = TOP / "tests" / "cases"
FLOORS = CASES / "floors.toml"
SIDES = ("traps", "harms", "bypasses", "middle", "contain")
sys.path.insert(0, str(TOP / "tests"))
WORLD = "/srv/work/app"
HOME = "/home/dev"
STATE = "/srv/state"  # where no case looks
GUARD = "/srv/guard"  # this checkout, so that no verdict depends on where it lies: in /tmp, `find /tmp -delete` would reach it
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


def judge_all(lines: list[dict[str, object]], profile: str, script: str = __file__) -> dict[object, dict[str, object]]:
    """The answers of one `instinct check --batch`, by id, judged in a world of its own, which `script --inside PROFILE` makes."""
    inside = [sys.executable, "-I", script, "--inside", profile]
    wrap = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]
    run = subprocess.run(
        [*wrap, *inside],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True,
        timeout=900,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": STATE, "HOME": HOME, "LC_ALL": "C.UTF-8", "INSTINCT_ENGINE": "off"},
    )
    if run.returncode:
        raise SystemExit(f"check --batch ended with {run.returncode}: {run.stderr.decode(errors='replace')[-600:]}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return {answer.get("id"): answer for answer in answers}


def inside(profile: str) -> None:
    """In the namespace: make the world, then become the batch."""
    top = os.open(TOP, os.O_PATH)  # it may lie below what is covered now
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)
    Path(GUARD).mkdir()
    subprocess.run(["mount", "--rbind", f"/proc/{os.getpid()}/fd/{top}", GUARD], check=True)
    os.close(top)
    Path(STATE).mkdir(mode=0o700)
    for name, text in FILES.items():
        path = Path(WORLD, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git = ["git", "-C", WORLD, "-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)
    os.chdir(WORLD)
    program = f"{GUARD}/bin/instinct"
    os.execv(program, [program, "check", "--batch", "--profile", profile, "--workspace", WORLD])


class Scored:
    """One case file, judged. sides: side -> (earned, cases). classes: (side, class) -> (earned, cases). misses: (id, class, side, wanted, got, by, text)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sides: dict[str, list[float]] = {}
        self.classes: dict[tuple[str, str], list[float]] = {}
        self.misses: list[tuple[str, ...]] = []
        self.times: list[float] = []
        self.answered = 0.0

    def count(self, side: str, kind: str, points: float) -> None:
        """One more case of a side and a class."""
        for table, key in ((self.sides, side), (self.classes, (side, kind))):
            row = table.setdefault(key, [0.0, 0.0])  # type: ignore[attr-defined]  # two tables of one shape
            row[0] += points
            row[1] += 1

    def scores(self) -> dict[str, float]:
        """Per cent by side, what was answered, and the times in microseconds."""
        found = {side: percent(self.sides[side]) for side in SIDES if side in self.sides}
        if self.times:
            found |= {"p50_us": self.times[len(self.times) // 2], "p99_us": self.times[int(len(self.times) * 0.99)]}
        return {**found, "answered": self.answered}


def percent(row: list[float]) -> float:
    """Earned points in per cent of the cases, to one decimal."""
    return round(100 * row[0] / row[1], 1) if row[1] else 0.0


def judged(path: Path, profile: str = "dev") -> Scored:
    """A case file, judged in the assumed world."""
    rows = {row["id"]: row for row in read_rows(path)}
    lines = [line for line in map(intent_of, rows.values()) if line is not None]
    answers = judge_all(lines, profile)
    found = Scored(path.stem)
    for line in lines:
        row, got = rows[str(line["id"])], answers.get(line["id"], {})
        want, decision = row.get("expect") or row["expected"], str(got.get("decision") or "none")
        side, points = group_of(row), credit(want, decision)
        found.count(side, row["class"], points)
        if points < 1:
            by = str(got.get("instinct") or got.get("error") or "-")
            found.misses.append((str(line["id"]), row["class"], side, want, decision, by, str(line.get("content") or line.get("target"))[:140]))
    found.times = sorted(float(str(answer["elapsed_us"])) for answer in answers.values() if "elapsed_us" in answer)
    found.answered = round(100 * sum("decision" in answers.get(line["id"], {}) for line in lines) / len(lines), 1)
    return found


def floors() -> dict[str, dict[str, float]]:
    """The recorded floors: case file -> side -> per cent."""
    return tomllib.loads(FLOORS.read_text(encoding="utf-8"))


def fallen(found: Scored) -> dict[str, tuple[float, float]]:
    """Sides below their floor: side -> (reached, floor). A side that the file lacks has fallen too."""
    scores = found.scores()
    return {side: (scores.get(side, 0.0), floor) for side, floor in floors().get(found.name, {}).items() if scores.get(side, 0.0) < floor}


def by_class(found: Scored) -> list[str]:
    """One line a class: side, class, points of cases."""
    lines = []
    for side in SIDES:
        for (where, kind), row in sorted(found.classes.items()):
            if where == side:
                lines.append(f"  {side:<10} {kind:<26} {row[0]:g} of {row[1]:.0f}")
    return lines


def main() -> int:
    """The command line."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=Path, default=[CASES / f"{name}.tsv" for name in floors()])
    parser.add_argument("--profile", default="dev")
    parser.add_argument("--misses", action="store_true", help="show each case that earned less than its point")
    parser.add_argument("--classes", action="store_true", help="show points and cases of every class")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the page of results, docs/quality.md")
    args = parser.parse_args()
    all_found = []
    status = 0
    for path in args.cases:
        found = judged(path, args.profile)
        all_found.append(found)
        scores = found.scores()
        for miss in found.misses if args.misses else ():
            print("\t".join(miss).replace("\n", "\\n"))
        if args.json:
            print(json.dumps({"cases": found.name, **scores, "misses": found.misses if args.misses else len(found.misses)}))
        else:
            print(f"{path.name}: " + "  ".join(f"{k} {v}" for k, v in scores.items()))
            print("\n".join(by_class(found)) if args.classes else "", end="\n" if args.classes else "")
        for side, (reached, floor) in fallen(found).items() if args.profile == "dev" else ():
            print(f"{path.name}: {side} {reached} is below its floor of {floor} (tests/cases/floors.toml)", file=sys.stderr)
            status = 1
    if args.write:
        from quality import page

        args.write.write_text(page(all_found), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
