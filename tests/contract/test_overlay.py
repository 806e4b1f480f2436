"""Commands on a copy-on-write view, on a real disk, as the tests' user and as an ordinary one: what is listed, committed, refused and left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jail_harness import TOP, Caller, reachable

pytestmark = pytest.mark.jail

Picture = dict[str, tuple[object, ...]]


class Scene:
    """One caller with a state directory and workspaces of its own."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.top = caller.folder()
        self.state = self.top / "state"
        self.work = self.top / "work"
        self.mirror = self.top / "bare"
        for folder in (self.state, self.work):
            folder.mkdir(mode=0o700 if folder == self.state else 0o755)
            caller.own(folder)
        driver = caller.code / "overlay_driver.py"
        if not driver.exists():
            shutil.copy(TOP / "tests" / "overlay_driver.py", driver)
            driver.chmod(0o644)
            subprocess.run([caller.python, "-I", "-m", "compileall", "-q", str(caller.code)], check=True)  # an ordinary caller may not write it

    def make(self, text: str, folder: Path | None = None) -> None:
        """Fill a workspace, as the caller."""
        done = self.caller.plain(["/bin/bash", "-c", f"umask 022; {text}"], cwd=folder or self.work)
        assert done.returncode == 0, done.stderr

    def start(self, *jobs: dict[str, Any]) -> subprocess.Popen[bytes]:
        """The driver, with its jobs on the way."""
        asked = self.top / "jobs"
        asked.write_text(json.dumps([{"workspace": str(self.work), "fate": "commit", **job} for job in jobs]), encoding="utf-8")
        self.caller.own(asked)
        words = [self.caller.python, "-I", "-S", str(self.caller.code / "overlay_driver.py"), str(self.caller.code), str(self.state), str(asked)]
        return subprocess.Popen(self.caller.argv(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
        """The answers."""
        driver = self.start(*jobs)
        said, wrong = driver.communicate()
        assert driver.returncode == 0, wrong.decode()
        return list(json.loads(said.splitlines()[-1]))

    def one(self, text: str, **job: Any) -> dict[str, Any]:
        """The answer to one command."""
        return self.run({"text": text, **job})[0]

    def several(self, name: str, count: int) -> list[Path]:
        """Workspaces that are alike."""
        folders = [self.top / f"{name}{number}" for number in range(count)]
        for folder in folders:
            folder.mkdir()
            self.caller.own(folder)
        self.make(TREE, folders[0])
        done = self.caller.plain(["/bin/bash", "-c", 'for folder in "${@:2}"; do cp -a "$1/." "$folder"; done', "-", *map(str, folders)])
        assert done.returncode == 0, done.stderr
        return folders

    def kept(self) -> dict[str, Any]:
        """What a sweep leaves."""
        return self.run({"list": True})[0]


@pytest.fixture
def scene(caller: Caller) -> Iterator[Scene]:
    reachable(caller, "full")
    made = Scene(caller)
    yield made
    subprocess.run(["chmod", "-R", "u+rwx", str(made.top)], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(made.top, ignore_errors=True)


def picture(folder: Path, *, times: bool = False) -> Picture:
    """Every path with kind, mode and content; times: and when it changed. What its owner may not read is opened for the look."""
    found: Picture = {}

    def look(path: Path) -> None:
        status = path.lstat()
        mode, is_link = stat.S_IMODE(status.st_mode), path.is_symlink()
        closed = not is_link and mode & 0o500 != 0o500
        if closed:
            path.chmod(mode | 0o500)
        what = os.readlink(path) if is_link else path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        name = str(path.relative_to(folder))
        found[name] = (stat.S_IFMT(status.st_mode), 0 if is_link else mode, what, *((status.st_mtime_ns,) if times else ()))
        if stat.S_ISDIR(status.st_mode):
            for inner in sorted(path.iterdir()):
                look(inner)
        if closed:
            path.chmod(mode)

    look(folder)
    return found


TREE = (
    "echo a >a; echo b >b; mkdir -p d/e f; echo c >d/c; echo x >d/e/x; echo y >d/y; ln -s a l; ln -s d dl; "
    "echo '#!/bin/sh' >run; chmod 755 run; echo 'odd' >'o, d:d\\x'; mkdir g; echo r >g/r; echo h >.hidden"
)

# the command, and what is to be listed beside the folders' own bookkeeping
LISTED = [
    ("echo new >n", [["created", "file", "n"]]),
    ("echo more >>a", [["modified", "file", "a"]]),
    ("rm a", [["deleted", "file", "a"]]),
    ("mv a a2", [["created", "file", "a2"], ["deleted", "file", "a"]]),
    ("rm -r d/e", [["deleted", "dir", "d/e"], ["deleted", "file", "d/e/x"]]),
    ("rm -r d/e; mkdir d/e; echo z >d/e/z", [["created", "file", "d/e/z"], ["deleted", "file", "d/e/x"]]),
    ("mv d/e e2", [["created", "dir", "e2"], ["created", "file", "e2/x"], ["deleted", "dir", "d/e"], ["deleted", "file", "d/e/x"]]),
    ("chmod 600 a", [["metadata", "file", "a"]]),
    ("chmod 700 d", [["metadata", "dir", "d"]]),
    ("chmod 700 .", [["metadata", "dir", ""]]),
    ("touch -d @1000 a", [["metadata", "file", "a"]]),
    ("touch -r a /tmp/t; echo q >a; touch -r /tmp/t a", [["modified", "file", "a"]]),
    ("ln -sfn b l", [["modified", "link", "l"]]),
    ("rm l; echo file >l", [["modified", "file", "l"]]),
    ("rm a; ln -s b a", [["modified", "link", "a"]]),
    ("rm a; mkdir a; echo i >a/i", [["created", "dir", "a"], ["created", "file", "a/i"], ["deleted", "file", "a"]]),
    ("rm -r f; echo file >f", [["created", "file", "f"], ["deleted", "dir", "f"]]),
    ("mkdir -p m/n/o", [["created", "dir", "m"], ["created", "dir", "m/n"], ["created", "dir", "m/n/o"]]),
    ("rm 'o, d:d\\x'; echo z >'o, d:e'", [["created", "file", "o, d:e"], ["deleted", "file", "o, d:d\\x"]]),
    ("echo a >a; cat >>b </dev/null; chmod 644 a", [["metadata", "file", "a"]]),
    ("echo t >t; rm t; mkdir u; rmdir u", []),
    ("chmod 555 g; chmod 755 g; rm g/r; chmod 500 g", [["deleted", "file", "g/r"], ["metadata", "dir", "g"]]),
    ("umask 0; mkdir w; echo w >w/w; chmod 0 w/w; chmod 0 w", [["created", "dir", "w"], ["created", "file", "w/w"]]),
    ("cat a b | sort -r >s; true", [["created", "file", "s"]]),
]


@pytest.mark.parametrize(("text", "listed"), LISTED, ids=[row[0] for row in LISTED])
def test_what_changed_is_listed_and_committed_as_it_would_have_been(scene: Scene, text: str, listed: list[list[str]]) -> None:
    scene.make(TREE)
    scene.caller.plain(["cp", "-a", str(scene.work), str(scene.mirror)])
    before = picture(scene.work, times=True)
    answer = scene.one(text, fate="discard")
    assert answer["changes"] == listed
    assert answer["obstacles"] == []
    assert answer["left"] == []
    assert picture(scene.work, times=True) == before
    answer = scene.one(text, bare=str(scene.mirror))
    assert answer["changes"] == listed
    assert answer.get("why") is None
    assert answer["committed"] == len(listed)
    assert picture(scene.work) == picture(scene.mirror)
    assert answer["left"] == []


def random_text(chance: random.Random) -> str:
    """A sequence of changes; some of them fail, which is as good."""
    names = ["a", "b", "l", "dl", "run", "d/c", "d/y", "d/e/x", "n", "d/n", "f/n", "d/e/n", "f", "d/e", "d", "g", "g/r", "m", "m/k", "o, d:d\\x", ".hidden"]

    def name() -> str:
        return "'" + chance.choice(names) + "'"

    makers = (
        lambda: f"echo {chance.random()} >{name()}",
        lambda: f"echo {chance.random()} >>{name()}",
        lambda: f"rm -f {name()}",
        lambda: f"rm -rf {name()}",
        lambda: f"mkdir -p {name()}",
        lambda: f"rmdir {name()}",
        lambda: f"mv -T {name()} {name()}",
        lambda: f"mv {name()} {name()}",
        lambda: f"cp -a {name()} {name()}",
        lambda: f"chmod {chance.choice(['644', '755', '600', '700', '555', '500', '444', '711'])} {name()}",
        lambda: f"ln -sfn {name()} {name()}",
        lambda: f"touch {name()}",
        lambda: f"[ -f {name()} ] && sed -i s/a/b/ {name()}",
        lambda: f"find {name()} -name c -delete",
    )
    return "; ".join(chance.choice(makers)() for _ in range(chance.randint(3, 14)))


def test_random_changes_come_out_as_without_us(scene: Scene) -> None:
    """100 sequences: committed, content and mode are those of the bare run; thrown away, nothing differs, times included."""
    texts = [random_text(random.Random(seed)) for seed in range(100)]  # the same sequences each time
    jobs = []
    folders = zip(*(scene.several(name, len(texts)) for name in ("work", "bare", "still")), strict=True)
    for text, (work, bare, still) in zip(texts, folders, strict=True):
        jobs += [{"text": text, "workspace": str(work), "bare": str(bare)}, {"text": text, "workspace": str(still), "fate": "discard"}]
    before = [picture(scene.top / f"still{number}", times=True) for number in range(len(texts))]
    answers = scene.run(*jobs)
    for number, text in enumerate(texts):
        committed, thrown_away = answers[2 * number : 2 * number + 2]
        assert committed.get("why") is None, (number, text, committed)
        assert thrown_away["changes"] == committed["changes"]
        assert picture(scene.top / f"work{number}") == picture(scene.top / f"bare{number}"), (number, text)
        assert picture(scene.top / f"still{number}", times=True) == before[number], (number, text)
    assert answers[-1]["left"] == []


MIXED = "echo new >n; echo more >>a; rm b; rm -r d/e; mkdir m; echo k >m/k; ln -sfn b l; chmod 600 run; chmod 700 d; rm -r f; echo f >f; mv g g2"


def test_a_commit_that_is_killed_at_any_step_is_carried_on(scene: Scene) -> None:
    steps = range(1, 97, 1 if os.environ.get("INSTINCT_TESTS") == "all" else 2)
    works = scene.several("work", len(steps) + 1)
    scene.one(MIXED, workspace=str(works[0]))
    before, wanted = picture(works[-1]), picture(works[0])
    answers = scene.run(*({"text": MIXED, "workspace": str(work), "kill": step} for step, work in zip(steps, works[1:], strict=True)))
    assert answers[14]["killed"]
    assert answers[-1].get("killed") is False, answers[-1]
    for step, work, answer in zip(steps, works[1:], answers, strict=True):
        waits = answer["run"] in answer["kept"]  # killed before its first step: nothing was begun, and it can be committed
        assert picture(work) == (before if waits else wanted), (step, answer)
        assert waits == (answer["run"] in answer["left"]), step
    assert sum(answer["run"] in answer["kept"] for answer in answers) <= 5


def test_a_link_put_in_the_way_never_leads_out(scene: Scene) -> None:
    text = "rm d/c; echo n >d/n; echo more >>d/y; chmod 600 d/e/x; mkdir d/k; echo k >d/k/k"
    works, outsides = scene.several("work", 48), scene.several("outside", 48)
    for outside in outsides:
        scene.make("mkdir k; echo c >c; echo y >y; mkdir e; echo x >e/x; echo z >z", outside)
    before = [picture(outside, times=True) for outside in outsides]
    answers = scene.run(
        *(
            {"text": text, "workspace": str(work), "swap": [str(work / "d"), str(outside), step]}
            for step, (work, outside) in enumerate(zip(works, outsides, strict=True), 1)
        )
    )
    assert [picture(outside, times=True) for outside in outsides] == before
    swapped = [(work / "d").is_symlink() for work in works]
    assert sum(swapped) > 8
    assert not swapped[-1]
    assert all(done or "why" in answer for done, answer in zip(((work / "d.away/k/k").exists() or not was for work, was in zip(works, swapped, strict=True)), answers, strict=True))


def test_what_changed_since_is_a_conflict_and_nothing_is_committed(scene: Scene) -> None:
    scene.make(TREE)
    for text, path in (("echo more >>a; rm b", "b"), ("rm -r d; echo n >n", "d/new"), ("echo n >n; rm a", "n"), ("chmod 600 a; rm b", "a")):
        before = picture(scene.work)
        answer = scene.one(text, touch=path)
        assert "has changed since" in answer["why"] or "is there" in answer["why"], answer
        assert "nothing was committed" in answer["why"]
        assert answer["run"] in answer["left"]
        after = picture(scene.work)
        (scene.work / path).unlink()
        before.pop(path, None)
        after.pop(path)
        assert after == before
        scene.make("rm -rf ./* .hidden; " + TREE)


def test_what_changes_meanwhile_is_a_conflict(scene: Scene) -> None:
    """The workspace's file is rewritten while the command runs, before the command writes it."""
    scene.make(TREE)
    driver = scene.start({"text": "echo ready; read -r; echo mine >>a"})
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"ready\n"
    scene.make("echo theirs >a")
    said, _ = driver.communicate(b"go on\n")
    answer = json.loads(said.splitlines()[-1])[0]
    assert "was changed in the workspace while the command ran" in answer["why"], answer
    assert (scene.work / "a").read_bytes() == b"theirs\n"


REFUSED = [
    ("mkfifo p", "neither a file, a folder nor a link"),
    ("ln a a3", "hard link"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_a_commit_cannot_make_is_refused(scene: Scene, text: str, why: str) -> None:
    scene.make(TREE)
    before = picture(scene.work, times=True)
    answer = scene.one(text)
    assert why in str(answer["obstacles"])
    assert "it cannot be committed" in answer["why"]
    assert picture(scene.work, times=True) == before


def test_a_file_with_other_names_is_not_parted(scene: Scene) -> None:
    scene.make(TREE + "; ln a other")
    assert "other hard links" in scene.one("echo more >>a")["why"]
    answer = scene.one("rm other")
    assert answer["committed"] == 1
    assert (scene.work / "a").read_bytes() == b"a\n"


def test_too_much_is_thrown_away(scene: Scene) -> None:
    scene.make(TREE)
    answer = scene.one("mkdir many; for i in {1..5001}; do : >many/$i; done")
    assert "more than 5,000 files" in answer["why"]
    assert answer["left"] == []
    assert not (scene.work / "many").exists()


def test_a_command_that_does_not_stop_writing_is_stopped(scene: Scene) -> None:
    scene.make(TREE)
    answer = scene.one("mkdir m; i=0; while :; do : >m/$((i++)); done")
    assert answer["status"] == 137
    assert "more than 5,000 files" in answer["why"]
    assert not (scene.work / "m").exists()


def test_a_tree_too_deep_for_any_commit_goes_without_a_trace(scene: Scene) -> None:
    """Deeper than a path can be named, and than a recursion goes; closed folders in it too."""
    scene.make(TREE)
    answer = scene.one("for i in {1..1500}; do mkdir deep; cd deep; done; chmod 0 .; echo >/dev/null")
    assert "deeper" in answer["why"]
    assert answer["left"] == []
    assert picture(scene.work)["a"][2] == b"a\n"


def test_names_that_are_no_utf8(scene: Scene) -> None:
    scene.make(TREE)
    answer = scene.one("echo n >$'\\xff\\n1'; ln -s $'\\xfe' $'l\\xfd'", fate="keep")
    assert answer["left"] == [answer["run"]]
    assert scene.kept()["kept"] == [answer["run"]]
    assert scene.one("echo n >$'\\xff\\n1'; ln -s $'\\xfe' $'l\\xfd'")["committed"] == 2
    assert (os.fsencode(scene.work) + b"/\xff\n1") in [os.path.join(os.fsencode(scene.work), name) for name in os.listdir(os.fsencode(scene.work))]


def test_attributes_of_a_file_go_with_its_new_content(scene: Scene) -> None:
    scene.make(TREE)
    try:
        os.setxattr(scene.work / "a", "user.note", b"kept")
    except OSError:
        pytest.skip("this disk has no attributes that a person may set")
    assert scene.one("echo more >>a")["committed"] == 1
    assert os.getxattr(scene.work / "a", "user.note") == b"kept"
    assert [name for name in os.listxattr(scene.work / "a") if name.startswith("user.overlay")] == []


def test_expired_ones_go(scene: Scene) -> None:
    scene.make(TREE)
    scene.run({"text": "echo n >n", "fate": "keep", "expires": 1.0}, {"text": "echo m >m", "fate": "keep"})
    after = scene.kept()
    assert len(after["kept"]) == 1
    assert after["left"] == after["kept"]


def test_nothing_is_left_of_a_launcher_that_is_killed(scene: Scene) -> None:
    scene.make(TREE)
    before = picture(scene.work, times=True)
    driver = scene.start({"text": "echo changed >a; rm -r d; chmod 0 g; echo $$ ready; exec tail -f /dev/null"})
    assert driver.stdout is not None
    line = driver.stdout.readline().split()
    assert line[1:] == [b"ready"]
    driver.kill()
    with driver:
        assert driver.stdout.read() == b""  # the command had the other end of it
    assert picture(scene.work, times=True) == before
    after = scene.kept()
    assert after["kept"] == after["left"] == []
    assert os.listdir(scene.state / "overlays") == []


def test_undo_takes_a_commit_back(scene: Scene) -> None:
    from instinct_shell.execution.undo import Undo

    scene.make(TREE)
    before = picture(scene.work)
    run = scene.one("echo more >>a; rm -r d; ln -sfn b l; chmod 600 run")["run"]
    assert picture(scene.work) != before
    assert {each.result for each in Undo(str(scene.state)).restore(run)} <= {"restored", "unchanged"}
    assert picture(scene.work) == before
