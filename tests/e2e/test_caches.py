"""Package managers in the dev jail: caches of the workspace's own, seeded from the person's, which no command can change."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import zipfile

import pytest

ONLY_HERE = '[paths]\nwritable = ["{workspace}"]\n'  # the home of these tests lies below /tmp, which would be writable else
LARGE = "x" * 100_000
SEEDED = {
    ".npm/_cacache/content-v2/sha512/ab/cd": "npm",
    ".cache/pip/wheels/a/x.whl": "pip",
    ".cargo/registry/cache/idx/a-1.crate": "cargo",
    ".cargo/registry/src/idx/a-1/lib.rs": "cargo",
    ".m2/repository/g/a/1/a-1.jar": "mvn",
}


@pytest.fixture
def person(programs, jail_works):
    """Somebody with caches, and a workspace that may write nowhere else."""
    for name in SEEDED:
        path = programs.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LARGE, encoding="utf-8")
    (programs.workspace / ".instinct.toml").write_text(ONLY_HERE, encoding="utf-8")
    return programs


def need(program: str) -> None:
    if not shutil.which(program):
        pytest.skip(f"not on this machine: {program}")


def test_a_command_cannot_poison_the_persons_caches(person) -> None:
    """It reads them by links, writes beside them, and may break its own; the next workspace begins with the person's again."""
    run = person.sh(
        "true npm pip cargo mvn; find -L $PIP_CACHE_DIR/.. -type f -size +90k | while read -r f; do wc -c < $f; "
        "(echo poison >> $f) 2>/dev/null || echo refused; done; echo mine > $PIP_CACHE_DIR/own"
    )
    assert (run.returncode, sorted(run.stdout.split())) == (0, [b"100000"] * 5 + [b"refused"] * 5), run
    assert all((person.home / name).read_text(encoding="utf-8") == LARGE for name in SEEDED)
    assert not (person.home / ".cache/pip/own").exists()


def test_a_local_tarball_is_installed_by_npm(person) -> None:
    need("npm")
    (person.workspace / "pkg").mkdir()
    (person.workspace / "pkg/package.json").write_text('{"name": "local-thing", "version": "1.0.0"}\n', encoding="utf-8")
    (person.workspace / "package.json").write_text('{"name": "app", "version": "1.0.0"}\n', encoding="utf-8")
    packed = person.sh("npm pack --silent ./pkg")
    assert packed.returncode == 0, packed
    run = person.sh("npm install --no-audit --no-fund ./local-thing-1.0.0.tgz")
    assert run.returncode == 0, run
    assert (person.workspace / "node_modules/local-thing/package.json").exists()
    assert not (person.home / ".npm/_logs").exists()


def test_a_wheel_and_a_project_are_installed_by_pip(person) -> None:
    need("python3")
    _wheel(person.workspace / "local_thing-1.0-py3-none-any.whl")
    (person.workspace / "backend.py").write_text(BACKEND, encoding="utf-8")
    (person.workspace / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "app"\nversion = "1"\n[project.optional-dependencies]\ndev = ["local-thing"]\n',
        encoding="utf-8",
    )
    subprocess.run(["python3", "-m", "venv", ".venv"], cwd=person.workspace, check=True)
    run = person.sh(".venv/bin/pip install -q --disable-pip-version-check --no-index --find-links . -e '.[dev]'")
    assert run.returncode == 0, run
    assert person.sh(".venv/bin/python -c 'import local_thing; print(local_thing.name)'").stdout == b"local thing\n"


def test_caches_are_listed_and_cleaned(person) -> None:
    assert person.sh("true cargo; echo own > $GOCACHE-x").returncode in (0, 1)
    listed = [json.loads(line) for line in person.instinct("cache", "list", "--json").stdout.splitlines()]
    assert [each["workspace"] for each in listed] == [str(person.workspace)]
    assert person.instinct("cache", "clean").returncode == 2
    engine = person.state / "run"
    folder = next(each for each in (person.home / ".cache/instinct-shell").iterdir() if each.is_dir())
    (folder.parent / "0123456789abcdef").mkdir()
    (folder.parent / "0123456789abcdef.workspace").write_text(str(engine), encoding="utf-8")
    env = {"XDG_RUNTIME_DIR": ""}
    assert str(engine) not in person.instinct("cache", "list", env=env).stdout.decode()
    assert person.instinct("cache", "clean", str(engine), env=env).returncode == 0
    assert person.instinct("cache", "clean", "--unused", "1").stdout == b""
    assert person.instinct("cache", "clean", str(person.workspace)).returncode == 0
    assert person.instinct("cache", "list").stdout == b""
    assert (person.home / ".cargo/registry/src/idx/a-1/lib.rs").read_text(encoding="utf-8") == LARGE
    assert person.sh("ls $CARGO_HOME/registry true cargo; ls $CARGO_HOME").stdout.endswith(b"registry\n")


BACKEND = """
import base64, hashlib, zipfile
def get_requires_for_build_editable(config_settings=None): return []
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "app-1-py3-none-any.whl"
    files = {"app.pth": "/tmp\\n", "app-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: app\\nVersion: 1\\nProvides-Extra: dev\\nRequires-Dist: local-thing; extra == 'dev'\\n",
             "app-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as made:
        for path, text in files.items(): made.writestr(path, text)
        made.writestr("app-1.dist-info/RECORD", "".join(f"{path},,\\n" for path in files))
    return name
"""


def _wheel(path) -> None:
    files = {
        "local_thing.py": "name = 'local thing'\n",
        "local_thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: local-thing\nVersion: 1.0\n",
        "local_thing-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
        record = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},{len(t)}\n" for n, t in files.items()]
        made.writestr("local_thing-1.0.dist-info/RECORD", "".join(record))
