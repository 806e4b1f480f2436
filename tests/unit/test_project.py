"""Rules about the tree itself: file lengths, what the wheel holds, what the public API names, what the documents promise."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import instinct_shell

TOP = Path(__file__).resolve().parents[2]
PACKAGE = TOP / "instinct_shell"
LONGEST = 400
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(PACKAGE.rglob("*.py"))
HOT = (
    "errors.py",
    "pipeline.py",
    "wiring/__init__.py",
    "wiring/guard.py",
    "frontends/instinct_exec.py",
    "frontends/cli/check.py",
    "frontends/cli/main.py",
    "frontends/present.py",
)
COSTLY = {
    "typing",
    "dataclasses",
    "click",
    "sqlglot",
    "psutil",
    "inspect",
    "tomllib",
    "subprocess",
    "logging",
    "pathlib",
    "tempfile",
    "pickle",
}


def test_files_keep_to_one_idea() -> None:
    long = {str(path.relative_to(TOP)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > LONGEST} == {}


def test_every_package_is_in_the_wheel_list() -> None:
    found = {str(path.parent.relative_to(TOP)).replace("/", ".") for path in PACKAGE.rglob("*.py")}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found | {"instinct_shell.profiles"}


def test_the_public_api_loads() -> None:
    for name in instinct_shell.__all__:
        assert getattr(instinct_shell, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = instinct_shell.nothing_like_it


@pytest.mark.parametrize("name", HOT)
def test_the_cold_way_imports_nothing_costly(name: str) -> None:
    tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
    at_start = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            at_start |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            at_start.add(node.module.partition(".")[0])
    assert at_start & COSTLY == set()


@pytest.mark.slow
def test_a_built_wheel_holds_profiles_and_works(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(tmp_path),
        str(_copy(tmp_path)),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for profile in ("base", "dev", "staging", "prod"):
        assert f"instinct_shell/profiles/{profile}.toml" in names
    assert "instinct_shell/shell/bashlex_table.bin" in names
    assert "instinct_shell/execution/data/popular-pypi.txt" in names
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    site = next(path for path in sys.path if path.endswith("site-packages"))
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'site')!r}, {site!r}]\n"
        "from instinct_shell.storage.profiles import ProfileStore, shipped_directory\n"
        "print(shipped_directory(), ProfileStore(cache=False).load('prod', '', {}).name)"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True, cwd="/")
    assert run.stdout.split() == [str(tmp_path / "site/instinct_shell/profiles"), "prod"]


def _copy(folder: Path) -> Path:
    """The files of the project elsewhere: building leaves folders beside its sources."""
    import shutil

    target = folder / "source"
    target.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(TOP / name, target)
    for name in ("instinct_shell", "profiles"):
        shutil.copytree(TOP / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def test_the_readme_names_every_verb() -> None:
    from instinct_shell.frontends.cli.main import VERBS

    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"`instinct {verb}" not in readme] == []


def test_documents_do_not_lead_nowhere() -> None:
    for document in (*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md")):
        for name in re.findall(r"`((?:docs|bin|profiles|tests|instinct_shell)/[\w./-]*\w)`", document.read_text(encoding="utf-8")):
            assert (TOP / name).exists(), f"{document.name} names {name}"
