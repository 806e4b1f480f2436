"""After a command has failed: whether the jail was the reason, and if so one line that says which rule and what to do.

Nothing is watched while a command runs, so a command that ends well pays nothing. What is known afterwards is what it was judged to do, the jail it
had, how it ended, and the last words on its stderr where those can still be read. INVARIANT: a line is only said for something that this jail surely
refuses and that the same person could have done outside it; an ordinary failure is left alone (tests/cases/refusals.toml has both sides).
"""

from __future__ import annotations

import os
import signal

from ..instincts.ground import CHANGES
from ..model.effect import Certainty, EffectKind, TargetKind
from ..model.jailspec import JailLevel
from .jail import view
from .jail.plan import LayerKind, is_within
from .jail.syscalls import StepFailed
from .refusal_programs import closed_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..engine.judgement import Judgement
    from ..model.effect import Effect
    from ..model.jailspec import JailSpec, RunResult
    from .jail.plan import Plan

NOT_FOUND = 127
_MOST_EFFECTS = 400
_MEMORY_SHARE = 0.6  # of the limit, used at the height: from there on the next large request may well have been refused
_NETWORK = ("net.", "git.force_push", "package.", "api.")


def explain(judgement: Judgement, spec: JailSpec, result: RunResult, said: str | None = None) -> str:
    """One line, or "" when the jail did not cause this. said: the end of what the command wrote to stderr; None when it is not known."""
    if not result.started or result.failure or result.status in (0, NOT_FOUND):
        return ""
    if limit := _limit(spec, result, said or ""):
        return limit
    try:
        plan = view.plan_for(spec)
    except StepFailed:
        return ""  # the folders of that run are gone; there is nothing to compare with
    rules = Rules(spec, plan, result)
    return next((words for words in rules.all(judgement, said) if words), "")


def held_back(spec: JailSpec) -> frozenset[str]:
    """Files of the index that are held in this jail and are not what the index says: git left them as they were, or a person has changed them."""
    from .gitindex import read_index
    from .unjudged import blob_of

    top = spec.workspace
    held = [path[len(top) + 1 :] for path in spec.protected if path.startswith(f"{top}/") and ".git" not in path.split("/")]
    entries, _ = read_index(top) if held else ({}, 0)
    tracked = [name for name in entries if any(name == each or name.startswith(f"{each}/") for each in held)]
    return frozenset(name for name in tracked if entries[name].blob != blob_of(os.path.join(top, name)))


def told_held_back(names: frozenset[str]) -> str:
    """The line for what git could not bring although it ended well; "" for nothing."""
    if not names:
        return ""
    first = min(names)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"git left `{first}`{more} as it was: this machine runs or trusts it, so it was held meanwhile; a person brings it: git checkout -- {first}"


def _limit(spec: JailSpec, result: RunResult, said: str) -> str:
    """Which of the profile's limits the command ran into."""
    limits = spec.limits
    number = result.signal or max(0, result.status - 128)
    if limits.cpu_seconds and (result.limit == "cpu_seconds" or number == signal.SIGXCPU):
        return _limited("cpu_seconds", f"{limits.cpu_seconds} seconds of processor time")
    if limits.file_bytes and (result.limit == "file_bytes" or number == signal.SIGXFSZ or "file too large" in said.lower()):
        return _limited("file_bytes", f"files of at most {_bytes(limits.file_bytes)}")
    if limits.output_bytes and result.limit == "output_bytes":
        return _limited("output_bytes", f"{_bytes(limits.output_bytes)} of output")
    if limits.processes and "resource temporarily unavailable" in said.lower():
        return _limited("processes", f"{view.pid_limit(limits.processes) - 1} processes")
    if limits.open_files and "too many open files" in said.lower():
        return _limited("open_files", f"{limits.open_files} open files")
    short = "memoryerror" in said.lower() or "cannot allocate memory" in said.lower() or "out of memory" in said.lower()
    if limits.memory_bytes and (short or result.max_rss_bytes > _MEMORY_SHARE * limits.memory_bytes):
        return _limited("memory_bytes", f"{_bytes(limits.memory_bytes)} of memory for each process")
    return ""


def _limited(name: str, most: str) -> str:
    return f"the jail's limit was reached: this profile gives a command {most}; need less, or a person raises [jail.limits] {name}"


def _bytes(number: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if number >= size:
            return f"{number / size:g} {unit}"
    return f"{number} bytes"


class Rules:
    """The rules of one jail, asked for what a command was to do."""

    def __init__(self, spec: JailSpec, plan: Plan, result: RunResult) -> None:
        self._spec = spec
        self._plan = plan
        self._full = result.level == JailLevel.FULL
        self._connected = bool(result.connections)

    def all(self, judgement: Judgement, said: str | None) -> Iterator[str]:
        """The lines that hold, the surest first."""
        from .refusal_words import complains, no_network, read_only, refused_paths

        if said is not None and not complains(said):
            return  # whatever it was to do, it did not fail by a refusal
        named = tuple(refused_paths(said or "", self._spec.cwd))
        for path, busy in named:
            yield self.change(path, busy=busy) or ("" if busy else self.look(path))
        effects = judgement.effects[:_MOST_EFFECTS]
        for certainty in (Certainty.CERTAIN, Certainty.UNKNOWN, Certainty.POSSIBLE):
            for effect in effects:
                if effect.certainty is certainty and not (effect.get("remote") or effect.get("container") or effect.get("if_folder")):
                    yield self.effect(effect)
        if said and self._spec.network == "none" and no_network(said):
            yield self.network("")
        if said and self._spec.network == "allowlist" and no_network(said) and not self._connected:
            yield (
                "only the hosts on the network allow-list are reached, and only through the proxy that HTTPS_PROXY names: what failed did not ask it; "
                "use a program that does, or for a server of this machine a person adds `127.0.0.1:PORT` to [network] allow"
            )
        if said and not named and self._full and read_only(said):
            yield f"something was to be written outside the folders that this profile lets a command write; {self._instead()}"
        yield closed_to(judgement, self._spec)

    def effect(self, effect: Effect) -> str:
        """Why this could not be done; "" where it could."""
        path = effect.target.text if effect.target.kind is TargetKind.PATH else ""
        if path.startswith("/"):
            if effect.target.dynamic:
                path = os.path.dirname(path)  # the literal beginning of a name that is not known
            if path == "/":
                return ""
            if effect.kind in CHANGES:
                return self.change(path, busy=effect.kind in (EffectKind.FILE_DELETE, EffectKind.FILE_MOVE)) or self._across(effect, path)
            if effect.kind in (EffectKind.FILE_READ, EffectKind.FILE_EXECUTE):
                return self.look(path)
        if self._spec.network == "none" and effect.kind.startswith(_NETWORK) and not effect.get("local"):
            return self.network(effect.target.text)
        return ""

    def network(self, place: str) -> str:
        """No network is given at all."""
        to = f" (`{place}`)" if place else ""
        return f"this profile gives commands no network{to}: only 127.0.0.1 of the jail itself answers; work from what is here, or a person sets [network] mode"

    def change(self, path: str, *, busy: bool = False) -> str:
        """Why this path could not be changed. busy: its name was to go, not its content alone."""
        layer = self._plan.layer_over(path)
        if self._spec.read_only:
            return ""  # nothing but readers ran, and these write nothing
        if layer is None or layer.kind is LayerKind.SHOWN:
            return self._outside(path)
        if not self._full:
            return ""  # only Landlock holds: what lies in a writable folder is open
        if layer.kind in (LayerKind.READ_ONLY, LayerKind.PINNED_LINK):
            return _protected(layer.path)
        if layer.kind is LayerKind.HIDDEN:
            return _masked(layer.path)
        if layer.kind is LayerKind.WRITABLE and busy and os.path.lexists(path):
            held = next((each.path for each in self._plan.layers if is_within(each.path, path) and each.kind is not LayerKind.WRITABLE), "")
            if held:
                return f"`{path}` holds `{held}`, which the jail keeps in its place, so the folder's name stays; change what lies beside it instead"
        return ""

    def look(self, path: str) -> str:
        """Why this path was not there to be read."""
        layer = self._plan.layer_over(path)
        if layer is None or not self._full or not os.path.lexists(path):
            return ""
        if layer.kind is LayerKind.HIDDEN:
            return _masked(layer.path)
        if layer.kind is LayerKind.SOCKET:
            return f"`{layer.path}` is a socket of a program outside, which the jail keeps closed; use its network port, or a person runs this"
        if layer.kind is LayerKind.FRESH:
            return f"`{layer.path}` is private to each command in this profile, so `{path}` is not there; keep it in the workspace"
        return ""

    def _outside(self, path: str) -> str:
        place = path
        while place != "/" and not os.path.lexists(place):
            place = os.path.dirname(place)
        if not os.access(place, os.W_OK) or path.startswith("/dev/"):
            return ""  # nobody but root, or nobody at all: no doing of the jail
        return f"`{path}` lies outside the folders that this profile lets a command write; {self._instead()}"

    def _instead(self) -> str:
        return f"write below `{self._spec.workspace}`, or a person adds the folder to [paths] writable"

    def _across(self, effect: Effect, path: str) -> str:
        """A hard link or a move between what the jail mounts apart, where the host's disk would have allowed it."""
        other = effect.get("to") if effect.get("hard") else ""
        if not self._full or not other.startswith("/"):
            return ""
        here, there = self._plan.layer_over(path), self._plan.layer_over(other)
        if (here.path if here else "/") == (there.path if there else "/") or not os.path.lexists(other):
            return ""
        return f"`{other}` and `{path}` are mounted apart in the jail, so no hard link can join them; copy with `cp`, or link with `ln -s`"


def _protected(path: str) -> str:
    return f"`{path}` is protected and held read-only while a command runs; name the change in the command itself, so that it can be judged and approved"


def _masked(path: str) -> str:
    return f"`{path}` is masked: a command sees neither its content nor that it is there ([paths] secrets); do without it, or a person runs this"
