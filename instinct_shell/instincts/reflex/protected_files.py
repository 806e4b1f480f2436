"""Protected files: secrets and lockfiles keep their content.

*Stops* a command or tool call that names a protected file and would read it (print, source, copy, pack, link, upload) or change it (write,
append, edit in place, truncate, delete, move, restore an old version over it); the same for a lockfile when anything but its own package
manager writes it.

*Lets pass* metadata (`ls`, `stat`, `test -f`, `chmod 600 .env`), programs that load their own `.env` (the kernel decides there), searches of
a whole tree (`grep -rn x .`), the named exceptions (`.env.example`, `*.pub` ...), reading a lockfile, staging it, and installs that rewrite it.

*How it was fooled before* (elsewhere): `cat ./././.env`, `f=.env; cat $f`, `cd config && cat ../.env`, `cat .e?v`, `cat .{e,x}nv`,
`find . -name '.env*' -exec cat {} +`, `ln .env build/x && cat build/x`, `echo "$(<.env)"`, `sed 'w yarn.lock'`, `exec 5>.env`, a download
or `git checkout` over the lockfile, the Read tool beside the shell. Judging effects instead of words answers all of these; a broad glob that
happens to reach a protected name on this disk, folders that hold one, links and letter case are judged by the scope-validation gate.

*To adjust*: `protected`, `write_protected` and `protected_exceptions` in `[paths]` of the person's profile.
"""

from __future__ import annotations

import posixpath

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import LOSSES, READS, WRITES, Ground, ground_of, is_pattern, path_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_VERBS = {
    EffectKind.FILE_READ: "reads",
    EffectKind.FILE_EXECUTE: "runs",
    EffectKind.FILE_WRITE: "overwrites",
    EffectKind.FILE_CREATE: "writes",
    EffectKind.FILE_APPEND: "appends to",
    EffectKind.FILE_DELETE: "deletes",
    EffectKind.FILE_MOVE: "moves",
    EffectKind.FILE_LINK: "links over",
    EffectKind.GIT_DISCARD: "writes an older version over",
}

# What holds values rather than code, whoever loads it.
_DATA = (".json", ".yaml", ".yml", ".toml", ".ini", ".env", ".pem", ".key", ".txt", ".xml", ".properties", ".conf", ".cfg", ".csv")

# Lockfile name -> the command by which its manager writes it.
MANAGERS = {
    "package-lock.json": "npm install --package-lock-only",
    "npm-shrinkwrap.json": "npm install --package-lock-only",
    "yarn.lock": "yarn install",
    "pnpm-lock.yaml": "pnpm install",
    "bun.lock": "bun install",
    "bun.lockb": "bun install",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock",
    "Pipfile.lock": "pipenv lock",
    "Cargo.lock": "cargo update",
    "Gemfile.lock": "bundle lock",
    "composer.lock": "composer update --lock",
    "go.sum": "go mod tidy",
}


class ProtectedFiles(BuiltIn):
    id = "protected-files"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        ground = ground_of(intent, profile, situation)
        named = [_loaded(effect) for effect in effects]
        found = [finding for effect in named if effect.kind in _VERBS and (finding := self._of(effect, ground)) is not None]
        return tuple(found)

    def _of(self, effect: Effect, ground: Ground) -> Finding | None:
        if effect.has("touch"):
            return None  # the content of what stands there stays; the gate looks whether anything does
        name = _protected(effect, ground)
        if name:
            return self.finding(Decision.DENY, _reason(effect, name, ground), _instead(effect, name, ground), effect=effect)
        if effect.kind in READS or effect.has("by_manager"):
            return None
        name = _lockfile(effect, ground)
        if not name:
            return None
        base = posixpath.basename(name)
        command = MANAGERS.get(base)
        instead = f"let its package manager write it: `{command}`" if command else "let its package manager write it"
        verb = _VERBS[effect.kind]
        return self.finding(
            Decision.DENY, f"{verb} the lockfile {ground.shown(name)}, which only its package manager writes", instead, effect=effect
        )


def _loaded(effect: Effect) -> Effect:
    """Data that an interpreter is told to load (`require("./credentials.json")`) is read; a script by such a name only runs."""
    if effect.kind is EffectKind.CODE_SCRIPT and effect.target.text.endswith(_DATA):
        return effect.replace(kind=EffectKind.FILE_READ)
    return effect


def _protected(effect: Effect, ground: Ground) -> str:
    """The protected path that the effect names, or ""."""
    path = path_of(effect)
    if path and ground.protected(path):
        return path
    if effect.kind is EffectKind.FILE_LINK:
        to = effect.get("to")
        if to.startswith("/") and ground.protected(to):
            return to
    if is_pattern(effect) and ground.glob_reaches(effect.target.text, "protected"):
        return effect.target.text
    chosen = effect.get("filter")
    if chosen and "/" not in chosen and ground.filter_reaches(chosen, "protected"):
        return chosen
    if effect.target.dynamic and effect.target.kind is TargetKind.PATH:
        tail = effect.get("suffix")
        if tail and ground.protected("/" + posixpath.basename(tail)):
            return tail
        head = effect.target.text
        if head and not head.endswith("/") and ground.protected(head):
            return head
    return ""


def _lockfile(effect: Effect, ground: Ground) -> str:
    path = path_of(effect)
    if path and ground.lockfile(path):
        return path
    if is_pattern(effect) and effect.kind in (*WRITES, *LOSSES) and ground.glob_reaches(effect.target.text, "lockfile"):
        return effect.target.text
    chosen = effect.get("filter")
    if chosen and effect.kind in (*WRITES, *LOSSES) and (ground.filter_reaches(chosen, "lockfile") or ground.lockfile("/" + chosen)):
        return chosen
    return ""


def _reason(effect: Effect, name: str, ground: Ground) -> str:
    path = ground.shown(name) if name.startswith("/") else shown(name)
    verb = _VERBS[effect.kind]
    if effect.kind is EffectKind.FILE_READ and effect.has("source_of_copy"):
        verb = "copies"
    if effect.kind is EffectKind.FILE_LINK and effect.get("to") == name:
        verb = "makes another name for"
    return f"{verb} the protected file {path}"


def _instead(effect: Effect, name: str, ground: Ground) -> str:
    if "*" in name or "?" in name or "[" in name:
        return "see which files there are with `ls -A`, and name the ones that are not protected"
    if effect.kind in READS or effect.kind is EffectKind.FILE_LINK:
        word = ground.argument(name) if name.startswith("/") else quoted(name)
        return f"see that it is there with `test -f {word}`; programs may load it themselves"
    return "write a sample such as .env.example and let a person put the value in place"
