"""Pinned packages of others, for the tests and benchmarks that need them: installed once into the caller's cache, outside the repository.

Nothing of a package runs while it is installed: npm gets --ignore-scripts, pip takes wheels only.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

WAIT = 600  # seconds for one installation over a slow line


class NotHad(Exception):
    """Something could not be installed; the message says what and why."""


def cache(name: str) -> Path:
    """The folder of this name in the caller's cache: no command may write there, and nobody else in any folder above it.

    A HOME made for this run often lies under /tmp, which is every command's: then it is the account's own home. Raises NotHad without any.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    places = [Path(base)] if base.startswith("/") else []
    places += [Path.home() / ".cache", Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache"]
    for place in places:
        found = place / name
        if not any(found.resolve().is_relative_to(scratch) for scratch in ("/tmp", "/var/tmp")):  # named to be avoided
            found.mkdir(mode=0o700, parents=True, exist_ok=True)
            return found
    raise NotHad(f"{', '.join(map(str, places))}: commands may write there; set XDG_CACHE_HOME to a folder elsewhere")


def kept(place: Path, fill: Callable[[Path], None]) -> Path:
    """The folder `place` of a cache, filled once: whole or not at all, by one process at a time. Raises what `fill` raises."""
    with open(place.parent / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_dir():
            draft = place.with_name(place.name + ".draft")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            try:
                fill(draft)
                draft.rename(place)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    return place


def by_npm(folder: Path, packages: tuple[str, ...]) -> None:
    """Installs these packages (NAME@VERSION) into `folder`/node_modules. Raises NotHad."""
    if shutil.which("npm") is None:
        raise NotHad("npm is not on PATH")
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--force"]
    _install("npm", [*words, "--cache", str(folder.parent / "npm"), *packages], folder, packages)


def by_pip(folder: Path, package: str) -> None:
    """Installs one package (NAME==VERSION) that needs no other into `folder`, for the interpreter that runs now. Raises NotHad."""
    words = [sys.executable, "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    _install("pip", [*words, "--target", str(folder), package], folder, (package,))


def first_error(said: str) -> str:
    """The line of a program's talk that names its trouble: the first with `error` in it, else the first."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "it said nothing")


def _install(tool: str, words: list[str], cwd: Path, packages: tuple[str, ...]) -> None:
    names = ", ".join(packages)
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=WAIT, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise NotHad(f"{tool} did not install {names} within {WAIT} s") from error
    if done.returncode:
        raise NotHad(f"{tool} could not install {names}: {first_error(done.stderr)}\n{done.stderr[-2000:]}")
