"""The command line of bash, read as bash reads it: which text runs, with which options, `$0` and positional parameters.

Every order that agents use is bash's own: `-c TEXT`, `-lc TEXT`, `-c -l TEXT`, `--norc --noprofile -c TEXT`, `-o pipefail -c TEXT`, a script file,
`-s`, nothing at all. Long options come first, then clusters of letters; `o` and `O` take their names from the words that follow.
"""

from __future__ import annotations

from ..errors import UsageError
from ..model.value import Value

LONG = frozenset(
    "debugger help init-file login noediting noprofile norc posix pretty-print protected rcfile restricted verbose version".split()
)
WITH_FILE = frozenset(("init-file", "rcfile"))
LETTERS = frozenset("abefhiklmnprstuvxBCEHPTc")
# Options under which the same text runs differently: the judge sees them as `set` and `shopt` lines before the text.
JUDGED_LETTERS = frozenset("aefkuBEH")


class ShellCall(Value):
    """One call of a shell.

    mode: text | script | stdin | version | help. words: option words to repeat for the pinned bash, without `-c`, `-s`, `-i`, `-l`.
    argv0: how the shell was called, `$0` of a text without a name. prelude: lines that say the options to the judge.
    """

    mode: str
    argv0: str = "bash"
    text: str = ""
    script: str = ""
    name: str = ""
    positional: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    login: bool = False
    interactive: bool = False
    prelude: str = ""


def read_call(argv0: str, arguments: list[str]) -> ShellCall:
    """The call. Raises UsageError in bash's own words, with bash's status 2."""
    rest = list(arguments)
    found: dict[str, bool] = {"login": argv0.startswith("-")}
    words: list[str] = []
    prelude: list[str] = []
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        name = rest[0].lstrip("-") if rest[0].startswith("--") else rest[0][1:]
        if name not in LONG or rest[0] == "--":
            break
        word = rest.pop(0)
        if name in WITH_FILE:
            if not rest:
                raise UsageError(f"{argv0}: {word}: option requires an argument")
            rest.pop(0)  # start-up files are not read: their text would run unjudged
        elif name in {"login", "version", "help"}:
            found[name] = True
        elif name == "posix":
            words.append("--posix")
        elif name == "restricted":
            words.append("-r")
        elif name == "verbose":
            words.append("-v")
        elif name == "debugger":
            raise UsageError(f"{argv0}: {word}: not under guard: the debugger's own script would run unjudged")
    for mode in ("version", "help"):
        if found.get(mode):
            return ShellCall(mode, argv0)
    command = stdin = interactive = False
    while rest and rest[0][:1] in {"-", "+"} and rest[0]:
        word = rest.pop(0)
        if word in {"-", "--"}:
            break
        sign, letters = word[0], word[1:]
        kept = ""
        for letter in letters:
            if letter == "c" and sign == "-":
                command = True
            elif letter == "s" and sign == "-":
                stdin = True
            elif letter == "i" and sign == "-":
                interactive = True
            elif letter == "l":
                found["login"] = sign == "-"
            elif letter in "oO":
                _named(letter, sign, rest, words, prelude, argv0)
            elif letter in LETTERS:
                kept += letter
            else:
                raise UsageError(f"{argv0}: {sign}{letter}: invalid option", hint="see `bash --help`")
        if kept:
            words.append(sign + kept)
            judged = "".join(letter for letter in kept if letter in JUDGED_LETTERS)
            prelude += [f"set {sign}{judged}"] if judged else []
    shape = {"argv0": argv0, "words": tuple(words), "login": found["login"], "interactive": interactive, "prelude": "".join(line + "\n" for line in prelude)}
    if command:
        if not rest:
            raise UsageError(f"{argv0}: -c: option requires an argument")
        text, *names = rest
        return ShellCall("text", text=text, name=names[0] if names else "", positional=tuple(names[1:]), **shape)  # type: ignore[arg-type]  # names from the table above
    if rest and not stdin:
        return ShellCall("script", script=rest[0], name=rest[0], positional=tuple(rest[1:]), **shape)  # type: ignore[arg-type]  # the same
    return ShellCall("stdin", positional=tuple(rest), **shape)  # type: ignore[arg-type]  # the same


def _named(letter: str, sign: str, rest: list[str], words: list[str], prelude: list[str], argv0: str) -> None:
    """`-o NAME` and `-O NAME`."""
    if not rest or not rest[0].replace("_", "").replace("-", "").isalnum():
        raise UsageError(f"{argv0}: {sign}{letter}: option requires a name", hint="for example: bash -o pipefail -c 'a | b'")
    name = rest.pop(0)
    words += [f"{sign}{letter}", name]
    prelude.append(f"set {sign}o {name}" if letter == "o" else f"shopt -{'s' if sign == '-' else 'u'} {name}")
