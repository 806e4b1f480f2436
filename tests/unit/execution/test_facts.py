"""Facts of a real host: never raises, never waits long, never reads what the jail would hide, never runs what a repository names."""

from __future__ import annotations

import os
import subprocess

import pytest
from judging import situation

from instinct_shell.execution.facts import HostFacts
from instinct_shell.execution.known_packages import look_up, mentions, names
from instinct_shell.model.fact import Question, QuestionKind
from instinct_shell.storage.profiles import ProfileStore

DEV = ProfileStore(home="/nonexistent", cache=False).load("dev", "", {})


@pytest.fixture
def root(tmp_path):
    root = os.path.realpath(tmp_path)
    os.makedirs(f"{root}/w/src")
    os.makedirs(f"{root}/home/.ssh")
    return root


def ask(root, kind, subject, *, deadline_ms=5_000, profile=DEV):
    facts = HostFacts(profile, situation(workspace=f"{root}/w", home=f"{root}/home"), deadline_ms)
    question = Question(kind, subject)
    return facts.answer([question])[question]


def git(root, *arguments, **env):
    names = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@x",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@x",
    }
    subprocess.run(["git", "-C", f"{root}/w", *arguments], check=True, capture_output=True, env={**os.environ, **names, **env})


def write(path, text="x\n"):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def test_every_kind_of_question_is_answered(root):
    for kind in QuestionKind:
        subject = "npm left-pad /" if kind is QuestionKind.PACKAGE else "echo" if kind is QuestionKind.SYNTAX else f"{root}/w"
        assert ask(root, kind, subject) is not None


@pytest.mark.parametrize("subject", ["/\0", "/x" * 5_000, "\udcff", "", "relative", "/proc/self/fd/999"])
@pytest.mark.parametrize("kind", [QuestionKind.RESOLVE, QuestionKind.GLOB, QuestionKind.TREE, QuestionKind.READ, QuestionKind.GIT_STATE])
def test_strange_subjects_raise_nothing(root, kind, subject):
    ask(root, kind, subject)


def test_a_late_question_has_no_answer(root):
    answer = ask(root, QuestionKind.RESOLVE, f"{root}/w", deadline_ms=-1)
    assert (answer.known, answer.why) == (False, "time is up")


def test_resolve_says_what_is_there(root):
    write(f"{root}/w/a")
    os.symlink("a", f"{root}/w/link")
    answer = ask(root, QuestionKind.RESOLVE, f"{root}/w/link")
    assert (answer.get("path"), answer.get("type"), answer.get("final_link")) == (f"{root}/w/a", "file", True)
    assert answer.get("parent") == f"{root}/w/link"
    missing = ask(root, QuestionKind.RESOLVE, f"{root}/w/none/x")
    assert (missing.get("exists"), missing.get("path")) == (False, f"{root}/w/none/x")


def test_a_loop_is_no_answer(root):
    os.symlink("two", f"{root}/w/one")
    os.symlink("one", f"{root}/w/two")
    assert not ask(root, QuestionKind.RESOLVE, f"{root}/w/one/x").known


def test_glob_follows_bash(root):
    for name in (".env", "b.ts", "a.ts", "src/c.ts"):
        write(f"{root}/w/{name}")

    def found(pattern):
        return [path.removeprefix(f"{root}/w/") for path in ask(root, QuestionKind.GLOB, f"{root}/w/{pattern}").get("paths")]

    assert found("*") == ["a.ts", "b.ts", "src"]
    assert found(".e*") == [".env"]
    assert found("**/*.ts") == ["a.ts", "b.ts", "src/c.ts"]
    assert found("none/*") == []
    assert found("src/c.ts") == ["src/c.ts"]


def test_glob_puts_protected_names_first_and_says_when_there_are_more(root):
    for number in range(300):
        write(f"{root}/w/src/f{number:03}")
    write(f"{root}/w/src/zz-secrets.yml")
    answer = ask(root, QuestionKind.GLOB, f"{root}/w/src/*")
    assert answer.get("more") is True
    assert answer.get("paths")[0] == f"{root}/w/src/zz-secrets.yml"


def test_tree_counts_and_names_what_is_protected(root):
    os.makedirs(f"{root}/w/src/node_modules/x")
    for name in ("src/a", "src/.env", "src/node_modules/x/test.pem"):
        write(f"{root}/w/{name}")
    answer = ask(root, QuestionKind.TREE, f"{root}/w/src")
    assert (answer.get("files"), answer.get("protected")) == (2, [f"{root}/w/src/.env"])


def test_git_state(root):
    git(root, "init", "-q", "-b", "main")
    write(f"{root}/w/src/a")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    write(f"{root}/w/src/a", "changed\n")
    write(f"{root}/w/src/new")
    answer = ask(root, QuestionKind.GIT_STATE, f"{root}/w/src")
    assert [answer.get(name) for name in ("top", "branch", "tracked", "modified", "untracked")] == [f"{root}/w", "main", 1, 1, 1]


def test_git_runs_nothing_that_the_repository_names(root):
    git(root, "init", "-q", "-b", "main")
    write(f"{root}/w/src/a")
    marker = f"{root}/ran"
    write(f"{root}/evil.sh", f"#!/bin/sh\ntouch {marker}\n")
    os.chmod(f"{root}/evil.sh", 0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.clean", "core.sshCommand"):
        git(root, "config", key, f"{root}/evil.sh")
    write(f"{root}/w/.gitattributes", "* filter=y\n")
    assert ask(root, QuestionKind.GIT_STATE, f"{root}/w").known
    assert not os.path.exists(marker)


def test_git_takes_no_lock(root):
    git(root, "init", "-q", "-b", "main")
    write(f"{root}/w/src/a")
    git(root, "add", "-A")
    before = os.stat(f"{root}/w/.git/index").st_mtime_ns
    os.utime(f"{root}/w/src/a")
    ask(root, QuestionKind.GIT_STATE, f"{root}/w")
    assert os.stat(f"{root}/w/.git/index").st_mtime_ns == before


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("echo hi", True),
        ("echo 'x", False),
        ("if true; then", False),
        ("cat <<EOF\nx\nEOF", True),
        ("f() { :; }", True),
        ("a && && b", False),
    ],
)
def test_syntax_is_bashs_own(root, text, good):
    answer = ask(root, QuestionKind.SYNTAX, text)
    assert answer.get("ok") is good
    assert bool(answer.get("message")) is not good


def test_read_refuses_what_the_jail_hides(root):
    write(f"{root}/w/.env", "KEY=1\n")
    write(f"{root}/home/.ssh/id_ed25519")
    write(f"{root}/w/Makefile", "all:\n")
    os.symlink(".env", f"{root}/w/innocent")
    os.symlink(f"{root}/home/.ssh/id_ed25519", f"{root}/w/key")
    os.mkfifo(f"{root}/w/pipe")
    assert ask(root, QuestionKind.READ, f"{root}/w/Makefile").get("text") == "all:\n"
    for name in (".env", "innocent", "key", "pipe", "src", "none"):
        assert not ask(root, QuestionKind.READ, f"{root}/w/{name}").known


def test_read_stops_at_its_limit(root):
    write(f"{root}/w/big", "x" * 400_000)
    answer = ask(root, QuestionKind.READ, f"{root}/w/big")
    assert (len(answer.get("text")), answer.get("more")) == (256 * 1024, True)


# ---------------------------------------------------------------------------------------------------------------- packages


@pytest.mark.parametrize(
    ("manager", "name", "known", "near"),
    [
        ("pip", "requests", True, ""),
        ("pip", "requets", False, "requests"),
        ("npm", "vitest", True, ""),
        ("npm", "left-pad", False, None),
        ("pip", "PyYAML", True, ""),
        ("uv", "typing_extensions", True, ""),
        ("npm", "@types/node", True, ""),
        ("pip", "totally-unknown-thing-x", False, ""),
        ("cargo", "serde", True, ""),
        ("npm", "expresss", False, "express"),
    ],
)
def test_well_known_names(manager, name, known, near):
    found = look_up(manager, name)
    assert found[0] is known
    if near is not None:
        assert found[1] == near


def test_the_shipped_lists_are_whole():
    assert len(names("pip")) > 4_900
    assert len(names("npm")) > 4_900


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ('{"dependencies": {"left-pad": "1"}}', "left-pad", True),
        ('{"dependencies": {"left-pad-x": "1"}}', "left-pad", False),
        ("requests>=2\n", "Requests", True),
        ("my-requests\n", "requests", False),
    ],
)
def test_mentions_in_a_manifest(text, name, there):
    assert mentions(text, name) is there


def test_a_declared_package_is_found_in_the_manifest(root):
    write(f"{root}/w/package.json", '{"devDependencies": {"left-pad": "^1.3.0"}}')
    answer = ask(root, QuestionKind.PACKAGE, f"npm left-pad {root}/w")
    assert (answer.get("known"), answer.get("declared")) == (False, True)
