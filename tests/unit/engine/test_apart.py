"""Which commands may run on a copy-on-write view, in which jail, and what their change is as effects."""

from __future__ import annotations

import judging
import pytest
from judging import HOME, WORKSPACE, EmptyHost, Still

from instinct_shell.engine.apart import asks_about_files, effects_of, git_of, lines_of, obstacle, runs_apart, spec_of
from instinct_shell.engine.judge import judge
from instinct_shell.engine.judgement import Judgement
from instinct_shell.errors import OverlayError
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.jailspec import JailLevel, JailSpec, Limits, Session
from instinct_shell.model.overlay import MOST_BYTES, WALL_SECONDS, Change, ChangeSet, Was
from instinct_shell.storage.profiles import ProfileStore


@pytest.fixture(scope="module")
def dev():
    return ProfileStore(home="/nonexistent", cache=False).load("dev", "", {})


def judged(text: str, profile, **where: object) -> Judgement:
    """The judgement of a text in the assumed world, at level full."""
    situation = judging.situation(jail_level="full", **where)
    derived = judging._derive(text)
    asked = judging.intent(text, env=(("HOME", HOME),))
    verdict, facts = judge(asked, derived.effects, profile, situation, EmptyHost(), Still(), BUILTIN)
    return Judgement(asked, "run", verdict, situation, derived.effects, facts, derived.evaluation, judging.parse(text), "both")


# text, what is in the way of running it apart ("" nothing), whether it is an ask that is all about files here
CASES = [
    ("rm -r src", "", False),
    ("sed -i s/a/b/ *.py", "", False),
    ("find . -name '*.orig' -delete", "", False),
    ("tar xzf a.tgz", "", False),
    ("python3 gen.py > out.txt 2>/dev/null", "", False),
    ('for f in *.txt; do mv "$f" old/; done', "", False),
    ("rm data.db", "", True),
    ("rm -rf $(cat list)", "", True),
    ("echo x > .envrc", "", True),
    ("t=$(mktemp) && sort a > $t && mv $t a", "", False),
    ("git status", "history", False),
    ("git clean -fdx", "git.discard", False),
    ("sh -c 'git reset --hard'", "git.discard", False),
    ("rm data.db; git status", "history", True),
    ("curl -s example.net > f", "net.connect", False),
    ("rm data.db; curl example.net", "net.connect", True),
    ("npm run build", "", None),
    ("make", "builds", False),
    ("python3 -m http.server &", "", None),
    ("pip install requests", "", None),
    ("echo x > /tmp/other", "outside the workspace", False),
    ("mv a /srv/other/", "outside the workspace", None),
    ("cp -l a b", "hard links", False),
    ("ln a b", "hard links", False),
    ("kill 4711", "process.kill", False),
    ("ssh host rm data.db", "", None),
    ("docker run --rm x rm data.db", "", None),
    ("psql -c 'delete from t where id = 1'", "", None),
    ("terraform apply -auto-approve", "", None),
]


@pytest.mark.parametrize(("text", "wrong", "files"), CASES, ids=[row[0] for row in CASES])
def test_what_runs_apart(dev, text: str, wrong: str, files: bool | None) -> None:
    found = judged(text, dev)
    reason = obstacle(found)
    if files is None or wrong:
        assert wrong in reason
        assert reason
    else:
        assert reason == ""
    if files is not None:
        assert asks_about_files(found) is files


def test_only_a_full_jail_a_readable_text_and_a_folder_inside(dev) -> None:
    assert "level full" in obstacle(judged("rm a", dev).replace(situation=judging.situation(jail_level="partial")))
    assert "read" in obstacle(judged("rm a", dev).replace(refused=True))
    one = judged("rm a", dev)
    assert "outside the workspace" in obstacle(one.replace(intent=one.intent.replace(cwd="/srv")))


def test_when_it_runs_apart(dev) -> None:
    asked, allowed, denied = (judged(text, dev) for text in ("rm data.db", "rm a", "rm -rf ~"))
    may = {"possible": True, "approvable": True}
    assert runs_apart(allowed, wanted=True, unanswered=False, **may)
    assert not runs_apart(denied, wanted=True, unanswered=False, **may)
    assert runs_apart(asked, wanted=False, unanswered=True, **may)
    assert not runs_apart(asked, wanted=True, unanswered=True, possible=True, approvable=False)
    assert not runs_apart(asked, wanted=False, unanswered=True, possible=False, approvable=True)
    with pytest.raises(OverlayError):
        runs_apart(allowed, wanted=True, unanswered=False, possible=False, approvable=True)


def test_its_jail_writes_the_workspace_alone_and_reaches_nothing() -> None:
    spec = JailSpec(
        WORKSPACE, WORKSPACE, writable=(WORKSPACE, "/tmp", "/home/dev/.cache"), protected=("p",), masked=("m",), session=Session("/s"), vetted=("v",),
        network="allowlist", network_allow=("example.net",), publish=(3000,), env=(("TMPDIR", "/var/tmp/x"), ("A", "b")), limits=Limits(wall_seconds=3600.0, processes=10),
    )  # fmt: skip
    made = spec_of(spec)
    assert (made.writable, made.network, made.private_tmp, made.session, made.vetted) == ((WORKSPACE,), "none", True, None, ())
    assert (made.protected, made.masked, made.least_level) == (("p",), ("m",), JailLevel.FULL)
    assert (made.network_allow, made.publish) == ((), ())
    assert made.env == (("TMPDIR", "/tmp"), ("A", "b"))
    assert (made.limits.wall_seconds, made.limits.file_bytes, made.limits.processes) == (WALL_SECONDS, MOST_BYTES, 10)
    assert spec_of(spec.replace(limits=Limits(wall_seconds=5.0))).limits.wall_seconds == 5.0


WAS = Was("file", 0o644, 3, digest="d")
SET = ChangeSet(
    WORKSPACE,
    1,
    2,
    (
        Change("a", "modified", "file", 0o644, 5, was=WAS),
        Change("d", "deleted", "dir", was=Was("dir", 0o755)),
        Change("d/.env", "deleted", "file", was=WAS),
        Change("l", "created", "link", to="../x"),
        Change("m", "metadata", "file", 0o755, 3, was=WAS),
        Change("n", "created", "file", 0o644, 3, moved_from="o"),
        Change("o", "deleted", "file", was=WAS),
    ),
)


def test_a_change_as_effects_and_as_lines() -> None:
    shown = [(str(one.kind), one.target.text.removeprefix(WORKSPACE + "/"), one.get("recursive"), one.get("to")) for one in effects_of(SET)]
    assert shown == [
        ("file.write", "a", "", ""),
        ("file.delete", "d", "1", ""),
        ("file.delete", "d/.env", "", ""),
        ("file.create", "l", "", ""),
        ("file.link", "l", "", "../x"),
        ("file.metadata", "m", "", ""),
        ("file.create", "n", "", ""),
        ("file.delete", "o", "", ""),
    ]
    assert lines_of(SET) == ("M a (5 bytes)", "D d/ (1 below it)", "A l -> ../x", "m m (mode 0644 -> 0755)", "R o -> n")
    assert lines_of(SET, 2) == ("M a (5 bytes)", "D d/ (1 below it)", "... and 3 more")
    assert git_of(SET) == ""
    assert git_of(SET.replace(changes=(Change("sub/.git/config", "created", "file"),))) == "sub/.git/config"


def test_the_digest_is_of_everything() -> None:
    assert SET.digest() == SET.replace().digest()
    assert SET.digest() != SET.replace(changes=SET.changes[:-1]).digest()
    assert SET.digest() != SET.replace(changes=(SET.changes[0].replace(digest="e"), *SET.changes[1:])).digest()


def test_a_protected_name_in_a_deleted_folder_is_denied(dev) -> None:
    found = judging.verdict(dev, *effects_of(SET), ask=EmptyHost(), where=judging.situation(jail_level="full"))
    assert found.decision.word == "deny"
    assert found.finding is not None
    assert found.finding.instinct == "protected-files"
