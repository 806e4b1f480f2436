"""Patches are followed by their content: which files they write, make and remove, wherever the text of the patch stands."""

from __future__ import annotations

import pytest
from scripted import World, decision

from instinct_shell.effects.editors import patch_files
from instinct_shell.model.effect import EffectKind

W, D = EffectKind.FILE_WRITE, EffectKind.FILE_DELETE


def diff(old: str, new: str) -> str:
    """A small unified diff of git's."""
    return f"diff --git a/{old or new} b/{new or old}\n--- {'a/' + old if old else '/dev/null'}\n+++ {'b/' + new if new else '/dev/null'}\n@@ -1 +1 @@\n-a\n+b\n"


FILES = [
    (diff("src/a.c", "src/a.c"), 1, False, [(W, "src/a.c")]),
    (diff("", "new.c"), 1, False, [(W, "new.c")]),
    (diff("gone.c", ""), 1, False, [(D, "gone.c")]),
    (diff("gone.c", ""), 1, True, [(W, "gone.c")]),
    (diff("", "new.c"), 1, True, [(D, "new.c")]),
    ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", 1, False, [(D, "x"), (W, "y")]),
    ("diff --git a/.env b/.env\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 3\n", 1, False, [(W, ".env")]),
    ("diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n", 1, False, [(D, "x")]),
    ("--- a.c.orig\t2026-01-01\n+++ a.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", 0, False, [(W, "a.c"), (W, "a.c.orig")]),
    ("Index: src/a.c\n===\n--- src/a.c\t(revision 1)\n+++ src/a.c\t(working copy)\n", 0, False, [(W, "src/a.c")]),
    ("From 1 Mon Sep 17\nSubject: [PATCH] x\n\n---\n a.c | 2 +-\n\n" + diff("a.c", "a.c"), 1, False, [(W, "a.c")]),
]


@pytest.mark.parametrize(("text", "strip", "reverse", "wanted"), FILES)
def test_what_a_patch_touches(text, strip, reverse, wanted):
    assert patch_files(text, strip, reverse) == wanted


WAYS = ["git apply x.patch", "git apply -3 --whitespace=fix x.patch", "patch -p1 < x.patch", "patch -p1 -i x.patch", "cat x.patch | git apply", "git apply < x.patch",
        "cat x.patch | patch -p1", "git am x.patch", "git apply - < x.patch", "cd src && git apply --directory=.. ../x.patch"]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_patch_on_disk_is_followed(way):
    assert decision(way, {"x.patch": diff("src/a.c", "src/a.c")}) == "allow"
    for path in (".env", "package-lock.json", ".claude/settings.json", "certs/server.pem"):
        assert decision(way, {"x.patch": diff(path, path)}) == "deny", path
    assert decision(way, {"x.patch": diff("", ".github/workflows/x.yml")}) == "ask"


@pytest.mark.parametrize("way", ["git apply <<'E'\n{}E", "patch -p1 <<'E'\n{}E", "cat <<'E' | git apply\n{}E", "cat > x.patch <<'E'\n{}E\ngit apply x.patch"])
def test_a_patch_in_the_line_is_followed(way):
    assert decision(way.format(diff("src/a.c", "src/a.c"))) == "allow"
    assert decision(way.format(diff(".env", ".env"))) == "deny"
    assert decision(way.format(diff("src/a.c", "src/a.c") + diff("yarn.lock", ""))) == "deny"


@pytest.mark.parametrize("text", ["git apply --check x.patch", "git apply --stat x.patch", "patch -p1 --dry-run < x.patch", "git diff > x.patch", "git am --abort"])
def test_looking_at_one_writes_nothing(text):
    assert decision(text, {"x.patch": diff(".env", ".env")}) == "allow"


def test_a_patch_that_cannot_be_read_writes_somewhere_below():
    assert World().judge("git apply x.patch").verdict.decision.word == "allow"
    assert World(under="prod").judge("git apply x.patch").verdict.decision.word != "allow"
