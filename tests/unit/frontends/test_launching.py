"""A quick start takes what a slow one would take, and nothing else."""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from instinct_shell.frontends.launching import Near

PROGRAM = """
import sys
from instinct_shell.frontends.launching import Near
sys.meta_path.insert(0, Near({package!r}))
import {name} as found
print(found.VALUE, found.__file__, found.__spec__.cached, list(getattr(found, "__path__", [])), type(found.__spec__.loader).__name__)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package `ours` with one module and one package below it, all compiled."""
    top = tmp_path / "ours"
    (top / "inner").mkdir(parents=True)
    for path in ("__init__.py", "one.py", "inner/__init__.py"):
        (top / path).write_text("VALUE = 1\n", encoding="ascii")
        py_compile.compile(str(top / path), doraise=True)
    return top


def loaded(package: Path, name: str) -> list[str]:
    """What a new interpreter gets: value, file, compiled file, search path, loader."""
    top = Path(__file__).resolve().parents[3]
    text = f"import sys; sys.path[:0] = [{str(top)!r}, {str(package.parent)!r}]\n" + PROGRAM.format(package=str(package), name=name)
    done = subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_compiled_module_is_found_where_it_lies(package: Path) -> None:
    value, file, cached, path, loader = loaded(package, "ours.one")
    assert (value, file, path, loader) == ("1", str(package / "one.py"), "[]", "_Loader")
    assert cached == str(package / "__pycache__" / f"one.{sys.implementation.cache_tag}.pyc")


def test_a_package_has_its_search_path(package: Path) -> None:
    assert loaded(package, "ours.inner")[3:] == [f"['{package / 'inner'}']", "_Loader"]


@pytest.mark.parametrize("change", ["size", "time", "magic", "flags", "absent"])
def test_what_is_not_the_compiled_source_is_left_to_the_usual_way(package: Path, change: str) -> None:
    source = package / "one.py"
    compiled = next((package / "__pycache__").glob("one.*"))
    if change == "size":
        stamp = source.stat()
        source.write_text("VALUE = 22\n", encoding="ascii")
        os.utime(source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    elif change == "time":
        os.utime(source, (1, 1))
    elif change == "absent":
        compiled.unlink()
    else:
        data = bytearray(compiled.read_bytes())
        data[{"magic": 0, "flags": 4}[change]] ^= 1
        compiled.write_bytes(data)
    value, *_, loader = loaded(package, "ours.one")
    assert (value, loader) == ("22" if change == "size" else "1", "SourceFileLoader")


@pytest.mark.parametrize("name", ["json", "oursome", "ours.absent"])
def test_only_what_is_ours_and_there_is_found(package: Path, name: str) -> None:
    assert Near(str(package)).find_spec(name) is None
