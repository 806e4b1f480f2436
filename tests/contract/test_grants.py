"""A person approves one exact intent, once; nobody else can, and no two runs use it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from instinct_shell.errors import ApprovalError, StorageError, UsageError
from instinct_shell.storage import grants
from instinct_shell.storage.grants import ALPHABET, LIFETIME_S, MOST_REQUESTS, PAUSE_S, REQUEST_S, WRONG_TRIES, GrantBook

ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE = "correct horse"
NOW = 1_000_000.0


@pytest.fixture(autouse=True)
def _cheap_passphrases(monkeypatch):
    monkeypatch.setitem(grants.SCRYPT, "n", 2**10)


@pytest.fixture
def book(tmp_path):
    made = GrantBook(str(tmp_path))
    made.set_passphrase(PASSPHRASE)
    return made


def test_without_a_passphrase_nothing_is_asked_for_and_nothing_is_made(tmp_path):
    book = GrantBook(str(tmp_path))
    assert book.request("d1", "rm -rf x", NOW) == ""
    assert book.live(NOW) == ()
    assert book.pending(NOW) == ()
    assert not book.consume("2222", NOW)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ApprovalError, match="approvals are off") as caught:
        book.approve("2222", PASSPHRASE, NOW)
    assert caught.value.hint


def test_a_grant_is_taken_by_one_call(book):
    grant = book.approve(book.request("d1", "x", NOW), PASSPHRASE, NOW)
    assert book.reserve(grant.id, "call 1", again=True)
    assert book.reserve(grant.id, "call 1", again=True)
    assert not book.reserve(grant.id, "call 2", again=True)
    assert book.reserved_by("call 1") == (grant.id,)
    assert book.reserved_by("call 2") == ()
    assert book.consume(grant.id, NOW)
    assert book.reserved_by("call 1") == ()
    other = book.approve(book.request("d2", "x", NOW), PASSPHRASE, NOW)
    assert book.reserve(other.id, "event a", again=False)
    assert not book.reserve(other.id, "event a", again=False)
    assert book.reserve(other.id, "event b", again=False)
    assert not book.reserve("../x", "call", again=True)


def test_the_whole_way_of_an_approval(book):
    asked = book.request("d1", "rm -rf build", NOW)
    assert len(asked) == 4
    assert set(asked) <= set(ALPHABET)
    assert [(r.id, r.intent_digest, r.summary, r.at) for r in book.pending(NOW)] == [(asked, "d1", "rm -rf build", NOW)]
    assert book.live(NOW) == ()
    grant = book.approve(f" {asked.lower()} ", PASSPHRASE, NOW + 10)
    assert (grant.intent_digest, grant.expires) == ("d1", NOW + 10 + LIFETIME_S)
    assert book.pending(NOW + 10) == ()
    assert book.live(NOW + 11) == (grant,)
    assert book.consume(grant.id, NOW + 12)
    assert not book.consume(grant.id, NOW + 12)
    assert book.live(NOW + 12) == ()
    with pytest.raises(ApprovalError, match="no request"):
        book.approve(asked, PASSPHRASE, NOW)


def test_a_grant_ends_after_fifteen_minutes(book):
    grant = book.approve(book.request("d1", "x", NOW), PASSPHRASE, NOW)
    assert book.live(NOW + LIFETIME_S - 1) == (grant,)
    assert book.live(NOW + LIFETIME_S) == ()
    assert not book.consume(grant.id, NOW + LIFETIME_S)
    assert not book.consume(grant.id)


def test_the_same_intent_asks_once(book):
    first = book.request("d1", "x", NOW)
    assert book.request("d1", "x", NOW + 5) == first
    assert book.request("d2", "y", NOW + 5) != first
    assert len(book.pending(NOW + 5)) == 2


def test_requests_are_forgotten_after_a_day(book):
    asked = book.request("d1", "x", NOW)
    assert book.pending(NOW + REQUEST_S) == ()
    with pytest.raises(ApprovalError, match="no request"):
        book.approve(asked, PASSPHRASE, NOW + REQUEST_S)


def test_a_flood_of_requests_drops_the_oldest(book):
    ids = [book.request(f"d{n}", "x", NOW + n) for n in range(MOST_REQUESTS + 5)]
    assert len(set(ids)) == len(ids)
    kept = {request.id for request in book.pending(NOW + 300)}
    assert len(kept) == MOST_REQUESTS
    assert ids[0] not in kept
    assert ids[-1] in kept


def test_a_denied_request_is_gone(book):
    asked = book.request("d1", "x", NOW)
    assert book.deny(asked, NOW).intent_digest == "d1"
    assert book.pending(NOW) == ()
    with pytest.raises(ApprovalError, match="no request"):
        book.deny(asked, NOW)


def test_a_wrong_passphrase_grants_nothing_and_five_make_a_pause(book):
    asked = book.request("d1", "x", NOW)
    for _ in range(WRONG_TRIES):
        with pytest.raises(ApprovalError, match="not the passphrase"):
            book.approve(asked, "wrong horse", NOW)
    with pytest.raises(ApprovalError, match="too many wrong passphrases"):
        book.approve(asked, PASSPHRASE, NOW + 1)
    assert book.live(NOW) == ()
    assert book.approve(asked, PASSPHRASE, NOW + PAUSE_S).intent_digest == "d1"


def test_a_right_passphrase_forgets_the_wrong_ones(book):
    for _ in range(3):
        for _ in range(WRONG_TRIES - 1):
            with pytest.raises(ApprovalError, match="not the passphrase"):
                book.check_passphrase("wrong horse", NOW)
        book.check_passphrase(PASSPHRASE, NOW)


def test_changing_the_passphrase_takes_the_old_one(book):
    with pytest.raises(ApprovalError):
        book.set_passphrase("another one", old="wrong horse", now=NOW)
    book.set_passphrase("another one", old=PASSPHRASE, now=NOW)
    book.check_passphrase("another one", NOW)
    with pytest.raises(UsageError, match="at least 8"):
        book.set_passphrase("short", old="another one")


def test_the_passphrase_is_not_kept(book, tmp_path):
    data = (tmp_path / "passphrase").read_text()
    assert PASSPHRASE not in data
    assert '"n": 1024' in data
    assert stat.S_IMODE((tmp_path / "passphrase").stat().st_mode) == 0o600


def test_summaries_are_redacted(book):
    book.request("d1", "mysql --password hunter2xyz", NOW)
    assert "hunter2xyz" not in book.pending(NOW)[0].summary


@pytest.mark.parametrize("name", ["../x", "", "2", "22222", "abcd", "0000", "7KQ/", "."])
def test_odd_ids_are_no_grants(book, name):
    assert not book.consume(name, NOW)
    with pytest.raises(ApprovalError):
        book.approve(name, PASSPHRASE, NOW)


@pytest.mark.parametrize("contents", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_damaged_grant_refuses(book, tmp_path, contents):
    grant = book.approve(book.request("d1", "x", NOW), PASSPHRASE, NOW)
    (tmp_path / "grants" / "live" / grant.id).write_bytes(contents)
    with pytest.raises(StorageError, match="damaged"):
        book.live(NOW)
    with pytest.raises(StorageError, match="damaged"):
        book.consume(grant.id, NOW)


@pytest.mark.parametrize("contents", ["{}", '{"hash": "zz", "salt": "", "n": 2, "r": 1, "p": 1}', "x"])
def test_a_damaged_passphrase_file_approves_nothing(book, tmp_path, contents):
    asked = book.request("d1", "x", NOW)
    (tmp_path / "passphrase").write_text(contents)
    with pytest.raises(StorageError, match="damaged"):
        book.approve(asked, PASSPHRASE, NOW)
    assert book.live(NOW) == ()


def test_a_grant_behind_a_symlink_is_no_grant(book, tmp_path):
    grant = book.approve(book.request("d1", "x", NOW), PASSPHRASE, NOW)
    path = tmp_path / "grants" / "live" / grant.id
    (tmp_path / "elsewhere").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        book.live(NOW)


CONSUMER = "import sys; from instinct_shell.storage.grants import GrantBook; print(GrantBook(sys.argv[1]).consume(sys.argv[2], 1000001.0))"


def test_of_eight_runs_at_once_one_has_the_grant(book, tmp_path):
    grant = book.approve(book.request("d1", "x", NOW), PASSPHRASE, NOW)
    argv = [sys.executable, "-c", CONSUMER, str(tmp_path), grant.id]
    runs = [subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert sorted(run.communicate()[0].strip() for run in runs) == ["False"] * 7 + ["True"]


ASKER = """
import sys
from instinct_shell.storage.grants import GrantBook
book = GrantBook(sys.argv[1])
for n in range(10):
    print(book.request(f"{sys.argv[2]}-{n}", "x", 1000000.0), book.request(f"shared-{n}", "x", 1000000.0))
"""


def test_requests_made_at_once_have_ids_of_their_own(book, tmp_path):
    askers = [
        subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path), str(n)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for n in range(5)
    ]
    own, shared = [], set()
    for asker in askers:
        for line in asker.communicate()[0].splitlines():
            mine, common = line.split()
            own.append(mine)
            shared.add(common)
    assert len(set(own)) == 50
    assert len(shared) == 10
    assert len(book.pending(NOW)) == 60
