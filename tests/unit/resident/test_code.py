"""A change of the package is seen, whatever it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from instinct_shell.resident.code import Code

CHANGES: dict[str, Callable[[Path], object]] = {
    "written in place": lambda top: (top / "a.py").write_text("changed"),
    "same size, same second": lambda top: (top / "a.py").write_text("b"),
    "replaced": lambda top: ((top / "new").write_text("a"), os.replace(top / "new", top / "a.py")),
    "removed": lambda top: (top / "inner" / "b.py").unlink(),
    "added": lambda top: (top / "inner" / "c.py").write_text(""),
    "renamed folder": lambda top: (top / "inner").rename(top / "outer"),
    "all gone": lambda top: [path.unlink() for path in (top / "a.py", top / "inner" / "b.py")],
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    top = tmp_path / "package"
    for name in ("a.py", "inner/b.py", "__pycache__/a.pyc"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a")
    return top


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(package: Path, change: str) -> None:
    code = Code(str(package))
    assert not code.changed()
    CHANGES[change](package)
    assert code.changed()
    assert code.differs()


def test_compiled_modules_are_none(package: Path) -> None:
    code = Code(str(package))
    (package / "__pycache__" / "b.pyc").write_text("x")
    assert not code.changed()
    assert not code.differs()


def test_looking_at_a_file_changes_nothing(package: Path) -> None:
    code = Code(str(package))
    (package / "a.py").read_text()
    os.utime(package / "a.py", ns=(os.stat(package / "a.py").st_atime_ns, os.stat(package / "a.py").st_mtime_ns))
    assert not code.changed()


def test_without_inotify(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instinct_shell.resident.code.watch", lambda _: -1)
    code = Code(str(package))
    assert not code.changed()
    (package / "a.py").write_text("changed")
    assert code.changed()
