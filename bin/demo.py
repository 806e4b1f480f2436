"""The tour behind `bin/demo`: each stop is a real call of the real programs, with its expectation checked. Exit 1 when one is not met."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
WIDEST = 150
MOST_LINES = 40
COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def bold(text: str) -> str:
    """The text in bold, where there is a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if COLOUR else text


class Tour:
    """Shows commands, runs them and remembers whether everything went as told."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "app"
        self.home = folder / "home"
        self.failed: list[str] = []
        self._stop = 0
        keep = {name: value for name, value in os.environ.items() if not name.startswith("INSTINCT_")}
        self.env = {**keep, "HOME": str(self.home), "XDG_STATE_HOME": str(folder / "state"), "GIT_CONFIG_NOSYSTEM": "1"}
        self.env["INSTINCT_ENGINE"] = "off"  # the tour leaves nothing behind, no engine either
        for role in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{role}_NAME": "demo", f"GIT_{role}_EMAIL": "demo@example.net"}

    def make_world(self) -> None:
        """A small repository with a secret in it, and a home that is not yours."""
        self.home.mkdir()
        (self.workspace / "src").mkdir(parents=True)
        (self.workspace / ".env").write_text("API_KEY=not-a-real-key\n", encoding="utf-8")
        (self.workspace / ".gitignore").write_text(".env\nbuild/\n", encoding="utf-8")
        (self.workspace / "src/names.txt").write_text("mary\nada\ngrace\n", encoding="utf-8")
        git = ["git", "-C", str(self.workspace)]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            subprocess.run([*git, *words], check=True, env=self.env, stdin=subprocess.DEVNULL)

    def stop(self, title: str, story: str) -> None:
        """The next stop of the tour."""
        self._stop += 1
        print(f"\n{bold(f'{self._stop}. {title}')}\n   {story}", flush=True)

    def run(self, program: str, *words: str, status: int, contains: str = "", stdin: str | None = None, shown: str = "") -> None:
        """Run one of our programs here; both its exit status and its words are part of the promise."""
        print(f"   $ {shown or shlex.join([program, *words])}", flush=True)
        run = subprocess.run(
            [str(TOP / "bin" / program), *words],
            cwd=self.workspace,
            env=self.env,
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
        )
        said = run.stdout + run.stderr
        for line in said.splitlines()[:MOST_LINES]:
            print(f"     {line if len(line) <= WIDEST else line[:WIDEST] + ' ...'}")
        print(f"     -> exit status {run.returncode}", flush=True)
        if run.returncode != status or contains not in said:
            self.failed.append(f"stop {self._stop}: expected exit status {status} and {contains!r}")
            print(f"     !! {self.failed[-1]}", flush=True)

    def outside(self, target: Path) -> None:
        """The same write asked of the jail itself, as if the judge had missed it."""
        print(f"   (the judge left out:) echo gotcha > {target}", flush=True)
        code = JAIL_ONLY.format(top=str(TOP), text=f"echo gotcha > {target}")
        run = subprocess.run(
            [sys.executable, "-I", "-c", code],
            cwd=self.workspace,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        for line in (run.stdout + run.stderr).splitlines():
            print(f"     {line}")
        held = run.returncode not in {0, 125} and not target.exists()
        print(f"     -> exit status {run.returncode}; the file was {'never made' if not target.exists() else 'MADE'}", flush=True)
        if target.exists():
            target.unlink()
        if not held:
            self.failed.append(f"stop {self._stop}: the jail did not hold")


JAIL_ONLY = """
import sys
sys.path.insert(0, {top!r})
from instinct_shell.wiring import open_guard
from instinct_shell.execution.launcher import Launcher
guard = open_guard()
spec = guard.confine(guard.judge(guard.shell_intent("touch build.txt", door="demo")))
result = Launcher().run(spec.replace(argv=(*spec.argv[:spec.argv.index("-c") + 1], {text!r})))
print("jail level:", result.level, "by", ", ".join(result.layers))
sys.exit(result.status)
"""


def main() -> int:
    """The tour."""
    with tempfile.TemporaryDirectory(prefix="instinct-demo-") as name:
        tour = Tour(Path(name))
        tour.make_world()
        print(bold("Instinct Shell: a tour on a throw-away workspace."), f"\n   workspace {tour.workspace}, profile dev", sep="\n")

        tour.stop("Harmless work is not disturbed", "A pipeline is judged, runs in the jail, and its output passes through untouched.")
        tour.run("instinct-exec", "--", "sort src/names.txt | head -2 | tee build.txt", status=0, contains="ada")
        tour.run(
            "instinct-exec", "--", 'git commit -q --allow-empty -m "fix rm -rf bug" && git log --oneline | wc -l', status=0, contains="2"
        )

        tour.stop(
            "Harm is refused, with a reason and another way",
            "Nothing of this runs; the home directory here is a throw-away one all the same.",
        )
        tour.run("instinct-exec", "--", "rm -rf ~", status=126, contains="denied by")
        tour.run("instinct-exec", "--", "git reset --hard && git clean -fdx", status=126, contains="denied by")

        tour.stop("Secrets are protected by name", "Programs may read .env to start; a command that names, copies or prints it may not.")
        tour.run("instinct-exec", "--", "cat .env", status=126, contains="denied by")
        tour.run("instinct-exec", "--", "ls -l .env", status=0)

        tour.stop(
            "The scope is held twice", "A write outside the workspace is stopped by the judge; asked of the jail directly, by the kernel."
        )
        outside = Path("/usr/local" if os.access("/usr/local", os.W_OK) else pwd.getpwuid(os.getuid()).pw_dir, "instinct-demo.txt")
        tour.run("instinct-exec", "--", f"echo gotcha > {outside}", status=126, contains="instinct:")
        tour.outside(outside)

        tour.stop("Money is counted", "A call over the session ceiling ($10.00), and an ad budget a million times too high.")
        call = {"id": 1, "type": "api_call", "target": "llm", "metadata": {"estimatedCost": 4.0, "sessionSpent": 8.0}}
        line = json.dumps(call)
        tour.run(
            "instinct", "check", "--batch", status=0, contains='"deny"', stdin=line + "\n", shown=f"echo '{line}' | instinct check --batch"
        )
        budget = '{"operations":[{"update":{"resourceName":"customers/1/campaignBudgets/2","amountMicros":"50000000000"},"updateMask":"amount_micros"}]}'
        ads = f"curl -X POST https://googleads.googleapis.com/v17/customers/1/campaignBudgets:mutate -d '{budget}'"
        tour.run("instinct", "check", "-c", ads, status=126, contains="deny")

        tour.stop("Everything was written down", "One record per judged intent, chained by hash; a changed byte would show.")
        tour.run("instinct", "audit", "list", status=0)
        tour.run("instinct", "audit", "verify", "--replay", status=0)

        tour.stop("And this is the jail of this machine", "Two dozen attempts to break out, really made inside a real jail.")
        tour.run("instinct", "doctor", status=0)

    print()
    if tour.failed:
        print(bold("Something was not as told:"), *tour.failed, sep="\n  ")
        return 1
    print(bold("That was the tour."), "Nothing of it is left behind. Next: bin/test, or: bin/instinct-exec -- YOUR COMMAND")
    return 0


if __name__ == "__main__":
    sys.exit(main())
