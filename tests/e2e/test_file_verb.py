"""`instinct file`: content by stdin and by file, text and JSON, statuses, and that nothing of it is a way round the judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-I", "-c", "import sys; from instinct_shell.frontends.cli.main import main; sys.exit(main(sys.argv[1:]))"]


def file(place: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PROGRAM, "file", *words], cwd=place, input=given, capture_output=True, check=False, env=dict(os.environ))


def test_a_day_of_a_file(place: Path) -> None:
    done = file(place, "write", "src/a.py", given=b"x = 1\n")
    assert (done.returncode, done.stdout) == (0, b"--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1 @@\n+x = 1\n")
    done = file(place, "edit", "src/a.py", "--old", "1", "--new", "2")
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (0, [b"-x = 1", b"+x = 2"])
    assert file(place, "read", "src/a.py").stdout == b"x = 2\n"
    assert file(place, "read", "src/a.py", "--lines", "2:").stdout == b""
    assert file(place, "move", "src/a.py", "b.py").returncode == 0
    patch = b"--- a/b.py\n+++ b/b.py\n@@ -1 +1,2 @@\n x = 2\n+y = 3\n"
    assert file(place, "patch", given=patch).returncode == 0
    assert (place / "b.py").read_bytes() == b"x = 2\ny = 3\n"
    done = file(place, "delete", "b.py", "--json")
    assert json.loads(done.stdout)["done"]["path"] == str(place / "b.py")
    assert not (place / "b.py").exists()


def test_bytes_that_are_no_text_pass_through(place: Path) -> None:
    assert file(place, "write", "latin", given=b"caf\xe9\n").returncode == 0
    assert (place / "latin").read_bytes() == b"caf\xe9\n"
    assert file(place, "read", "latin").stdout == b"caf\xe9\n"


def test_content_and_edits_from_files(place: Path) -> None:
    (place / "content").write_text("a b a\n", encoding="ascii")
    (place / "edits").write_text('[{"old": "a", "new": "c", "all": true}, {"old": "b", "new": ""}]', encoding="ascii")
    assert file(place, "write", "t", "--content-file", "content").returncode == 0
    assert file(place, "edit", "t", "--edits", "edits").returncode == 0
    assert (place / "t").read_text(encoding="ascii") == "c  c\n"
    assert file(place, "write", "t", "--new", given=b"x").returncode == 125


REFUSED = {
    "a protected file": ("write", ".env"),
    "outside": ("write", "/etc/instinct-test"),
    "up and out": ("write", "../" * 12 + "etc/instinct-test"),
    "the guard's profile": ("write", ".instinct.toml"),
    "a secret": ("read", "~/.ssh/id_rsa"),
    "agent configuration": ("write", ".claude/settings.json"),
    "the workspace itself": ("delete", ".", "--recursive"),
    "out of the workspace": ("move", "a", "/etc/instinct-test"),
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED.keys())
def test_what_a_command_may_not_the_file_tools_may_not(place: Path, words: tuple[str, ...]) -> None:
    (place / "a").write_text("x", encoding="ascii")
    done = file(place, *words, given=b"x\n")
    assert done.returncode == 126, done
    assert done.stderr.startswith((b"instinct: denied by ", b"instinct: asked by "))
    assert done.stdout == b""
    assert sorted(path.name for path in place.iterdir()) == ["a"]


WRONG = {
    "no such file": (("edit", "none", "--old", "a", "--new", "b"), 125),
    "text that is not there": (("edit", "a", "--old", "zzz", "--new", "b"), 125),
    "half an edit": (("edit", "a", "--old", "x"), 2),
    "both kinds of edit": (("edit", "a", "--old", "x", "--new", "y", "--edits", "-"), 2),
    "edits that are no JSON": (("edit", "a", "--edits", "-"), 2),
    "no patch": (("patch",), 126),
    "no content": (("write", "b", "--content-file", "none"), 2),
    "no lines": (("read", "a", "--lines", "x:y"), 2),
    "a folder that is not empty": (("delete", "folder"), 125),
}


@pytest.mark.parametrize(("words", "status"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_says_so_and_changes_nothing(place: Path, words: tuple[str, ...], status: int) -> None:
    (place / "a").write_text("x", encoding="ascii")
    (place / "folder").mkdir()
    (place / "folder" / "f").touch()
    done = file(place, *words, given=b"nonsense")
    assert done.returncode == status, done
    assert done.stderr.startswith(b"instinct: ")
    assert b"Traceback" not in done.stderr
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == ["a", "folder", "folder/f"]
    assert (place / "a").read_text(encoding="ascii") == "x"


def test_output_intents_come_back_redacted(place: Path) -> None:
    (place / ".env").write_text("API_SECRET='zx81-spectrum-48'\n", encoding="ascii")
    lines = [{"id": 1, "type": "output", "content": "the key is zx81-spectrum-48."}, {"id": 2, "type": "output", "content": "all is well"}]
    done = subprocess.run(
        [*PROGRAM, "check", "--batch"],
        cwd=place,
        input="\n".join(map(json.dumps, lines)).encode(),
        capture_output=True,
        check=True,
        env=dict(os.environ),
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["decision"], first["redacted"]) == ("deny", "the key is <redacted: the value of API_SECRET in .env>.")
    assert (second["decision"], second["redacted"]) == ("allow", "all is well")
