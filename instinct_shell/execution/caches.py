"""The tools' caches of one workspace: a folder of their own below the person's cache folder, writable in the jail, seeded from the person's caches.

A command can poison what it may write, and what it may write here is read by commands of this workspace alone. Seeding copies nothing large and makes
no hard link: small files are copied, large ones and whole unpacked packages are symbolic links to the person's, which the jail holds read-only.
Where a tool has a variable for a read-only cache, it gets that instead. INVARIANT: nothing is written into a folder that a command could have
prepared: a seed is built beside, where no command writes, and takes its name in one step or not at all.
"""

from __future__ import annotations

import os
import stat
import time

from ..model.digest import text_digest
from ..model.refusal import explain
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MOST_ENTRIES = 30_000
MOST_SECONDS = 3.0
MOST_COPIED = 64 << 20
SMALL = 64 << 10
_DRAFT = ".new-"
_NAME = ".workspace"


class Seed(Value):
    """How one tool's folder is filled.

    programs: names by which a command calls it. folder: below the workspace's cache folder, as the profile's `[caches]` name it. places: where the
    person's is, `$VARIABLE` or `~`; the first that there is. parts: what of it, all when empty. whole: depth at which folders are linked as they
    are, 0 for none, below these names.
    """

    programs: tuple[str, ...]
    folder: str
    places: tuple[str, ...]
    parts: tuple[str, ...] = ()
    whole: tuple[tuple[str, int], ...] = ()


SEEDS = (
    Seed(("npm", "npx"), "npm", ("$npm_config_cache", "~/.npm"), ("_cacache",)),
    Seed(("pip", "pip3"), "pip", ("$PIP_CACHE_DIR", "$XDG_CACHE_HOME/pip", "~/.cache/pip"), ("http", "http-v2", "wheels")),
    Seed(("uv", "uvx"), "uv", ("$UV_CACHE_DIR", "$XDG_CACHE_HOME/uv", "~/.cache/uv"), whole=(("archive-v0", 1),)),
    Seed(("yarn",), "yarn", ("$YARN_CACHE_FOLDER", "$XDG_CACHE_HOME/yarn", "~/.cache/yarn"), ("v6",), whole=(("v6", 1),)),
    Seed(
        ("cargo",), "cargo", ("$CARGO_HOME", "~/.cargo"), ("config.toml", "config", "registry/index", "registry/cache", "registry/src", "git/db"),
        whole=(("registry/src", 2), ("git/db", 1)),
    ),
    Seed(("go",), "go-mod", ("$GOMODCACHE", "$GOPATH/pkg/mod", "~/go/pkg/mod"), ("cache/download",)),
    Seed(
        ("gradle", "gradlew"), "gradle", ("$GRADLE_USER_HOME", "~/.gradle"), ("init.gradle", "init.gradle.kts", "init.d", "wrapper/dists"),
        whole=(("wrapper/dists", 3),),
    ),
    Seed(("mvn", "mvnw"), "maven", ("~/.m2/repository",)),
)  # fmt: skip
# Below XDG_CACHE_HOME, where no command tells beforehand that it will look: browsers and models, each folder one unpacked thing.
_XDG = ("ms-playwright", "puppeteer", "Cypress", "electron", "selenium", "huggingface/hub", "torch/hub/checkpoints")
# A read-only cache of the person's by the tool's own variable.
_READ_ONLY = (("GRADLE_RO_DEP_CACHE", ("$GRADLE_USER_HOME/caches", "~/.gradle/caches"), "modules-2"),)


def open_folder(home: str, workspace: str, environ: Mapping[str, str]) -> str:
    """The cache folder of this workspace, made when it is missing. Raises StorageError."""
    top, path = folder_of_all(home), folder_of(home, workspace)
    if os.path.isdir(path):
        return path
    try:
        os.makedirs(top, mode=0o700, exist_ok=True)
        draft = _draft(top)
        for part in _XDG:
            source = next(_places(("$XDG_CACHE_HOME", "~/.cache"), environ, home), "")
            _link_children(os.path.join(source, part), os.path.join(draft, "xdg", part))
        with open(os.open(path + _NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(workspace)
        _take_name(draft, path)
    except OSError as error:
        raise explain(error, path) from error
    return path


def folder_of(home: str, workspace: str) -> str:
    """Where the cache folder of this workspace is, or will be."""
    return os.path.join(folder_of_all(home), text_digest(workspace)[:16])


def folder_of_all(home: str) -> str:
    """Where the folders of all workspaces lie."""
    return os.path.join(home, ".cache", "instinct-shell")


def unseeded(cache: str, words: Iterable[str], environ: Mapping[str, str], home: str) -> tuple[tuple[Seed, str], ...]:
    """The tools among these words that have no folder here yet while the person has a cache of theirs, and where that is."""
    wanted = {word.rpartition("/")[2] for word in words}
    found = []
    for each in SEEDS:
        if wanted.intersection(each.programs) and not os.path.lexists(os.path.join(cache, each.folder)):
            place = next(_places(each.places, environ, home), "")
            if place and not place.startswith(cache):
                found.append((each, place))
    return tuple(found)


def fill(cache: str, seed: Seed, source: str) -> None:
    """Make the tool's folder from the person's cache. What is too much is left out: a cache that lacks something costs a download."""
    try:
        draft = _draft(os.path.dirname(cache))
        copy = _Copy(seed)
        for part in seed.parts or ("",):
            copy.take(os.path.join(source, part) if part else source, os.path.join(draft, part) if part else draft, part)
        _take_name(draft, os.path.join(cache, seed.folder))
    except OSError:
        pass  # without a seed the tool begins with an empty cache


def variables(environ: Mapping[str, str], home: str) -> tuple[tuple[str, str], ...]:
    """Variables by which tools read the person's own caches and never write them."""
    return tuple(
        (name, place) for name, places, holds in _READ_ONLY for place in _places(places, environ, home) if os.path.isdir(os.path.join(place, holds))
    )


class _Copy:
    """One seed being made, within its limits."""

    def __init__(self, seed: Seed) -> None:
        self._whole = dict(seed.whole)
        self._left = MOST_ENTRIES
        self._bytes = MOST_COPIED
        self._until = time.monotonic() + MOST_SECONDS

    def take(self, source: str, target: str, part: str, depth: int = 0) -> None:
        """A file or folder and what is in it; `part`: the name below which `depth` counts."""
        try:
            found = os.lstat(source)
        except OSError:
            return
        if self._left <= 0 or time.monotonic() > self._until:
            return
        self._left -= 1
        if stat.S_ISDIR(found.st_mode):
            if depth and self._whole.get(part) == depth:
                os.symlink(source, target)
                return
            os.makedirs(target, mode=0o700, exist_ok=True)
            with os.scandir(source) as entries:
                names = sorted(entry.name for entry in entries)
            for name in names:
                if depth == 0 and not part and name in self._whole:
                    self.take(f"{source}/{name}", f"{target}/{name}", name)
                elif not name.endswith(".lock"):
                    self.take(f"{source}/{name}", f"{target}/{name}", part, depth + 1)
        elif stat.S_ISLNK(found.st_mode):
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            os.symlink(os.readlink(source), target)
        elif stat.S_ISREG(found.st_mode):
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            if found.st_size > SMALL or self._bytes < found.st_size:
                os.symlink(source, target)
            else:
                from shutil import copyfile

                self._bytes -= found.st_size
                copyfile(source, target)


def _places(places: tuple[str, ...], environ: Mapping[str, str], home: str) -> Iterator[str]:
    """Those that exist, with their variables filled in."""
    for place in places:
        first, slash, rest = place.partition("/")
        start = home if first == "~" else environ.get(first[1:], "")
        path = start + slash + rest
        if start.startswith("/") and os.path.isdir(path):
            yield path


def _link_children(source: str, target: str) -> None:
    try:
        names = sorted(os.listdir(source))[:200]
    except OSError:
        names = []
    for name in names:
        os.makedirs(target, mode=0o700, exist_ok=True)
        os.symlink(os.path.join(source, name), os.path.join(target, name))


def _draft(top: str) -> str:
    path = os.path.join(top, f"{_DRAFT}{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(path, 0o700)
    return path


def _take_name(draft: str, path: str) -> None:
    """Whoever was first has the name; a link or a folder that a command put there is left alone."""
    try:
        os.rename(draft, path)
    except OSError:
        remove(draft)


# ---------------------------------------------------------------- looking after them


class Kept(Value):
    """One workspace's cache folder. workspace: "" where it is not known; used_at: when anything in it was last made or removed, epoch seconds."""

    path: str
    workspace: str
    size: int
    used_at: float


def kept(home: str) -> tuple[Kept, ...]:
    """Every cache folder of ours, the largest first. What links lead to is not counted: it is the person's own."""
    top = folder_of_all(home)
    found = []
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return ()
    for name in names:
        path = os.path.join(top, name)
        if name.endswith(_NAME) or not os.path.isdir(path) or os.path.islink(path):
            continue
        size, used = _measure(path)
        found.append(Kept(path, _read(path + _NAME), size, used))
    return tuple(sorted(found, key=lambda each: -each.size))


def remove(path: str) -> None:
    """A cache folder with everything in it, whatever a tool or a command made of it; links are removed and never followed. Raises OSError."""
    for _, names, _, descriptor in os.fwalk(path, topdown=True, follow_symlinks=False):
        os.chmod(descriptor, 0o700)  # Go keeps its modules read-only
        for name in names:
            if not stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                _open_up(name, descriptor)
    from shutil import rmtree  # where no command waits for it

    rmtree(path)
    if os.path.lexists(path + _NAME):
        os.unlink(path + _NAME)


def _open_up(name: str, descriptor: int) -> None:
    """Let a folder be entered, by descriptor, so that no link put in its place is followed."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)


def _measure(path: str) -> tuple[int, float]:
    size, used = 0, 0.0
    for _, names, files, descriptor in os.fwalk(path, follow_symlinks=False, onerror=None):
        used = max(used, os.fstat(descriptor).st_mtime)
        for name in (*names, *files):
            try:
                size += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * 512
            except OSError:
                continue  # removed meanwhile
    return size, used


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(8192)
    except OSError:
        return ""
