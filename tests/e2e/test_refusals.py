"""When the jail makes a command fail, one line says which rule and what to do; when it fails by itself, nothing is said. Output and status stay."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from conftest import GIT_IDENTITY, git_environment

from instinct_shell.storage.grants import GrantBook

CASES = tomllib.loads((Path(__file__).resolve().parents[1] / "cases" / "refusals.toml").read_text(encoding="utf-8"))
PASSPHRASE = "correct horse battery"
ONLY_HERE = '[paths]\nwritable = ["{workspace}"]\n'
FILES = {
    "a": "text\n",
    "package-lock.json": "{}\n",
    "Makefile": "place:\n\tcp a $$(cat where)\n",
    "writes.py": "open(open('where').read().strip(), 'w')\n",
    "writes.js": "const fs = require('fs'); fs.writeFileSync(fs.readFileSync('where', 'utf8').trim(), 'x')\n",
    "hooks.py": "open(open('hook').read().strip(), 'a').write('x')\n",
    "renames.py": "import os\nos.rename(*'.vscode vs'.split())\n",
    "aws.py": "import os\nprint(os.listdir(os.environ['HOME'] + chr(47) + '.' + 'aws'))\n",
    "hook": ".git/hooks/pre-commit\n",
    "url": "https://example.org/x\n",
    "forks.py": "import subprocess\nrunning = [subprocess.Popen(['sleep', '20']) for _ in range(400)]\n",
    "big.py": "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nwith open('big', 'wb') as f:\n    f.write(bytes(5000000))\n",
    "spins.py": "while True: pass\n",
    "eats.py": "held = bytearray(1 << 30)\n",
    "opens.py": "held = [open('a') for _ in range(400)]\n",
    "fails.py": "raise SystemExit('it failed: permission denied by the server')\n",
    "fails.js": "throw new Error('it failed')\n",
    "test_fails.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 2)\n",
    "broken.c": "int main(void) { return }\n",
    "package.json": '{"name": "app", "version": "1.0.0"}\n',
    ".vscode/tasks.json": "{}\n",
    "pkg/package.json": '{"name": "pkg", "version": "1.0.0"}\n',
    "pkg/pyproject.toml": '[project]\nname = "pkg"\nversion = "1.0.0"\n',
}


@pytest.fixture
def scene(programs, workspace, tmp_path):
    """The repository of the cases, a home with things to keep from commands, and a folder outside."""
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    (workspace / "where").write_text(f"{programs.home}/made\n", encoding="utf-8")
    subprocess.run(["tar", "-cf", "a.tar", "a"], cwd=workspace, check=True)
    for words in (["add", "-A", "."], ["commit", "-q", "-m", "files"]):
        subprocess.run(["git", "-C", workspace, *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)
    (workspace / ".git/hooks").mkdir(exist_ok=True)
    (programs.home / ".profile").write_text("# mine\n", encoding="utf-8")
    for folder in (".aws", ".gnupg"):
        (programs.home / folder).mkdir(mode=0o700)
        (programs.home / folder / "config").write_text("secret\n", encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/shared.txt").write_text("shared\n", encoding="utf-8")
    return programs


def carried_out(scene, tmp_path, case):
    """(status, our line, stdout). An asked command is approved, as a person would."""
    missing = [name for name in case.get("needs", ()) if not shutil.which(name, path=scene.env["PATH"])]
    if missing:
        pytest.skip(f"not on this machine: {missing[0]}")
    if case.get("as", "") == ("user" if os.geteuid() == 0 else "root"):
        pytest.skip(f"a case for {case['as']}")
    project = case.get("project", "")
    (scene.workspace / ".instinct.toml").write_text(project if "private_tmp" in project else ONLY_HERE + project, encoding="utf-8")
    outside = subprocess.Popen(["sleep", "60"])
    text = case["run"].replace("$OUTSIDE_PID", str(outside.pid)).replace("$OUTSIDE", str(tmp_path / "outside"))
    try:
        run = _run(scene, tmp_path, text, case)
        request = re.search(rb"instinct approve (\w+)", run[1])
        if run[0] == 126 and b"nobody can yet" in run[1]:
            book = GrantBook(str(scene.state))
            book.set_passphrase(PASSPHRASE)
            run = _run(scene, tmp_path, text, case)
            request = re.search(rb"instinct approve (\w+)", run[1])
            assert request, run
            book.approve(request[1].decode(), PASSPHRASE, time.time())
            run = _run(scene, tmp_path, text, case)
    finally:
        outside.kill()
        outside.wait()
    lines = [line for line in run[1].decode(errors="replace").splitlines() if line.startswith("instinct:")]
    return run[0], lines, run[1].decode(errors="replace")


def _run(scene, tmp_path, text, case):
    argv = scene.argv("instinct-exec", "--one-shot", "--", text)
    kept = tmp_path / "stderr"
    with open(kept, "wb") as stderr:
        by_pipe = case.get("stderr", "pipe") == "pipe"
        run = subprocess.run(
            argv, cwd=scene.workspace, env={**scene.env, **case.get("env", {})}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if by_pipe else stderr, check=False, timeout=90,
        )  # fmt: skip
    return run.returncode, run.stderr if by_pipe else kept.read_bytes()


@pytest.mark.parametrize("case", CASES["refused"], ids=[case["run"] for case in CASES["refused"]])
def test_a_refusal_of_the_jail_is_explained(scene, tmp_path, jail_works, case) -> None:
    status, lines, said = carried_out(scene, tmp_path, case)
    assert status not in (0, 125, 126), said
    assert len(lines) == 1, said
    assert case["says"].replace("~", str(scene.home)) in lines[0], said


@pytest.mark.parametrize("stderr", ["pipe", "file"])
@pytest.mark.parametrize("case", CASES["ordinary"], ids=[case["run"] for case in CASES["ordinary"]])
def test_an_ordinary_failure_is_left_alone(scene, tmp_path, jail_works, case, stderr) -> None:
    status, lines, said = carried_out(scene, tmp_path, {**case, "stderr": stderr})
    assert status not in (0, 125, 126), said
    assert not lines, said
