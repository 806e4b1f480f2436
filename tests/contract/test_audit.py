"""The audit trail's promises, on a real disk, with real processes."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from instinct_shell.errors import StorageError
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.storage.audit import AuditTrail, new_run
from instinct_shell.storage.chain import SLOT
from instinct_shell.storage.lock import lock

ROOT = Path(__file__).resolve().parents[2]


def record(text="git status", kind=RecordKind.JUDGED, run="r1"):
    return AuditRecord(kind, run, 1764450000.25, (("content", text), ("n", 1)))


@pytest.fixture
def trail(tmp_path):
    return AuditTrail(str(tmp_path))


def fill(trail, count, start=0):
    for number in range(start, start + count):
        trail.append(record(f"command {number}"))


def segment(trail, number=1):
    return Path(trail._directory) / f"{number:06d}.jsonl"


def contents(trail):
    return [r.get("content") for r in trail.records()]


# ---------------------------------------------------------------- what is written


def test_records_come_back_in_order_with_their_place(trail):
    for n in range(5):
        trail.append(record(f"c{n}"))
    assert [(r.seq, r.get("content")) for r in trail.records()] == [(n + 1, f"c{n}") for n in range(5)]
    assert next(trail.records()) == record("c0").replace(seq=1)
    assert trail.verify().ok


def test_an_empty_trail_is_whole(trail):
    assert trail.verify().ok
    assert list(trail.records()) == []
    trail.flush()


def test_a_line_can_be_checked_without_us(trail):
    fill(trail, 3)
    previous = "0" * 64
    for line in segment(trail).read_bytes().splitlines():
        data = json.loads(line)
        rest = line[: line.rindex(b',"hash"')] + b"}"
        assert data["hash"] == sha256(rest).hexdigest()
        assert data["prev"] == previous
        previous = data["hash"]


def test_everything_is_private(trail):
    fill(trail, 1)
    for path in (Path(trail._directory), segment(trail), Path(trail._directory) / "head"):
        assert path.stat().st_mode & 0o077 == 0


def test_secrets_are_gone_before_they_are_hashed(trail):
    trail.append(record("curl -u admin:hunter2xy https://x.test"))
    assert b"hunter2xy" not in segment(trail).read_bytes()
    assert trail.verify().ok


@given(content=st.text(max_size=200), run=st.text(max_size=10), at=st.floats(0, 1e11))
@settings(max_examples=50, deadline=None)
def test_any_text_is_kept_whole(tmp_path_factory, content, run, at):
    trail = AuditTrail(str(tmp_path_factory.mktemp("t")))
    trail.append(AuditRecord(RecordKind.NOTE, run, at, (("content", content), ("raw", "\udc80"))))
    assert trail.verify().ok
    (back,) = trail.records()
    assert (back.run, back.at, back.get("raw")) == (run, at, "\udc80")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", object()])
def test_what_is_not_json_is_refused_and_nothing_is_added(trail, value):
    fill(trail, 1)
    with pytest.raises(StorageError, match="cannot be written down"):
        trail.append(AuditRecord(RecordKind.NOTE, "", 1.0, (("x", value),)))
    assert trail.verify().records == 1
    fill(trail, 1)
    assert trail.verify().records == 2


def test_durable_and_flushed_records_are_records(trail):
    trail.append(record(), durable=True)
    trail.append(record())
    trail.flush()
    assert trail.verify().records == 2


def test_run_ids_are_short_and_differ():
    runs = {new_run() for _ in range(1000)}
    assert len(runs) == 1000
    assert all(len(run) == 12 and run.isalnum() for run in runs)


def test_rotation_keeps_one_chain(tmp_path):
    trail = AuditTrail(str(tmp_path), segment_bytes=2000)
    fill(trail, 40)
    report = trail.verify()
    assert report.ok
    assert report.segments > 3
    assert contents(trail) == [f"command {n}" for n in range(40)]


def test_the_newest_can_be_read_alone(tmp_path):
    trail = AuditTrail(str(tmp_path), segment_bytes=2000)
    fill(trail, 40)
    numbers = trail.segments()
    newest = [r.get("content") for r in trail.records(since=numbers[-1])]
    assert newest == [f"command {n}" for n in range(40)][-len(newest) :]
    assert 0 < len(newest) < 40


def test_kept_texts_are_vouched_for(trail):
    trail.keep("abc123", '{"name":"dev"}', 1.0)
    trail.keep("abc123", "ignored: it is there", 2.0)
    assert trail.kept("abc123") == '{"name":"dev"}'
    assert trail.verify().ok
    (Path(trail._directory) / "kept" / "abc123").write_text("{}")
    assert not trail.verify().ok
    assert trail.repair("looked at it", 3.0) is not None
    assert trail.verify().ok


@pytest.mark.parametrize("digest", ["../x", "", "a/b", "."])
def test_kept_texts_have_digests_for_names(trail, digest):
    with pytest.raises(StorageError, match="is not a digest"):
        trail.kept(digest)


def test_a_kept_text_that_is_missing_is_refused(trail):
    with pytest.raises(StorageError, match="missing"):
        trail.kept("abc")


# ---------------------------------------------------------------- crashes


def test_a_torn_tail_is_set_aside_and_noted(trail):
    fill(trail, 2)
    with segment(trail).open("ab") as file:
        file.write(b'{"seq":3,"prev":"half a li')
    assert trail.verify().ok
    assert trail.verify().unfinished == 26
    fill(trail, 1)
    report = trail.verify()
    assert report.ok
    assert report.records == 4
    (aside,) = Path(trail._directory).glob("torn-*")
    assert aside.read_bytes() == b'{"seq":3,"prev":"half a li'
    note = list(trail.records())[2]
    assert (note.kind, note.get("note"), note.get("file")) == (RecordKind.NOTE, "torn tail", aside.name)


def test_a_record_that_the_head_missed_is_adopted(trail):
    fill(trail, 2)
    head = (Path(trail._directory) / "head").read_bytes()
    fill(trail, 3, start=2)
    (Path(trail._directory) / "head").write_bytes(head)
    assert trail.verify().ok
    fill(trail, 1, start=5)
    assert trail.verify().ok
    assert contents(trail) == [f"command {n}" for n in range(6)]


@given(cut=st.integers(0, 3000), garbage=st.sampled_from([b"", b"\0" * 64, b"xyz", b'{"seq":']))
@settings(max_examples=60, deadline=None)
def test_a_power_cut_after_any_byte_keeps_every_whole_record(tmp_path_factory, cut, garbage):
    """The head is of an earlier moment, the segment is cut anywhere after it: the state that a journal may leave."""
    trail = AuditTrail(str(tmp_path_factory.mktemp("t")))
    fill(trail, 2)
    head = (Path(trail._directory) / "head").read_bytes()
    kept = segment(trail).stat().st_size
    fill(trail, 8, start=2)
    data = segment(trail).read_bytes()[: kept + cut]
    segment(trail).write_bytes(data + garbage)
    (Path(trail._directory) / "head").write_bytes(head)
    whole = data.count(b"\n")
    fill(trail, 1, start=100)
    report = trail.verify()
    assert report.ok
    assert [c for c in contents(trail) if c] == [f"command {n}" for n in range(whole)] + ["command 100"]


def test_one_torn_head_slot_costs_nothing(trail):
    fill(trail, 3)
    path = Path(trail._directory) / "head"
    whole = path.read_bytes()
    for slot in (0, SLOT):
        path.write_bytes(whole[:slot] + b"\0" * 100 + whole[slot + 100 :])
        fill(trail, 1)
        assert trail.verify().ok
        whole = path.read_bytes()


def other_boot(trail):
    """As if the machine had been started again since the head was written."""
    path = Path(trail._directory) / "head"
    data = b""
    for slot in (path.read_bytes()[:SLOT], path.read_bytes()[SLOT : 2 * SLOT]):
        text = slot.rstrip().rpartition(b" ")[0]
        if not text:
            continue
        text = json.dumps({**json.loads(text), "boot": "another"}, separators=(",", ":")).encode()
        data += (text + b" " + sha256(text).hexdigest()[:16].encode()).ljust(SLOT - 1) + b"\n"
    path.write_bytes(data)


def test_records_lost_by_a_power_cut_are_named_and_work_goes_on(trail):
    fill(trail, 5)
    other_boot(trail)
    data = segment(trail).read_bytes()
    segment(trail).write_bytes(b"".join(data.splitlines(keepends=True)[:3])[:-10])
    fill(trail, 1, start=100)
    report = trail.verify()
    assert report.ok
    assert report.mended
    assert contents(trail) == ["command 0", "command 1", None, "command 100"]
    assert [r.seq for r in trail.records()] == [1, 2, 6, 7]
    assert "went down" in str(next(r for r in trail.records() if r.get("note") == "anchor").get("why"))


WRITER = """
import sys
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.storage.audit import AuditTrail
trail, name, count = AuditTrail(sys.argv[1]), sys.argv[2], int(sys.argv[3])
n = 0
while count < 0 or n < count:
    body = {"n": n, "pad": "x" * 300}
    seq = trail._append(((AuditRecord(RecordKind.JUDGED, name, 1.0, tuple(body.items())), body),), durable=False)
    print(seq, n, flush=True)
    n += 1
"""


def writer(trail, name, count, **kwargs):
    argv = [sys.executable, "-c", WRITER, trail._state, name, str(count)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, **kwargs)


def test_eight_writers_at_once_lose_nothing(trail):
    writers = [writer(trail, f"w{n}", 40) for n in range(8)]
    acknowledged = {}
    for number, process in enumerate(writers):
        out, _ = process.communicate()
        assert process.returncode == 0
        for line in out.splitlines():
            seq, n = map(int, line.split())
            acknowledged[seq] = (f"w{number}", n)
    report = trail.verify()
    assert report.ok
    assert report.records == 320
    assert {r.seq: (r.run, r.get("n")) for r in trail.records()} == acknowledged


def test_kill_minus_nine_loses_no_acknowledged_record(trail):
    acknowledged = {}
    for round_number in range(6):
        names = [f"w{round_number}{n}" for n in range(3)]
        writers = [writer(trail, name, -1) for name in names]
        for process, name in zip(writers, names, strict=True):
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3 + round_number)]  # it is well under way
            process.send_signal(signal.SIGKILL)
            rest = process.communicate()[0]
            for line in "".join([*lines, rest]).splitlines(keepends=True):
                if line.endswith("\n"):
                    seq, n = map(int, line.split())
                    acknowledged[seq] = (name, n)
    fill(trail, 1)
    assert trail.verify().ok
    there = {r.seq: (r.run, r.get("n")) for r in trail.records()}
    assert {seq: there.get(seq) for seq in acknowledged} == acknowledged


# ---------------------------------------------------------------- tampering


def flip(lines):
    lines[2] = lines[2].replace(b"command 2", b"command 3")


def delete(lines):
    del lines[2]


def swap(lines):
    lines[1], lines[2] = lines[2], lines[1]


def insert(lines):
    lines.insert(3, lines[1])


def drop_tail(lines):
    del lines[-2:]


def drop_all(lines):
    lines.clear()


def rehash(lines):
    """A clever hand: the line is changed and its own hash made to fit."""
    body = lines[2][: lines[2].rindex(b',"hash"')].replace(b"command 2", b"command X") + b"}"
    lines[2] = body[:-1] + b',"hash":"' + sha256(body).hexdigest().encode() + b'"}\n'


def append_foreign(lines):
    lines.append(b'{"seq":7}\n')


def change_last(lines):
    lines[-1] = lines[-1].replace(b"command 5", b"command 9")


@pytest.mark.parametrize("tamper", [flip, delete, swap, insert, drop_tail, drop_all, rehash, append_foreign, change_last])
def test_tampering_is_found(trail, tamper):
    fill(trail, 6)
    lines = segment(trail).read_bytes().splitlines(keepends=True)
    tamper(lines)
    segment(trail).write_bytes(b"".join(lines))
    report = trail.verify()
    assert not report.ok
    assert report.breaks[0].why


def test_a_missing_segment_is_found(tmp_path):
    trail = AuditTrail(str(tmp_path), segment_bytes=2000)
    fill(trail, 40)
    segment(trail, 2).unlink()
    report = trail.verify()
    assert (report.breaks[0].segment, report.breaks[0].why) == (2, "the segment is missing")


def test_a_missing_last_segment_is_found(tmp_path):
    trail = AuditTrail(str(tmp_path), segment_bytes=2000)
    fill(trail, 40)
    segment(trail, trail.verify().segments).unlink()
    assert "are missing" in trail.verify().breaks[0].why
    with pytest.raises(StorageError, match="shorter than its head says"):
        fill(trail, 1)


@pytest.mark.parametrize("tamper", [drop_tail, drop_all, append_foreign, change_last])
def test_nothing_is_appended_to_a_tail_that_was_tampered_with(trail, tamper):
    fill(trail, 6)
    lines = segment(trail).read_bytes().splitlines(keepends=True)
    tamper(lines)
    segment(trail).write_bytes(b"".join(lines))
    before = segment(trail).read_bytes()
    with pytest.raises(StorageError) as caught:
        fill(trail, 1)
    assert "instinct audit verify" in caught.value.hint
    assert segment(trail).read_bytes() == before


def test_a_lost_head_is_not_taken_for_a_new_trail(trail):
    fill(trail, 2)
    (Path(trail._directory) / "head").unlink()
    assert not trail.verify().ok
    with pytest.raises(StorageError, match=r"head .* is lost or damaged"):
        fill(trail, 1)
    assert not trail.verify().ok


@pytest.mark.parametrize("tamper", [flip, delete, drop_tail, drop_all, append_foreign, change_last])
def test_repair_goes_on_with_an_anchor_and_keeps_the_evidence(trail, tamper):
    fill(trail, 6)
    lines = segment(trail).read_bytes().splitlines(keepends=True)
    tamper(lines)
    broken = b"".join(lines)
    segment(trail).write_bytes(broken)
    repair = trail.repair("seen by a person", 5.0)
    assert repair is not None
    assert segment(trail).read_bytes() == broken
    fill(trail, 2)
    report = trail.verify()
    assert report.ok
    assert report.mended
    assert trail.repair("again", 6.0) is None
    # What was closed by the anchor cannot change any more.
    segment(trail).write_bytes(broken + b"\n")
    assert not trail.verify().ok


def test_repair_of_a_lost_head(trail):
    fill(trail, 3)
    (Path(trail._directory) / "head").write_bytes(b"rubbish")
    assert trail.repair("seen", 5.0) is not None
    fill(trail, 1)
    assert trail.verify().ok
    assert contents(trail) == ["command 0", "command 1", "command 2", None, "command 0"]


def test_tampering_before_an_anchor_is_still_found(tmp_path):
    trail = AuditTrail(str(tmp_path), segment_bytes=1500)
    fill(trail, 12)
    last = segment(trail, trail.verify().segments)
    last.write_bytes(last.read_bytes()[:-5])
    trail.repair("seen", 5.0)
    assert trail.verify().ok
    data = segment(trail, 1).read_bytes()
    segment(trail, 1).write_bytes(data.replace(b"command 1", b"command 7"))
    assert not trail.verify().ok


def test_an_unreadable_line_stops_the_reading(trail):
    fill(trail, 3)
    segment(trail).write_bytes(segment(trail).read_bytes().replace(b'{"seq":2', b'{"seq:2'))
    with pytest.raises(StorageError, match="cannot be read"):
        list(trail.records())


# ---------------------------------------------------------------- the host refuses

FULL_DISK = """
import resource, sys
from instinct_shell.errors import StorageError
from instinct_shell.model.record import AuditRecord, RecordKind
from instinct_shell.storage.audit import AuditTrail
trail = AuditTrail(sys.argv[1])
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
done = 0
try:
    while True:
        trail.append(AuditRecord(RecordKind.JUDGED, "r", 1.0, (("pad", "y" * 500),)))
        done += 1
except StorageError as error:
    print(done, "|", error.message, "|", error.hint)
"""


@pytest.mark.parametrize("size", [10, 600, 1100, 1500, 5000])
def test_a_file_that_may_not_grow_refuses_and_leaves_nothing_torn(trail, size):
    out = subprocess.run([sys.executable, "-c", FULL_DISK, trail._state, str(size)], cwd=ROOT, capture_output=True, text=True, check=True)
    done, message, hint = out.stdout.split("|")
    assert "may not grow" in message
    assert "ulimit" in hint
    report = trail.verify()
    assert report.ok
    assert (report.records, report.unfinished) == (int(done), 0)
    fill(trail, 1)
    assert trail.verify().ok


def can_mount():
    argv = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k t /mnt"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no user and mount namespaces here: the disk cannot be filled")
@pytest.mark.parametrize("room", [0, 4096, 8192])
def test_a_full_disk_refuses_in_words(room):
    script = f"""
mount -t tmpfs -o size=64k t /mnt && cd {ROOT} && mkdir -m 700 /mnt/state
dd if=/dev/zero of=/mnt/filler bs=4096 2>/dev/null
[ {room} = 0 ] || truncate -s -{room} /mnt/filler
exec {sys.executable} -c "$1" /mnt/state 100000000
"""
    argv = ["unshare", "-rm", "sh", "-c", script, "sh", FULL_DISK]
    out = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "no space left to write" in out.stdout, out
    assert "free some space" in out.stdout
    assert not out.stderr


@pytest.mark.skipif(not can_mount(), reason="no user and mount namespaces here: no file system can be made read-only")
def test_a_read_only_state_directory_refuses_in_words():
    script = f"""
mount -t tmpfs t /mnt && cd {ROOT} && mkdir -m 700 /mnt/state
{sys.executable} -c 'import sys; from instinct_shell.storage.audit import *; AuditTrail("/mnt/state").append(AuditRecord(RecordKind.NOTE, "", 1.0, ()))'
mount --bind /mnt/state /mnt/state && mount -o remount,bind,ro /mnt/state
{sys.executable} -c "$1" /mnt/state 100000000
exec {sys.executable} -c 'from instinct_shell.storage.audit import *; print(AuditTrail("/mnt/state").verify().ok)'
"""
    out = subprocess.run(["unshare", "-rm", "sh", "-ec", script, "sh", FULL_DISK], capture_output=True, text=True, check=False)
    assert "read-only file system" in out.stdout, out
    assert out.stdout.endswith("True\n")
    assert not out.stderr


def test_a_symlink_in_the_trail_is_not_followed(trail, tmp_path):
    fill(trail, 1)
    target = tmp_path / "elsewhere"
    target.write_bytes(segment(trail).read_bytes())
    segment(trail).unlink()
    segment(trail).symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(StorageError):
        fill(trail, 1)
    assert target.read_bytes() == before


def test_a_lock_that_is_never_given_back_ends_in_words(tmp_path):
    path = tmp_path / "lock"
    with path.open("w") as holder, path.open("r") as waiter:
        lock(holder.fileno(), str(path))
        with pytest.raises(StorageError, match="has held the lock") as caught:
            lock(waiter.fileno(), str(path), patience_s=0.01)
        assert "fuser" in caught.value.hint


def test_the_limit_used_above_is_not_left_behind():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
