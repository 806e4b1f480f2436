"""What programs start while a command runs, judged by the real judge: harm that no text showed is refused, and ordinary work is not disturbed.

Everything runs through `instinct-exec --profile staging` with a throw-away home. The harm comes out of a data file, so that only the exec shows it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import LAUNCHERS, TOP, Engines, own_engines
from jail_harness import cannot
from shell_harness import Shell

pytestmark = pytest.mark.jail
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
RUN = """\
import json, subprocess, sys
for words in json.load(open("words.json")):
    try:
        print(words[0], subprocess.run(words).returncode, flush=True)
    except OSError as error:
        print(words[0], "refused", error.errno, flush=True)
"""


class World(Engines):
    """A home with something to lose, and a workspace."""

    def run(self, text: str, **env: str) -> subprocess.CompletedProcess[str]:
        words = ("--profile", "staging", "--workspace", str(self.workspace), "--one-shot", "--", text)
        done = self.program("instinct-exec", *words, env={**self.env, "INSTINCT_ENGINE": "off", **env})
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def words(self, *commands: list[str]) -> None:
        self.write("words.json", json.dumps(commands))
        self.write("run.py", RUN)


@pytest.fixture
def world(workspace: Path, tmp_path: Path) -> Iterator[World]:
    for world in own_engines(workspace, tmp_path):
        world.__class__ = World
        assert isinstance(world, World)
        (world.home / "photos").mkdir()
        (world.home / "photos" / "one.jpg").write_text("only copy", encoding="utf-8")
        probe = world.run("true")
        if probe.returncode:
            cannot(f"no jail here: {probe.stderr}")
        (world.workspace / "README.md").write_text("# app\nnot committed\n", encoding="utf-8")
        yield world
        assert (world.home / "photos" / "one.jpg").read_text() == "only copy"


def _harms(world: World) -> list[list[str]]:
    home = str(world.home)
    return [
        ["rm", "-rf", home],
        ["/bin/rm", "-r", "-f", f"{home}/../home/"],
        ["find", home, "-delete"],
        ["git", "reset", "--hard"],
        ["git", "push", "--force", "origin", "main"],
        ["git", "clean", "-fdx"],
        ["bash", "-c", "true; cd / && rm -rf ~"],
        ["sh", "-c", f"echo {home} | xargs rm -rf"],
        [PYTHON, "-c", f"import shutil; shutil.rmtree({home!r})"],
        ["env", "-i", "A=1", "sh", "-c", f"rm -rf {home}"],
        ["chmod", "u+s", "README.md"],
        ["tee", ".claude/settings.json"],
    ]


def test_harm_out_of_data_is_refused_whatever_starts_it(world: World) -> None:
    harms = _harms(world)
    world.words(*harms)
    run = world.run(f"{PYTHON} run.py </dev/null")
    assert run.returncode == 0, run
    refused = [line.split()[0] for line in run.stdout.splitlines() if line.endswith("refused 13")]
    # `env` and `sh` are let through where only what they start is the harm: then that is refused inside
    others = [line for line in run.stdout.splitlines() if not line.endswith("refused 13")]
    assert len(refused) >= len(harms) - 2, run.stdout
    assert all(line.split()[1] != "0" for line in others), (others, run.stderr)
    assert run.stderr.count("instinct: denied by ") >= len(harms), run.stderr
    assert "  instead: " in run.stderr
    assert (world.workspace / "README.md").read_text() == "# app\nnot committed\n"


def test_each_refusal_is_a_record_tied_to_the_command(world: World) -> None:
    world.words(["git", "reset", "--hard"], ["git", "status"])
    world.run(f"{PYTHON} run.py")
    judged = [record for record in world.records() if record["kind"] == "judged"]
    parents = {record["run"]: record["body"] for record in judged if not record["body"].get("exec")}
    inside = [record["body"] for record in judged if record["body"].get("exec")]
    assert [(body["intent"]["content"], body["decision"], body["door"]) for body in inside] == [("git reset --hard", "deny", "exec")]
    assert parents[inside[0]["parent"]]["intent"]["content"] == f"{PYTHON} run.py"
    finished = next(record["body"] for record in world.records() if record["kind"] == "finished" and record["run"] == inside[0]["parent"])
    assert finished["execs_denied"] == 1
    verified = json.loads(world.program("instinct", "audit", "verify", "--replay", "--json").stdout)
    assert "different" not in verified or not verified["different"], verified


MAKERS = {
    "git hook": ("git -c user.name=t -c user.email=t@t commit -qam x", ".git/hooks/post-commit", f"#!{PYTHON}\n{RUN}"),
    "Makefile": ("make -s all", "Makefile", f"all:\n\t@{PYTHON} run.py\n"),
    "npm script": ("npm run --silent go", "package.json", json.dumps({"name": "a", "version": "1.0.0", "scripts": {"go": f"{PYTHON} run.py"}})),
    "script": ("sh ./go.sh", "go.sh", f"#!/bin/sh\n{PYTHON} run.py\n"),
    "xargs": (f"echo run.py | xargs {PYTHON}", "unused", ""),
    "find -exec": (f"find run.py -exec {PYTHON} {{}} \\;", "unused", ""),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_whatever_stands_between(world: World, maker: str) -> None:
    command, name, text = MAKERS[maker]
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"no {command.split()[0]} on this machine")
    world.words(["rm", "-rf", str(world.home)], ["ls", "-d", "."])
    world.write(name, text, 0o755)
    run = world.run(command)
    said = run.stdout + run.stderr  # git has a hook's stdout on its stderr
    assert "rm refused 13" in said, run
    assert "ls 0" in said, run
    assert "denied by destructive-operation" in run.stderr, run


def test_a_hook_in_plain_shell(world: World) -> None:
    """The text shows it this time: whether the reflexes or the exec stops it, nothing is lost."""
    world.write(".git/hooks/pre-commit", '#!/bin/sh\nset -e\nd=$HOME\nrm -rf "$d"\n', 0o755)
    run = world.run("git -c user.name=t -c user.email=t@t commit -qam x")
    assert run.returncode != 0, run
    assert "denied by" in run.stderr


def test_a_project_may_ask_for_it_in_dev(world: World) -> None:
    """What dev would only ask about goes on, as a near-miss; what it denies is refused."""
    world.words(["git", "reset", "--hard"], ["git", "branch", "-D", "topic"], ["ls", "-d", "."])
    words = ("--workspace", str(world.workspace), "--one-shot", "--", f"{PYTHON} run.py")
    env = {**world.env, "INSTINCT_ENGINE": "off"}
    plain = world.program("instinct-exec", *words, env=env)
    assert b"git 0" in plain.stdout  # dev by itself: the jail alone
    (world.workspace / "README.md").write_text("# app\nnot committed\n", encoding="utf-8")
    world.write(".instinct.toml", "[jail]\nsupervise_execs = true\n")
    judged = world.program("instinct-exec", *words, env=env)
    assert judged.stdout == b"git refused 13\ngit 1\n.\nls 0\n", judged
    near = (world.state / "instinct-shell" / "near-misses").read_text(encoding="utf-8")
    assert '"kind":"asked"' in near
    assert "git.delete_ref git" in near


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_with_an_engine_nothing_is_left_out(world: World, launcher: str, tmp_path: Path) -> None:
    """The engine leaves such a run to its caller."""
    program = "instinct-exec"
    if launcher == "c":
        world.build_c_launcher(tmp_path)
        program = "instinct-exec-c"
    world.start()
    world.words(["git", "reset", "--hard"])
    done = world.program(program, "--profile", "staging", "--workspace", str(world.workspace), "--", f"{PYTHON} run.py")
    assert done.stdout == b"git refused 13\n", done
    assert world.program("instinct", "session", "end").returncode == 0


def test_on_a_copy_too(world: World) -> None:
    """A run whose change is shown first: what it starts is judged there as well."""
    world.words(["git", "reset", "--hard"], ["touch", "made"])
    words = ("--profile", "staging", "--workspace", str(world.workspace), "--overlay", "--", f"{PYTHON} run.py")
    done = world.program("instinct-exec", *words, env={**world.env, "INSTINCT_ENGINE": "off"})
    if b"git" not in done.stdout and b"overlay" in done.stderr:
        cannot(f"no copy-on-write view here: {done.stderr!r}")
    assert done.stdout.startswith(b"git refused 13\ntouch 0\n"), done


HOST_PROGRAM = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from instinct_shell.wiring import open_guard
guard = open_guard(profile="staging", workspace=os.getcwd(), cwd=os.getcwd(), one_shot=sys.argv[3] == "one-shot", session="host")
intent = guard.shell_intent(sys.argv[2], door="api")
guard.run(intent)
before = len(os.listdir("/proc/self/fd"))
for _ in range(3):
    outcome = guard.run(intent)
print(outcome.result.execs_denied, len(os.listdir("/proc/self/fd")) - before, threading.active_count())
guard.close()
"""


@pytest.mark.parametrize("kind", ["one-shot", "session"])
def test_a_host_program_keeps_nothing(world: World, kind: str) -> None:
    """Three more runs: no thread, no descriptor."""
    world.words(["git", "reset", "--hard"])
    words = [sys.executable, "-I", "-c", HOST_PROGRAM, str(TOP), f"{PYTHON} run.py >/dev/null 2>&1", kind]
    done = subprocess.run(words, cwd=world.workspace, env=world.env, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
    assert done.stdout == b"1 0 1\n", done
    world.program("instinct", "session", "end")


def test_a_refused_exec_is_not_explained_a_second_time(world: World, tmp_path: Path) -> None:
    """bash says "Permission denied" about it, which is not the jail's doing."""
    world.write("words", "git reset --hard")
    world.write("go.sh", "exec $(cat words)")
    said = tmp_path / "said"
    with said.open("wb") as stderr:
        words = ("--profile", "staging", "--workspace", str(world.workspace), "--one-shot", "--", "bash go.sh")
        run = world.program("instinct-exec", *words, env={**world.env, "INSTINCT_ENGINE": "off"}, stderr=stderr, capture_output=False)
    assert run.returncode == 126, said.read_text()
    assert [line for line in said.read_text().splitlines() if line.startswith("instinct:")] == [
        "instinct: denied by destructive-operation (reflex): discards uncommitted work of the whole tree"
    ]


def test_what_the_command_was_allowed_to_do_is_not_judged_again(world: World) -> None:
    run = world.run('git stash -q -u && git stash pop -q && mkdir -p build && touch build/x && rm -rf build && d=$(mktemp -d) && rm -r "$d"; echo $?')
    assert (run.returncode, run.stdout.splitlines()[-1:]) == (0, ["0"]), run
    assert "denied" not in run.stderr, run.stderr
    assert (world.workspace / "README.md").read_text() == "# app\nnot committed\n"


def test_bytes_that_are_no_text(world: World) -> None:
    world.write("odd.py", "import os\nos.execv('/bin/echo', [b'echo', b'\\xff', b'fine'])\n")
    run = world.program(
        "instinct-exec", "--profile", "staging", "--workspace", str(world.workspace), "--one-shot", "--", f"{PYTHON} odd.py",
        env={**world.env, "INSTINCT_ENGINE": "off"},
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, b"\xff fine\n"), run
    world.write("odd.py", f"import os\nos.execv('/bin/rm', [b'rm', b'-rf', b'\\xff', {os.fsencode(world.home)!r}])\n")
    assert world.run(f"{PYTHON} odd.py").returncode != 0


TEST = """
import subprocess, sys
def git(*words, cwd):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=cwd, check=True)
def test_own_repository(tmp_path):
    git("init", "-q", ".", cwd=tmp_path)
    (tmp_path / "a").write_text("1")
    git("add", "a", cwd=tmp_path); git("commit", "-qm", "a", cwd=tmp_path)
    (tmp_path / "a").write_text("2")
    git("reset", "-q", "--hard", cwd=tmp_path)
    git("clean", "-qfdx", cwd=tmp_path)
    assert (tmp_path / "a").read_text() == "1"
def test_program():
    assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n"
    subprocess.run(["rm", "-rf", "build", "dist"], check=True)
"""


FLOWS = [
    "git bisect start HEAD HEAD~3 && git bisect run sh ./try.sh; git bisect reset",
    "git rebase -q --exec 'git log -1 --oneline' HEAD~2",
    "git worktree add -q wt -b wt && git worktree remove wt",
    "echo z >f; git stash -q && git stash pop -q && git checkout -q -- f",
    "git checkout -q -b topic && git commit -q --allow-empty -m e && git checkout -q main && git merge -q --no-ff topic -m m && git branch -d topic",
    "git gc -q && git fsck",
    "git pull -q . HEAD && git fetch -q . && git revert --no-edit HEAD~1",
    f"{PYTHON} -m venv --without-pip .v && .v/bin/python -c 'print(1)'",
    "tar cf a.tar f && tar xf a.tar && find . -name '*.tmp' -delete && ls | xargs -n1 echo",
    "sh -c 'for f in *; do basename \"$f\"; done' && timeout 5 nice env A=1 sh -c 'echo $A'",
]


def test_flows_of_a_day_start_nothing_that_is_refused(world: World) -> None:
    """git starts itself with words that would be refused from anybody else."""
    world.write(".instinct.toml", "[jail]\nsupervise_execs = true\n")
    world.write("try.sh", '#!/bin/sh\ntest "$(cat f)" -lt 3\n', 0o755)
    git = ["git", "-C", str(world.workspace), "-c", "user.name=t", "-c", "user.email=t@t"]
    for number in range(5):
        world.write("f", f"{number}\n")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"c{number}"], check=True)
    identity = {f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    words = ("--workspace", str(world.workspace), "--one-shot", "--")
    for text in FLOWS:
        done = world.program("instinct-exec", *words, text, env={**world.env, **identity, "INSTINCT_ENGINE": "off"})
        assert done.returncode == 0, (text, done)
        assert b"instinct:" not in done.stderr, (text, done.stderr)
    assert not [record for record in world.records() if record["body"].get("exec")]


def test_ordinary_work_is_not_disturbed(world: World) -> None:
    world.write("tests/test_it.py", TEST)
    world.write("Makefile", "all: build/a\nbuild/a: src/a.txt\n\tmkdir -p build\n\tcp src/a.txt build/a\n\tsed -i s/a/b/ build/a\nclean:\n\trm -rf build\n.PHONY: clean\n")
    world.write("src/a.txt", "a\n")
    world.write(".git/hooks/pre-commit", f"#!/bin/sh\nset -e\n{PYTHON} -m py_compile tests/test_it.py\ngit diff --cached --check\nfind . -name '*.orig' -delete\n", 0o755)
    for command in (
        "make -s all && cat build/a && make -s clean",
        "git add -A && git -c user.name=t -c user.email=t@t commit -qm work && git log --oneline | wc -l",
        f"{sys.executable} -m pytest -q -p no:cacheprovider tests/test_it.py",
        "printf '%s\\n' a b c | xargs -n1 echo && find . -name '*.md' -exec wc -l {} + && env A=1 sh -c 'echo $A'",
    ):
        if shutil.which(command.split()[0]) is None or command.startswith("/tmp/"):  # which is private here: a checkout there is not seen
            continue
        run = world.run(command)
        assert run.returncode == 0, (command, run)
        assert "instinct:" not in run.stderr, (command, run.stderr)
    assert not [record for record in world.records() if record["body"].get("exec")]


def test_a_shell_that_stays_judges_by_what_it_was_told_last(world: World, tmp_path: Path) -> None:
    """The drop-in shell, fed from stdin: one jail for many commands, each of which covers what it starts itself."""
    shell = Shell(tmp_path / "shell", world.workspace)
    world.words(["git", "reset", "--hard"], ["ls", "-d", "."])
    lines = f"{PYTHON} run.py </dev/null\nmkdir -p build; touch build/x; rm -rf build && echo removed\ngit stash -q -u && git stash pop -q && echo kept\n{PYTHON} run.py </dev/null\n"
    run = shell.run(given=lines.encode(), INSTINCT_PROFILE="staging", INSTINCT_WORKSPACE=str(world.workspace))
    said = run.stdout.decode()
    assert said.count("git refused 13") == 2, run
    assert said.count("ls 0") == 2, run
    assert "removed\n" in said, run
    assert "kept\n" in said, run
    inside = [record for record in shell.records() if record.get("exec")]
    assert [record["intent"]["content"] for record in inside] == ["git reset --hard"] * 2
    assert len({record["parent"] for record in inside}) == 2
