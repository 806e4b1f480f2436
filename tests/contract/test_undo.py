"""What a run would destroy is kept, comes back byte for byte, and never outside the workspace."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from instinct_shell.errors import StorageError
from instinct_shell.execution import undo as undo_module
from instinct_shell.execution.gitindex import read_index
from instinct_shell.execution.undo import Undo
from instinct_shell.model.codec import decode, encode
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind

ROOT = Path(__file__).resolve().parents[2]
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]


def effect(kind, path, *, dynamic="", pattern=False, **attributes):
    target = Target(TargetKind.PATTERN if pattern else TargetKind.PATH, str(path), dynamic)
    return Effect(kind, target, program="rm", attributes=tuple(sorted((name, str(value)) for name, value in attributes.items())))


def delete(path, **attributes):
    return effect(EffectKind.FILE_DELETE, path, **attributes)


def write(path, **attributes):
    return effect(EffectKind.FILE_WRITE, path, **attributes)


@pytest.fixture
def work(tmp_path):
    folder = Path(os.path.realpath(tmp_path)) / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def undo(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    return Undo(str(tmp_path / "state"), rebuilt=("node_modules", "*.pyc", "bin/Debug"))


def picture(folder):
    """Every path with what can be told about it."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        status = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode), status.st_mtime_ns, what)
    return found


def results(restored):
    return {each.path: each.result for each in restored}


def git(work, *arguments):
    subprocess.run([*GIT, *arguments], cwd=work, check=True, capture_output=True)


# ---------------------------------------------------------------- what is kept


def test_nothing_destroyed_nothing_kept(undo, work):
    report = undo.snapshot("r1", [effect(EffectKind.FILE_READ, work / "a"), effect(EffectKind.FILE_CREATE, work / "b")], str(work))
    assert (report.files, report.bytes, report.notes) == (0, 0, ())
    assert undo.list() == ()


def test_a_name_that_is_not_there_costs_nothing(undo, work):
    undo.snapshot("r1", [delete(work / "missing"), write(work / "new" / "file")], str(work))
    assert undo.list() == ()


def test_a_deleted_tree_comes_back_as_it_was(undo, work):
    tree = work / "tree"
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "empty").mkdir(mode=0o750)
    (tree / "a").write_bytes(b"contents\0\xff")
    (tree / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (tree / "deep" / "run.sh").chmod(0o755)
    (tree / "deep" / "er" / "link").symlink_to("../run.sh")
    (tree / "deep" / "dangling").symlink_to("/nowhere/at/all")
    (tree / "locked").mkdir()
    (tree / "locked" / "x").write_text("x")
    (tree / "locked").chmod(0o500)
    os.utime(tree / "a", ns=(1, 1_600_000_000_123_456_789))
    before = picture(work)
    report = undo.snapshot("r1", [delete(tree, recursive=1)], str(work))
    assert report.files == 5
    (tree / "locked").chmod(0o700)
    shutil.rmtree(tree)
    assert set(results(undo.restore("r1")).values()) == {"restored"}
    assert picture(work) == before
    assert set(results(undo.restore("r1")).values()) == {"unchanged"}
    (tree / "locked").chmod(0o700)


def test_an_overwritten_file_comes_back_and_the_overwrite_can_come_back_too(undo, work):
    (work / "f").write_text("first")
    undo.snapshot("r1", [write(work / "f")], str(work), at=100)
    (work / "f").write_text("second")
    assert results(undo.restore("r1", at=200)) == {"f": "restored"}
    assert (work / "f").read_text() == "first"
    newest = undo.list()[0]
    assert newest.run.startswith("r1.")
    undo.restore(newest.run, at=300)
    assert (work / "f").read_text() == "second"


def test_writing_through_a_symlink_keeps_what_it_reaches(undo, work):
    (work / "real").write_text("first")
    (work / "link").symlink_to("real")
    undo.snapshot("r1", [write(work / "link")], str(work))
    (work / "real").write_text("second")
    assert results(undo.restore("r1")) == {"real": "restored"}
    assert (work / "real").read_text() == "first"
    assert (work / "link").is_symlink()


def test_deleting_a_symlink_keeps_the_link(undo, work):
    (work / "real").write_text("x")
    (work / "link").symlink_to("real")
    undo.snapshot("r1", [delete(work / "link")], str(work))
    (work / "link").unlink()
    undo.restore("r1")
    assert os.readlink(work / "link") == "real"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", {"a.txt", "b.txt"}),
        ("?.txt", {"a.txt", "b.txt"}),
        ("[ab].txt", {"a.txt", "b.txt"}),
        ("*", {"a.txt", "b.txt", "c.md"}),
        (".*", {".hidden"}),
        ("sub/*.txt", {"sub/d.txt"}),
        ("*/*.txt", {"sub/d.txt"}),
        ("**/*.txt", {"a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt"}),
        ("\\*.txt", set()),
        ("nothing*", set()),
    ],
)
def test_patterns_are_matched_as_bash_does(undo, work, pattern, expected):
    (work / "sub" / "deep").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "c.md", ".hidden", "sub/d.txt", "sub/deep/e.txt"):
        (work / name).write_text(name)
    undo.snapshot("r1", [delete(f"{work}/{pattern}", pattern=True)], str(work))
    kept = {entry.path for entry in undo.show("r1").entries if entry.kind == "file"} if undo.list() else set()
    assert kept == expected


def test_a_sweep_with_a_filter_keeps_what_matches(undo, work):
    (work / "d" / "e").mkdir(parents=True)
    for name in ("d/a.bak", "d/a.txt", "d/e/b.bak"):
        (work / name).write_text(name)
    undo.snapshot("r1", [delete(work / "d", sweep=1, filter="*.bak")], str(work))
    assert {entry.path for entry in undo.show("r1").entries} == {"d/a.bak", "d/e/b.bak"}


def test_what_is_built_again_is_not_kept(undo, work):
    for name in ("node_modules/x/index.js", "a.pyc", "bin/Debug/out", "src/main.js"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name)
    undo.snapshot("r1", [delete(work, recursive=1)], str(work))
    assert {entry.path for entry in undo.show("r1").entries if entry.kind == "file"} == {"src/main.js"}


def test_a_moved_file_is_kept(undo, work):
    (work / "a").write_text("x")
    undo.snapshot("r1", [effect(EffectKind.FILE_MOVE, work / "a"), write(work / "b")], str(work))
    (work / "a").rename(work / "b")
    undo.restore("r1")
    assert (work / "a").read_text() == "x"


# ---------------------------------------------------------------- caps and notes


def test_over_the_caps_is_said_and_nothing_of_it_is_kept(tmp_path, work):
    undo = Undo(str(tmp_path), most_files=5, most_bytes=1 << 20)
    (work / "many").mkdir()
    for number in range(10):
        (work / "many" / f"f{number}").write_text("x")
    (work / "big").write_bytes(b"x" * (1 << 20) + b"x")
    (work / "small").write_text("x")
    report = undo.snapshot("r1", [delete(work / "many", recursive=1), delete(work / "big"), delete(work / "small")], str(work))
    assert report.notes == ("`many` holds more than 5 files", "`big` is larger than 1 MiB")
    assert [entry.path for entry in undo.show("r1").entries] == ["small"]
    assert decode(type(report), encode(report)) == report


def test_a_delete_that_is_only_known_later_is_said(undo, work):
    report = undo.snapshot("r1", [delete(work, dynamic="command substitution")], str(work))
    assert report.notes == ("what `rm` takes away is only known when it runs",)
    assert undo.snapshot("r2", [write(work, dynamic="variable"), delete("/tmp/x", dynamic="mktemp", bound=1)], str(work)).notes == ()


def test_odd_files_are_said(undo, work):
    os.mkfifo(work / "pipe")
    report = undo.snapshot("r1", [delete(work / "pipe"), delete(work, recursive=1)], str(work))
    assert report.notes == ("`pipe` is neither a file nor a folder nor a link",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_said(undo, work):
    (work / "secret").write_text("x")
    (work / "secret").chmod(0)
    report = undo.snapshot("r1", [delete(work / "secret")], str(work))
    assert report.notes == ("`secret` cannot be read (permission denied)",)


def test_old_and_many_runs_are_dropped(undo, work, monkeypatch):
    monkeypatch.setattr(undo_module, "MOST_RUNS", 5)
    (work / "f").write_text("x")
    for number in range(10):
        undo.snapshot(f"r{number}", [write(work / "f")], str(work), at=1000 + number)
    assert [kept.run for kept in undo.list()] == ["r9", "r8", "r7", "r6", "r5"]
    undo.snapshot("r99", [write(work / "f")], str(work), at=1000 + undo_module.LIFETIME_S + 8)
    assert [kept.run for kept in undo.list()] == ["r99", "r9", "r8"]
    monkeypatch.setattr(undo_module, "MOST_TOTAL_BYTES", 1)
    undo.snapshot("r100", [write(work / "f")], str(work), at=1000 + undo_module.LIFETIME_S + 9)
    assert [kept.run for kept in undo.list()] == ["r100", "r99"]


def test_everything_kept_is_private(undo, work):
    (work / "f").write_text("x")
    (work / "f").chmod(0o666)
    undo.snapshot("r1", [write(work / "f")], str(work))
    folder = Path(undo.list()[0].folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())


def test_odd_run_ids_are_refused(undo, work):
    for run in ("../x", "a-b", "", "a/b"):
        with pytest.raises(StorageError, match="is not a run id"):
            undo.snapshot(run, [write(work / "f")], str(work))


def test_runs_are_found_by_a_unique_beginning(undo, work):
    (work / "f").write_text("x")
    undo.snapshot("abc1", [write(work / "f")], str(work))
    undo.snapshot("abd2", [write(work / "f")], str(work))
    assert undo.find("abc").run == "abc1"
    with pytest.raises(StorageError, match="several runs"):
        undo.find("ab")
    for missing in ("x", ""):
        with pytest.raises(StorageError, match="nothing is kept"):
            undo.restore(missing)


def test_a_damaged_journal_is_named(undo, work):
    (work / "f").write_text("x")
    undo.snapshot("r1", [write(work / "f")], str(work))
    (Path(undo.list()[0].folder) / "journal").write_text("{")
    with pytest.raises(StorageError, match="cannot be read"):
        undo.restore("r1")


# ---------------------------------------------------------------- chosen paths


def test_chosen_paths_only(undo, work):
    (work / "d" / "e").mkdir(parents=True)
    for name in ("d/a", "d/e/b", "c"):
        (work / name).write_text(name)
    undo.snapshot("r1", [delete(work / "d", recursive=1), delete(work / "c")], str(work))
    shutil.rmtree(work / "d")
    (work / "c").unlink()
    assert set(results(undo.restore("r1", ["d/e/b"]))) == {"d", "d/e", "d/e/b"}
    assert not (work / "d" / "a").exists()
    assert not (work / "c").exists()
    assert set(results(undo.restore("r1", ["d"]))) == {"d", "d/a", "d/e", "d/e/b"}
    assert not (work / "c").exists()
    with pytest.raises(StorageError, match="nothing is kept of `x`"):
        undo.restore("r1", ["x"])
    with pytest.raises(StorageError, match="nothing is kept"):
        undo.restore("r1", ["../../etc/passwd"])


# ---------------------------------------------------------------- symlinks and swaps


def test_what_lies_outside_is_not_kept(undo, work, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("secret")
    (work / "door").symlink_to(outside)
    report = undo.snapshot(
        "r1",
        [delete(outside / "f"), delete(work / "door" / "f"), write(work / "door" / "f"), delete(work / "door", recursive=1)],
        str(work),
    )
    assert [(entry.path, entry.kind) for entry in undo.show("r1").entries] == [("door", "link")]
    assert report.bytes == 0


def test_a_folder_swapped_for_a_symlink_is_not_written_through(undo, work, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (work / "d").mkdir()
    (work / "d" / "f").write_text("x")
    undo.snapshot("r1", [delete(work / "d" / "f")], str(work))
    shutil.rmtree(work / "d")
    (work / "d").symlink_to(outside)
    (each,) = undo.restore("r1")
    assert (each.result, each.why) == ("failed", "a file or a symlink stands where a folder belongs")
    assert list(outside.iterdir()) == []


def test_a_file_swapped_for_a_symlink_is_replaced_not_followed(undo, work, tmp_path):
    (work / "f").write_text("x")
    undo.snapshot("r1", [delete(work / "f")], str(work))
    (work / "f").unlink()
    (tmp_path / "victim").write_text("untouched")
    (work / "f").symlink_to(tmp_path / "victim")
    assert results(undo.restore("r1")) == {"f": "restored"}
    assert (tmp_path / "victim").read_text() == "untouched"
    assert (work / "f").read_text() == "x"
    assert not (work / "f").is_symlink()


def test_a_folder_in_the_place_of_a_file_is_left_alone(undo, work):
    (work / "f").write_text("x")
    undo.snapshot("r1", [delete(work / "f")], str(work))
    (work / "f").unlink()
    (work / "f").mkdir()
    (work / "f" / "new").write_text("new")
    (each,) = undo.restore("r1")
    assert (each.result, each.why) == ("failed", "a folder stands in its place")
    assert (work / "f" / "new").read_text() == "new"
    assert sorted(path.name for path in work.iterdir()) == ["f"]


def test_a_workspace_that_is_gone_is_named(undo, work):
    (work / "f").write_text("x")
    undo.snapshot("r1", [delete(work / "f")], str(work))
    shutil.rmtree(work)
    with pytest.raises(StorageError, match="not there any more"):
        undo.restore("r1")


# ---------------------------------------------------------------- git


@pytest.fixture
def checkout(work):
    git(work, "init", "-q", ".")
    (work / "src").mkdir()
    for number in range(30):
        (work / "src" / f"f{number}.txt").write_text("x" * number)
    (work / "src" / "run").write_text("#!/bin/sh\n")
    (work / "src" / "run").chmod(0o755)
    git(work, "add", "-A")
    git(work, "commit", "-qm", "one")
    # git trusts only what is older than the index: make it so, without waiting.
    for path in (work / "src").iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    git(work, "update-index", "--refresh")
    return work


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_index_is_read_as_git_reads_it(checkout, version):
    git(checkout, "update-index", f"--index-version={version}")
    if version == "3":
        (checkout / "later").write_text("x")
        git(checkout, "add", "-N", "later")
    listed = subprocess.run([*GIT, "ls-files", "-s", "-z"], cwd=checkout, capture_output=True, text=True, check=True).stdout
    expected = {line.split("\t")[1]: line.split()[1] for line in listed.split("\0") if line}
    index, time_ns = read_index(str(checkout))
    assert {path: entry.blob for path, entry in index.items()} == expected
    assert time_ns > 0


@pytest.mark.parametrize(
    "damage", [lambda d: b"", lambda d: d[:50], lambda d: b"DIRC" + b"\xff" * 100, lambda d: d[:8] + b"\0\0\xff\xff" + d[12:]]
)
def test_an_index_that_cannot_be_read_is_no_index(checkout, damage):
    path = checkout / ".git" / "index"
    path.write_bytes(damage(path.read_bytes()))
    assert read_index(str(checkout))[0] == {}


def test_git_gives_back_what_it_has_and_the_rest_is_copied(undo, checkout):
    (checkout / "src" / "f3.txt").write_text("changed")
    (checkout / "src" / "new").write_text("untracked")
    before = picture(checkout / "src")
    report = undo.snapshot("r1", [delete(checkout / "src", recursive=1)], str(checkout))
    assert (report.files, report.by_git) == (32, 30)
    git(checkout, "rm", "-rqf", "--cached", "src")
    shutil.rmtree(checkout / "src")
    assert set(results(undo.restore("r1")).values()) == {"restored"}
    assert picture(checkout / "src") == before


def test_when_git_goes_too_everything_is_copied(undo, checkout):
    report = undo.snapshot("r1", [delete(checkout, recursive=1)], str(checkout))
    assert report.by_git == 0
    before = picture(checkout)
    for path in checkout.iterdir():
        shutil.rmtree(path)
    undo.restore("r1")
    assert picture(checkout) == before
    git(checkout, "fsck")


def test_a_blob_that_git_lost_is_a_failure_not_a_lie(undo, checkout):
    undo.snapshot("r1", [delete(checkout / "src", recursive=1)], str(checkout))
    shutil.rmtree(checkout / "src")
    shutil.rmtree(checkout / ".git" / "objects")
    (checkout / ".git" / "objects").mkdir()
    found = undo.restore("r1")
    assert {each.why for each in found if each.result == "failed"} == {"git does not have its contents any more"}
    assert not (checkout / "src" / "f1.txt").exists()


def test_content_that_git_stores_in_another_form_is_not_given_back_wrongly(undo, checkout):
    (checkout / ".gitattributes").write_text("*.crlf text eol=crlf\n")
    for number in range(30):
        (checkout / f"{number}.crlf").write_bytes(b"a\r\nb\r\n")
        os.utime(checkout / f"{number}.crlf", (1_600_000_000, 1_600_000_000))
    git(checkout, "add", "-A")
    undo.snapshot("r1", [delete(f"{checkout}/*.crlf", pattern=True), delete(checkout / "src", recursive=1)], str(checkout))
    for number in range(30):
        (checkout / f"{number}.crlf").unlink()
    for each in undo.restore("r1"):
        if each.path.endswith(".crlf"):
            assert each.result == "restored" or "checkout --" in each.why
            assert not (checkout / each.path).exists() or (checkout / each.path).read_bytes() == b"a\r\nb\r\n"


def test_a_linked_worktree_has_its_own_index(undo, checkout, tmp_path):
    linked = Path(os.path.realpath(tmp_path)) / "linked"
    git(checkout, "worktree", "add", "-q", str(linked), "-b", "other")
    for path in (linked / "src").iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    git(linked, "update-index", "--refresh")
    report = undo.snapshot("r1", [delete(linked / "src", recursive=1)], str(linked))
    assert report.by_git == 31
    shutil.rmtree(linked / "src")
    assert set(results(undo.restore("r1")).values()) == {"restored"}


def test_a_discard_keeps_what_differs_from_the_index(undo, checkout):
    (checkout / "src" / "f3.txt").write_text("changed")
    (checkout / "new").write_text("untracked")
    discard = Effect(EffectKind.GIT_DISCARD, program="git", attributes=(("sweep", "1"),))
    undo.snapshot("r1", [discard], str(checkout))
    assert {entry.path for entry in undo.show("r1").entries if entry.kind == "file"} == {"src/f3.txt", "new"}
    git(checkout, "reset", "-q", "--hard")
    git(checkout, "clean", "-qfd")
    undo.restore("r1")
    assert (checkout / "src" / "f3.txt").read_text() == "changed"
    assert (checkout / "new").read_text() == "untracked"


def test_a_named_discard_keeps_that_file(undo, checkout):
    for name in ("f3.txt", "f4.txt"):
        (checkout / "src" / name).write_text("changed")
    undo.snapshot("r1", [effect(EffectKind.GIT_DISCARD, checkout / "src" / "f3.txt", named=1)], str(checkout))
    assert [entry.path for entry in undo.show("r1").entries] == ["src/f3.txt"]


def test_a_dropped_stash_is_said(undo, checkout):
    stash = Effect(EffectKind.GIT_DISCARD, program="git", attributes=(("stash", "drop"),))
    assert "stash" in undo.snapshot("r1", [stash], str(checkout)).notes[0]


def test_no_hook_monitor_or_filter_of_the_repository_runs(undo, checkout, tmp_path):
    mark = tmp_path / "ran"
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "core.sshCommand", "core.pager", "diff.external"):
        git(checkout, "config", key, f"touch {mark}")
    (checkout / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    undo.snapshot(
        "r1", [delete(checkout / "src", recursive=1), Effect(EffectKind.GIT_DISCARD, attributes=(("sweep", "1"),))], str(checkout)
    )
    shutil.rmtree(checkout / "src")
    undo.restore("r1")
    assert not mark.exists()


# ---------------------------------------------------------------- any tree

names = st.sampled_from(["a", "b", "c", ".d", "e f", "ü", "-g"])
trees = st.recursive(
    st.binary(max_size=50) | st.sampled_from(["a", "../b", "/nowhere"]),
    lambda inner: st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)


def plant(folder, tree):
    for name, inner in tree.items():
        path = folder / name
        if isinstance(inner, dict):
            path.mkdir()
            plant(path, inner)
        elif isinstance(inner, bytes):
            path.write_bytes(inner)
            path.chmod(0o640 if len(inner) % 2 else 0o755)
        else:
            path.symlink_to(inner)


@given(before=st.dictionaries(names, trees, max_size=5), after=st.dictionaries(names, trees, max_size=5))
@settings(max_examples=40, deadline=None)
def test_whatever_a_run_leaves_the_tree_comes_back_beside_it(tmp_path_factory, before, after):
    """Everything deleted, anything put in its place: each path is as it was, or said to have failed because something stands in its way."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("t")))
    (base / "state").mkdir()
    work = base / "work"
    work.mkdir()
    plant(work, before)
    undo = Undo(str(base / "state"))
    expected = picture(work)
    undo.snapshot("r1", [delete(work, recursive=1)], str(work))
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    plant(work, after)
    if not expected:
        return
    found = undo.restore("r1")
    now = picture(work)
    for each in found:
        if each.result == "failed":
            assert each.why in ("a folder stands in its place", "a file or a symlink stands where a folder belongs")
        else:
            old, new = expected[each.path], now[each.path]
            assert (old[0], old[1], old[3]) == (new[0], new[1], new[3])
    if not after:
        assert now == expected


# ---------------------------------------------------------------- the host refuses

FULL = """
import sys
from instinct_shell.errors import StorageError
from instinct_shell.execution.undo import Undo
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind
open("/mnt/work/f", "wb").write(b"x" * 300000)
try:
    Undo("/mnt/state").snapshot("r1", [Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, "/mnt/work/f"))], "/mnt/work")
except StorageError as error:
    print(error.message, "|", error.hint)
"""


@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "t", "/mnt"], capture_output=True, check=False).returncode != 0,
    reason="no user and mount namespaces here: no disk can be filled or made read-only",
)
@pytest.mark.parametrize(
    ("mount", "words"), [("mount -t tmpfs -o size=8k t", "no space left"), ("mount -t tmpfs -o ro t", "read-only file system")]
)
def test_a_state_directory_that_cannot_hold_it_refuses(mount, words):
    script = f'mount -t tmpfs t /mnt && mkdir /mnt/state /mnt/work && {mount} /mnt/state && cd {ROOT} && exec {sys.executable} -c "$1"'
    out = subprocess.run(["unshare", "-rm", "sh", "-ec", script, "sh", FULL], capture_output=True, text=True, check=False)
    assert words in out.stdout, out
    assert not out.stderr
