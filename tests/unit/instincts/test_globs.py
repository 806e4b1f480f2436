"""Shell globs as automata: tables, and hypothesis against a second implementation."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, strategies as st

from instinct_shell.instincts import globs

ACCEPTS = [
    ("/a/*.c", ["/a/x.c"], ["/a/.c", "/a/b/x.c", "/a/x.h"]),
    ("/a/.e?v", ["/a/.env"], ["/a/.ev", "/a/env"]),
    ("/e*/sh*w", ["/etc/shadow"], ["/etc/x/shadow", "/etc/shadows"]),
    ("/a/[!.]*", ["/a/x"], ["/a/.x"]),
    ("/a/.[!.]*", ["/a/.git", "/a/.env"], ["/a/..", "/a/x"]),
    ("/a/[a-c]x", ["/a/ax", "/a/cx"], ["/a/dx", "/a//x"]),
    ("/a/\\*x", ["/a/*x"], ["/a/bx"]),
    ("/a/**/x", ["/a/b/c/x"], ["/b/x"]),
    ("/a/@(b|c)", ["/a/b", "/a/c"], []),
    ("/a/[[:alpha:]]x", ["/a/bx"], ["/a//x"]),
    ("/a/[]x]", ["/a/]", "/a/x"], ["/a/b"]),
    ("/a/[x", ["/a/[x"], ["/a/x"]),
]


@pytest.mark.parametrize(("glob", "yes", "no"), ACCEPTS, ids=[row[0] for row in ACCEPTS])
def test_accepts(glob, yes, no):
    automaton = globs.shell_automaton(glob)
    assert [path for path in yes if not automaton.accepts(path)] == []
    assert [path for path in no if automaton.accepts(path)] == []


MEETS = [
    ("/e*/sh*w", "/etc/shadow*", True),
    ("/w/*", "/etc/shadow*", False),
    ("/home/*/.ssh/id_*", "/home/dev/.ssh/*", True),
    ("/home/dev/.s*/*", "/home/dev/.ssh/*", True),
    ("/home/dev/*", "/home/dev/.ssh/*", False),
    ("/w/*/settings.*", ".claude/settings.json", False),
    ("/w/.c*/settings.*", ".claude/settings.json", True),
]


@pytest.mark.parametrize(("glob", "pattern", "meet"), MEETS, ids=[f"{row[0]} {row[1]}" for row in MEETS])
def test_intersection(glob, pattern, meet):
    assert globs.intersects(globs.shell_automaton(glob), globs.profile_automaton(pattern)) is meet


@pytest.mark.parametrize(
    ("component", "wild"),
    [
        ("*", True),
        ("*.*", True),
        ("[a-z]*", True),
        (".*", True),
        (".[!.]*", True),
        ("?*", True),
        ("*.log", False),
        ("build*", False),
        ("*~", False),
        ("x", False),
        ("*.txt", False),
        ("*.tar.gz", False),
    ],
)
def test_wild(component, wild):
    assert globs.wild(component) is wild


@pytest.mark.parametrize(
    ("component", "aimed"),
    [(".e?v", True), ("cred*", True), ("*.json", False), ("*", False), ("s*.yml", False), ("se*.yml", True), ("sh*w", True)],
)
def test_aimed(component, aimed):
    assert globs.aimed(component) is aimed


_alphabet = st.sampled_from("ab.")
_tokens = st.lists(st.one_of(_alphabet, st.sampled_from(["*", "?", "[ab]", "[!a]"])), min_size=1, max_size=5)


@given(_tokens, st.text(alphabet="ab.", min_size=1, max_size=6))
def test_agrees_with_fnmatch_on_one_name(tokens, name):
    """INVARIANT: what the second implementation matches, and bash's dot rule allows, is accepted."""
    glob = "".join(tokens)
    if fnmatch.fnmatchcase(name, glob) and not (name.startswith(".") and not glob.startswith(".")):
        assert globs.shell_automaton("/" + glob).accepts("/" + name)
    if globs.shell_automaton("/" + glob).accepts("/" + name):
        assert fnmatch.fnmatchcase(name, glob)


@given(_tokens, _tokens, st.text(alphabet="ab.", min_size=1, max_size=5))
def test_a_common_name_means_an_intersection(one, two, name):
    """INVARIANT: no witness exists that `intersects` denies."""
    left, right = globs.shell_automaton("/" + "".join(one)), globs.shell_automaton("/" + "".join(two))
    if left.accepts("/" + name) and right.accepts("/" + name):
        assert globs.intersects(left, right)


@given(st.text(max_size=12))
def test_escape_matches_exactly_the_text(text):
    text = text.replace("\0", "")
    assert globs.shell_automaton(globs.escape(text)).accepts(text)
