"""Path patterns of profiles, and the promise about the seeds' expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, strategies as st

from instinct_shell.instincts.ground import Ground
from instinct_shell.instincts.patterns import Endings, PathSet, any_matches, examples, matches

CASES = [
    # pattern, covered, not covered
    ("*.env", ["/.env", "/a/.env", "/a/x.env", "/.env/below"], ["/.envrc", "/env", "/a/.environment"]),
    ("*.env.*", ["/.env.local", "/a/.env.d/x"], ["/.env", "/.envx.y"]),
    ("*credentials.*", ["/credentials.json", "/a/my-credentials.yml"], ["/credentials", "/credentialsjson"]),
    ("yarn.lock", ["/yarn.lock", "/a/yarn.lock"], ["/ayarn.lock", "/yarn.lock.md"]),
    ("*yarn.lock", ["/ayarn.lock"], ["/yarn.lock.md"]),
    (".git/hooks", ["/.git/hooks", "/.git/hooks/pre-commit", "/sub/.git/hooks/x"], ["/.git/hooksx", "/x.git/hooks"]),
    ("/etc/shadow*", ["/etc/shadow", "/etc/shadow-"], ["/etc/shad", "/x/etc/shadow"]),
    ("/home/dev/.ssh/*", ["/home/dev/.ssh/id_ed25519", "/home/dev/.ssh/keys/a"], ["/home/dev/.sshx", "/home/dev/.ssh"]),
    ("v[0-9]*", ["/v1", "/a/v2.0"], ["/vx"]),
    ("a?c", ["/abc", "/x/a.c"], ["/ac", "/abbc"]),
]


@pytest.mark.parametrize(("pattern", "covered", "uncovered"), CASES, ids=[case[0] for case in CASES])
def test_pattern(pattern, covered, uncovered):
    patterns = PathSet([pattern])
    assert [path for path in covered if not patterns.find(path)] == []
    assert [path for path in uncovered if patterns.find(path)] == []


@pytest.mark.parametrize("path", ["/.env.example", "/a/.env.sample", "/id_rsa.pub", "/config/.env.template", "/secrets.json.example"])
def test_named_exceptions_are_no_secrets(dev, path):
    assert not Ground(dev, "/srv/work/app", ("/home/dev",)).protected("/srv/work/app" + path)


@pytest.mark.parametrize("path", ["/.env.example/id_rsa", "/.env.example.pem", "/x.pub.env", "/.env.example.local", "/a.pub/secret.txt"])
def test_an_exception_must_match_to_the_end(dev, path):
    assert Ground(dev, "/srv/work/app", ("/home/dev",)).protected("/srv/work/app" + path)


# The seeds' expressions, as JavaScript wrote them: unanchored, `$` only at the very end, `.` escaped.
SEEDS = [r"\.env(?:\Z|\.)", r"credentials\.", r"secrets?\.", r"\.pem\Z", r"id_rsa", r"package-lock\.json\Z", r"yarn\.lock\Z"]
NAMED_EXCEPTIONS = (
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".pub",
    ".example",
    ".sample",
    ".template",
)
_pieces = st.sampled_from(
    [
        ".env",
        ".env.",
        "credentials.",
        "secret.",
        "secrets.",
        ".pem",
        "id_rsa",
        "package-lock.json",
        "yarn.lock",
        "/",
        "a",
        "B",
        "\n",
        " ",
        "é",
        ".",
        "x.y",
    ]
)


@given(st.lists(st.one_of(_pieces, st.text(max_size=3)), min_size=1, max_size=6).map("".join))
@example("config/.env")
@example("id_rsa\n")
@example(".env.\n")
def test_every_string_that_the_seeds_match_is_protected(dev, path):
    if "\0" in path or not any(re.search(seed, path) for seed in SEEDS) or path.endswith(NAMED_EXCEPTIONS):
        return
    ground = Ground(dev, "/srv/work/app", ("/home/dev",))
    full = "/srv/work/app/" + path.lstrip("/")
    assert ground.protected(full) or ground.lockfile(full)


def test_a_workspace_below_a_secret_name_is_not_all_secret(dev):
    ground = Ground(dev, "/srv/secrets.d/app", ("/home/dev",))
    assert not ground.protected("/srv/secrets.d/app/src/main.c")
    assert ground.protected("/srv/secrets.d/app/.env")
    assert ground.protected("/srv/secrets.d/other")


def test_a_workspace_inside_a_home_secret_stays_usable(dev):
    ground = Ground(dev, "/home/dev/.config/op/plugin", ("/home/dev",))
    assert not ground.secret("/home/dev/.config/op/plugin/main.py")
    assert ground.secret("/home/dev/.aws/credentials")


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("git.*", "git.discard", True),
        ("git.*", "github.x", False),
        ("aws", "aws", True),
        ("v[0-9]*", "v1.2", True),
        ("re*se", "release", True),
        ("a*b*c", "axxbyyc", True),
        ("a*b*c", "acb", False),
    ],
)
def test_plain_globs(pattern, text, fits):
    assert matches(pattern, text) is fits


def test_any_matches_names_the_pattern():
    assert any_matches(("main", "release/*"), "release/1.2") == "release/*"
    assert any_matches((), "main") == ""


@given(st.sampled_from(["*.env", "*.env.*", "*credentials.*", "*secrets.*", "*.pem", "*id_rsa*", ".git/hooks", "yarn.lock"]))
def test_examples_are_covered_by_their_pattern(pattern):
    assert all(PathSet([pattern]).find("/" + name) for name in examples(pattern))


_PIECE = st.sampled_from(("a", "b", ".env", "env", ".git", "hooks", "x.pem", "secret", ".", "lock.json", "id_rsa", "key"))
_NAME = st.lists(_PIECE, min_size=1, max_size=3).map("".join)
_PATTERN = st.lists(st.one_of(_PIECE, st.sampled_from(("*", "/", "?", "[ab]"))), min_size=1, max_size=5).map("".join)


@given(st.lists(_PATTERN, min_size=1, max_size=4), st.lists(_PATTERN, max_size=2), st.lists(_NAME, max_size=3), _NAME)
def test_no_name_that_is_covered_is_passed_by_in_a_walk(patterns: list[str], exceptions: list[str], folders: list[str], name: str) -> None:
    whole = PathSet(patterns, exceptions)
    folder = "/" + "/".join(folders)
    asked = Endings((whole,)).within(folder)
    path = f"{folder.rstrip('/')}/{name}"
    if whole.find(path):
        assert asked is None or asked(name), (patterns, path)
