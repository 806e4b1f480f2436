"""Where paths really lead: each case on a fake disk and on a real one."""

from __future__ import annotations

import os

import pytest
from judging import effect, intent, situation

from instinct_shell.engine.judge import judge
from instinct_shell.execution.facts import HostFacts
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind


class Clock:
    def now(self):
        return 0.0

    def monotonic_us(self):
        return 0


@pytest.fixture(params=["fake", "real"])
def world(request, tmp_path):
    """The root of a small world: `w` (the workspace), `home`, `outside`. The same folders on a fake and on a real disk."""
    if request.param == "fake":
        request.getfixturevalue("fs")
        root = "/worlds/one"
    else:
        root = os.path.realpath(tmp_path)
    for folder in ("w/src", "w/build", "w/config", "home/.ssh", "outside/data"):
        os.makedirs(f"{root}/{folder}")
    for name in (
        "w/.env",
        "w/src/app.ts",
        "w/config/secrets.yml",
        "w/yarn.lock",
        "home/.ssh/id_ed25519",
        "outside/data/report",
        "w/config/app.yaml",
    ):
        with open(f"{root}/{name}", "w", encoding="utf-8") as stream:
            stream.write("x\n")
    return root


def decide(profile, root, *effects):
    # The real disk may lie below /tmp, which is scratch in dev: here only the workspace is writable.
    profile = profile.replace(writable=("{workspace}",), digest="one folder")
    where = situation(workspace=f"{root}/w", home=f"{root}/home")
    asked = intent(cwd=f"{root}/w", env=(("HOME", f"{root}/home"),))
    facts = HostFacts(profile, where, deadline_ms=5_000)
    return judge(asked, effects, profile, where, facts.answer, Clock(), BUILTIN)[0]


def at(root, kind, path, **attributes):
    target = Target(TargetKind.PATTERN if any(c in path for c in "*?[") else TargetKind.PATH, f"{root}/w/{path}")
    return Effect(EffectKind(kind), target, attributes=tuple(sorted(attributes.items())))


# (links to make: name -> target), effect kind, path, attributes, decision
CASES = [
    ("plain file", {}, "file.write", "src/app.ts", {}, "allow"),
    ("link to a folder outside, written below", {"w/out": "outside"}, "file.write", "out/x", {}, "deny"),
    ("link to a folder outside, deleted below", {"w/out": "outside"}, "file.delete", "out/data", {"recursive": "1"}, "deny"),
    ("the link itself is deleted", {"w/out": "outside"}, "file.delete", "out", {}, "allow"),
    ("link to a folder inside", {"w/in": "w/src"}, "file.write", "in/new.ts", {}, "allow"),
    ("link to a file outside, overwritten", {"w/report": "outside/data/report"}, "file.write", "report", {}, "deny"),
    ("link to nowhere outside", {"w/ghost": "outside/not-there"}, "file.write", "ghost", {}, "deny"),
    ("link to a link", {"w/a": "w/b", "w/b": "outside"}, "file.write", "a/x", {}, "deny"),
    ("link to a secret, read", {"w/key": "home/.ssh/id_ed25519"}, "file.read", "key", {}, "deny"),
    ("link to a protected file, read", {"w/notes": "w/.env"}, "file.read", "notes", {}, "deny"),
    ("link to a protected file, written", {"w/notes": "w/.env"}, "file.write", "notes", {}, "deny"),
    ("link to a lockfile, written", {"w/lock": "w/yarn.lock"}, "file.append", "lock", {}, "deny"),
    ("link to a lockfile, read", {"w/lock": "w/yarn.lock"}, "file.read", "lock", {}, "allow"),
    ("missing parents inside", {}, "file.create", "new/deep/folder", {}, "allow"),
    ("missing parents behind a link", {"w/out": "outside"}, "file.create", "out/new/deep", {}, "deny"),
    ("a glob with ordinary matches", {}, "file.read", "src/*", {}, "allow"),
    ("a broad glob that reaches a protected file", {}, "file.read", "config/*", {}, "deny"),
    ("a broad glob that reaches a lockfile", {}, "file.write", "*.lock", {}, "deny"),
    ("a glob does not match dotfiles", {}, "file.read", "*", {}, "allow"),
    ("a folder with protected files, copied", {}, "file.read", "config", {"recursive": "1", "source_of_copy": "1"}, "deny"),
    (
        "the protected files left out of the copy",
        {},
        "file.read",
        "config",
        {"recursive": "1", "source_of_copy": "1", "exclude": "secrets.*"},
        "allow",
    ),
    ("something else left out", {}, "file.read", "config", {"recursive": "1", "source_of_copy": "1", "exclude": "*.yaml"}, "deny"),
    ("a folder without them, copied", {}, "file.read", "src", {"recursive": "1", "source_of_copy": "1"}, "allow"),
    ("a folder with protected files, searched", {}, "file.read", "config", {"recursive": "1"}, "allow"),
    ("a folder with protected files, deleted", {}, "file.delete", "config", {"recursive": "1"}, "ask"),
    ("a folder without them, deleted", {}, "file.delete", "src", {"recursive": "1"}, "allow"),
]


@pytest.mark.parametrize(("links", "kind", "path", "attributes", "decision"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_where_it_leads(dev, world, links, kind, path, attributes, decision):
    for name, to in links.items():
        os.symlink(f"{world}/{to}", f"{world}/{name}")
    found = decide(dev, world, at(world, kind, path, **attributes))
    assert found.decision.word == decision, found.reason


def test_a_hard_link_to_a_protected_file(dev, world):
    os.link(f"{world}/w/.env", f"{world}/w/build/copy")
    found = decide(dev, world, at(world, "file.read", "build/copy"))
    assert found.decision.word == "deny"
    assert "`.env`" in found.reason


def test_a_hard_link_between_ordinary_files(dev, world):
    os.link(f"{world}/w/src/app.ts", f"{world}/w/build/copy.ts")
    assert decide(dev, world, at(world, "file.write", "build/copy.ts")).allow


def test_a_loop_of_links_asks(dev, world):
    os.symlink(f"{world}/w/one", f"{world}/w/two")
    os.symlink(f"{world}/w/two", f"{world}/w/one")
    found = decide(dev, world, at(world, "file.write", "one/x"))
    assert found.decision.word in ("ask", "deny")


def test_an_unreadable_folder_asks(dev, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything; the fake disk cannot take that away")
    root = os.path.realpath(tmp_path)
    os.makedirs(f"{root}/w/closed/inner")
    os.makedirs(f"{root}/home")
    os.chmod(f"{root}/w/closed", 0)
    try:
        assert decide(dev, root, at(root, "file.write", "closed/inner/x")).decision.word == "ask"
    finally:
        os.chmod(f"{root}/w/closed", 0o700)


def test_another_letter_case_on_a_disk_that_folds_it(dev, fs):
    fs.is_case_sensitive = False
    fs.create_file("/fold/w/.env", contents="x")
    fs.create_dir("/fold/home")
    found = decide(dev, "/fold", at("/fold", "file.read", ".ENV"))
    assert found.decision.word == "deny"


def test_another_letter_case_where_it_is_another_file(dev, world):
    assert decide(dev, world, at(world, "file.write", "src/APP.ts")).allow


def test_creating_outside_asks_and_inside_does_not(dev, world):
    assert decide(dev, world, at(world, "file.create", "../outside/new")).decision.word in ("ask", "deny")
    outside = Effect(EffectKind.FILE_CREATE, Target(TargetKind.PATH, f"{world}/outside/new"))
    assert decide(dev, world, outside).decision.word == "ask"


@pytest.mark.parametrize(
    ("allowed", "path", "decision"),
    [
        (("src/*",), "src/app.ts", "allow"),
        (("src/*",), "build/x", "deny"),
        (("re:src/.*\\.ts",), "src/app.ts", "allow"),
        (("re:src/.*\\.ts$",), "src/app.js", "deny"),
        (("{workspace}/build/*",), "build/x", "allow"),
    ],
)
def test_the_seeds_allowed_paths(dev, world, allowed, path, decision):
    narrow = dev.replace(scope_paths=allowed)
    assert decide(narrow, world, at(world, "file.write", path)).decision.word == decision


def test_effects_without_a_path_ask_nothing(dev):
    gate = next(instinct for instinct in BUILTIN if instinct.id == "scope-validation")
    assert gate.questions(intent(), (effect("db.read", "x"), effect("file.write", "/dev/null")), dev, situation()) == ()


@pytest.mark.parametrize(
    ("program", "kind", "path", "attributes", "decision"),
    [
        ("mv", "file.write", ".claude", {"moved": "1"}, "deny"),
        ("cp", "file.write", ".claude", {"recursive": "1"}, "deny"),
        ("cp", "file.write", ".claude", {"recursive": "1", "if_folder": "1"}, "deny"),
        ("ln", "file.link", ".claude", {"to": "/tmp/x"}, "deny"),
        ("tar", "file.write", ".claude", {"below": "1"}, "deny"),
        ("node", "file.write", "packages/a/.cursor", {}, "deny"),
        ("git", "file.create", ".claude", {"folder": "1"}, "deny"),
        ("mv", "file.write", ".github", {"moved": "1"}, "ask"),
        ("unzip", "file.write", ".vscode", {"below": "1"}, "ask"),
        ("cp", "file.write", ".husky/*", {}, "ask"),
        ("cp", "file.write", ".claude/hooks/*", {}, "deny"),
        ("mkdir", "file.create", ".claude", {"folder": "1"}, "allow"),
        ("cp", "file.write", ".claude/skills", {"recursive": "1"}, "allow"),
        ("cp", "file.write", ".github/ISSUE_TEMPLATE", {"recursive": "1"}, "allow"),
        ("cp", "file.write", "src/claude", {"recursive": "1"}, "allow"),
    ],
)
def test_a_folder_in_the_place_of_configuration(dev, world, program, kind, path, attributes, decision):
    verdict = decide(dev, world, at(world, kind, path, **attributes).replace(program=program))
    assert verdict.decision.word == decision


def test_a_folder_of_configuration_that_is_there_receives_what_comes(dev, world):
    os.makedirs(f"{world}/w/.claude")
    for program in ("cp", "mv"):
        assert decide(dev, world, at(world, "file.write", ".claude", recursive="1").replace(program=program)).allow
