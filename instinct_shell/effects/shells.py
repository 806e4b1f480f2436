"""Shells and the builtins that run text: bash -c, sh -s, eval, source, trap; busybox and its like."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import flow, scripts
from .call import Call, Program, Scene
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Options of the bash family whose argument is the next word.
_LONG_WITH_ARGUMENT = frozenset(("--rcfile", "--init-file", "--emulate"))


class _ShellLine:
    """The options of one shell call, told apart as bash itself does."""

    __slots__ = ("code", "interactive", "login", "noexec", "rest", "startup", "stdin", "unknown", "verbose")

    def __init__(self, argv: tuple[Field, ...]) -> None:
        self.code = self.stdin = self.noexec = self.interactive = self.login = self.verbose = False
        self.startup: list[Field] = []
        self.unknown: Field | None = None
        self.rest: tuple[Field, ...] = ()
        at = 0
        while at < len(argv):
            text = argv[at].text
            if text is None and argv[at].known is Known.DYNAMIC and argv[at].prefix[:1] == "-":
                self.unknown = argv[at]
                text = argv[at].prefix
            if text is None or len(text) < 2 or text[0] not in "-+" or text == "--":
                if text in ("--", "-"):
                    at += 1
                break
            at += 1
            if text.startswith("--"):
                if text.partition("=")[0] in _LONG_WITH_ARGUMENT and at < len(argv) and "=" not in text:
                    self.startup.append(argv[at])
                    at += 1
                elif text == "--login":
                    self.login = True
                elif text == "--command":  # fish, nu
                    self.code = True
                continue
            at += self.cluster(text)
        self.rest = argv[at:]

    def cluster(self, text: str) -> int:
        """Takes `-euxc`; returns how many of the next words belong to it (`-o pipefail`)."""
        takes = 0
        for letter in text[1:]:
            if letter in "oO":
                takes += 1
            elif text[0] == "-":
                self.code = self.code or letter == "c"
                self.stdin = self.stdin or letter == "s"
                self.noexec = self.noexec or letter == "n"
                self.verbose = self.verbose or letter == "v"
                self.interactive = self.interactive or letter == "i"
                self.login = self.login or letter == "l"
        return takes


def shell(call: Call, scene: Scene) -> Iterator[Effect]:
    """bash, sh and their like: `-c` text, a script file, or the program on stdin."""
    line = _ShellLine(call.argv)
    if any(word.text in ("--help", "--version") for word in call.argv[: len(call.argv) - len(line.rest)]):
        return
    if line.noexec and not line.code:
        for file in line.rest[:1] if line.verbose else ():  # -v prints the lines as they are read
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)
        return  # `bash -n file` only checks the syntax
    for file in line.startup if line.interactive else ():
        yield from scripts.script_file(call, scene, file, (), via=f"{call.name} --rcfile", read=True)
    if (line.interactive and not line.startup) or line.login:
        yield from _own_startup(call, scene, line)
    if line.unknown is not None:
        yield scripts.opaque(call, flow.source_of_field(line.unknown, scene), "the options of the shell are not known")
    if line.code:
        if line.rest and not line.noexec:
            # csh begins to count at `$1`
            given = (literal(call.name), *line.rest[1:]) if call.name in ("csh", "tcsh") else line.rest[1:]
            yield from scripts.run_text(call, scene, line.rest[0], positional=given, via=f"{call.name} -c")
    elif line.rest and not line.stdin:
        yield from scripts.script_file(call, scene, line.rest[0], line.rest)
    else:
        yield from scripts.run_stdin(call, scene, positional=(literal(call.name), *line.rest), named=line.stdin)


_LOGIN = (".bash_profile", ".bash_login", ".profile", ".zprofile", ".zlogin")
_RC = {"bash": (".bashrc",), "zsh": (".zshrc", ".zshenv"), "ksh": (".kshrc",), "fish": (".config/fish/config.fish",)}


def _own_startup(call: Call, scene: Scene, line: _ShellLine) -> Iterator[Effect]:
    """The start-up files of an interactive or login shell that the same text wrote, in the home that it gives the shell."""
    variables = dict((*scene.variables, *call.invocation.env, *call.invocation.assignments))
    home = variables.get("HOME")
    folder = home.text if home is not None else scene.home
    names = (*(_LOGIN if line.login else ()), *(_RC.get(call.name, ()) if line.interactive else ()))
    for name in names if folder else ():
        if f"{folder}/{name}" in scene.files:
            yield from scripts.script_file(call, scene, literal(f"{folder}/{name}"), (), via=f"{call.name} startup")
    text = variables.get("ENV")
    if (
        line.interactive
        and text is not None
        and text.text
        and call.name in ("sh", "dash", "ksh", "ash")
        and ("$(" in text.text or "`" in text.text)
    ):
        yield from scene.nested_shell(f": {text.text}", call, via="ENV")


def evaluate_words(call: Call, scene: Scene) -> Iterator[Effect]:
    """eval: the words joined by spaces are the text."""
    yield from joined_text(call, scene, call.argv, via="eval")


def joined_text(call: Call, scene: Scene, words: tuple[Field, ...], *, via: str) -> Iterator[Effect]:
    """Text that a program makes by joining its words with spaces (eval, watch, ssh)."""
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        return
    if len(words) == 1:
        yield from scripts.run_text(call, scene, words[0], via=via)
        return
    yield from scripts.run_text(call, scene, join(words), via=via)


def join(words: tuple[Field, ...]) -> Field:
    """The field of several words with a space between them."""
    if all(word.text is not None for word in words):
        return literal(" ".join(word.text or "" for word in words), words[0].span)
    prefix: list[str] = []
    for word in words:
        if word.text is None:
            prefix.append(word.prefix)
            break
        prefix.append(word.text)
    last = words[-1]
    suffix = last.suffix if last.text is None else " " + last.text
    origins = tuple(origin for word in words for origin in word.origins)
    reason = next((word.reason for word in words if word.reason), "one of several values")
    return Field(Known.DYNAMIC, prefix=" ".join(prefix), suffix=suffix, reason=reason, origins=origins, span=words[0].span)


def source(call: Call, scene: Scene) -> Iterator[Effect]:
    """`source file` runs the file in this shell: it is read and it is code."""
    if not call.operands:
        return
    field = call.operands[0]
    if any(origin.kind == "process" for origin in field.origins) and all(
        scene.invocations[index].output is not None
        for origin in field.origins
        for index in origin.producers
        if index < len(scene.invocations)
    ):
        return  # known text is run by the evaluator, in the shell's own state
    yield from scripts.script_file(call, scene, field, call.operands, via="source", read=True)


def trap(call: Call, scene: Scene) -> Iterator[Effect]:
    """`trap TEXT SIGNAL` of unknown text; known text is run by the evaluator, in the shell's own state."""
    words = call.operands
    if len(words) > 1 and not call.has("-l", "-p") and words[0].known is Known.DYNAMIC:
        from .processes import CHILD

        later = call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
        text = words[0]
        if len(text.origins) == 1 and text.origins[0].kind == "variable" and text.origins[0].detail in CHILD:
            text = literal(f"{text.prefix}$!{text.suffix}")  # `trap "kill $PID" EXIT`: the one hole is the number of one's own child
        yield from scripts.run_text(later, scene, text, via="trap")


def multicall(call: Call, scene: Scene) -> Iterator[Effect]:
    """busybox, toybox: the first operand is the program."""
    if call.argv and (call.argv[0].text or "-")[0] != "-":
        yield from scene.nested_argv(call.argv, call, via=call.name)
    elif call.argv and call.argv[0].known is Known.DYNAMIC:
        yield scripts.opaque(call, flow.source_of_field(call.argv[0], scene), "the applet is not known")


def variables(call: Call, scene: Scene) -> Iterator[Effect]:
    """declare, export, set: without names (or with -p alone) they print all variables with their values."""
    words = [field.text or field.prefix for field in call.argv]
    if all(word in ("-p", "-x", "-px", "-xp") for word in words) and (call.name != "set" or not words):
        from .secrets import environment_dump

        yield from environment_dump(call, scene)


def bind(call: Call, scene: Scene) -> Iterator[Effect]:
    """`bind -x '"key":command'`, `complete -C command`, `complete -F f`, `mapfile -C callback`: text a shell runs later."""
    for option in ("-x", "-C"):
        field = call.value(option)
        if field is not None and field.text is not None:
            text = field.text.partition(":")[2] if option == "-x" else field.text
            yield from scene.nested_shell(text.strip("\"' "), call, via=call.name)
    if call.name == "bind" and (file := call.value("-f")) is not None:
        yield from file_effects(call, scene, EffectKind.FILE_READ, file)


def enable(call: Call, scene: Scene) -> Iterator[Effect]:
    """`enable -f lib.so name` loads code into the shell."""
    library = call.value("-f")
    if library is not None:
        yield call.effect(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, "enable -f"), variable="enable -f", value=(library.text or library.prefix)[:200])


def hash_builtin(call: Call, scene: Scene) -> Iterator[Effect]:
    """`hash -p path name` makes a name run another program."""
    path = call.value("-p")
    if path is not None and call.operands:
        for field in call.operands:
            if field.text and path.text:
                scene.aliases_of_programs[field.text] = path.text
        yield call.effect(
            EffectKind.ENV_HIJACK, Target(TargetKind.NAME, call.operands[0].text or ""), variable="hash", value=path.text or path.prefix
        )


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "yash", "rbash", "lksh", "posh", "fish", "csh", "tcsh", "pdksh", "oksh", "osh"),
        style="raw nohelp",
        describe=shell,
        summary="a shell: runs text given with -c, a script, or stdin",
    ),
    Program(("eval",), style="raw nohelp", describe=evaluate_words, summary="runs its words as shell text"),
    Program(("source", "."), style="stop nohelp", describe=source, summary="runs a file in this shell"),
    Program(("trap",), style="stop nohelp", describe=trap, summary="runs text on a signal or at exit"),
    Program(
        ("busybox", "toybox"), style="raw nohelp", describe=multicall, summary="many programs in one: the first operand is the program"
    ),
    Program(
        ("bind", "complete", "compgen", "mapfile", "readarray"),
        options="-x -C -F -f -A -G -W -X -P -S -n -O -s -t -u -c -d -q -r -m -o",
        describe=bind,
    ),
    Program(("export", "declare", "typeset", "set"), style="raw", describe=variables, summary="sets variables; alone it prints them all"),
    Program(("enable",), options="-f", describe=enable, summary="turns builtins on and off, loads them from libraries"),
    Program(("hash",), options="-p", describe=hash_builtin, summary="remembers where programs are"),
    Program(
        tuple(
            (
                ": true false cd pushd popd dirs pwd echo printf test [ [[ shift unset readonly local let "
                "read return break continue exit logout wait jobs fg bg disown times ulimit umask type alias unalias help history fc "
                "getopts shopt caller suspend command_not_found_handle compopt"
            ).split()
        ),
        style="raw",
        summary="a shell builtin without effects outside the shell",
    ),
)
