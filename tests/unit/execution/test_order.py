"""Plans: what they say is what the spec asks for, and endings come back as results."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from instinct_shell.errors import JailError
from instinct_shell.execution.jail import order
from instinct_shell.model.jailspec import JailSpec, Limits, Session
from instinct_shell.resident import protocol


def spec(workspace: Path, **changes: object) -> JailSpec:
    made = JailSpec(str(workspace), str(workspace), writable=(str(workspace),), argv=("/bin/true", "a b"), env=(("A", "1=2"),))
    return made.replace(**changes)


def fields(plan: bytes) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for tag, data in protocol.records(plan):
        found.setdefault(chr(tag), []).append(data)
    return found


def test_words_and_variables(tmp_path: Path) -> None:
    found = fields(order.encode(spec(tmp_path)))
    assert (found["V"], found["c"], found["a"], found["e"]) == ([b"1"], [os.fsencode(tmp_path)], [b"/bin/true", b"a b"], [b"A=1=2"])
    assert "j" not in found


def test_copies_and_layers_go_together(tmp_path: Path) -> None:
    """Each shown or writable layer has its copy, in the same order."""
    (tmp_path / "kept").mkdir()
    found = fields(order.encode(spec(tmp_path, protected=(str(tmp_path / "kept"),), private_tmp=True)))
    layers = [layer for layer in found["l"] if layer[:1] in b"WS"]
    assert [copy[:1] + copy[1:] for copy in found["t"]] == [layer[:1] + layer[2:] for layer in layers]
    assert b"R-" + os.fsencode(tmp_path / "kept") in found["l"]


@pytest.mark.parametrize(("network", "own"), [("host", b"0"), ("none", b"1")])
def test_network(tmp_path: Path, network: str, own: bytes) -> None:
    assert fields(order.encode(spec(tmp_path, network=network)))["n"] == [own]


def test_a_network_that_has_to_be_served_first_is_no_plan(tmp_path: Path) -> None:
    session = Session(str(tmp_path / "key"), "name", "dev", str(tmp_path), 0, 0)
    listed = spec(tmp_path, network="allowlist", network_allow=("a.example",), session=session)
    assert not order.can_plan(listed)
    assert not order.can_plan(spec(tmp_path, network="none", publish=(3000,), session=session))
    with pytest.raises(JailError, match="a proxy to be started"):
        order.encode(listed)
    book = os.open(tmp_path / "key.net", os.O_RDWR | os.O_CREAT)
    assert not order.can_plan(listed)  # the file alone says nothing
    fcntl.flock(book, fcntl.LOCK_EX)
    assert order.can_plan(listed)
    assert fields(order.encode(listed))["n"] == [b"1"]
    os.close(book)
    assert not order.can_plan(listed)


@pytest.mark.parametrize(("terminal", "group"), [(False, b"1"), (True, b"0")])
def test_session(tmp_path: Path, terminal: bool, group: bytes) -> None:
    """On a terminal the command has to be in the caller's process group; then the filter keeps `kill 0` inside instead."""
    session = Session("/state/sessions/key", "name", "dev", str(tmp_path), 0, 0)
    found = fields(order.encode(spec(tmp_path, session=session), terminal=terminal))
    assert (found["j"], found["o"]) == ([b"/state/sessions/key"], [group])
    other = fields(order.encode(spec(tmp_path, session=session), terminal=not terminal))
    assert found["s"] != other["s"]


def test_limits(tmp_path: Path) -> None:
    found = fields(order.encode(spec(tmp_path, limits=Limits(wall_seconds=1.5, cpu_seconds=3, open_files=64))))
    assert found["w"] == [b"1500"]
    assert b"0 3 4" in found["r"]
    assert b"7 64 64" in found["r"]


@pytest.mark.parametrize("changes", [{"limits": Limits(output_bytes=5)}, {"descriptors": (7,)}, {"supervise_execs": True}, {"cwd": "relative"}, {"writable": ("/",)}])
def test_what_a_plan_cannot_say(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(JailError):
        order.encode(spec(tmp_path, **changes))


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (b"ended 0 1 2 3 4 - own", {"status": 0, "user_us": 1, "system_us": 2, "max_rss_bytes": 3072, "wall_us": 4}),
        (b"ended 1792 1 2 3 4 - own", {"status": 7, "signal": 0}),
        (
            b"ended 15 1 2 3 4 - session",
            {"status": 143, "signal": 15, "layers": ("namespaces", "session", "landlock", "seccomp", "rlimits")},
        ),
        (b"ended 15 1 2 3 4 wall_seconds own", {"status": 124, "limit": "wall_seconds", "failure": "the wall-clock limit was reached"}),
        (b"lost 9 - own", {"status": 125, "started": True, "wall_us": 9}),
        (b"lost 9 wall_seconds own", {"status": 124}),
    ],
)
def test_endings(ending: bytes, expected: dict[str, object]) -> None:
    result = order.result(ending)
    assert {name: getattr(result, name) for name in expected} == expected
    assert result.started


def test_an_ending_that_failed() -> None:
    with pytest.raises(JailError, match="opening `/x`: No such file or directory; nothing ran"):
        order.result(b"failed 2 opening `/x`")
