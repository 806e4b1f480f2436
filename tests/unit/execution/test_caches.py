"""The tools' caches of one workspace: what they begin with, and that nothing goes back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instinct_shell.execution import caches
from instinct_shell.execution.caches import SMALL, fill, folder_of_all, kept, open_folder, remove, unseeded, variables

LARGE = "x" * (SMALL + 1)
# what the person has -> what a workspace's cache begins with: "copy", "link" (of a file), "folder" (linked whole), "" (left out)
PERSONS = {
    ".npm/_cacache/index-v5/ab/cd": ("entry", "npm/_cacache/index-v5/ab/cd", "copy"),
    ".npm/_cacache/content-v2/sha512/ab/cd": (LARGE, "npm/_cacache/content-v2/sha512/ab/cd", "link"),
    ".npm/_logs/today.log": ("log", "npm/_logs/today.log", ""),
    ".cache/pip/wheels/a/b/x.whl": (LARGE, "pip/wheels/a/b/x.whl", "link"),
    ".cache/pip/selfcheck/now": ("x", "pip/selfcheck/now", ""),
    ".cache/uv/archive-v0/ID/pkg/file.py": ("x", "uv/archive-v0/ID", "folder"),
    ".cache/uv/simple-v1/x.rkyv": ("x", "uv/simple-v1/x.rkyv", "copy"),
    ".cache/uv/.lock": ("", "uv/.lock", ""),
    ".cache/yarn/v6/npm-lodash-4/node_modules/lodash/a.js": ("x", "yarn/v6/npm-lodash-4", "folder"),
    ".cargo/config.toml": ("[net]\n", "cargo/config.toml", "copy"),
    ".cargo/credentials.toml": ("token", "cargo/credentials.toml", ""),
    ".cargo/bin/cargo": (LARGE, "cargo/bin/cargo", ""),
    ".cargo/registry/cache/idx/a-1.crate": (LARGE, "cargo/registry/cache/idx/a-1.crate", "link"),
    ".cargo/registry/src/idx/a-1/lib.rs": ("x", "cargo/registry/src/idx/a-1", "folder"),
    "go/pkg/mod/cache/download/h/@v/v1.zip": (LARGE, "go-mod/cache/download/h/@v/v1.zip", "link"),
    "go/pkg/mod/cache/download/h/@v/list": ("v1", "go-mod/cache/download/h/@v/list", "copy"),
    ".gradle/init.d/mirror.gradle": ("x", "gradle/init.d/mirror.gradle", "copy"),
    ".gradle/gradle.properties": ("secret", "gradle/gradle.properties", ""),
    ".gradle/wrapper/dists/gradle-8-bin/hash/gradle-8/bin/gradle": ("x", "gradle/wrapper/dists/gradle-8-bin/hash/gradle-8", "folder"),
    ".gradle/wrapper/dists/gradle-8-bin/hash/gradle-8-bin.zip.ok": ("", "gradle/wrapper/dists/gradle-8-bin/hash/gradle-8-bin.zip.ok", "copy"),
    ".m2/repository/g/a/1/a-1.jar": (LARGE, "maven/g/a/1/a-1.jar", "link"),
    ".m2/repository/g/a/1/_remote.repositories": ("x", "maven/g/a/1/_remote.repositories", "copy"),
}
PROGRAMS = ("npm", "pip", "uv", "yarn", "cargo", "go", "/w/gradlew", "mvn")


@pytest.fixture
def home(tmp_path):
    """A person with caches."""
    for name, (text, _, _) in PERSONS.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "home"


def seeded(home, words=PROGRAMS, workspace="/w", environ=None):
    cache = open_folder(str(home), workspace, environ or {})
    for seed, source in unseeded(cache, words, environ or {}, str(home)):
        fill(cache, seed, source)
    return cache


def test_a_workspace_begins_with_what_the_person_has(home):
    cache = seeded(home)
    for name, (text, place, how) in PERSONS.items():
        path, source = os.path.join(cache, place), home / name
        if how == "":
            assert not os.path.lexists(path), name
        elif how == "copy":
            assert not os.path.islink(path), name
            assert Path(path).read_text() == text
        else:
            assert os.path.islink(path), name
            assert os.path.realpath(path) in (str(source), *map(str, source.parents)), name
        assert source.stat().st_nlink == 1, "no hard link: a write would reach the person's file"


def test_only_tools_that_are_called_are_seeded_and_once(home):
    cache = seeded(home, ("cd", "web", "npm"))
    assert os.listdir(cache) == ["npm"]
    assert not unseeded(cache, ("npm",), {}, str(home))
    assert [seed.folder for seed, _ in unseeded(cache, ("python", "-m", "pip"), {}, str(home))] == ["pip"]


def test_the_persons_own_places_count(home):
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text("mirror")
    cache = seeded(home, ("cargo",), environ={"CARGO_HOME": str(elsewhere)})
    assert Path(cache, "cargo/config.toml").read_text() == "mirror"


def test_what_a_command_put_there_is_left_alone(home, tmp_path):
    """A link at the place of a tool's folder must not lead our writing anywhere."""
    cache = open_folder(str(home), "/w", {})
    (tmp_path / "victim").mkdir()
    for seed in caches.SEEDS:
        os.symlink(tmp_path / "victim", os.path.join(cache, seed.folder))
    for seed in caches.SEEDS:
        fill(cache, seed, str(home / ".npm"))
    assert os.listdir(tmp_path / "victim") == []
    assert sorted(os.listdir(folder_of_all(str(home)))) == sorted([os.path.basename(cache), os.path.basename(cache) + ".workspace"])


def test_a_cache_that_is_too_large_is_seeded_in_part(home, monkeypatch):
    monkeypatch.setattr(caches, "MOST_ENTRIES", 5)
    cache = seeded(home, ("mvn",))
    assert sum(len(files) + len(names) for _, names, files in os.walk(cache)) <= 6


def test_browsers_are_linked_at_the_beginning(home):
    (home / ".cache/ms-playwright/chromium-1200/chrome-linux").mkdir(parents=True)
    cache = open_folder(str(home), "/w", {})
    assert os.path.realpath(os.path.join(cache, "xdg/ms-playwright/chromium-1200")) == str(home / ".cache/ms-playwright/chromium-1200")


def test_gradle_reads_the_persons_by_its_own_variable(home):
    assert variables({}, str(home)) == ()
    (home / ".gradle/caches/modules-2").mkdir(parents=True)
    assert variables({}, str(home)) == (("GRADLE_RO_DEP_CACHE", str(home / ".gradle/caches")),)


def test_they_are_told_and_removed_whatever_is_in_them(home, tmp_path):
    cache = seeded(home)
    other = seeded(home, (), "/other")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    os.symlink(tmp_path / "mine", os.path.join(cache, "link"))
    os.makedirs(os.path.join(cache, "go-mod/m@v1/sub"))
    Path(cache, "go-mod/m@v1/sub/f").touch()
    for name in ("go-mod/m@v1/sub", "go-mod/m@v1"):
        os.chmod(os.path.join(cache, name), 0o555)  # as Go leaves them
    os.chmod(os.path.join(cache, "npm"), 0)
    assert {one.workspace: one.path for one in kept(str(home))} == {"/w": cache, "/other": other}
    remove(cache)
    assert [one.workspace for one in kept(str(home))] == ["/other"]
    assert (tmp_path / "mine/file").read_text() == "mine"
    assert (home / ".cargo/bin/cargo").exists()
