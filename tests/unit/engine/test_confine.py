"""From a judgement to a jail: what is writable, what is held, what is opened for this one command."""

from __future__ import annotations

import pytest
from judging import HOME, WORKSPACE, effect, intent, situation

from instinct_shell.engine.confine import OnDisk, confine, only_reads
from instinct_shell.model.jailspec import JailLevel

DISK = OnDisk(
    protected=(
        f"{WORKSPACE}/.env",
        f"{WORKSPACE}/package-lock.json",
        f"{WORKSPACE}/yarn.lock",
        f"{WORKSPACE}/.git/config",
        f"{WORKSPACE}/.git/hooks",
    ),
    masked=(f"{HOME}/.ssh/id_ed25519",),
)


def plan(profile, *effects, text="x", **more):
    return confine(intent(text), effects, profile, situation(guard_paths=(f"{WORKSPACE}/.guard", "/opt/guard")), disk=DISK, **more)


def test_dev_writes_the_workspace_and_scratch(dev):
    spec = plan(dev)
    assert spec.writable == (WORKSPACE, "/tmp", "/dev/shm", "/var/tmp")
    assert set(DISK.protected) <= set(spec.protected)
    assert f"{WORKSPACE}/.guard" in spec.protected
    assert "/opt/guard" not in spec.protected
    assert spec.masked == DISK.masked
    assert (spec.network, spec.private_tmp, spec.least_level) == ("host", False, JailLevel.PARTIAL)


def test_prod_writes_only_a_private_tmp_and_needs_the_full_jail(prod):
    spec = plan(prod)
    assert (spec.writable, spec.private_tmp, spec.network, spec.least_level) == (("/tmp",), True, "none", JailLevel.FULL)


@pytest.mark.parametrize(
    ("one", "opened"),
    [
        (effect("package.install", "vitest", manager="npm"), {"package-lock.json"}),
        (effect("package.install", "x", manager="yarn"), {"yarn.lock"}),
        (effect("package.install", "x", manager="pip"), set()),
        (effect("file.write", ".git/hooks/pre-commit"), {".git/hooks"}),
        (effect("git.config", key="user.name", value="x"), {".git/config"}),
        (effect("file.write", "src/app.ts"), set()),
        (effect("file.read", "package-lock.json"), set()),
    ],
)
def test_a_predicted_write_is_opened_for_this_command_alone(dev, one, opened):
    held = set(plan(dev, one).protected)
    assert {path.removeprefix(f"{WORKSPACE}/") for path in DISK.protected if path not in held} == opened


def test_the_command_is_handed_over_as_it_was_judged(dev):
    spec = confine(intent('echo "$0 $1"', argv0="a", positional=("b c",)), (), dev, situation())
    assert spec.argv[-3:] == ('echo "$0 $1"', "a", "b c")
    assert spec.argv[0] == "/bin/bash"


def test_caches_point_into_the_workspaces_own_folder(dev):
    spec = confine(intent("x"), (), dev, situation(), disk=OnDisk(cache="/var/cache/w"))
    assert dict(spec.env)["PIP_CACHE_DIR"] == "/var/cache/w/pip"
    assert "/var/cache/w" in spec.writable


@pytest.mark.parametrize(
    ("programs", "effects", "reads"),
    [
        (("cat", "grep"), (effect("file.read", "a"),), True),
        (("cat",), (effect("file.write", "a"),), False),
        (("npm",), (), False),
        ((), (), False),
        (None, (), False),
        (("ls",), (), True),
        (("cat",), (effect("file.read", "", dynamic="x"),), False),
    ],
)
def test_only_what_surely_reads_runs_without_write_rights(programs, effects, reads):
    assert only_reads(effects, programs) is reads
