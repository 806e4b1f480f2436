"""The file tools on a real disk: equal to a plain reference, whole or not at all, never outside, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from file_harness import act, do, judged
from hypothesis import HealthCheck, given, settings, strategies as st

from instinct_shell.errors import FileToolError
from instinct_shell.model.fact import Answer, Facts, Question, QuestionKind

TOP = Path(__file__).parents[2]
NAMES = ("a.txt", "b.py", "sub/c.txt", "sub/deep/d", "x y.md")
TEXTS = ("", "one\n", "one\ntwo\n", "x = 1\n" * 5, "caf\u00e9\n", "no end", "a\r\nb\r\n", "bytes \udcff here")
MODES = (0o644, 0o600, 0o755, 0o640, 0o400)

STEP = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(
        st.just("edit"),
        st.sampled_from(NAMES),
        st.sampled_from(("one", "x", "a", "zzz")),
        st.sampled_from(("", "two\n", "y")),
        st.booleans(),
    ),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("chmod"), st.sampled_from(NAMES), st.sampled_from(MODES)),
)


class Reference:
    """What the steps should come to: name -> (content, mode)."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, int]] = {}

    def write(self, name: str, text: str) -> None:
        self._put(name, text.encode("utf-8", "surrogateescape"))

    def edit(self, name: str, old: str, new: str, everywhere: bool) -> None:
        text = self.files[name][0].decode("utf-8", "surrogateescape")
        count = text.count(old)
        if old == new or not count or (count > 1 and not everywhere):
            raise KeyError(name)
        self._put(name, text.replace(old, new).encode("utf-8", "surrogateescape"))

    def delete(self, name: str) -> None:
        del self.files[name]

    def move(self, name: str, other: str) -> None:
        found = self.files.pop(name)
        self.files[other] = found

    def chmod(self, name: str, mode: int) -> None:
        self.files[name] = (self.files[name][0], mode)

    def _put(self, name: str, data: bytes) -> None:
        mode = self.files[name][1] if name in self.files else 0o644
        if name in self.files and not mode & 0o200 and os.getuid():
            raise KeyError(name)
        self.files[name] = (data, mode)


def perform(root: Path, step: tuple[object, ...]) -> None:
    kind, name, *rest = step
    match kind:
        case "write":
            do("write", root, str(name), str(rest[0]))
        case "edit":
            do("edit", root, str(name), str(rest[1]), edits=[{"old": rest[0], "new": rest[1], "all": rest[2]}])
        case "delete":
            do("delete", root, str(name))
        case "move":
            do("move", root, str(name), destination=str(rest[0]))
        case "chmod":
            if not (root / str(name)).is_file():
                raise FileToolError("not there")
            (root / str(name)).chmod(int(rest[0]))  # type: ignore[call-overload]  # a mode


def state_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every regular file below a folder; unreadable ones are opened for the look."""
    found = {}
    for path in root.rglob("*"):
        if path.is_file():
            found[str(path.relative_to(root))] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


@given(st.lists(STEP, min_size=1, max_size=12))
@settings(max_examples=500, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_random_sequences_equal_the_reference(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]]) -> None:
    root, mask = tmp_path_factory.mktemp("files"), os.umask(0o022)
    reference = Reference()
    try:
        for step in steps:
            kind, *rest = step
            with contextlib.suppress(KeyError):
                getattr(reference, str(kind))(*rest)
            with contextlib.suppress(FileToolError):
                perform(root, step)
            assert state_of(root) == reference.files, step
    finally:
        os.umask(mask)


# ---------------------------------------------------------------- whole or not at all

WRITER = """
    import sys
    sys.path[:0] = [{top!r}, {tests!r}]
    from file_harness import do
    workspace = sys.argv[1]
    print("ready", flush=True)
    for number in range(10_000):
        do("write", workspace, "big.txt", "AB"[number % 2] * 3_000_000)
"""


def test_kill_9_in_the_middle_never_leaves_half_a_file(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("A" * 3_000_000, encoding="ascii")
    (tmp_path / "big.txt").chmod(0o640)
    script = textwrap.dedent(WRITER).format(top=str(TOP), tests=str(TOP / "tests"))
    chance = random.Random(7)
    for _ in range(25):
        writer = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            writer.wait(chance.random() * 0.02)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        data = (tmp_path / "big.txt").read_bytes()
        assert len(data) == 3_000_000, len(data)
        assert data.count(data[:1]) == len(data), "two halves"
        assert stat.S_IMODE((tmp_path / "big.txt").stat().st_mode) == 0o640
    do("write", tmp_path, "big.txt", "end\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.txt"], "a draft was left behind"


def test_a_draft_of_a_killed_writer_is_swept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".instinct-{dead.pid}-00.tmp").write_text("half", encoding="ascii")
    (tmp_path / f".instinct-{os.getpid()}-00.tmp").write_text("another writer's", encoding="ascii")
    do("write", tmp_path, "a.txt", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".instinct-{os.getpid()}-00.tmp", "a.txt"]


@pytest.mark.parametrize("refused", [95, 21])
def test_a_disk_without_nameless_files_does_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int) -> None:
    real = os.open

    def without(path: object, flags: int, *rest: object, **named: object) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(refused, "not here")
        return real(path, flags, *rest, **named)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(os, "open", without)
    do("write", tmp_path, "a.txt", "one")
    (tmp_path / "a.txt").chmod(0o751)
    do("write", tmp_path, "a.txt", "two")
    assert state_of(tmp_path) == {"a.txt": (b"two", 0o751)}


# ---------------------------------------------------------------- never outside

SWAPPER = """
    import os, sys
    inside, aside, outside = sys.argv[1:]
    print("ready", flush=True)
    while True:
        os.rename(inside, aside)
        os.symlink(outside, inside)
        os.unlink(inside)
        os.rename(aside, inside)
"""


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_symlink_swapped_in_meanwhile_never_leads_out(tmp_path: Path, kind: str) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    (workspace / "sub").mkdir(parents=True)
    outside.mkdir()
    (workspace / "sub" / "f").write_text("mine", encoding="ascii")
    (outside / "f").write_text("theirs", encoding="ascii")
    swapped = workspace / "sub" if kind == "folder" else workspace / "sub" / "f"
    goal = outside if kind == "folder" else outside / "f"
    swapper = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SWAPPER), str(swapped), str(workspace / "aside"), str(goal)], stdout=subprocess.PIPE
    )
    try:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        written = refused = 0
        for number in range(1_500):
            try:
                do("write", workspace, "sub/f", f"{number}\n")
                written += 1
            except FileToolError:
                refused += 1
            with contextlib.suppress(FileToolError):
                do("edit", workspace, "sub/f", "", edits=[{"old": "theirs", "new": "stolen"}])
            with contextlib.suppress(FileToolError):
                do("delete", workspace, "sub/f")
            assert state_of(outside) == {"f": (b"theirs", 0o644)}
    finally:
        swapper.kill()
        swapper.wait()
        swapper.stdout.close()  # type: ignore[union-attr]  # asked for
    assert written or refused


def test_links_are_not_followed_out_and_dots_not_climbed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "f").write_text("theirs", encoding="ascii")
    (workspace / "link").symlink_to(outside / "f")
    (workspace / "folder").symlink_to(outside)
    for target in ("link", "folder/f", "folder/new", "../outside/f", str(outside / "f")):
        with pytest.raises(FileToolError):
            do("write", workspace, target, "x")
    assert state_of(outside) == {"f": (b"theirs", 0o644)}
    do("delete", workspace, "link")  # the link itself is ours
    assert not (workspace / "link").is_symlink()


def test_a_write_through_a_link_changes_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("1", encoding="ascii")
    (tmp_path / "link").symlink_to("real")
    do("write", tmp_path, "link", "2")
    assert (tmp_path / "real").read_text(encoding="ascii") == "2"
    assert (tmp_path / "link").is_symlink()


def test_what_changed_since_it_was_judged_is_not_overwritten(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_text("now\n", encoding="ascii")
    facts = Facts({Question(QuestionKind.CONTENT, path): Answer(True, (("sha256", "of another text"),))})
    with pytest.raises(FileToolError, match="changed since it was judged"):
        act(judged("write", str(tmp_path), "a.txt", "x", facts=facts))
    moved = Facts({Question(QuestionKind.RESOLVE, path): Answer(True, (("path", "/elsewhere"),))})
    with pytest.raises(FileToolError, match="changed since it was judged"):
        act(judged("write", str(tmp_path), "a.txt", "x", facts=moved))
    assert Path(path).read_text(encoding="ascii") == "now\n"


# ---------------------------------------------------------------- modes, folders, devices


def test_modes_owners_and_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("1", encoding="ascii")
    path.chmod(0o2755)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.note", b"kept")
    if os.getuid() == 0:
        os.chown(path, 1234, 4321)
        path.chmod(0o6755)
    before = path.stat()
    do("edit", tmp_path, "tool", "2", edits=[{"old": "1", "new": "2"}])
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    if "user.note" in os.listxattr(path):
        assert os.getxattr(path, "user.note") == b"kept"
    assert do("write", tmp_path, "durable", "x").created
    act(judged("write", str(tmp_path), "durable", "y"), durable=True)


def test_what_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "f").write_text("x", encoding="ascii")
    os.mkfifo(tmp_path / "pipe")
    for target in ("folder", "pipe", "folder/f/g"):
        with pytest.raises(FileToolError):
            do("write", tmp_path, target, "x")
    with pytest.raises(FileToolError):
        do("delete", tmp_path, "folder")
    with pytest.raises(FileToolError, match="file exists"):
        do("move", tmp_path, "folder/f", destination="folder")
    with pytest.raises(FileToolError, match="file exists"):
        do("write", tmp_path, "folder/f", "y", exclusive=True)
    with pytest.raises(FileToolError, match="no such file"):
        do("edit", tmp_path, "absent", "x", edits=[{"old": "a", "new": "b"}])
    with pytest.raises(FileToolError, match="does not say"):
        do("edit", tmp_path, "folder/f", "x")
    assert state_of(tmp_path) == {"folder/f": (b"x", 0o644)}
    do("delete", tmp_path, "folder", recursive=True)
    assert not (tmp_path / "folder").exists()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "locked"
    path.write_text("1", encoding="ascii")
    path.chmod(0o444)
    with pytest.raises(FileToolError, match="permission denied"):
        do("write", tmp_path, "locked", "2")
    assert path.read_text(encoding="ascii") == "1"


def test_another_hard_link_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1", encoding="ascii")
    os.link(tmp_path / "a", tmp_path / "b")
    assert "hard link" in do("write", tmp_path, "a", "2").notes[0]
    assert (tmp_path / "b").read_text(encoding="ascii") == "1"
