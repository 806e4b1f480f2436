"""Execs as the engine sees them: the watch set out of the catalog, the tree of an argument vector, and which findings act."""

from __future__ import annotations

import pytest
from judging import effect

from instinct_shell.effects.catalog import MODULES, Catalog
from instinct_shell.effects.own_rows import rows_of
from instinct_shell.engine import execs
from instinct_shell.engine.execs import WatchSet, covers, environment_of, in_scratch, own_step, stopping, tree_of
from instinct_shell.model.effect import Effect, EffectKind, Target, TargetKind
from instinct_shell.model.execs import ExecRequest
from instinct_shell.model.profile import ProgramRow
from instinct_shell.model.verdict import Decision, Finding, Verdict

WATCHED = "git terraform psql bash sh zsh rm mv dd find xargs sudo python3 python3.12 node perl make npm docker kubectl systemctl reboot mkfs cat tee unlink".split()
OUTSIDE = "gcc cc clang++-19 gcc-12 true false echo printf test [ expr cc1 collect2 my-own-program seq tr".split()


@pytest.mark.parametrize("name", WATCHED)
def test_watched(name: str) -> None:
    assert name in WatchSet()


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside(name: str) -> None:
    assert name not in WatchSet()


def test_every_row_with_a_role_that_changes_is_watched() -> None:
    """Against the table itself: what is left out has neither a describer nor such a role."""
    watch, catalog = WatchSet(), Catalog()
    compilers = {"cc", "c++", "gcc", "g++", "clang", "clang++"}  # what they write and start is held and seen without
    left_out = [name for name in MODULES if name not in watch and name not in compilers]
    assert 0.02 < len(left_out) / len(MODULES) < 0.2
    for name in left_out:
        row = catalog.row(name)
        assert row is not None
        assert row.describe is None
        assert not {"write", "delete", "move", "append", "create", "read"} & set(row.roles.replace("r-", "").replace("*", "").split()), name


def test_a_profiles_own_program_is_watched_by_its_columns() -> None:
    rows = rows_of((ProgramRow(("wipe-all",), roles="r-delete"), ProgramRow(("shout",), roles="ignore")))
    assert "wipe-all" in WatchSet(rows)
    assert "shout" not in WatchSet(rows)


def request(*argv: str, program: str = "", cwd: str = "/ws", caller: str = "/bin/sh", env: tuple[tuple[str, str], ...] = ()) -> ExecRequest:
    return ExecRequest(program or f"/usr/bin/{argv[0]}", argv, cwd, env, caller)


TREES = [
    (request("rm", "-rf", "a b", "$HOME", "*", ""), "rm -rf 'a b' '$HOME' '*' ''"),
    (request("rm", "x", program="/ws/node_modules/.bin/rimraf"), "/ws/node_modules/.bin/rimraf x"),
    (request("rm", "x", program="/bin/busybox"), "rm x"),
    (request("busybox", "rm", "x"), "busybox rm x"),
    (request("echo", "\udcff", "it's"), "echo '\ufffd' 'it'\"'\"'s'"),
    (ExecRequest("/usr/bin/id", (), "/"), "id"),
]


@pytest.mark.parametrize(("asked", "text"), TREES)
def test_tree(asked: ExecRequest, text: str) -> None:
    found, parsed = tree_of(asked)
    assert found == text
    (command,) = parsed.script.items
    assert "".join(found[word.span.start : word.span.end] + " " for word in command.words).rstrip() == text
    assert all(part.quoted for word in command.words for part in word.parts)


def test_own_step() -> None:
    assert own_step("git", "git")
    assert own_step("as", "x86_64-linux-gnu-gcc-12")
    assert own_step("ld", "clang")
    for program, caller in (("git", "dash"), ("git", "make"), ("sh", "sh"), ("as", "make"), ("rm", "gcc"), ("gcc", "gcc"), ("sh", "git")):
        assert not own_step(program, caller)


def test_environment() -> None:
    env = (("A", "1"), ("GIT_DIR", "/x"), ("HOME", "/h"), ("PATH", "/bin"))
    assert environment_of(request("rm", "x", env=env)) == env[1:]
    assert environment_of(request("sh", "-c", "rm $A", env=env)) == env


COVERS = [
    (effect("file.delete", "/ws/build"), effect("file.delete", "/ws/build/a"), True),
    (effect("file.delete", "/ws/build"), effect("file.delete", "/ws"), False),
    (effect("file.delete", "/ws/build"), effect("file.delete", "/ws/buildings"), False),
    (effect("file.delete", "/ws/build"), effect("file.write", "/ws/build"), False),
    (Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATTERN, "/ws/a*")), effect("file.delete", "/ws/ab"), True),
    (Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATTERN, "/*")), effect("file.delete", "/etc"), False),
    (Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, "", "unknown")), effect("file.delete", "/etc"), False),
    (Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, "/ws/t", "unknown")), effect("file.delete", "/ws/t1"), True),
    (Effect(EffectKind.GIT_DISCARD), Effect(EffectKind.GIT_DISCARD), True),
    (Effect(EffectKind.GIT_DISCARD), Effect(EffectKind.GIT_FORCE_PUSH), False),
]


@pytest.mark.parametrize(("parent", "child", "held"), COVERS)
def test_covers(parent: Effect, child: Effect, held: bool) -> None:
    assert covers(parent, child) is held


def verdict(*findings: Finding) -> Verdict:
    return Verdict(max(each.decision for each in findings), findings)


def test_what_stops() -> None:
    lost = Effect(EffectKind.GIT_DISCARD)
    deny = Finding("destructive-operation", Decision.DENY, "x", effect=lost)
    asked = request("git", "reset", "--hard")
    assert stopping(asked, verdict(deny), (), "/ws") is deny
    assert stopping(asked, verdict(deny), (lost,), "/ws") is None
    assert stopping(asked, verdict(deny.replace(decision=Decision.ASK)), (), "/ws") is None
    assert stopping(asked, verdict(deny.replace(instinct="opaque-code")), (), "/ws") is None
    unknown = deny.replace(effect=Effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, "", "unknown")))
    assert stopping(asked, verdict(unknown), (), "/ws") is None  # what it turns out to be is an exec of its own
    assert stopping(asked, verdict(unknown, deny), (), "/ws") is deny
    assert execs.faulted(verdict(deny)) is None
    assert execs.faulted(verdict(deny.replace(effect=None))) is not None


SCRATCH = [
    (request("git", "reset", "--hard", cwd="/tmp/t/repo"), True),
    (request("git", "reset", "--hard", cwd="/tmp/ws/sub"), False),  # the workspace may lie there
    (request("git", "-C", "/ws", "reset", "--hard", cwd="/tmp/t"), False),
    (request("git", "--git-dir=/ws/.git", "reset", "--hard", cwd="/tmp/t"), False),
    (request("git", "reset", "--hard", cwd="/tmp/t", env=(("GIT_DIR", "/ws/.git"),)), False),
    (request("rm", "-rf", "x", cwd="/tmp/t"), False),
]


@pytest.mark.parametrize(("asked", "scratch"), SCRATCH)
def test_scratch(asked: ExecRequest, scratch: bool) -> None:
    assert in_scratch(asked, "/tmp/ws") is scratch
