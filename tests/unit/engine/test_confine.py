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


TRACKED = OnDisk(
    protected=tuple(
        f"{WORKSPACE}/{name}"
        for name in (
            ".env", "certs/key.pem", "package-lock.json", ".github/workflows", ".gitlab-ci.yml",
            ".vscode/tasks.json", ".envrc", ".claude/settings.json", ".git/config", ".git/hooks", "sub/.git/config",
        )
    )
)  # fmt: skip
OTHERS_RUN = {"package-lock.json", ".github/workflows", ".gitlab-ci.yml"}


@pytest.mark.parametrize(
    ("moves", "programs", "opened"),
    [
        (True, ("git",), OTHERS_RUN | {".env", "certs/key.pem"}),
        (True, ("git", "cat", "git"), OTHERS_RUN | {".env", "certs/key.pem"}),
        (True, ("git", "npm"), OTHERS_RUN),
        (True, None, OTHERS_RUN),
        (False, ("git",), set()),
    ],
)
def test_git_may_take_the_whole_tree_from_one_commit_to_another(dev, moves, programs, opened):
    """But for what this machine runs or trusts: a commit is no judgement."""
    spec = confine(intent("x"), (), dev, situation(), disk=TRACKED, programs=programs, moves=moves)
    assert {path.removeprefix(f"{WORKSPACE}/") for path in TRACKED.protected if path not in spec.protected} == opened


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


REGISTRIES = ("index.example:443", "10.0.0.5:4873")


def test_staging_reaches_the_machines_registries_and_nothing_without_any(staging):
    spec = plan(staging)
    assert (spec.network, spec.network_allow) == ("none", ())
    spec = confine(intent("x"), (), staging, situation(), disk=OnDisk(registries=REGISTRIES))
    assert (spec.network, spec.network_allow) == ("allowlist", REGISTRIES)
    env = dict(spec.env)
    assert env["HTTPS_PROXY"] == env["http_proxy"] == env["ALL_PROXY"] == "http://127.0.0.1:18128"
    assert "127.0.0.1" in env["NO_PROXY"]
    assert "-Dhttps.proxyPort=18128" in env["MAVEN_OPTS"]
    assert "HTTPS_PROXY" not in dict(plan(staging).env)


def test_entries_stand_beside_the_registries(staging):
    listed = staging.replace(network_allow=("@package-registries", "a.example:22", "index.example:443"))
    spec = confine(intent("x"), (), listed, situation(), disk=OnDisk(registries=REGISTRIES))
    assert spec.network_allow == (*REGISTRIES, "a.example:22")


def test_the_callers_proxy_gives_way_and_their_java_options_stay(staging):
    asked = intent("x").replace(env=(("HTTPS_PROXY", "http://corp.example:3128"), ("MAVEN_OPTS", "-Xmx1g")))
    env = dict(confine(asked, (), staging, situation(), disk=OnDisk(registries=REGISTRIES)).env)
    assert env["HTTPS_PROXY"] == "http://127.0.0.1:18128"
    assert env["MAVEN_OPTS"].startswith("-Xmx1g -Dhttp.proxyHost=")
    assert "PIP_PROXY" not in env
    asked = intent("x").replace(env=(("PIP_PROXY", "http://corp.example:3128"), ("GOPROXY", "https://go.example")))
    env = dict(confine(asked, (), staging, situation(), disk=OnDisk(registries=REGISTRIES)).env)
    assert (env["PIP_PROXY"], env["GOPROXY"]) == ("http://127.0.0.1:18128", "https://go.example")


def test_where_a_list_cannot_be_held_only_what_needs_it_asks_for_it(staging):
    here, disk = situation(jail_level="partial"), OnDisk(registries=REGISTRIES)
    assert confine(intent("ls"), (effect("file.read", "a"),), staging, here, disk=disk).network == "none"
    for needy in (effect("net.connect", "a.example", target="host"), effect("package.install", "x")):
        assert confine(intent("x"), (needy,), staging, here, disk=disk).network == "allowlist"


def test_ports_are_published_where_the_network_is_the_jails_own(dev, staging):
    assert plan(dev.replace(publish=(3000,))).publish == ()
    assert plan(staging.replace(publish=(3000,))).publish == (3000,)
    assert plan(staging.replace(network="none", publish=(3000,))).network == "none"
