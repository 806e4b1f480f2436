"""Edits and patches as pure functions: exact replacements, both patch grammars, and what is refused."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, strategies as st

from instinct_shell.effects.edits import Hunk, Misfit, Replacement, hunk_data, hunks_of, patched, replaced, replacement_data, replacements
from instinct_shell.effects.patch import changes
from instinct_shell.errors import IntentError

LINES = st.lists(st.sampled_from(["a", "b", "", "x = 1", "  indented", "tail "]), max_size=12)

REPLACED = {
    "once": ("a b c", [("b", "B")], "a B c"),
    "in order": ("a b", [("a", "b"), ("b b", "c")], "c"),
    "deletes": ("one\ntwo\n", [("two\n", "")], "one\n"),
    "everywhere": ("x x x", [("x", "y", True)], "y y y"),
    "line ends of the file are kept": ("a\r\nb\r\n", [("a\nb", "c\nd")], "c\r\nd\r\n"),
    "bytes that are no text stay": ("caf\udce9 x", [("x", "y")], "caf\udce9 y"),
    "an empty file takes a text": ("", [("", "new\n")], "new\n"),
}
MISFITS = {
    "not there": ("a", [("b", "c")], "not in the file"),
    "twice": ("a a", [("a", "b")], "2 times"),
    "nothing to do": ("a", [("a", "a")], "the same"),
    "empty old text": ("a", [("", "b")], "empty"),
    "a later one": ("a b", [("a", "c"), ("a", "d")], "edit 2"),
}


@pytest.mark.parametrize(("text", "edits", "wanted"), REPLACED.values(), ids=REPLACED.keys())
def test_replaced(text, edits, wanted):
    assert replaced(text, [Replacement(*edit) for edit in edits]) == wanted


@pytest.mark.parametrize(("text", "edits", "words"), MISFITS.values(), ids=MISFITS.keys())
def test_a_misfit_says_why(text, edits, words):
    with pytest.raises(Misfit, match=words):
        replaced(text, [Replacement(*edit) for edit in edits])


def test_metadata_goes_there_and_back():
    edits = (Replacement("a", "b"), Replacement("c", "", all=True))
    assert replacements(replacement_data(edits)) == edits
    hunks = (Hunk((" a", "-b", "+c"), 3, "def f", bare_new=True), Hunk(("+x",), at_end=True))
    assert hunks_of(hunk_data(hunks)) == hunks


@pytest.mark.parametrize("data", [None, [], "x", [{"old": 1, "new": "x"}], [{"old": "a"}], [3]])
def test_strange_edits_are_refused(data):
    with pytest.raises(IntentError):
        replacements(data)


@pytest.mark.parametrize("data", [None, [], [{}], [{"lines": ["x"]}], [{"lines": [""]}], [{"lines": [" a"], "line": "1"}]])
def test_strange_hunks_are_refused(data):
    with pytest.raises(IntentError):
        hunks_of(data)


@given(LINES, LINES, st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_unified_diff_does_what_it_says(before, after, ends_before, ends_after, context):
    old, new = (_text(lines, ends) for lines, ends in ((before, ends_before), (after, ends_after)))
    if old == new:
        return
    diff = _diff(old, new, "a/f", "b/f", context)
    (change,) = changes(diff)
    assert patched(old, change.hunks) == new


def _text(lines, ends):
    return "\n".join(lines) + ("\n" if ends and lines else "") if lines != [""] else ""


def _diff(old, new, name, other, context):
    out = []
    for line in difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, other, n=context):
        out.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(out)


@given(LINES, LINES)
def test_an_enveloped_patch_with_all_its_context_does_too(before, after):
    if not before or before == after:
        return
    body = [f"-{line}" for line in before] + [f"+{line}" for line in after]
    (change,) = changes("\n".join(["*** Begin Patch", "*** Update File: f", "@@", *body, "*** End Patch"]))
    wanted = "\n".join(after) + "\n" if after else ""
    assert patched("\n".join(before) + "\n", change.hunks) == wanted


PATCHED = {
    "first place below the anchor": (
        "def f():\n    return 1\n\ndef g():\n    return 1\n",
        "@@ def g():\n-    return 1\n+    return 2",
        "def f():\n    return 1\n\ndef g():\n    return 2\n",
    ),
    "spaces at line ends do not matter": ("a  \nb\n", "@@\n a\n-b\n+c", "a  \nc\n"),
    "CRLF stays": ("a\r\nb\r\n", "@@\n a\n-b\n+c", "a\r\nc\r\n"),
    "at the end": ("x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"),
    "added below an anchor": ("import os\n\nx = 1\n", "@@ import os\n+import sys", "import os\nimport sys\n\nx = 1\n"),
    "appended": ("a\n", "@@\n+b", "a\nb\n"),
    "two hunks in order": ("a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-a\n+2", "1\nb\n2\nb\n"),
}


@pytest.mark.parametrize(("text", "body", "wanted"), PATCHED.values(), ids=PATCHED.keys())
def test_patched(text, body, wanted):
    (change,) = changes(f"*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch\n")
    assert patched(text, change.hunks) == wanted


def test_a_hunk_that_fits_nowhere_says_which():
    (change,) = changes("*** Begin Patch\n*** Update File: f\n@@\n-gone\n+x\n*** End Patch")
    with pytest.raises(Misfit, match=r"hunk 1 .*gone"):
        patched("here\n", change.hunks)


GIT = """\
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+one
+two
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/a.txt b/b.txt
similarity index 90%
rename from a.txt
rename to b.txt
--- a/a.txt
+++ b/b.txt
@@ -1,2 +1,2 @@
 keep
--- sql comment
+-- other
diff --git a/m.txt b/n.txt
similarity index 100%
rename from m.txt
rename to n.txt
"""


def test_git_diffs_add_delete_rename_and_change():
    found = [(change.kind, change.path, change.to) for change in changes(GIT)]
    assert found == [("add", "new.txt", ""), ("delete", "old.txt", ""), ("update", "a.txt", "b.txt"), ("update", "m.txt", "n.txt")]
    assert changes(GIT)[0].content == "one\ntwo\n"
    assert patched("keep\n-- sql comment\n", changes(GIT)[2].hunks) == "keep\n-- other\n"


@pytest.mark.parametrize(
    "text",
    [
        "--- a/x\n+++ b/x\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n",
        "--- a/x\n+++ b/x\n@@ nonsense @@\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n?a\n+b\n",
        "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n",
        "diff --git a/x b/x\nGIT binary patch\n--- ",
        "nothing",
    ],
)
def test_half_a_diff_is_none(text):
    with pytest.raises(IntentError):
        changes(text)
