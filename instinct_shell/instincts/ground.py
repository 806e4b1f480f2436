"""The ground an effect stands on: what a path is to this profile.

A `Ground` is made once per judgement situation from profile, workspace and homes, and answers without I/O: inside the scope or not, secret,
protected, a lockfile, run by the host, the guard's own, a sole copy, build output. Paths come as the effect's text, absolute and folded;
links and case are the gate's business.
"""

from __future__ import annotations

import posixpath

from ..model.effect import Effect, EffectKind, TargetKind
from ..model.profile import Profile
from ..model.situation import Situation
from . import globs
from .base import shown
from .patterns import Endings, PathSet, examples, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..model.intent import Intent

READS = (EffectKind.FILE_READ, EffectKind.FILE_EXECUTE)
WRITES = (EffectKind.FILE_WRITE, EffectKind.FILE_CREATE, EffectKind.FILE_APPEND)
LOSSES = (EffectKind.FILE_DELETE, EffectKind.FILE_MOVE)
CHANGES = (*WRITES, *LOSSES, EffectKind.FILE_METADATA, EffectKind.FILE_LINK)

TMP = "/tmp"  # noqa: S108  # the place itself, not a file of ours
# Of what the host executes: run by another machine after a push, where it is reviewed, and never by this one.
RUN_ELSEWHERE = frozenset(
    (
        ".github/workflows .github/actions .gitlab-ci.yml .circleci .travis.yml Jenkinsfile azure-pipelines.yml .buildkite "
        "bitbucket-pipelines.yml .drone.yml"
    ).split()
)
_SINKS = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
)
_SINK_FOLDERS = ("/dev/fd/", "/dev/pts/", "/dev/tcp/", "/dev/udp/", "/proc/self/fd/", "/proc/thread-self/fd/")
_SYSTEM = tuple(f"/{name}" for name in "bin boot dev etc lib lib32 lib64 libx32 proc root run sbin snap nix sys usr var".split())


class Ground:
    """What paths mean here. Cheap to ask, remembers nothing between judgements."""

    def __init__(self, profile: Profile, workspace: str, homes: tuple[str, ...], guard_paths: tuple[str, ...] = (), cache: str = "") -> None:
        self.profile = profile
        self.workspace = workspace.rstrip("/") or "/"
        self.homes = homes
        self.guard_paths = tuple(path.rstrip("/") for path in guard_paths if path != "/")
        self.named = self._fill(profile.writable)  # the folders that the profile names
        self.writable = (*self.named, *((cache,) if cache else ()))
        self.scratch = tuple(folder for folder in self.writable if folder != self.workspace)
        exceptions = self._fill(profile.protected_exceptions)
        secrets = self._fill(profile.secrets)
        self._secrets = PathSet((text for text in secrets if not PathSet((text,)).find(self.workspace)), exceptions)
        self._protected = PathSet(profile.protected, exceptions)
        self._lockfiles = PathSet(profile.write_protected, exceptions)
        self._host = PathSet(self._fill(profile.host_executed))
        self._never = PathSet(self._fill(profile.never_write))
        self._holders: dict[str, dict[str, list[str]]] = {}
        self._sole = PathSet(profile.sole_copies)
        self._build = PathSet(profile.build_output)
        self._automata: dict[str, globs.Automaton] = {}
        self._endings: Endings | None = None

    def _fill(self, patterns: Iterable[str]) -> tuple[str, ...]:
        """The patterns with `{workspace}`, `{tmp}` and `{home}` (one for each home) filled in."""
        out = []
        for pattern in patterns:
            pattern = pattern.replace("{workspace}", self.workspace).replace("{tmp}", TMP)
            out += [pattern.replace("{home}", home) for home in self.homes] if "{home}" in pattern else [pattern]
        return tuple(out)

    # ------------------------------------------------------------------------------------------------------------- places

    def spellings(self, path: str) -> tuple[str, ...]:
        """The path as patterns see it: from the workspace on when it lies inside, else whole."""
        if inside(path, self.workspace) and self.workspace != "/":
            return (path[len(self.workspace) :] or "/",)
        return (path,)

    def shown(self, path: str) -> str:
        """The path for a message: relative inside the workspace, with `~` inside a home, in backticks."""
        if path != self.workspace and inside(path, self.workspace):
            return shown(path[len(self.workspace) :].lstrip("/") or path)
        home = next((home for home in self.homes if path != home and inside(path, home)), "")
        return shown("~" + path[len(home) :] if home else path)

    def argument(self, path: str) -> str:
        """The path as a shell word for a suggested command."""
        if path != self.workspace and inside(path, self.workspace):
            path = path[len(self.workspace) :].lstrip("/")
        return quoted(path)

    def in_workspace(self, path: str) -> bool:
        """Whether the path is the workspace or lies in it."""
        return inside(path, self.workspace)

    def in_scope(self, path: str) -> bool:
        """Whether a command may write there as far as the profile goes."""
        return any(inside(path, folder) for folder in self.writable)

    def is_sink(self, path: str) -> bool:
        """Devices and descriptors that swallow or pass on without changing anything."""
        return path in _SINKS or path.startswith(_SINK_FOLDERS)

    def covers_scope(self, path: str) -> str:
        """What of ours lies below or at this path: "the workspace", "the home directory", "the whole system", or ""."""
        if path == "/":
            return "the whole system"
        if path == self.workspace:
            return "the whole workspace"
        if path in self.homes:
            return "the home directory"  # also where the workspace lies below it
        if inside(self.workspace, path):
            return "a folder above the workspace"
        if any(inside(home, path) for home in self.homes):
            return "a folder above the home directory"
        return ""

    def place(self, path: str) -> str:
        """Words for a path outside the scope."""
        covered = self.covers_scope(path)
        if covered:
            return covered
        if self.in_workspace(path):
            return "which this profile lets no command write"
        if any(inside(path, home) for home in self.homes):
            return "in the home directory, outside the workspace"
        if path.startswith("/dev/"):
            return "a device"
        if any(inside(path, folder) for folder in _SYSTEM):
            return "a system path, outside the workspace"
        return "outside the workspace"

    def is_repository(self, path: str) -> bool:
        """`.git` of the workspace or of a repository below it, but not hooks, configuration, lock files and drafts."""
        at = f"{path}/"
        place = at.find("/.git/")
        if place < 0 or not self.in_scope(path):
            return False
        rest = at[place + 6 :].rstrip("/")
        return not (
            rest.endswith(".lock")
            or rest in ("COMMIT_EDITMSG", "MERGE_MSG", "info/exclude", "description", "FETCH_HEAD")
            or rest.startswith(("hooks", "config"))
        )

    # ------------------------------------------------------------------------------------------------------------- names

    def secret(self, path: str) -> str:
        """The pattern of [paths] secrets that covers the path, or "". A pattern that would cover the whole workspace is left out."""
        return self._secrets.find(path)

    def secret_patterns(self) -> tuple[str, ...]:
        """The filled-in patterns of [paths] secrets."""
        return tuple(pattern.text for pattern in self._secrets.patterns)

    def protected(self, path: str) -> str:
        """The name pattern of [paths] protected that covers the path, or ""."""
        return self._protected.find(*self.spellings(path))

    def lockfile(self, path: str) -> str:
        """The pattern of [paths] write_protected, or ""."""
        return self._lockfiles.find(*self.spellings(path))

    def host_executed(self, path: str) -> str:
        """The pattern of [paths] host_executed, or ""; outside the scope nothing is written anyway."""
        return self._host.find(*self.spellings(path)) if self.in_scope(path) or self.in_workspace(path) else ""

    def never_write(self, path: str) -> str:
        """The pattern of [paths] never_write, or ""."""
        return self._never.find(*dict.fromkeys((*self.spellings(path), path)))

    def worth_asking(self, folder: str) -> Callable[[str], object] | None:
        """For a walk: what tells of a name in this folder whether any of the four above may cover it; None when each is to be asked about."""
        self._endings = self._endings or Endings((self._protected, self._lockfiles, self._host, self._never))
        return self._endings.within(*dict.fromkeys((*self.spellings(folder), folder)))

    def fixed_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The patterns of [paths] never_write and host_executed that name one thing, as paths from the workspace on."""
        never, host = (
            tuple(pattern.text for pattern in chosen.patterns if not pattern.anchored and not any(c in pattern.text for c in "*?["))
            for chosen in (self._never, self._host)
        )
        return never, host

    def holds(self, path: str, kind: str) -> tuple[str, ...]:
        """The patterns of [paths] never_write (never) or host_executed (host) that name something below this folder, such as `.claude`."""
        if kind not in self._holders:
            found: dict[str, list[str]] = {}
            for pattern in (self._never if kind == "never" else self._host).patterns:
                folders = pattern.text.split("/")[:-1]
                if not pattern.anchored and not any(c in "".join(folders) for c in "*?["):
                    for end in range(1, len(folders) + 1):
                        found.setdefault("/".join(folders[:end]), []).append(pattern.text)
            self._holders[kind] = found
        parts = path.split("/")
        tails = ("/".join(parts[start:]) for start in range(len(parts) - 1, 0, -1))
        return next((tuple(self._holders[kind][tail]) for tail in tails if tail in self._holders[kind]), ())

    def guard(self, path: str) -> str:
        """The guard's own path that this path is, holds or lies in."""
        return next((own for own in self.guard_paths if inside(path, own) or path == own), "")

    def holds_guard(self, path: str) -> str:
        """A guard path below this folder: deleting or moving the folder takes it along."""
        return next((own for own in self.guard_paths if inside(own, path)), "")

    def sole_copy(self, path: str) -> str:
        """The pattern of [paths] sole_copies that the file's name matches, or "" (also for build output)."""
        return "" if self.rebuildable(path) else self._sole.find("/" + posixpath.basename(path))

    def rebuildable(self, path: str) -> str:
        """The build-output pattern that covers a path inside the workspace."""
        return self._build.find(*self.spellings(path)) if self.in_workspace(path) and path != self.workspace else ""

    # ------------------------------------------------------------------------------------------------------------- shell patterns

    def glob_reaches(self, glob: str, kind: str) -> str:
        """The profile pattern that a shell glob was surely written to reach, or "".

        kind: protected | lockfile | never | host | secret. For names at any depth the glob must either be contained in the pattern
        (`certs/*.pem`) or be aimed at an ordinary name of it (`.e?v`); a broad glob such as `*.json` is resolved on disk by the gate.
        Places (secrets) are compared exactly: `/e*/sh*w` and `/etc/shadow` meet.
        """
        chosen = {
            "protected": self._protected,
            "lockfile": self._lockfiles,
            "never": self._never,
            "host": self._host,
            "secret": self._secrets,
        }[kind]
        prefix = globs.literal_prefix(glob)
        parts = globs.components(glob)
        last = parts[-1] if parts else ""
        says_something = any(globs.literal_runs(last))
        chosen_by_name = any(globs.aimed(part) for part in parts[1:])
        for pattern in chosen.patterns:
            if pattern.anchored:
                if chosen_by_name and self._places_meet(glob, prefix, parts, pattern.text) and not self._excepted(chosen, glob):
                    return pattern.text
            elif _contained(last, pattern.text) and not self._excepted(chosen, glob):
                return pattern.text
            elif says_something:
                for name in examples(pattern.text):
                    tail = name.rpartition("/")[2]
                    if globs.aims_at(last, tail) and globs.fits(last, tail) and self._folders_fit(parts, name):
                        return pattern.text
        return ""

    def _places_meet(self, glob: str, prefix: str, parts: list[str], pattern: str) -> bool:
        """Whether a glob and an anchored pattern can name the same path; folder by folder first, since that settles nearly all of them."""
        fixed = pattern.partition("*")[0]
        if not (fixed.startswith(prefix) or prefix.startswith(fixed)):
            return False
        folders = [folder for folder in pattern.split("/") if folder]
        for part, folder in zip(parts, folders, strict=False):
            if globs.crosses(part) or any(c in folder for c in "*?["):
                break
            if not globs.fits(part, folder):
                return False
        else:
            if len(parts) < len(folders):
                return False  # it names a folder above
        known = self._automata.get(pattern)
        if known is None:
            known = self._automata[pattern] = globs.profile_automaton(pattern)
        return globs.intersects(globs.shell_automaton(glob), known)

    def filter_reaches(self, chosen: str, kind: str) -> str:
        """The same for a filter on names (`find -name`, `grep --include`), where a wildcard matches a leading dot too."""
        for pattern in (self._protected if kind == "protected" else self._lockfiles).patterns:
            if _contained(chosen, pattern.text):
                return pattern.text
            names = [name.rpartition("/")[2] for name in examples(pattern.text)]
            if any(matches(chosen, name) and globs.aims_at(chosen, name) for name in names):
                return pattern.text
        return ""

    def filter_may_reach(self, chosen: str) -> bool:
        """Whether a filter on names takes in an ordinary protected name, so that the disk has to be asked."""
        return any(matches(chosen, name.rpartition("/")[2]) for pattern in self._protected.patterns for name in examples(pattern.text))

    def _excepted(self, chosen: PathSet, glob: str) -> bool:
        runs = globs.literal_runs(glob)
        return (
            any(exception.is_whole("/" + posixpath.basename(runs[-1])) for exception in chosen.exceptions if not exception.anchored)
            if runs[-1]
            else False
        )

    def _folders_fit(self, parts: list[str], name: str) -> bool:
        folders = name.split("/")[:-1]
        return len(parts) > len(folders) and all(
            globs.fits(part, folder) for part, folder in zip(reversed(parts[:-1]), reversed(folders), strict=False)
        )

    def sweeps(self, glob: str) -> str:
        """The folder whose whole content a glob takes in: `/w/*`, `/w/.[!.]*`, `/w/*/*`; "" for a glob that chooses by name."""
        parts = globs.components(glob)
        first = next((number for number, part in enumerate(parts) if len(globs.literal_runs(part)) > 1), len(parts))
        if first == len(parts) or not all(globs.wild(part) for part in parts[first:]):
            return ""
        return "/" + "/".join("".join(globs.literal_runs(part)) for part in parts[:first])


def _contained(component: str, pattern: str) -> bool:
    """Whether every name that the glob component matches is surely covered by a `*literal*` pattern: a sufficient test."""
    if pattern.count("*") > 2 or "?" in pattern or "[" in pattern:
        return False
    core = pattern.strip("*")
    if not core or "*" in core or not pattern.startswith("*"):
        return False
    runs = globs.literal_runs(component)
    if len(runs) == 1:
        return False
    return any(core in run for run in runs) if pattern.endswith("*") else runs[-1].endswith(core)


def inside(path: str, folder: str) -> bool:
    """Whether path is folder or lies below it (both absolute and folded)."""
    return path == folder or folder == "/" or path.startswith(folder + "/")


def quoted(word: str) -> str:
    """The word as one shell word."""
    if word and all(c.isascii() and (c.isalnum() or c in "@%+=:,./-_") for c in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


_grounds: dict[tuple[object, ...], Ground] = {}


def ground_of(intent: Intent, profile: Profile, situation: Situation) -> Ground:
    """The ground of this judgement. The last few are kept: they depend on nothing but their key."""
    home = next((value for name, value in intent.env if name == "HOME"), "")
    return ground_for(profile, situation.workspace, homes_of(situation, home), situation.guard_paths, situation.cache)


def homes_of(situation: Situation, *others: str) -> tuple[str, ...]:
    """Every home to protect: the one that commands see, and the account's own, which no variable can hide."""
    return tuple(dict.fromkeys(h.rstrip("/") for h in (situation.home, *others, *situation.homes) if h.startswith("/") and h != "/"))


def ground_for(profile: Profile, workspace: str, homes: tuple[str, ...], guard_paths: tuple[str, ...], cache: str = "") -> Ground:
    """The ground of these surroundings. The last few are kept."""
    found = _grounds.get(key := (profile.digest, profile.name, workspace, homes, guard_paths, cache))
    if found is None or (found.profile is not profile and found.profile != profile):
        if len(_grounds) > 16:
            _grounds.clear()
        found = _grounds[key] = Ground(profile, workspace, homes, guard_paths, cache)
    found.profile = profile  # an equal one need not be compared the next time
    return found


def real_path(text: str) -> str:
    """A path with the aliases of /proc that lead back to the root folded: `/proc/self/root/etc` is `/etc`."""
    if not text.startswith("/proc/"):
        return text
    parts = text.split("/")
    while len(parts) > 3 and parts[1] == "proc" and parts[3] == "root":
        parts = ["", *parts[4:]] if len(parts) > 4 else ["", ""]
        if len(parts) < 3 or parts[1] != "proc":
            break
    return "/".join(parts) or "/"


def path_of(effect: Effect) -> str:
    """The effect's absolute path when it is fully known and no pattern, else ""."""
    target = effect.target
    return real_path(target.text) if target.kind is TargetKind.PATH and not target.dynamic and target.text else ""


def elsewhere(effect: Effect) -> bool:
    """Whether the effect's paths are those of a container or of another machine."""
    return effect.has("remote") or effect.has("container")


def is_pattern(effect: Effect) -> bool:
    """Whether the effect's target is a shell glob."""
    return effect.target.kind is TargetKind.PATTERN and not effect.target.dynamic


def folder_of(effect: Effect) -> str:
    """The folder in which a shell glob picks names, "" when that is a glob too."""
    return globs.literal_prefix(effect.target.text).rpartition("/")[0]
