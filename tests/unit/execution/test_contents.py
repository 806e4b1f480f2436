"""The facts about a text that is to be written, on a fake disk: what was there, what comes, which names and secrets are new."""

from __future__ import annotations

import pytest

from instinct_shell.execution.contents import Contents, is_text
from instinct_shell.execution.file_syntax import language_of, new_errors
from instinct_shell.execution.imports import strange_names
from instinct_shell.instincts.ground import Ground
from instinct_shell.model.fact import QuestionKind
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.storage.profiles import ProfileStore
from instinct_shell.storage.secrets import env_values, find, redacted

W = "/srv/work/app"


@pytest.fixture(scope="module")
def ground():
    return Ground(ProfileStore(home="/nonexistent", cache=False).load("dev", "", {}), W, ("/home/dev",))


@pytest.fixture(scope="module", autouse=True)
def _warm(ground):
    """Lists that are read from the real disk once."""
    from instinct_shell.execution import known_packages

    known_packages.names("pip")
    known_packages.names("npm")


def contents(ground, kind, content="", **metadata):
    intent = Intent(IntentType(kind), content, "a.py", W, metadata=tuple(sorted(metadata.items())))
    found = lambda text: [(each.line, each.what, each.text) for each in find(text, W)]  # noqa: E731  # a port in one line
    return Contents(intent, ground, find_secrets=found, other_session=lambda _: None, masked=lambda: ())


def test_before_and_after(fs, ground):
    fs.create_file(f"{W}/a.py", contents="x = 1\n")
    asked = contents(ground, "file_edit", edits=[{"old": "1", "new": "22"}])
    answer = asked.answer(QuestionKind.CONTENT, f"{W}/a.py")
    assert (answer.get("was"), answer.get("was_bytes"), answer.get("bytes"), answer.get("misfit")) == ("text", 6, 7, "")
    assert asked.proposed(f"{W}/a.py").after == "x = 22\n"
    answer = contents(ground, "file_edit", edits=[{"old": "9", "new": "2"}]).answer(QuestionKind.CONTENT, f"{W}/a.py")
    assert "not in the file" in str(answer.get("misfit"))


@pytest.mark.parametrize(
    ("data", "was"),
    [
        (b"\x89PNG\0", "binary"),
        (b"text\n", "text"),
        (b"", "text"),
        (b"caf\xe9\n", "text"),
        ("ü".encode("utf-16"), "binary"),
        (None, "absent"),
    ],
)
def test_what_was_there(fs, ground, data, was):
    if data is not None:
        fs.create_file(f"{W}/a.py", contents=data)
    else:
        fs.create_dir(W)
    assert contents(ground, "file_write", "x").answer(QuestionKind.CONTENT, f"{W}/a.py").get("was") == was


def test_a_protected_file_is_not_looked_into(fs, ground):
    fs.create_file(f"{W}/.env", contents="A=1\n")
    asked = contents(ground, "file_edit", edits=[{"old": "A", "new": "B"}])
    assert asked.proposed(f"{W}/.env").before is None
    assert asked.answer(QuestionKind.CONTENT, f"{W}/.env").get("was") == "other"


def test_no_answer_holds_a_text(fs, ground):
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    fs.create_file(f"{W}/a.py", contents="x = 'harmless marker text'\n")
    asked = contents(ground, "file_write", f"token = '{secret}'  # marker\n")
    for kind in (QuestionKind.CONTENT, QuestionKind.FILE_SYNTAX, QuestionKind.SECRETS, QuestionKind.IMPORTS, QuestionKind.LEASE):
        words = repr(asked.answer(kind, f"{W}/a.py"))
        assert secret not in words
        assert "marker" not in words


@pytest.mark.parametrize(("data", "text"), [(b"a\nb", True), (b"\x1b[31mred", True), (b"\x01\x02\x03\x04abc", False), (b"a\0b", False)])
def test_text_and_data(data, text):
    assert is_text(data) is text


# ---------------------------------------------------------------- languages


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.py", "", "python"), ("A.PY", "", "python"), ("run", "#!/usr/bin/env python3\n", "python"), ("run", "#!/bin/bash -e\n", "shell"),
        ("run", "#!/usr/bin/env -S bash -e\n", "shell"), ("run", "#!/usr/bin/python2\n", ""), ("run", "#!/usr/bin/perl\n", ""), ("Makefile", "", ""),
        ("x.unknown", "#!/bin/sh\n", ""), (".bashrc", "", "shell"), ("Cargo.lock", "", "toml"),
    ],
)  # fmt: skip
def test_language(path, text, language):
    assert language_of(path, text) == language


@pytest.mark.parametrize("name", ["a.py", "a.json", "a.toml", "a.xml", "a.sh"])
def test_what_is_broken_already_may_be_edited(name):
    broken = {"a.py": "def f(:\n", "a.json": "{", "a.toml": "[x\n", "a.xml": "<a>", "a.sh": "if true\n"}[name]
    assert new_errors(f"{W}/{name}", "", broken, W)[1]
    assert new_errors(f"{W}/{name}", None, broken, W)[1] == [], "what was there is not known"
    assert new_errors(f"{W}/{name}", broken, broken + " ", W)[1] == []
    assert new_errors(f"{W}/templates/{name}", "", broken + "{{ x }}", W)[1] == []


# ---------------------------------------------------------------- packages


def names(path, after, before=""):
    return [(each["name"], each["near"]) for each in strange_names(f"{W}/{path}", before, after, W)]


def test_what_the_project_has_is_not_strange(fs):
    fs.create_file(f"{W}/src/helpres/__init__.py")
    fs.create_file(f"{W}/.venv/lib/python3.12/site-packages/reqeusts/__init__.py")
    fs.create_file(f"{W}/requirements.txt", contents="djagno-thing==1\n")
    fs.create_file(f"{W}/node_modules/expresss/index.js")
    fs.create_file(f"{W}/package.json", contents='{"name": "@acme/app", "dependencies": {"lodahs": "1"}}')
    assert names("a.py", "import helpres, reqeusts, djagno_thing, os\nfrom . import x\n") == []
    assert names("a.ts", "import a from 'expresss'\nimport b from 'lodahs/fp'\nimport c from '@acme/x'\nimport d from './expres'\n") == []


def test_slips_are_found_in_code_and_manifests(fs):
    fs.create_dir(W)
    assert names("a.py", "import reqeusts\n") == [("reqeusts", "requests")]
    assert names("a.py", "import reqeusts\nx = 1\n", "import reqeusts\n") == [], "it stood there before"
    assert names("a.ts", "const x = require('expresss')\n") == [("expresss", "express")]
    assert names("package.json", '{"devDependencies": {"lodahs": "^1", "react": "^18"}}') == [("lodahs", "lodash")]
    assert [name for name, _ in names("requirements-dev.txt", "# c\nreqeusts>=1 ; python_version > '3'\n-r other.txt\n./local\n")] == [
        "reqeusts"
    ]
    assert [name for name, _ in names("pyproject.toml", "[tool.poetry.dependencies]\npython = '^3.11'\nreqeusts = '*'\n")] == ["reqeusts"]
    assert names("a.py", "def f(:\n") == []
    assert names("package.json", "{") == []


# ---------------------------------------------------------------- secrets


def test_values_of_env_files(fs):
    fs.create_file(
        f"{W}/.env",
        contents="A_TOKEN='tok-123-abc-45'\nPORT=3000\nNODE_ENV=production\nexport DB=postgres://u:p4ssw0rd!x@h/db\nURL=https://example.net/path\n# C_SECRET=comment-1234\n",
    )
    fs.create_file(f"{W}/api/.env.production", contents="SESSION_SECRET=geheim-99-xyz # why\n")
    fs.create_file(f"{W}/.env.example", contents="A_TOKEN=sample-token-1\n")
    fs.create_file(f"{W}/node_modules/x/.env", contents="B_TOKEN=other-token-77\n")
    assert set(env_values(W)) == {"tok-123-abc-45", "p4ssw0rd!x", "geheim-99-xyz"}
    text = "a tok-123-abc-45, b geheim-99-xyz\nxtok-123-abc-45y 3000 production\n"
    found = find(text, W)
    assert [(each.line, each.what) for each in found] == [
        (1, "the value of A_TOKEN in .env"),
        (1, "the value of SESSION_SECRET in api/.env.production"),
    ]
    assert redacted(text, found).splitlines()[1] == "xtok-123-abc-45y 3000 production"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("AKIAQWERTYUIOPASDFGH", "an AWS key"),
        ("glpat-abcDEF123456ghiJKL78", "a GitLab token"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----", "a private key"),
        ("AKIAIOSFODNN7EXAMPLE", ""),
        ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ""),
        ("sk-your-key-here-1234567890", ""),
        ("password = 'hunter2'", ""),
        ("3f9c2a1b5d6e7f8091a2b3c4d5e6f708192a3b4c", ""),
        ("the words PRIVATE KEY----- alone", ""),
    ],
)
def test_keys_by_their_shape(fs, text, what):
    fs.create_dir(W)
    assert [each.what for each in find(f"before {text} after", W)] == ([what] if what else [])
