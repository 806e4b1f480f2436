"""What was predicted is told from what was not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instinct_shell.execution.observe import Change, Observer
from instinct_shell.model.codec import decode, encode
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind

WATCHED = (".git/hooks", ".git/config", ".envrc", ".claude/settings.json", "*.stars")


def effect(kind, path="", *, pattern=False, dynamic=""):
    if not path:
        return Effect(kind)
    return Effect(kind, Target(TargetKind.PATTERN if pattern else TargetKind.PATH, str(path), dynamic))


@pytest.fixture
def work(tmp_path):
    folder = Path(os.path.realpath(tmp_path))
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n")
    (folder / "f").write_text("x")
    return folder


def observe(work, effects, run):
    observer = Observer(WATCHED)
    seen = observer.before(effects, str(work))
    run()
    return observer.after(seen, str(work))


def test_predicted_changes_are_told_and_are_no_surprise(work):
    effects = [
        effect(EffectKind.FILE_DELETE, work / "f"),
        effect(EffectKind.FILE_CREATE, work / "new"),
        effect(EffectKind.FILE_WRITE, work / ".envrc"),
        effect(EffectKind.FILE_READ, work / "unread"),
    ]

    def run():
        (work / "f").unlink()
        (work / "new").write_text("x")
        (work / ".envrc").write_text("x")

    changes = observe(work, effects, run)
    assert changes.changed == (Change(f"{work}/f", "deleted"), Change(f"{work}/new", "created"), Change(f"{work}/.envrc", "created"))
    assert changes.surprises == ()
    assert decode(type(changes), encode(changes)) == changes


def test_what_was_predicted_and_did_not_happen_is_nothing(work):
    changes = observe(work, [effect(EffectKind.FILE_DELETE, work / "f")], lambda: None)
    assert (changes.changed, changes.surprises) == ((), ())
    assert changes.looked_at >= 2


@pytest.mark.parametrize("name", [".envrc", ".git/config", ".git/hooks/pre-commit"])
@pytest.mark.parametrize("predicted", [(), (EffectKind.FILE_WRITE,)])
def test_a_watched_file_that_nobody_named_is_a_surprise(work, name, predicted):
    effects = [effect(kind, work / "other") for kind in predicted]
    changes = observe(work, effects, lambda: (work / name).write_text("changed by someone"))
    (surprise,) = changes.surprises
    assert str(work / name) in surprise
    assert "predicted" in surprise


def test_watched_files_that_go_are_a_surprise(work):
    assert observe(work, [], (work / ".git" / "config").unlink).surprises == (
        f"`{work}/.git/config` was deleted; nothing of the kind was predicted",
    )


def test_the_same_size_and_time_do_not_hide_a_change(work):
    path = work / ".git" / "config"
    before = path.stat()

    def run():
        path.write_text("[evil]\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert len(observe(work, [], run).surprises) == 1


def test_a_write_that_was_a_delete_is_a_surprise(work):
    changes = observe(work, [effect(EffectKind.FILE_WRITE, work / "f")], (work / "f").unlink)
    assert changes.surprises == (f"`{work}/f` was deleted; only a change was predicted",)
    both = [effect(EffectKind.FILE_WRITE, work / "f"), effect(EffectKind.FILE_DELETE, f"{work}/*", pattern=True)]
    (work / "f").write_text("x")
    assert observe(work, both, (work / "f").unlink).surprises == ()


@pytest.mark.parametrize(
    "predicted",
    [
        (EffectKind.GIT_CONFIG, "", False),
        (EffectKind.FILE_WRITE, ".git", False),
        (EffectKind.FILE_WRITE, ".git/config", False),
        (EffectKind.FILE_WRITE, ".git/*", True),
        (EffectKind.FILE_DELETE, ".*", True),
    ],
)
def test_effects_that_cover_a_watched_file(work, predicted):
    kind, name, pattern = predicted
    effects = [effect(kind, work / name if name else "", pattern=pattern)]
    assert observe(work, effects, lambda: (work / ".git" / "config").write_text("changed")).surprises == ()


def test_a_folder_whose_contents_changed_is_no_change_of_its_own(work):
    (work / "d").mkdir()
    changes = observe(work, [effect(EffectKind.FILE_METADATA, work / "d")], lambda: (work / "d" / "x").write_text("x"))
    assert changes.changed == ()


def test_nothing_odd_raises(work):
    effects = [
        effect(EffectKind.FILE_WRITE, "/proc/self/nothing"),
        effect(EffectKind.FILE_WRITE, "/bad\0name"),
        effect(EffectKind.FILE_WRITE, work, dynamic="variable"),
        effect(EffectKind.GIT_DISCARD),
    ] * 400
    assert observe(work, effects, lambda: None).surprises == ()


@pytest.mark.parametrize("name", [".git/commondir", ".claude/settings.json"])
@pytest.mark.parametrize("also", [(), (effect(EffectKind.GIT_CONFIG),), (effect(EffectKind.FILE_WRITE, "/elsewhere"),)])
def test_what_no_mount_could_hold_is_set_aside(work, name, also):
    observer = Observer(WATCHED, held=(".git/commondir", ".claude/settings.json", "{home}/.x", "*.stars"))
    seen = observer.before(also, str(work))
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text("../evil\n")
    changes = observer.after(seen, str(work))
    assert not (work / name).exists()
    assert [path.read_text() for path in (work / name).parent.glob("*.set-aside-*")] == ["../evil\n"]
    assert len(changes.set_aside) == 1
    assert decode(type(changes), encode(changes)) == changes


def test_what_was_judged_or_was_there_stays(work):
    observer = Observer(WATCHED, held=(".git/commondir", ".claude/settings.json"))
    (work / ".git" / "commondir").write_text("..")
    seen = observer.before([effect(EffectKind.FILE_CREATE, work / ".claude" / "settings.json")], str(work))
    (work / ".git" / "commondir").write_text("../..")
    (work / ".claude").mkdir()
    (work / ".claude" / "settings.json").write_text("{}")
    assert observer.after(seen, str(work)).set_aside == ()
    assert (work / ".claude" / "settings.json").exists()
