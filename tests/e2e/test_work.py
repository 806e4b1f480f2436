"""Ordinary work in the dev jail: what developers do all day must run as it does outside."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.jail, pytest.mark.usefixtures("jail_works")]

GIT = "git -c user.name=t -c user.email=t@example.net"


def works(programs, text: str, *said: str) -> str:
    """The line ran, ended well, and we said nothing."""
    run = programs.sh(text)
    output = run.stdout.decode()
    assert run.returncode == 0, (text, output, run.stderr.decode())
    assert b"instinct:" not in run.stderr
    for piece in said:
        assert piece in output
    return output


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips where one of these programs is not installed."""
    missing = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed here: {', '.join(missing)}")


def test_git(programs) -> None:
    works(programs, f"echo a > a.txt && git add a.txt && {GIT} commit -q -m 'fix rm -rf bug' && git log --oneline | wc -l", "2")
    works(
        programs,
        f"git switch -q -c topic && echo b >> a.txt && {GIT} commit -q -am b && git switch -q main && echo c > c.txt && git add c.txt && {GIT} commit -q -m c",
    )
    works(programs, f"git switch -q topic && {GIT} rebase -q main && git log --oneline | wc -l", "4")
    works(programs, f"echo d >> a.txt && {GIT} stash -q && git stash list && git stash pop -q && git status --short", "a.txt")
    works(
        programs,
        f"{GIT} commit -q -am d && git worktree add -q build/wt main && ls build/wt && cd build/wt && touch x && git status --short",
        "README.md",
    )
    works(programs, "git diff HEAD~1 --stat; git blame a.txt | head -1; git branch -a; git tag v1; git show --stat | head -3")


def test_a_local_clone(programs) -> None:
    works(programs, "git clone -q . build/clone && ls build/clone", "README.md")


def test_shell_work(programs) -> None:
    works(programs, "mkdir -p build/a/b && cd build/a && touch b/c && mv b/c b/d && cp b/d e && ln -s e f && rm -r b && ls", "e", "f")
    works(programs, 'f=$(mktemp) && echo hi > "$f" && cat "$f" && rm "$f"', "hi")
    works(programs, 'd=$(mktemp -d) && cp README.md "$d" && ls "$d" && rm -rf "$d"', "README.md")
    works(programs, "cat > build.cfg <<'EOF'\na = $HOME\nEOF\ncat build.cfg", "a = $HOME")
    works(programs, "find . -name '*.md' -not -path './.git/*' | xargs wc -l | tail -1")
    works(programs, "tar czf build.tgz README.md && tar tzf build.tgz && rm build.tgz", "README.md")
    works(programs, "for i in 1 2 3; do echo $i; done | paste -sd+ | bc 2>/dev/null || echo 6", "6")
    works(programs, "sed -i 's/app/App/' README.md && grep -c App README.md", "1")


def test_a_large_output(programs) -> None:
    assert len(programs.sh("seq 1 3000000").stdout) > 20_000_000


@needs("make")
def test_make(programs) -> None:
    (programs.workspace / "Makefile").write_text("all: a b\na b:\n\t@mkdir -p build && echo $@ > build/$@ && sleep 0.1\n", encoding="utf-8")
    works(programs, "make -j2 && cat build/a build/b", "a", "b")


@needs("gcc")
def test_a_c_build(programs) -> None:
    (programs.workspace / "main.c").write_text('#include <stdio.h>\nint main(void) { printf("built\\n"); return 0; }\n', encoding="utf-8")
    works(programs, "mkdir -p build && gcc -O1 -o build/main main.c && ./build/main", "built")


@needs("sqlite3")
def test_sqlite(programs) -> None:
    works(programs, "sqlite3 build.db 'create table t(a int); insert into t values (41),(1); select sum(a) from t'", "42")


@needs("node")
def test_node(programs) -> None:
    works(programs, "node -e 'console.log(6 * 7)'", "42")


@needs("npm")
def test_npm_install_of_a_local_tarball(programs) -> None:
    package = programs.workspace / "left"
    package.mkdir()
    (package / "package.json").write_text('{"name": "left", "version": "1.0.0", "main": "i.js"}\n', encoding="utf-8")
    (package / "i.js").write_text("module.exports = 42\n", encoding="utf-8")
    (programs.workspace / "package.json").write_text('{"name": "app", "version": "1.0.0"}\n', encoding="utf-8")
    works(programs, "cd left && npm pack --silent", "left-1.0.0.tgz")
    works(programs, "npm install --offline --no-audit --no-fund --silent ./left/left-1.0.0.tgz && node -p 'require(\"left\")'", "42")


def test_pip_install_of_a_local_wheel(programs) -> None:
    """A wheel is a zip with a name: made by hand, so that nothing is downloaded."""
    import zipfile

    info = "tiny_thing-1.0.dist-info"
    with zipfile.ZipFile(programs.workspace / "tiny_thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_thing.py", "ANSWER = 42\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    python = system_python()
    if python is None:
        pytest.skip("no Python with venv and pip outside the masked home")
    works(
        programs,
        f"{python} -m venv build/venv && build/venv/bin/pip install -q --no-index --disable-pip-version-check ./tiny_thing-1.0-py3-none-any.whl",
    )
    works(programs, "build/venv/bin/python -c 'import tiny_thing; print(tiny_thing.ANSWER)'", "42")


def system_python() -> str | None:
    """A Python that any user may start, with venv."""
    for path in ("/usr/bin/python3", sys.executable):
        probe = subprocess.run([path, "-c", "import ensurepip, venv"], capture_output=True, check=False) if Path(path).exists() else None
        if probe is not None and probe.returncode == 0:
            return path
    return None


def test_pytest(programs) -> None:
    (programs.workspace / "test_it.py").write_text("def test_it(tmp_path):\n    (tmp_path / 'a').write_text('x')\n", encoding="utf-8")
    works(programs, f"{sys.executable} -m pytest -q -p no:cacheprovider test_it.py", "1 passed")


def test_env_files_serve_programs_but_not_commands(programs) -> None:
    (programs.workspace / "app.py").write_text("print('started with', len(open('.env').read()) > 0)\n", encoding="utf-8")
    python = system_python() or sys.executable
    works(programs, f"{python} app.py", "started with True")
    assert programs.sh("cat .env").returncode == 126


def test_a_background_server_of_one_command(programs) -> None:
    works(
        programs,
        f"{system_python() or sys.executable} -m http.server 0 --bind 127.0.0.1 >log.txt 2>&1 & "
        "s=$!; sleep 0.5; kill $s; wait $s; cat log.txt >/dev/null; echo done",
        "done",
    )
