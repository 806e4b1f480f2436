"""Messages between launchers and the engine, and how each makes sure of the other."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from instinct_shell.resident import protocol

TAGS = st.integers(1, 255)


@given(st.lists(st.tuples(TAGS, st.binary(max_size=200))))
def test_a_body_comes_back_as_it_went(rows: list[tuple[int, bytes]]) -> None:
    sent = protocol.message(*(protocol.record(tag, data) for tag, data in rows))
    assert int.from_bytes(sent[:4], "little") == len(sent) - 4
    assert list(protocol.records(sent[4:])) == rows


@given(st.lists(st.tuples(TAGS, st.binary(max_size=40)), min_size=1), st.data())
def test_a_body_that_is_cut_is_none(rows: list[tuple[int, bytes]], data: st.DataObject) -> None:
    body = b"".join(protocol.record(tag, content) for tag, content in rows)
    cut = data.draw(st.integers(1, len(body) - 1))
    starts = {0}
    for tag, content in rows:
        starts.add(max(starts) + len(protocol.record(tag, content)))
    if cut not in starts:
        with pytest.raises(protocol.Hangup):
            list(protocol.records(body[:cut]))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_body_or_a_hangup(data: bytes) -> None:
    try:
        for tag, content in protocol.records(data):
            assert 0 <= tag <= 255
            assert content in data
    except protocol.Hangup:
        pass


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_RUNTIME_DIR": "{own}"}, "{own}/instinct-shell"),
        ({"XDG_RUNTIME_DIR": "{own}/missing", "XDG_STATE_HOME": "/state"}, "/state/instinct-shell/run"),
        ({"XDG_RUNTIME_DIR": "relative", "XDG_STATE_HOME": "/state"}, "/state/instinct-shell/run"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/home/dev"}, "/home/dev/.local/state/instinct-shell/run"),
        ({"HOME": "/home/dev"}, "/home/dev/.local/state/instinct-shell/run"),
        ({"HOME": "dev"}, ""),
        ({}, ""),
    ],
)
def test_where_the_socket_is(tmp_path: Path, variables: dict[str, str], expected: str) -> None:
    environ = {name.encode(): value.format(own=tmp_path).encode() for name, value in variables.items()}
    assert protocol.folder(environ, os.getuid()) == expected.format(own=tmp_path).encode()


def test_somebody_elses_runtime_directory_is_passed_over() -> None:
    environ = {b"XDG_RUNTIME_DIR": b"/usr", b"HOME": b"/home/dev"}
    assert protocol.folder(environ, 4242) == b"/home/dev/.local/state/instinct-shell/run"


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o777])
def test_a_folder_for_others_is_not_opened(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(PermissionError):
        protocol.open_folder(os.fsencode(tmp_path), os.getuid())
    tmp_path.chmod(0o700)
    os.close(protocol.open_folder(os.fsencode(tmp_path), os.getuid()))
    with pytest.raises(PermissionError):
        protocol.open_folder(os.fsencode(tmp_path), os.getuid() + 1)


def test_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match=r"symbolic|directory"):
        protocol.open_folder(os.fsencode(tmp_path / "link"), os.getuid())


def test_a_child_stands_beside_us() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert protocol.stands_beside(child.pid)
        child.kill()


@pytest.mark.parametrize("held", [["unshare", "-U"], ["unshare", "-Ur", "-n"], ["setpriv", "--no-new-privs"]])
def test_one_that_is_held_does_not(held: list[str]) -> None:
    with subprocess.Popen([*held, "sh", "-c", "echo ready; sleep 60"], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        ready = child.stdout.readline()
        beside = protocol.stands_beside(child.pid)
        child.kill()
    if not ready:
        pytest.skip(f"`{' '.join(held)}` does not work here")
    assert not beside


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_nobody_does_not(pid: int) -> None:
    assert not protocol.stands_beside(pid)
