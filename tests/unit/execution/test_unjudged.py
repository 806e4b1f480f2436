"""What the host runs or trusts and nobody judged: laid to the run that made it, and set aside; a person's own stays."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from instinct_shell.execution.unjudged import Window, aside, fixed, settle
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind

RISKY = ("core.worktree", "core.fsmonitor", "core.hookspath", "alias.*")


@pytest.fixture
def place(tmp_path):
    """A workspace of a state, with one command behind it."""
    (tmp_path / "w/.git").mkdir(parents=True)
    settle(str(tmp_path / "state"), str(tmp_path / "w"), (), list)
    return tmp_path


def made(place, name, text="x\n"):
    path = place / "w" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def judged(path, kind=EffectKind.FILE_WRITE, **more):
    return Effect(kind, Target(TargetKind.PATH, str(path)), attributes=tuple(more.items()))


def settled(place, *paths, effects=(), begun=None, ended=None, **more):
    now = time.time()
    window = Window(now - 60 if begun is None else begun, now if ended is None else ended, effects)
    return settle(str(place / "state"), str(place / "w"), [str(path) for path in paths], lambda: [window], risky=RISKY, **more)


@pytest.mark.parametrize("name", [".envrc", ".vscode/tasks.json", ".git/commondir", ".git/info/attributes", "sub/deep/.envrc", ".claude/settings.json"])
def test_what_a_run_made_unjudged_is_set_aside(place, name):
    path = made(place, name)
    (said,) = settled(place, path)
    assert not path.exists()
    assert str(path) in said
    assert len(list(path.parent.glob("*.set-aside-*"))) == 1
    assert settled(place) == (), "and told once"


def test_what_a_run_was_judged_to_make_stays(place):
    path = made(place, ".envrc")
    assert settled(place, path, effects=(judged(path),)) == ()
    assert path.exists()
    assert settled(place, path) == (), "also for the commands after it"


@pytest.mark.parametrize(
    ("target", "more", "stays"),
    [
        ("lib", {"recursive": "1"}, True),
        ("lib", {}, False),
        ("", {"recursive": "1"}, False),
        ("lib", {"folder": "1"}, False),
        ("li", {"recursive": "1"}, False),
    ],
)
def test_a_folder_speaks_for_what_is_in_it_where_the_effect_is_about_all_of_it(place, target, more, stays):
    path = made(place, "lib/.envrc")
    settled(place, path, effects=(judged(place / "w" / target, EffectKind.FILE_CREATE, **more),))
    assert path.exists() == stays


def test_what_a_person_made_between_two_runs_stays(place):
    path = made(place, ".envrc")
    assert settled(place, path, begun=time.time() - 100, ended=time.time() - 50) == ()
    assert path.exists()


def test_the_first_command_of_all_takes_what_it_finds(tmp_path):
    (tmp_path / "w").mkdir()
    path = made(tmp_path, ".envrc")
    assert settled(tmp_path, path) == ()
    assert path.exists()


def test_nothing_is_asked_while_nothing_is_new(place):
    path = made(place, ".envrc")
    settle(str(place / "state"), str(place / "w"), [str(path)], list)
    settle(str(place / "state"), str(place / "w"), [str(path)], lambda: pytest.fail("asked"))


def test_hooks_but_no_samples(place):
    for name in ("pre-commit.sample", "post-merge", "README"):
        made(place, f".git/hooks/{name}")
    (said,) = settled(place, place / "w/.git/hooks")
    assert "post-merge" in said
    assert {path.name.partition(".set")[0] for path in (place / "w/.git/hooks").iterdir()} == {"pre-commit.sample", "post-merge", "README"}
    assert not (place / "w/.git/hooks/post-merge").exists()


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ('[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.net/x\n', True),
        ("[core]\n\tfsmonitor = ./evil\n", False),
        ("[core]\n\thooksPath = evil\n", False),
        ("[alias]\n\tst = !evil\n", False),
        ("no configuration", False),
    ],
)
def test_a_new_repository_is_let_be_unless_it_makes_git_run_something(place, text, stays):
    path = made(place, "sub/.git/config", text)
    # A folder that was judged to be made does not speak for the configuration in it.
    said = settled(place, path, effects=(judged(place / "w/sub", EffectKind.FILE_CREATE),))
    assert path.exists() == stays
    assert bool(said) != stays


def test_submodules_are_let_be(place):
    """What git writes for one: a configuration that names its working tree, samples of hooks."""
    config = made(place, ".git/modules/lib/config", '[core]\n\tbare = false\n\tworktree = ../../../lib\n[remote "origin"]\n\turl = /x\n')
    sample = made(place, ".git/modules/lib/hooks/pre-commit.sample")
    gitfile = made(place, "lib/.git", "gitdir: ../.git/modules/lib\n")
    assert settled(place, config, sample.parent, gitfile) == ()
    evil = made(place, ".git/modules/evil/config", "[core]\n\tfsmonitor = ./evil\n")
    assert len(settled(place, config, sample.parent, gitfile, evil)) == 1


def test_what_other_machines_run_is_let_be(place):
    path = made(place, ".github/workflows/ci.yml")
    assert settled(place, place / "w/.github/workflows") == ()
    assert path.exists()


@pytest.mark.parametrize("below", ["", "sub"])
def test_what_git_brought_stays(place, below):
    top = place / "w" / below
    (place / "w/.git").rmdir()
    top.mkdir(exist_ok=True)
    path = made(place, f"{below}/.envrc".lstrip("/"))
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q"], ["add", ".envrc"], ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=top, env=env, check=True)
    path.unlink()
    time.sleep(0.3)  # file times tick coarsely: the run has to begin after the repository was made, by more than that
    begun = time.time()
    subprocess.run(["git", "checkout", "-q", "--", ".envrc"], cwd=top, env=env, check=True)
    assert settled(place, path, begun=begun) == ()
    assert path.exists()


def test_a_repository_that_the_run_itself_made_speaks_for_nothing(place):
    top = place / "w/sub"
    path = made(place, "sub/.envrc")
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q"], ["add", ".envrc"]):
        subprocess.run(["git", *words], cwd=top, env=env, check=True)
    assert len(settled(place, path)) == 1
    assert not path.exists()


def test_at_the_end_of_a_run_only_fixed_names_are_looked_at(place):
    kept = made(place, "sub/.envrc")
    settle(str(place / "state"), str(place / "w"), [str(kept)], list)
    path = made(place, ".envrc")
    found = fixed(str(place / "w"), (".envrc", ".cursor/hooks*", "{home}/.x", "/etc"))
    assert found == [str(path)]
    assert len(settled(place, *found, whole=False)) == 1
    assert settled(place, kept) == (), "what was not looked at is remembered"


def linked(place, target):
    """`.claude` as a link, and the settings that are seen by it."""
    (place / "w/.claude").symlink_to(target)
    return place / "w/.claude/settings.json"


def test_nothing_outside_the_workspace_gets_another_name(place):
    """A jailed command made the link; the renaming would be ours, with all that the person may do."""
    outside = place / "home/.claude"
    outside.mkdir(parents=True)
    (outside / "settings.json").write_text("the person's own hook")
    told = settled(place, linked(place, outside))
    assert [path.name for path in outside.iterdir()] == ["settings.json"]
    assert not os.path.lexists(place / "w/.claude")
    assert "/w/.claude`" in told[0]
    assert "set aside" in told[0]


def test_an_older_link_to_the_outside_is_the_persons(place):
    outside = place / "home/.claude"
    outside.mkdir(parents=True)
    seen = linked(place, outside)
    (outside / "settings.json").write_text("x")
    assert aside(str(seen), str(place / "w"), time.time() + 60) == ""
    assert (place / "w/.claude").is_symlink()
    assert (outside / "settings.json").exists()


def test_a_link_that_stays_inside_is_followed(place):
    (place / "w/config").mkdir()
    (place / "w/config/settings.json").write_text("x")
    told = settled(place, linked(place, "config"))
    assert "set aside" in told[0]
    assert not (place / "w/config/settings.json").exists()
    assert (place / "w/.claude").is_symlink()
