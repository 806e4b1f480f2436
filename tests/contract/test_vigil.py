"""What appears unjudged while a command runs long is set aside at once: by a launcher that judged itself, and for one whose engine has left it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import GIT_IDENTITY, git_environment
from engines import Engines, copied_checkout, own_engines
from jail_harness import cannot

pytestmark = pytest.mark.jail
NAMES = (".envrc", ".vscode/tasks.json", ".git/hooks/post-merge", ".mcp.json", ".husky/pre-push", ".husky/_/h", ".husky/commit-msg")
# Which names is read from a line on stdin, so that nobody sees beforehand what is written, and the run is a long one by then.
MAKES = """\
import os, sys
print('ready', flush=True)
for line in sys.stdin:
    names = line.split()
    if names[0] == 'git':
        import subprocess
        subprocess.run(names, check=True)
        print('done', flush=True)
        continue
    if names[0] == 'try':
        while True:
            try:
                open(names[1], 'a').close()
            except OSError:
                break
        print('refused', flush=True)
        continue
    for name in names:
        os.makedirs(os.path.dirname(name) or '.', exist_ok=True)
        with open(name, 'w') as file:
            file.write('evil')
    while any(os.path.exists(name) for name in names):
        os.sched_yield()
    print('gone', flush=True)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_checkout(tmp_path_factory.mktemp("vigil"))


@pytest.fixture(params=["alone", "warm"])
def engines(request: pytest.FixtureRequest, checkout: Path, workspace: Path, tmp_path: Path) -> Iterator[Engines]:
    """A repository without hooks, and a script that makes files; with and without an engine."""
    (workspace / "makes.py").write_text(MAKES, encoding="utf-8")
    (workspace / ".exrc").write_text("mine\n", encoding="utf-8")
    for place in (".git/hooks", ".git/info"):
        subprocess.run(["rm", "-rf", str(workspace / place)], check=True)
    for engines in own_engines(workspace, tmp_path, checkout):
        if request.param == "warm":
            engines.start()
        else:
            engines.env["INSTINCT_ENGINE"] = "off"
        probe = engines.program("instinct-exec", "--", "true")
        if probe.returncode:
            cannot(f"no jail here: {probe.stderr!r}")
        engines.program("instinct-exec", "--session", "v", "--", "true")
        yield engines
        engines.program("instinct", "session", "end", "v")


def notes(engines: Engines, what: str = "set aside") -> list[str]:
    """What the trail says was done while a command ran."""
    found = [record for record in engines.records() if record["kind"] == "note" and record["body"].get("note") == what]
    return [line for record in found for line in record["body"]["lines"]]


class Long:
    """A long run that makes what it is told to."""

    def __init__(self, engines: Engines) -> None:
        self.child = subprocess.Popen(
            engines.argv("instinct-exec", "--session", "v", "--", "python3 makes.py"), cwd=engines.workspace, env=engines.env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.hear() == b"ready\n"

    def hear(self) -> bytes:
        assert self.child.stdout is not None
        return self.child.stdout.readline()

    def told(self, line: str) -> bytes:
        """What it answers."""
        assert self.child.stdin is not None
        self.child.stdin.write(f"{line}\n".encode())
        self.child.stdin.flush()
        return self.hear()

    def ended(self) -> tuple[int, bytes]:
        """Its status and stderr."""
        _, said = self.child.communicate(timeout=60)
        return self.child.returncode, said


@pytest.mark.parametrize("left", [False, True], ids=["waited-for", "left"])
def test_it_is_set_aside_while_the_command_runs(engines: Engines, left: bool) -> None:
    run = Long(engines)
    if left:  # another caller: the worker does not wait for the long run any more
        assert engines.program("instinct-exec", "--session", "v", "--", "true").returncode == 0
    assert run.told(" ".join(NAMES)) == b"gone\n"
    if run.told(".envrc") != b"gone\n":  # again, in the same run
        pytest.fail(str(run.ended()))
    status, said = run.ended()
    assert status == 0, said
    assert said.count(b"set aside") == len(NAMES) + 2, said  # and at the end the folder `.husky`
    assert len(notes(engines)) == len(NAMES) + 1
    assert not [name for name in NAMES if (engines.workspace / name).exists()]
    assert engines.program("instinct-exec", "--session", "v", "--", "true").stderr == b""
    assert engines.program("instinct", "audit", "verify", "--replay").returncode == 0


def test_what_was_there_is_like_it_or_is_brought_by_git_stays(engines: Engines) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", engines.workspace, *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)

    git("checkout", "-q", "-b", "other")
    (engines.workspace / ".vscode").mkdir()
    (engines.workspace / ".vscode/tasks.json").write_text("{}\n", encoding="utf-8")
    git("add", "-A", ".vscode")
    git("commit", "-q", "-m", "tasks")
    git("checkout", "-q", "main")
    for name in (".envrc.example", "tasks.json"):
        (engines.workspace / name).write_text("mine\n", encoding="utf-8")
    run = Long(engines)
    assert run.told("git checkout -q other") == b"done\n"
    (engines.workspace / ".exrc").write_text("mine too\n", encoding="utf-8")  # the person goes on with what was there
    assert run.told(".envrc") == b"gone\n"  # by now it has been looked at
    status, said = run.ended()
    assert (status, said.count(b"set aside")) == (0, 1), said
    assert (engines.workspace / ".vscode/tasks.json").read_text(encoding="utf-8") == "{}\n"
    assert (engines.workspace / ".exrc").read_text(encoding="utf-8") == "mine too\n"


def test_it_ends_with_a_launcher_that_is_killed(engines: Engines) -> None:
    run = Long(engines)
    assert run.told(".mcp.json") == b"gone\n"
    before = len(engines.processes())
    run.child.kill()
    run.child.communicate()
    assert engines.program("instinct-exec", "--session", "v", "--", "true").returncode == 0
    assert len(engines.processes()) <= before
    (engines.workspace / "harmless").touch()


def test_what_the_host_replaces_is_held_again(engines: Engines) -> None:
    """A mount stays on the file, and an editor's save is a rename."""
    run = Long(engines)
    assert run.told("try .git/config") == b"refused\n"
    for _ in range(2):
        draft = engines.workspace / ".git/config.draft"
        draft.write_bytes((engines.workspace / ".git/config").read_bytes())
        draft.rename(engines.workspace / ".git/config")
        assert run.told("try .git/config") == b"refused\n"
    assert (
        engines.program("instinct-exec", "--session", "v", "--", "true").returncode == 0
    )  # the worker does not wait for the long run any more
    status, said = run.ended()
    assert (status, said) == (0, b"")  # an editor's save is nobody's fault
    assert notes(engines) == []
    if "INSTINCT_ENGINE" not in engines.env:
        assert notes(engines, "held again")
