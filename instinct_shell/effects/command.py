"""From a command's words to effects: which program the first word names, its row, and what to say of a program without one."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Invocation, Known, literal
from . import flow, handed_text, output
from .asked import HOLDERS, held
from .call import Call, Program, Scene, fold
from .catalog import MODULES, Catalog, canonical
from .guard import taken_away
from .holes import is_hole
from .includes import INCLUDERS, included
from .options import make_call
from .roles import apply_row, holds, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = Program((), style="raw", summary="a program without a row")

# Folders whose programs are what their name says, also inside a project (.venv/bin/python, node_modules/.bin/tsc).
PROGRAM_FOLDERS = frozenset(["bin", ".bin", "sbin", "Scripts", "shims", "libexec", "games"])
# Names so common for a project's own scripts that `./install` is not coreutils' install.
SCRIPT_NAMES = frozenset(
    (
        "install test watch run build start stop time script more split make patch clean deploy setup service at batch link "
        "join fold look column write last users who env config configure check update upgrade release lint format serve server "
        "app main"
    ).split()
)
MOST_CANDIDATES = 12
# What an unknown program in front of a complete harmful command may pass on to it (`rtk git reset --hard`).
PASSED_ON = frozenset(
    {
        EffectKind.FILE_DELETE,
        EffectKind.GIT_DISCARD,
        EffectKind.GIT_REWRITE,
        EffectKind.GIT_FORCE_PUSH,
        EffectKind.GIT_DELETE_REF,
        EffectKind.DB_DROP,
        EffectKind.DB_DELETE_UNSCOPED,
        EffectKind.INFRA_DESTROY,
        EffectKind.SYSTEM_POWER,
        EffectKind.SYSTEM_PRIVILEGE,
        EffectKind.NET_UPLOAD,
        EffectKind.CODE_OPAQUE,
    }
)
# Inner commands that are recognised behind an unknown program: distinct names, and more words than the name alone.
INNER = frozenset(
    (
        "git rm shred dd docker podman kubectl helm terraform tofu pulumi sudo bash sh zsh psql mysql dropdb aws gcloud az gsutil curl find"
    ).split()
)
# Words after which an unknown program takes another command, not a sub-command of its own.
RUNS = frozenset("-- exec x run with shell start unshare enter -e -x --exec --command local:run dev:exec".split())
# Programs with a row about something else that run a command too: `mise exec -- CMD`, `nx exec CMD`.
RUNNERS = frozenset("asdf mise rtx volta fnm nvm lerna nx railway netlify guix".split())
# Families whose rows tell what a command is for, not which files it is handed: a secret among the words of one is read.
TAKERS = frozenset("hosting node_tools builds orms language_packages python_packages".split())
# Families whose programs take installed packages away again.
REMOVERS = frozenset(("python_packages", "system_packages"))
MOST_WORDS_BEFORE = 6
MOST_SHADOWS = 16  # names that are looked up in the project's folders of PATH


class Describe:
    """Describes commands with one catalog in one scene."""

    __slots__ = ("catalog", "scene")

    def __init__(self, catalog: Catalog, scene: Scene) -> None:
        self.catalog = catalog
        self.scene = scene

    def command(self, invocation: Invocation, words: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]) -> Iterator[Effect]:
        """Effects of the command that these words are; `invocation` gives cwd, stdin, environment and span."""
        while len(words) > 1 and words[0].text == "--":
            words = words[1:]
        head, argv = words[0], words[1:]
        if head.known is Known.DYNAMIC:
            yield from self.dynamic(invocation, head, argv, sure, origin)
            return
        names = self.candidates(head) if head.glob else head.values
        if not names:
            yield self.opaque_command(invocation, head, "no known program matches the pattern", sure, origin)
            return
        if len(names) > 1:
            sure = weakest(sure, Certainty.POSSIBLE)
        for name in names:
            if is_hole(name):
                yield self.opaque_command(invocation, head, "the command name is not known", sure, origin)
            elif name:
                yield from self.program(invocation, name, argv, sure, origin)
        if head.many and "" in head.values and argv:  # an element of an array that may be missing
            yield from self.command(invocation, argv, weakest(sure, Certainty.POSSIBLE), origin)

    def candidates(self, head: Field) -> tuple[str, ...]:
        """Programs that a command word with glob characters may become; empty when nothing or too much matches."""
        from fnmatch import fnmatchcase

        found: list[str] = []
        for value in head.values:
            pattern = value.rpartition("/")[2]
            plain = pattern.replace("\\", "")
            if not any(c in pattern for c in "*?["):
                found.append(plain)
            else:
                found += [name for name in self.catalog.names() if fnmatchcase(name, pattern)]
        return tuple(found) if len(found) <= MOST_CANDIDATES else ()

    def dynamic(
        self, invocation: Invocation, head: Field, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """A command word of unknown value: looked up by what is known of it, else opaque."""
        name = flow.looked_up(head, self.scene)
        if not name and "/" in head.suffix:
            name = posixpath.basename(head.suffix)  # "$JAVA_HOME/bin/java": the folder is unknown, the program is not
        if name:
            yield from self.program(invocation, name, argv, weakest(sure, Certainty.POSSIBLE), origin)
            return
        yield self.opaque_command(invocation, head, head.reason, sure, origin)

    def opaque_command(self, invocation: Invocation, head: Field, reason: str, sure: Certainty, origin: tuple[str, ...]) -> Effect:
        source = flow.source_of_field(head, self.scene)
        pairs = (("dynamic", "command"), ("reason", reason or "the command name is not known"), ("source", source))
        target = Target(TargetKind.NAME, head.prefix, reason or "dynamic word")
        return Effect(EffectKind.CODE_OPAQUE, target, weakest(sure, Certainty.UNKNOWN), invocation.span, "", pairs, origin)

    def program(
        self, invocation: Invocation, name: str, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """Effects of the program of this name (or path) with these arguments."""
        scene = self.scene
        path, base = "", name
        shadow = self.on_path(name, invocation) if "/" not in name and (scene.files or scene.copies) else ""
        if shadow:
            name = shadow
        elif name in scene.aliases_of_programs:
            name = scene.aliases_of_programs[name]  # `hash -p /bin/rm ls`
        if scene.shadowing and "/" not in name:
            yield from self.shadowed(invocation, name, argv, sure, origin)
        if "/" in name:
            base = posixpath.basename(name.rstrip("/"))
            cwd = invocation.cwd.text
            path = fold(name) if name.startswith("/") else fold(f"{cwd}/{name}") if cwd is not None else ""
            copied = scene.copies.get(path)
            if copied:
                base = copied
            elif path in scene.files:
                yield from self.written(invocation, path, argv, sure, origin)
                return
        for added in self.catalog.added(base):
            yield from self.row(added, invocation, base, name if path else "", argv, sure, origin)
        row = self.catalog.row(base)
        if row is None or (path and base in SCRIPT_NAMES and is_script_path(name) and path not in scene.copies):
            yield from self.unknown(invocation, name, base, path, argv, sure, origin)
            return
        yield from self.row(row, invocation, base, name if path else "", argv, sure, origin)

    def on_path(self, name: str, invocation: Invocation) -> str:
        """The file of this name that the same text put into a folder of PATH, or ""."""
        for variable, value in reversed((*invocation.env, *invocation.assignments)):
            if variable != "PATH":
                continue
            for folder in (value.text or value.prefix).split(":"):
                path = output.absolute(folder, invocation)
                if path and (f"{path}/{name}" in self.scene.files or f"{path}/{name}" in self.scene.copies):
                    return f"{path}/{name}"
            break
        return ""

    def shadowed(
        self, invocation: Invocation, name: str, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """What a program of this name in a folder of the project does, where PATH finds it before the system's."""
        from .hijack import CONVENTIONAL, is_system_name

        for folder in self.scene.shadowing:
            if posixpath.basename(folder) in CONVENTIONAL and not is_system_name(name):
                continue  # the project's own tools
            path = f"{folder}/{name}"
            if path not in self.scene.files and (len(self.scene.wants) >= MOST_SHADOWS or path in self.scene.wants):
                continue
            if self.scene.code_of(path) is not None:
                yield from self.written(invocation, path, argv, weakest(sure, Certainty.POSSIBLE), origin)

    def row(
        self, row: Program, invocation: Invocation, base: str, path: str, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """Effects of a described program."""
        name = base if base in row.names else canonical(base)  # describers look things up by the name that the row has
        call = make_call(row, name, argv, invocation, certainty=sure, origin=origin, path=path)
        if "nohelp" not in row.style and asks_for_help(call):
            return
        if row.harmless and holds(row.harmless, call):
            return
        yield from apply_row(row, call, self.scene)
        if row.describe is not None:
            yield from row.describe(call, self.scene)
        if MODULES.get(name) in handed_text.FAMILIES:
            yield from self.handed(call, known=True)
        if MODULES.get(name) in TAKERS:
            yield from flow.named_secrets(call, self.scene, sources=False)
        if name in INCLUDERS:
            yield from included(call, self.scene)
        if name in HOLDERS:
            yield from held(call, self.scene)
        if MODULES.get(name) in REMOVERS:
            yield from taken_away(call)
        if self.scene.files:
            from .loaded import loaded

            yield from loaded(call, self.scene)
        if base in RUNNERS:
            yield from self.passed_on(invocation, base, argv, sure, origin)

    def written(
        self, invocation: Invocation, path: str, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """A file that the same text wrote is run: its text is followed when it is known."""
        from .scripts import run_file

        call = make_call(UNKNOWN, posixpath.basename(path), argv, invocation, certainty=sure, origin=origin, path=path)
        yield from run_file(call, self.scene, path, argv)

    def unknown(
        self,
        invocation: Invocation,
        name: str,
        base: str,
        path: str,
        argv: tuple[Field, ...],
        sure: Certainty,
        origin: tuple[str, ...],
    ) -> Iterator[Effect]:
        """A program nobody described: that it runs, the secrets it is given by name, and a complete inner command it may pass on."""
        call = make_call(UNKNOWN, base, argv, invocation, certainty=sure, origin=origin, path=name if path else "")
        if path and is_script_path(name):
            from .scripts import brought

            yield call.effect(EffectKind.CODE_SCRIPT, Target(TargetKind.PATH, path), source=brought(path, self.scene))
        else:
            yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, base), known="0")
        yield from flow.named_secrets(call, self.scene)
        if base in INCLUDERS:
            yield from included(call, self.scene)
        if self.scene.files:
            from .loaded import loaded

            yield from loaded(call, self.scene)
        yield from self.handed(call, known=False)
        yield from self.passed_on(invocation, base, argv, sure, origin)

    def handed(self, call: Call, *, known: bool) -> Iterator[Effect]:
        """What shell text among the words would do, were it run: harm alone counts."""
        if any(" " in value for field in call.argv for value in field.values):
            yield from (effect for effect in handed_text.handed_texts(call, self.scene, known=known) if effect.kind in PASSED_ON)

    def passed_on(
        self, invocation: Invocation, base: str, argv: tuple[Field, ...], sure: Certainty, origin: tuple[str, ...]
    ) -> Iterator[Effect]:
        """What a complete harmful command among the words would do, were it passed on."""
        for index in range(min(len(argv), MOST_WORDS_BEFORE)):
            if is_complete(argv[index:], argv[:index]):
                nested = self.command(invocation, argv[index:], weakest(sure, Certainty.POSSIBLE), (*origin, base))
                yield from (effect for effect in nested if effect.kind in PASSED_ON)
                break


def is_complete(words: tuple[Field, ...], before: tuple[Field, ...]) -> bool:
    """Whether the words behind an unknown program are a command of their own rather than its sub-command (`dvc rm x`, `aws s3 rm x`)."""
    name = words[0].text
    if name not in INNER or len(words) < 2 or any("://" in (word.text or word.prefix) for word in words):
        return False
    runs = not before or any(word.text in RUNS for word in before)
    if len(before) > 3 and not runs:
        return False  # far behind the name it is more likely an operand
    if name == "rm" and len(words) > 2 and re.fullmatch(r"-[a-zA-Z]*[rRf][a-zA-Z]*", words[1].text or ""):
        return runs or any((word.text or word.prefix).startswith("/") for word in words[2:])
    return name != "rm"


def asks_for_help(call: Call) -> bool:
    """Whether the call only prints its help or version."""
    if "--help" in call.flags or "--version" in call.flags:
        return True
    return len(call.argv) == 1 and call.argv[0].text in ("-h", "-help", "-V", "-version")


def is_script_path(name: str) -> bool:
    """Whether a path names a project's own script: relative, or absolute outside the folders that hold programs."""
    folder = posixpath.basename(posixpath.dirname(name))
    return folder not in PROGRAM_FOLDERS


__all__ = ["Describe", "asks_for_help", "literal"]
