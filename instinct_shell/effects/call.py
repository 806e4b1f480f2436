"""What a describer sees of one command, and the helpers all families share.

A family file (files.py, git.py ...) holds rows of `Program` and, where roles do not suffice, describers:
`def describe(call: Call, scene: Scene) -> Iterator[Effect]`. Describers are pure. Nested code goes through `scene.nested_*`.
"""

from __future__ import annotations

import posixpath

from ..model.effect import NOTHING, Certainty, Effect, EffectKind, Span, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, Invocation, Known, folder_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Describer = Callable[["Call", "Scene"], Iterator[Effect]]


class Program(Value):
    """One row of the table. Rows are data: a profile's `[[program]]` has the same keys.

    names: program names (basename, version suffix removed). summary: one line for `instinct explain program`.
    options: options that take an argument, space separated: "-o --output -C"; a trailing "=" means "only when attached" ("-i= --color=").
    longs: long options without argument, so that abbreviations ("--rec") resolve. style: words of "stop" (options end at the first
    operand, as for wrappers), "single" (one dash, long names: find, openssl), "raw" (options are not split off), "bundle" (the first word
    is a flag cluster without a dash: tar, ar).
    roles: what happens to the operands: "read write ..." one word each, the last repeats; "read* write" = all but the last read, the last
    written. Roles: read copy write append create delete move metadata execute list ignore; a leading "r-" means recursive ("r-delete").
    option_roles: option -> role of its argument ("-o", "write").
    when: (condition, effect) pairs. Condition: "" = always, else any of its words: "-x" an option, "stop" the first operand, "pool+destroy"
    the first operands in a row. Effect: "system.service action=stop target=1" (target=N: operand N becomes an OBJECT target).
    harmless: words (options or first operands) whose presence means that nothing of the row happens ("--dry-run status list").
    describe: the describer that takes over after the roles; None when the row says all. reads_stdin: without file operands it reads fd 0.
    """

    names: tuple[str, ...]
    options: str = ""
    roles: str = ""
    option_roles: tuple[tuple[str, str], ...] = ()
    describe: Describer | None = None
    reads_stdin: bool = False
    summary: str = ""
    longs: str = ""
    style: str = ""
    when: tuple[tuple[str, str], ...] = ()
    harmless: str = ""
    adds: bool = False  # a project file's row: its effects come beside those of the row that is known anyway


class Call(Value):
    """One invocation, options split from operands by the program's row.

    flags: canonical option names as written, abbreviations of long options resolved where the row knows them ("-r", "--recursive").
    values: (option, argument field). operands: the rest, `--` removed. argv: everything after the name, unsplit.
    """

    name: str
    argv: tuple[Field, ...]
    flags: tuple[str, ...]
    values: tuple[tuple[str, Field], ...]
    operands: tuple[Field, ...]
    invocation: Invocation
    span: Span
    certainty: Certainty
    origin: tuple[str, ...] = ()
    path: str = ""  # the command word as written, when it held a slash

    def has(self, *names: str) -> bool:
        """Whether any of these options was given."""
        return any(name in self.flags for name in names) or any(option in names for option, _ in self.values)

    def value(self, *names: str) -> Field | None:
        """The last argument given to any of these options."""
        found = None
        for option, field in self.values:
            if option in names:
                found = field
        return found

    def effect(
        self,
        kind: EffectKind,
        target: Target | None = None,
        extra: dict[str, str] | None = None,
        /,
        *,
        certainty: Certainty | None = None,
        span: Span | None = None,
        **attributes: str,
    ) -> Effect:
        """An effect of this call, with the attributes given by name and in `extra`; those with empty values are dropped."""
        if extra:
            attributes = {**attributes, **extra}
        pairs = tuple(sorted((k, v) for k, v in attributes.items() if v))
        return Effect(kind, target or NOTHING, certainty or self.certainty, span or self.span, self.name, pairs, self.origin)


def path_targets(field: Field, cwd: Field, home: str = "") -> tuple[tuple[Target, Certainty], ...]:
    """The absolute paths a field may name, each with how sure: one for a static word, several for a set, a PATTERN for a glob, and for a
    dynamic word its literal prefix with the reason in `dynamic`. A relative word under an unknown cwd is dynamic as well."""
    if field.known is Known.DYNAMIC:
        prefix = field.prefix
        base = cwd.text
        if prefix and not prefix.startswith("/") and base is not None:
            prefix = base.rstrip("/") + "/" + prefix
        elif not prefix.startswith("/"):
            prefix = ""
        folded = fold(prefix) + ("/" if prefix.endswith("/") and fold(prefix) != "/" else "") if prefix else ""
        return ((Target(TargetKind.PATH, folded, field.reason or "dynamic word"), Certainty.UNKNOWN),)
    sure = Certainty.CERTAIN if field.known is Known.STATIC and not field.glob else Certainty.POSSIBLE
    found = []
    for value in field.values:
        kind = TargetKind.PATTERN if field.glob else TargetKind.PATH
        if not value:
            continue  # an empty word names nothing
        if value.startswith("/"):
            found.append((Target(kind, fold(value)), sure))
        elif cwd.text is not None:
            base = escape_glob(cwd.text) if field.glob else cwd.text
            found.append((Target(kind, fold(base.rstrip("/") + "/" + value)), sure))
        else:
            for base in cwd.values if cwd.known is Known.SET else ():
                found.append(
                    (Target(kind, fold((escape_glob(base) if field.glob else base).rstrip("/") + "/" + value)), Certainty.POSSIBLE)
                )
            patterns = folder_patterns(cwd.origins) if cwd.known is Known.DYNAMIC else ()
            for pattern in patterns:
                below = value if field.glob else escape_glob(value)
                found.append((Target(TargetKind.PATTERN, fold(f"{pattern.rstrip('/')}/{below}")), Certainty.POSSIBLE))
            if cwd.known is Known.DYNAMIC and not patterns:
                found.append((Target(TargetKind.PATH, "", f"relative to an unknown directory ({cwd.reason})"), Certainty.UNKNOWN))
    return tuple(found)


def fold(path: str) -> str:
    """An absolute path with `.`, `..` and doubled slashes folded as text. Symlinks are the gate's business."""
    folded = posixpath.normpath(path)
    return "/" + folded.lstrip("/") if path.startswith("/") else folded


def escape_glob(text: str) -> str:
    """The pattern that matches exactly this text."""
    return "".join("\\" + c if c in "*?[]\\!()|+@" else c for c in text)


def inside(path: str, folder: str) -> bool:
    """Whether path is folder itself or lies below it (both absolute and folded)."""
    return path == folder or folder == "/" or path.startswith(folder.rstrip("/") + "/")


class Scene:
    """The surroundings of a derivation: who and where, what ran before in the same text, and the way into nested code.

    Made by `derive`; describers use it read-only. Nested texts share `files`, `sources`, `links` and `copies` with the outer one.
    """

    __slots__ = (
        "_derive_text",
        "aliases",
        "aliases_of_programs",
        "copies",
        "effects_of",
        "files",
        "given",
        "home",
        "invocations",
        "leaves",
        "links",
        "moved",
        "saved",
        "settings",
        "shadowing",
        "sources",
        "user",
        "variables",
        "wants",
        "workspace",
    )

    def __init__(
        self,
        *,
        workspace: str,
        home: str,
        user: str = "",
        variables: tuple[tuple[str, Field], ...] = (),
        derive_text: Callable[..., tuple[Effect, ...]] | None = None,
    ) -> None:
        self.workspace = workspace
        self.home = home
        self.user = user
        self.variables = variables  # exported by outer texts, for the nested ones
        self.given: tuple[tuple[str, Field], ...] = ()  # variables of the caller that say where git's own settings lie
        self.files: dict[str, str | None] = {}  # path -> text written to it earlier in the same line (None: written, text unknown)
        self.sources: dict[str, str] = {}  # path written earlier -> where its text came from: network | file | generated | ...
        self.links: dict[str, str] = {}  # path -> absolute path it was linked to earlier in the same line
        self.copies: dict[str, str] = {}  # path -> name of the program copied or linked there earlier in the same line
        self.aliases: dict[str, Field] = {}  # git aliases ("x") and remotes ("remote x") defined earlier in the same line
        self.settings: dict[str, Field] = {}  # git's settings that this text made, by key in lower case; while a git runs, those of its -c too
        self.leaves: dict[str, str] = {}  # path -> text that the command being described leaves there
        self.aliases_of_programs: dict[str, str] = {}  # names that `hash -p` made another program's, and its path
        self.moved: list[str] = []  # where files were moved to earlier in the same line
        self.wants: dict[str, None] = {}  # files that would be read as code, had the caller given their text
        self.shadowing: tuple[str, ...] = ()  # folders of the given PATH, in front of the system's, that a judged command may write
        self.saved: list[str] = []  # how git kept work earlier in the same line: commit, stash, bundle, branch, tag
        self.invocations: tuple[Invocation, ...] = ()
        self.effects_of: dict[int, tuple[Effect, ...]] = {}  # invocation index -> effects derived for it so far
        self._derive_text = derive_text

    def inner(self, derive_text: Callable[..., tuple[Effect, ...]] | None, variables: tuple[tuple[str, Field], ...]) -> Scene:
        """The scene of a nested text: what was written or linked before is shared, the invocations are its own."""
        scene = Scene(workspace=self.workspace, home=self.home, user=self.user, variables=variables, derive_text=derive_text)
        scene.files, scene.sources, scene.links, scene.copies = self.files, self.sources, self.links, self.copies
        scene.moved, scene.saved, scene.aliases, scene.wants = self.moved, self.saved, self.aliases, self.wants
        scene.given, scene.settings = self.given, self.settings
        scene.aliases_of_programs, scene.leaves, scene.shadowing = self.aliases_of_programs, self.leaves, self.shadowing
        return scene

    def is_writable(self, path: str) -> bool:
        """Whether a path lies where judged commands may write: the workspace and the scratch folders."""
        return any(inside(path, folder) for folder in (self.workspace, "/tmp", "/var/tmp", "/dev/shm"))

    def code_of(self, path: str) -> str | None:
        """The text of a file that runs as code: written earlier in the same line or given by the caller; noted as wanted when it is neither."""
        if path not in self.files and path not in self.copies:
            self.wants[path] = None
        return self.files.get(path)

    def nested_shell(
        self, text: str, call: Call, *, positional: tuple[Field, ...] = (), cwd: Field | None = None, via: str = "", line: int = 0
    ) -> Iterator[Effect]:
        """Effects of shell text that this call runs (bash -c, eval, ssh ...); spans are the call's own.

        line: where the text begins in its file, when it comes from one: its effects then bear their line.
        """
        if self._derive_text is None:
            yield call.effect(EffectKind.CODE_OPAQUE, reason="nested too deeply to follow", source="generated")
            return
        yield from self._derive_text("shell", text, call, positional, cwd, via, line)

    def nested_argv(self, words: tuple[Field, ...], call: Call, *, via: str = "", cwd: Field | None = None) -> Iterator[Effect]:
        """Effects of an argument vector that this call runs (env, timeout, xargs, find -exec ...)."""
        if self._derive_text is None:
            yield call.effect(EffectKind.CODE_OPAQUE, reason="nested too deeply to follow", source="generated")
            return
        yield from self._derive_text("argv", words, call, (), cwd, via)
