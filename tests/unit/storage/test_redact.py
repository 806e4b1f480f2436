"""Secrets become placeholders, ordinary text stays, and nothing is changed twice."""

from __future__ import annotations

import json
import os
import stat
import time

import pytest
from hypothesis import given, strategies as st

from instinct_shell.errors import StorageError
from instinct_shell.storage.redact import PREFIX, Redactor, load_key, looks_drawn

KEY = b"k" * 32


def redact(text):
    return Redactor(key=KEY).text(text)


SECRETS = [
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY aws s3 ls", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("curl -H 'Authorization: Bearer abcdef123456' https://x.test", "abcdef123456"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNz' https://x.test", "dXNlcjpwYXNz"),
    ("git clone https://bob:hunter2@host.test/x", "hunter2"),
    ("git clone https://x1y2z3x1y2z3x1y2z3x1y2z3@host.test/x", "x1y2z3x1y2z3x1y2z3x1y2z3"),
    ("psql postgres://app:s3cret@db.test/app -c 'select 1'", "s3cret"),
    ("export DB_PASSWORD=abc; psql", "abc"),
    ("mysql --password hunter2", "hunter2"),
    ("mysql --password='hun ter2'", "hun ter2"),
    ("tool --api-key=abcdefgh12", "abcdefgh12"),
    ("tool --token abcdefgh12", "abcdefgh12"),
    ('{"apiKey": "abcdefgh1234"}', "abcdefgh1234"),
    ('{\\"clientSecret\\": \\"abcdefgh1234\\"}', "abcdefgh1234"),
    ("password: hunter2", "hunter2"),
    ("curl -u admin:hunter2 https://x.test", "hunter2"),
    ("curl --user admin:hunter2 https://x.test", "hunter2"),
    ("echo AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("echo ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("echo github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv"),
    ("echo glpat-abcdefghij0123456789", "glpat-abcdefghij0123456789"),
    ("echo xoxb-1234567890-abcdefghij", "xoxb-1234567890-abcdefghij"),
    ("echo sk-ant-api03-abcdefghij0123456789", "sk-ant-api03-abcdefghij0123456789"),
    ("echo AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
    ("echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", "eyJzdWIiOiIxMjM0NTY3ODkwIn0"),
    ("x=Zk3Qw9Lm2Xc7Vb5Nn1Aa8Ss4Dd6Ff0Gg", "Zk3Qw9Lm2Xc7Vb5Nn1Aa8Ss4Dd6Ff0Gg"),
    ("cat <<E\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpA\n-----END RSA PRIVATE KEY-----\nE", "MIIEpA"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"),
]

ORDINARY = [
    "git commit -m 'fix token parsing: the key was wrong'",
    "git log --author=tokenizer",
    "sort --key=2 file",
    "PWD=/home/x; cd $PWD",
    "MONKEY=banana ./run",
    "tool --token $TOKEN",
    'TOKEN="$(cat file)"',
    "tool --password-file=/run/secrets/db",
    "kubectl get secret db -o yaml",
    "ssh-keygen -t ed25519 -f key",
    "docker run -u 1000:1000 image",
    "echo 3f786850e387550fdab836ed7e6dc881de23001b",
    "docker pull image@sha256:3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed",
    '"integrity": "sha512-aBcD1234efGH5678ijKL9012mnOP=="',
    "pip install scikit-learn sk-learn-thing-is-a-long-name",
    "pytest tests/test_MyVeryLongCamelCaseClassName2024Test.py",
    "MyVeryLongCamelCaseClassName2024Test",
    "/nix/store/00ww6i5fj5j7xcpy7m3jd8g2k4z6b0qa-bash-5.2/bin/bash",
    "rm -rf 550e8400-e29b-41d4-a716-446655440000",
    "http://localhost:8080/path?x=1",
    "max_tokens: 4096",
    "requires_token: true",
    "select key from t where key = 5",
    "ls -la",
    "",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_goes_and_the_rest_stays(text, secret):
    redacted = redact(text)
    assert secret not in redacted
    assert PREFIX in redacted
    assert redacted.split(PREFIX)[0] == text[: len(redacted.split(PREFIX)[0])]
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text):
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing(text):
    once = redact(text)
    assert redact(once) == once


def test_the_same_secret_has_one_placeholder_whatever_found_it():
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    texts = (
        f"echo {secret}",
        f"GITHUB_TOKEN={secret}",
        f"curl -H 'Authorization: token {secret}' x",
        f"git clone https://u:{secret}@h.test/x",
    )
    marks = {
        word
        for text in texts
        for word in redact(text).replace("=", " ").replace(":", " ").replace("@", " ").replace("'", " ").split()
        if PREFIX in word
    }
    assert len(marks) == 1


def test_placeholders_depend_on_the_key():
    assert Redactor(key=b"a" * 32).text("PASSWORD=x") != Redactor(key=b"b" * 32).text("PASSWORD=x")


def test_a_secret_found_once_goes_everywhere_in_the_record():
    data = {"content": "mysql --password hun7er2xx", "effects": [{"program": "mysql", "words": ["mysql", "hun7er2xx"]}]}
    assert "hun7er2xx" not in json.dumps(Redactor(key=KEY).data(data))


def test_a_plain_word_used_as_a_password_does_not_rewrite_program_names():
    data = {"content": "PGPASSWORD=postgres psql", "effects": [{"program": "postgres"}]}
    assert Redactor(key=KEY).data(data)["effects"] == [{"program": "postgres"}]


def test_names_decide_in_environment_and_metadata_but_not_in_attributes():
    data = {
        "intent": {"env": [["API_KEY", "abc"], ["HOME", "/h"]], "metadata": [["maxTokens", 5], ["password", "x"]]},
        "effects": [{"attributes": [["secret", "1"], ["token", "x"]]}],
    }
    redacted = Redactor(key=KEY).data(data)
    assert redacted["intent"]["env"][0][1].startswith(PREFIX)
    assert redacted["intent"]["env"][1] == ["HOME", "/h"]
    assert redacted["intent"]["metadata"][0] == ["maxTokens", 5]
    assert redacted["intent"]["metadata"][1][1].startswith(PREFIX)
    assert redacted["effects"] == data["effects"]


@pytest.mark.parametrize(
    "text",
    [
        "key" * 20000,
        "a" * 60000 + " key :// @ -u : bearer authorization",
        "eyJ-" * 16000,
        "sk-" * 20000 + "x",
        "-----BEGIN PRIVATE KEY-----" * 2500,
        "password " * 7000,
        "a://" * 15000 + "@",
        " -u a" * 12000 + ":",
        "authorization:" * 4500,
        "xox-" * 16000,
    ],
)
def test_no_text_makes_it_slow(text):
    """Quadratic patterns would take minutes here; the bound only tells linear from quadratic."""
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 5


def test_words_drawn_by_lot():
    assert looks_drawn("Zk3Qw9Lm2Xc7Vb5Nn1Aa8Ss4Dd6Ff0Gg")
    assert not looks_drawn("Zk3Qw9")
    assert not looks_drawn("TheQuickBrownFoxJumpsOver2LazyDogs")


def test_the_key_is_made_once_and_private(tmp_path):
    key = load_key(str(tmp_path))
    assert len(key) == 32
    assert load_key(str(tmp_path)) == key
    assert stat.S_IMODE(os.stat(tmp_path / "redaction.key").st_mode) == 0o600
    assert os.listdir(tmp_path) == ["redaction.key"]


def test_no_secret_no_key(tmp_path):
    Redactor(str(tmp_path)).data({"a": "ls"})
    assert os.listdir(tmp_path) == []


def test_a_damaged_key_is_refused(tmp_path):
    (tmp_path / "redaction.key").write_bytes(b"short")
    with pytest.raises(StorageError, match="damaged"):
        Redactor(str(tmp_path)).text("PASSWORD=x")
