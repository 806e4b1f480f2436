"""Names that the host runs or trusts and that are not there yet: a command that was not judged to make them does not leave them behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess

import pytest
from conftest import GIT_IDENTITY, git_environment

NAMES = (".envrc", ".vscode/tasks.json", ".git/commondir", ".git/info/attributes", ".git/hooks/post-merge", ".mcp.json", ".husky/pre-push")
# Names come from a file, so that nobody sees beforehand what is written.
MAKES = """\
import os, sys
for name in open('names').read().split():
    os.makedirs(os.path.dirname(name) or '.', exist_ok=True)
    with open(name, 'w') as file:
        file.write('[core]\\n\\tfsmonitor = ./evil\\n' if name.endswith('config') else 'evil\\n')
print('made', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def work(programs, jail_works):
    """A repository without hooks, and a script that makes files."""
    (programs.workspace / "makes.py").write_text(MAKES, encoding="utf-8")
    (programs.workspace / "names").write_text("\n".join(NAMES), encoding="utf-8")
    for place in (".git/hooks", ".git/info"):
        subprocess.run(["rm", "-rf", str(programs.workspace / place)], check=True)
    assert programs.sh("true").returncode == 0
    return programs


def there(work, *names: str) -> list[str]:
    return [name for name in names if os.path.lexists(work.workspace / name)]


def test_they_are_set_aside_at_the_end_of_the_run(work) -> None:
    run = work.sh("python3 makes.py")
    assert run.stdout == b"made\n", run
    assert there(work, *NAMES) == []
    more = run.stderr.count(b"set aside") - len(NAMES)
    assert more in (0, 1), run.stderr  # `.husky` at the end as a whole, or what is in it while the command ran and then the folder


def test_what_is_deep_or_a_repository_of_its_own_is_set_aside_by_the_next_command(work) -> None:
    deep = ("lib/.envrc", "lib/x/.vscode/tasks.json", "lib/evil/.git/config", "lib/evil/.git/hooks/post-merge")
    (work.workspace / "names").write_text("\n".join((*deep, "lib/evil/.git/HEAD")), encoding="utf-8")
    work.sh("python3 makes.py")
    run = work.sh("git init -q lib/good && git clone -q . lib/copy")
    assert run.returncode == 0, run
    assert b"set aside" not in work.sh("true").stderr
    assert run.stderr.count(b"set aside") == len(deep), run.stderr
    assert there(work, *deep) == []
    assert there(work, "lib/good/.git/config", "lib/copy/.git/config") == ["lib/good/.git/config", "lib/copy/.git/config"]
    assert work.sh("git -C lib/good status --short && git -C lib/copy log --oneline").returncode == 0


def test_a_killed_launcher_leaves_it_to_the_next_command(work) -> None:
    argv = work.argv("instinct-exec", "--one-shot", "--", "python3 makes.py")
    with subprocess.Popen(argv, cwd=work.workspace, env=work.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"made\n"
        child.send_signal(signal.SIGKILL)  # perhaps before, perhaps after it has looked for the first time
        child.wait()
    run = work.sh("true")
    assert there(work, *NAMES) == [], run.stderr
    assert len(list(work.workspace.rglob("*.set-aside-*"))) >= len(NAMES) - 1, run.stderr  # by whom does not matter: `.husky` is one for what is in it


def test_what_the_background_writes_later_is_set_aside_by_the_next_command(work) -> None:
    text = "mkfifo go made; { python3 makes.py < go > made; } > /dev/null 2>&1 & echo started"
    run = work.exec("--session", "s", "--", text)
    assert run.stdout == b"started\n", run
    assert there(work, *NAMES) == []
    # The holder notes what is left half a second after the command; then the background goes on.
    mark = _wait_for_mark(work)
    assert mark, "the holder has noted it"
    with open(work.workspace / "go", "wb", buffering=0), open(work.workspace / "made", "rb") as made:
        assert made.readline() == b"made\n"
    assert there(work, *NAMES)
    run = work.exec("--session", "s", "--", "true")
    assert there(work, *NAMES) == [], run.stderr


def _wait_for_mark(work) -> bool:
    import ctypes

    folder = work.state / "jail-sessions"
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    libc.inotify_add_watch(fd, os.fsencode(folder), 0x100)  # IN_CREATE
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    try:
        for _ in range(20):
            if list(folder.glob("*.left")):
                return True
            poll.poll(1000)
            os.set_blocking(fd, False)
            try:
                os.read(fd, 4096)
            except BlockingIOError:
                continue
        return False
    finally:
        os.close(fd)


def test_what_a_person_makes_in_between_stays(work) -> None:
    assert work.sh("true").returncode == 0
    import time

    time.sleep(1.5)  # a run's last processes are given a second
    (work.workspace / ".envrc").write_text("mine\n", encoding="utf-8")
    run = work.sh("true")
    assert there(work, ".envrc") == [".envrc"], run.stderr
    assert b"set aside" not in run.stderr


def test_what_git_brings_stays(work) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", work.workspace, *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)

    git("checkout", "-q", "-b", "other")
    (work.workspace / ".vscode").mkdir()
    (work.workspace / ".vscode/tasks.json").write_text("{}\n", encoding="utf-8")
    git("add", "-A", ".vscode")
    git("commit", "-q", "-m", "tasks")
    git("checkout", "-q", "main")
    assert work.sh("true").returncode == 0
    run = work.sh("git checkout -q other")
    assert run.returncode == 0, run
    assert b"set aside" not in work.sh("true").stderr + run.stderr
    assert there(work, ".vscode/tasks.json")


def test_git_takes_lockfiles_and_workflows_to_another_branch_and_back(work) -> None:
    """Half a checkout that ends with 0 is worse than none; what a command may not edit by name, git may bring."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", work.workspace, *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)

    names = ("package-lock.json", ".github/workflows/ci.yml", ".env.test")
    (work.workspace / ".github/workflows").mkdir(parents=True)
    for branch, text in (("main", "one\n"), ("other", "two\n")):
        if branch == "other":
            git("checkout", "-q", "-b", "other")
        for name in names:
            (work.workspace / name).write_text(text, encoding="utf-8")
        git("add", "-f", "--", *names)
        git("commit", "-q", "-m", branch)
    for text, there_now in (("git checkout -q main", "one\n"), ("git merge -q --ff-only other", "two\n"), ("git reset -q --hard HEAD~1", "one\n")):
        run = work.sh(text)
        if run.returncode == 126:  # a reset is asked or denied
            continue
        assert (run.returncode, run.stderr) == (0, b""), run
        assert {(work.workspace / name).read_text(encoding="utf-8") for name in names} == {there_now}
        assert subprocess.run(["git", "-C", work.workspace, "diff", "--stat"], env=git_environment(), capture_output=True, check=True).stdout == b""
    assert work.sh("echo evil >> package-lock.json").returncode != 0


def test_what_git_may_not_bring_is_told_although_it_ends_with_0(work) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", work.workspace, *GIT_IDENTITY, *words], check=True, env=git_environment(), stdin=subprocess.DEVNULL)

    (work.workspace / ".vscode").mkdir()
    for branch, text in (("main", "one\n"), ("other", "two\n")):
        if branch == "other":
            git("checkout", "-q", "-b", "other")
        (work.workspace / ".vscode/settings.json").write_text(text, encoding="utf-8")
        git("add", "-A", ".vscode")
        git("commit", "-q", "-m", branch)
    run = work.sh("git checkout -q main")
    assert (run.returncode, run.stderr.count(b"instinct: git left `.vscode/settings.json` as it was")) == (0, 1), run
    run = work.sh("git checkout -q -f main -- names 2>/dev/null; git status --short")
    assert b"git left" not in run.stderr, "told once: it was so before this command"
