"""`--overlay`, `instinct overlay`, and asks that nobody answered: through the programs, in a real jail."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from conftest import TOP  # type: ignore[attr-defined]  # of this folder
from jail_harness import cannot

from instinct_shell.execution.jail import probe
from instinct_shell.model.jailspec import JailLevel
from instinct_shell.storage.grants import GrantBook

PASSPHRASE = "correct horse"  # of a test's own throw-away state

pytestmark = pytest.mark.jail


@pytest.fixture
def work(programs) -> Path:
    found = probe.probe()
    if found.level is not JailLevel.FULL or found.obstacle:
        cannot(f"no full jail of our own here: {found.obstacle}")
    (programs.workspace / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (programs.workspace / "data.db").write_text("rows", encoding="utf-8")
    return Path(programs.workspace)


# The programs read the person's profile from the account's home, which no variable can move: here it is told apart.
START = """
import sys
sys.path.insert(0, {top!r})
from instinct_shell.storage import profiles
real = profiles.ProfileStore.__init__
profiles.ProfileStore.__init__ = lambda self, **more: real(self, **{{**more, "home": {home!r}, "cache": False}})
from instinct_shell.frontends.instinct_exec import main
sys.exit(main())
"""


def with_passphrase(programs, *, overlay: bool = False, more: str = "") -> None:
    """Somebody can approve; overlay: and asks run apart. more: of the person's profile."""
    programs.sh("true")  # makes the state directory
    GrantBook(str(programs.state)).set_passphrase(PASSPHRASE)
    if overlay:
        folder = programs.home / ".config" / "instinct-shell"
        folder.mkdir(parents=True)
        (folder / "mine.toml").write_text('extends = "dev"\n[ask]\nbecomes = "overlay"\n' + more, encoding="utf-8")
        (folder / "config.toml").write_text('profile = "mine"\n', encoding="utf-8")
        start = [sys.executable, "-I", "-B", "-X", "utf8", "-c", START.format(top=str(TOP), home=str(programs.home))]
        programs.argv = lambda program, *words: [*start, *words] if program == "instinct-exec" else [str(TOP / "bin" / program), *words]


def waiting(programs) -> list[dict[str, object]]:
    return [json.loads(line) for line in programs.instinct("overlay", "list", "--json").stdout.splitlines()]


def test_a_change_is_shown_kept_and_committed(programs, work: Path) -> None:
    done = programs.exec("--overlay", "--", "sed -i s/one/1/ a.txt; echo out; exit 7")
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (7, b"out\n")
    assert "M a.txt" in said
    assert "-one" in said
    assert "+1" in said
    assert (work / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    [kept] = waiting(programs)
    assert f"instinct overlay commit {kept['run']}" in said
    shown = programs.instinct("overlay", "show", str(kept["run"]), "--diff").stdout.decode()
    assert "+1" in shown
    assert programs.instinct("overlay", "commit", str(kept["run"])).returncode == 0
    assert (work / "a.txt").read_text(encoding="utf-8") == "1\ntwo\n"
    assert waiting(programs) == []
    assert os.listdir(programs.state / "overlays") == []
    assert programs.instinct("undo", "restore", str(kept["run"])).returncode == 0
    assert (work / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    assert programs.instinct("audit", "verify", "--replay").returncode == 0


def test_the_fates(programs, work: Path) -> None:
    done = programs.exec("--overlay=commit", "--", "mv a.txt b.txt")
    assert done.returncode == 0
    assert b"R a.txt -> b.txt" in done.stderr
    assert (work / "b.txt").exists()
    assert not (work / "a.txt").exists()
    done = programs.exec("--overlay=discard", "--", "rm b.txt; ls")
    assert done.returncode == 0
    assert b"b.txt" not in done.stdout
    assert (work / "b.txt").exists()
    done = programs.exec("--overlay=commit", "--", "rm b.txt; false")
    assert done.returncode == 1
    assert b"not committed" in done.stderr
    assert (work / "b.txt").exists()
    [kept] = waiting(programs)
    (work / "b.txt").write_text("changed", encoding="utf-8")
    done = programs.instinct("overlay", "commit", str(kept["run"]))
    assert done.returncode == 126
    assert b"has changed since; nothing was committed" in done.stderr
    assert programs.instinct("overlay", "discard", str(kept["run"])).returncode == 0
    assert waiting(programs) == []
    assert programs.exec("--overlay=perhaps", "--", "true").returncode == 125


NOT_APART = [
    "git status",
    "curl -s http://127.0.0.1:9/",
    "npm run build",
    "make",
    "echo x > /tmp/outside-of-it",
    "python3 -m http.server &",
    "pip install requests",
    "docker run x",
    "cd / && echo",
]


@pytest.mark.parametrize("text", [*NOT_APART[:3], *NOT_APART[4:7]])
def test_what_is_more_than_files_is_refused(programs, work: Path, text: str) -> None:
    before = len(programs.records()) if (programs.state / "audit").exists() else 0
    done = programs.exec("--overlay", "--", text)
    assert done.returncode == 126, done.stderr
    assert b"instinct:" in done.stderr
    assert all(record["kind"] != "started" for record in programs.records()[before:])
    assert waiting(programs) == []


HIDDEN_CHANGES = {
    "agent configuration": (".claude/settings.json", "changes agent configuration"),
    "secret": (".env.local", "denied by protected-files"),
    "lockfile": ("package-lock.json", "denied by protected-files"),
    "git's own store": (".git/description", "belongs to git's own store"),
    "nothing of the kind": ("plain.txt", ""),
}


@pytest.mark.parametrize(("path", "why"), HIDDEN_CHANGES.values(), ids=list(HIDDEN_CHANGES))
def test_the_real_change_is_judged(programs, work: Path, path: str, why: str) -> None:
    """What no text shows, a name out of a file of data, is seen in what was done, and nothing of it reaches the workspace."""
    (work / "name").write_text(path, encoding="utf-8")
    (work / "tool").write_text("import os\nn = open('name').read()\nos.makedirs(os.path.dirname(n) or '.', exist_ok=True)\nopen(n, 'w').write('x')\nopen('ok.txt', 'w')\n")
    done = programs.exec("--overlay=commit", "--", "python3 - < tool")
    said = done.stderr.decode()
    assert why in said
    if why:
        assert "ran on a copy of the workspace" in said
    assert done.returncode == (126 if why else 0), said
    assert (work / "ok.txt").exists() == (not why)
    assert waiting(programs) == []
    assert os.listdir(programs.state / "overlays") == []


def test_a_protected_file_that_is_there_is_held(programs, work: Path) -> None:
    (work / "package-lock.json").write_text("{}", encoding="utf-8")
    done = programs.exec("--overlay=commit", "--", "for f in pack*lock.json; do python3 -c 'import sys; open(sys.argv[1], \"w\")' \"$f\"; done")
    assert done.returncode != 0
    assert (work / "package-lock.json").read_text(encoding="utf-8") == "{}"


def test_an_unanswered_ask_runs_apart_and_waits_for_a_person(programs, work: Path) -> None:
    with_passphrase(programs, overlay=True)
    done = programs.sh("rm data.db; echo gone")
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (126, b"gone\n")
    assert "ran on a copy of the workspace" in said
    assert "D data.db" in said
    assert (work / "data.db").exists()
    [kept] = waiting(programs)
    assert f"instinct approve {kept['request']} (24 hours)" in said
    finished = [record for record in programs.records() if record["kind"] == "finished"][-1]["body"]
    assert finished["apart"] == "kept"
    assert finished["apart_request"] == kept["request"]
    wrong = programs.instinct("approve", str(kept["request"]), stdin=b"not the passphrase\n")
    assert wrong.returncode == 126
    assert (work / "data.db").exists()
    wrong = programs.instinct("overlay", "commit", str(kept["run"]), stdin=b"nor this\n")
    assert wrong.returncode == 126
    assert (work / "data.db").exists()
    right = programs.instinct("approve", str(kept["request"]), stdin=PASSPHRASE.encode() + b"\n")
    assert right.returncode == 0, right.stderr
    assert not (work / "data.db").exists()
    assert waiting(programs) == []
    assert programs.instinct("pending").stdout == b""
    # the approval was for that change and is used up
    (work / "data.db").write_text("again", encoding="utf-8")
    assert programs.sh("rm data.db; echo gone").returncode == 126
    assert (work / "data.db").exists()
    [kept] = waiting(programs)
    assert programs.instinct("deny", str(kept["request"])).returncode == 0
    assert waiting(programs) == []


ASKED_AND_MORE = ["rm data.db; curl -s http://127.0.0.1:9/", "rm data.db && git status", "kill -TERM 4194000", "psql -c 'update t set a=1 where id=2'"]


@pytest.mark.parametrize("text", ASKED_AND_MORE)
def test_an_ask_about_more_than_files_never_runs(programs, work: Path, text: str) -> None:
    with_passphrase(programs, overlay=True)
    before = len(programs.records())
    done = programs.sh(text)
    assert done.returncode == 126, done.stderr
    assert b"copy of the workspace" not in done.stderr
    assert all(record["kind"] != "started" for record in programs.records()[before:])
    assert waiting(programs) == []


def test_not_from_inside_a_jail(programs, work: Path) -> None:
    """There the workspace's own files would change."""
    text = " ".join(shlex.quote(word) for word in [str(TOP / "bin" / "instinct-exec"), "--overlay", "--", "rm a.txt"])
    done = programs.sh(f"{text}; {shlex.quote(str(TOP / 'bin' / 'instinct'))} overlay list")
    assert done.returncode == 126, done.stderr
    assert done.stderr.count(b"inside a jail") == 2, done.stderr
    assert (work / "a.txt").exists()


def test_an_ask_that_leaves_no_change_to_commit_can_be_allowed_as_ever(programs, work: Path) -> None:
    with_passphrase(programs, overlay=True)
    done = programs.sh("rm data.db; mkfifo pipe")
    said = done.stderr.decode()
    assert done.returncode == 126
    assert "neither a file, a folder nor a link" in said
    assert "(15 minutes)" in said
    assert waiting(programs) == []
    request = said.partition("instinct approve ")[2].split(" ")[0]
    assert programs.instinct("approve", request, stdin=PASSPHRASE.encode() + b"\n").returncode == 0
    assert programs.sh("rm data.db; mkfifo pipe").returncode == 0
    assert not (work / "data.db").exists()


def test_an_ask_that_changes_nothing_has_simply_run(programs, work: Path) -> None:
    with_passphrase(programs, overlay=True)
    (work / "list").write_text("absent\n", encoding="utf-8")
    done = programs.sh("rm -f $(cat list); echo done")
    assert (done.returncode, done.stdout) == (0, b"done\n")


def test_names_of_any_bytes_and_other_profiles(programs, work: Path) -> None:
    done = programs.exec("--overlay=commit", "--", "echo n > $'\\xff\\n1'")
    assert done.returncode == 0, done.stderr
    assert b"\xff" in b"".join(os.listdir(os.fsencode(work)))
    done = programs.exec("--profile", "staging", "--overlay=commit", "--", "rm a.txt; /bin/sh -c 'rm -f absent; ls'")
    assert done.returncode == 0, done.stderr
    assert b"D a.txt" in done.stderr
    assert not (work / "a.txt").exists()
    assert programs.instinct("audit", "verify", "--replay").returncode == 0


def test_the_drop_in_shell_says_the_same(programs, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_passphrase(programs, overlay=True)
    start = [word.replace("instinct_exec import main", "shell import main").replace("main())", "main(['bash', *sys.argv[1:]]))") for word in programs.argv("instinct-exec")]
    done = programs._call([*start, "-c", "rm data.db; echo gone"], b"", None, 60)
    assert (done.returncode, done.stdout) == (126, b"gone\n"), done.stderr
    assert b"ran on a copy of the workspace" in done.stderr
    assert b"D data.db" in done.stderr
    assert (work / "data.db").exists()
    assert len(waiting(programs)) == 1


def test_what_the_profile_does_not_let_be_written_is_not_committed(programs, work: Path) -> None:
    """On the view all of the workspace can be written; what was is judged."""
    with_passphrase(programs, overlay=True, more='[paths]\nwritable = ["{workspace}/src"]\n')
    (work / "src").mkdir()
    (work / "name").write_text("outside.txt", encoding="utf-8")
    (work / "tool").write_text("open(open('name').read(), 'w').write('x')", encoding="utf-8")
    for text, status in (("python3 - < tool", 126), ("echo x > src/inside.txt", 0)):
        done = programs.exec("--overlay=commit", "--", text)
        assert done.returncode == status, (text, done.stderr)
    assert not (work / "outside.txt").exists()
    assert (work / "src/inside.txt").exists()
    [kept] = waiting(programs)
    assert "scope-validation" in str(kept["needs"])  # a person may


def test_a_deny_stays_one(programs, work: Path) -> None:
    with_passphrase(programs, overlay=True)
    for words in (["--"], ["--overlay", "--"]):
        done = programs.exec(*words, "rm -rf ~")
        assert done.returncode == 126
        assert b"denied by" in done.stderr
        assert b"copy of the workspace" not in done.stderr


def test_by_default_an_ask_does_not_run(programs, work: Path) -> None:
    with_passphrase(programs)
    done = programs.sh("rm data.db; echo gone")
    assert (done.returncode, done.stdout) == (126, b"")
    assert b"15 minutes" in done.stderr


def test_without_a_passphrase_nothing_asked_runs_apart(programs, work: Path) -> None:
    done = programs.exec("--overlay", "--", "rm data.db; echo gone")
    assert (done.returncode, done.stdout) == (126, b"")
    assert b"nobody can yet" in done.stderr


def test_the_report_says_it(programs, work: Path) -> None:
    with_passphrase(programs, overlay=True)
    words = " ".join(shlex.quote(word) for word in programs.argv("instinct-exec", "--report-fd", "9", "--", "rm data.db"))
    done = programs._call(["/bin/bash", "-c", f"{words} 9>report.json; echo $?; cat report.json"], b"", None, 60)
    status, report = done.stdout.decode().split("\n", 1)
    assert status == "126"
    assert json.loads(report)["overlay"]["fate"] == "kept"
    assert json.loads(report)["run"] is None


def test_a_warm_engine_takes_the_long_way(programs, work: Path) -> None:
    env = {"INSTINCT_ENGINE": "on"}
    try:
        assert programs.instinct("engine", "start", env=env).returncode == 0
        done = programs.exec("--overlay=commit", "--", "rm a.txt", env=env)
        assert (done.returncode, b"D a.txt" in done.stderr) == (0, True)
        assert not (work / "a.txt").exists()
    finally:
        programs.instinct("engine", "stop", env=env)
