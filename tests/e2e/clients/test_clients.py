"""The real agents under guard, offline: each is put under guard by `instinct install`, and a scripted model makes it do things.

Claude Code, Gemini CLI and Qwen Code always (class A); `bin/e2e --all` adds Codex and Copilot CLI.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.clients.packages import CLASS_A, PACKAGES
from e2e.clients.scenes import Scene

from instinct_shell.frontends.proof.drive import Driven

AGENTS = tuple(PACKAGES) if os.environ.get("INSTINCT_E2E") == "all" else CLASS_A
pytestmark = [pytest.mark.slow, pytest.mark.jail]

ALLOWED = "echo allowed-''work; grep -e NoNewPrivs -e Seccomp: /proc/self/status"
HARMFUL = "rm -rf ~"


@pytest.fixture(scope="module", params=AGENTS)
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    """One agent's scene, for all tests of it."""
    made = Scene(request.param)
    yield made
    made.close()


@pytest.fixture(scope="module")
def work(scene: Scene) -> Driven:
    """One start of the agent in which everything but the faults happens."""
    (scene.workspace / "sub").mkdir()
    folder = {scene.client.folder_field: str(scene.workspace / "sub")} if scene.client.folder_field else {}
    return scene.drive(
        scene.client.run(ALLOWED),
        scene.client.run(HARMFUL),
        scene.client.put(str(scene.workspace / "package-lock.json"), "{}\n"),
        scene.client.put(str(scene.workspace / "notes.txt"), "a note\n"),
        scene.client.run("env"),
        scene.client.run("cd sub && echo one-$PWD-one"),
        scene.client.run("echo two-$PWD-two", **folder),
    )


def test_install_ends_with_the_canary(scene: Scene) -> None:
    assert scene.said.returncode == 0, scene.said.stdout + scene.said.stderr
    proof = json.loads(scene.said.stdout)["proof"]
    assert proof["proven"] is True
    assert len(proof["points"]) == 5


def test_an_allowed_command_runs_in_the_jail_and_its_output_reaches_the_model(scene: Scene, work: Driven) -> None:
    said = " ".join(work.results[0].split())
    assert "allowed-work" in said
    assert "NoNewPrivs: 1" in said
    assert "Seccomp: 2" in said


def test_interception_is_proven_by_the_trail(scene: Scene, work: Driven) -> None:
    doors = {str(body["door"]): body for body in scene.judged(ALLOWED)}
    assert "hook" in doors
    ours = doors.get("shell") or doors["instinct-exec"]
    assert ours["decision"] == "allow"
    kinds: dict[str, dict[str, object]] = {}
    for record in scene.records():
        if any(dict(other.body) == ours and other.run == record.run for other in scene.records()):
            kinds[str(record.kind)] = dict(record.body)
    assert {"judged", "started", "finished"} <= set(kinds)
    assert kinds["finished"]["level"] in {"full", "partial"}
    assert scene.instinct("audit", "verify").returncode == 0


def test_harm_is_denied_and_the_model_reads_why_and_what_instead(scene: Scene, work: Driven) -> None:
    assert "instinct: denied by destructive-operation" in work.results[1]
    assert "deletes the home directory" in work.results[1]
    assert "instead: name a path inside the workspace" in work.results[1]
    assert scene.home.is_dir()


def test_a_protected_file_is_not_written_by_the_agents_own_tool(scene: Scene, work: Driven) -> None:
    assert "instinct: denied by protected-files" in work.results[2]
    assert "instead: let its package manager write it" in work.results[2]
    assert not (scene.workspace / "package-lock.json").exists()


def test_harmless_files_are_written(scene: Scene, work: Driven) -> None:
    assert "instinct:" not in work.results[3]
    assert (scene.workspace / "notes.txt").read_text(encoding="utf-8") == "a note\n"


def test_the_agents_keys_are_not_in_the_environment(work: Driven) -> None:
    assert "PATH=" in work.results[4]
    assert "scripted" not in work.results[4]
    assert "TOKEN" not in work.results[4]


def test_the_folder_is_kept(scene: Scene, work: Driven) -> None:
    """Claude Code goes where `cd` went; the others name a folder for each call, or start each call in the workspace."""
    there = scene.workspace / "sub"
    assert f"one-{there}-one" in work.results[5]
    stays = bool(scene.client.folder_field) or scene.client.agent == "claude"
    assert f"two-{there if stays else scene.workspace}-two" in work.results[6]


@pytest.mark.parametrize("fault", [("crash", "hang", "judge-hangs")], ids=["crash, hang, judge-hangs"])
def test_a_hook_that_crashes_or_hangs_denies(scene: Scene, work: Driven, fault: tuple[str, ...]) -> None:
    launch = scene.data / "launch.py"
    whole = launch.read_text(encoding="utf-8")
    scene.break_hook(*fault)
    try:
        driven = scene.drive(*(scene.client.put(str(scene.workspace / f"{each}.txt"), "x\n") for each in fault))
    finally:
        launch.write_text(whole, encoding="utf-8")
    for each, said in zip(fault, driven.results, strict=True):
        # Copilot CLI shows no words of a hook that exits with 2; that blocks in each of its dialects, and so it is what a dying hook does.
        hidden = scene.client.agent == "copilot" and "hook exited with code 2" in said
        assert hidden or "instinct: denied" in said, f"{each}: {said}"
        assert not (scene.workspace / f"{each}.txt").exists()


def test_uninstall_gives_everything_back(scene: Scene, work: Driven) -> None:
    """Last: the scene is not under guard after it."""
    changed = scene.files()
    assert scene.instinct("uninstall", scene.client.agent).returncode == 0
    assert not scene.data.exists()
    for path in changed:
        assert not Path(path).exists() or b"instinct" not in Path(path).read_bytes()
