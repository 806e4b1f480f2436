"""Our own shell tree. Both adapters (bashlex, mvdan/sh) produce exactly this; nothing of theirs crosses the border.

Every node has a span in the text that was parsed. What cannot be read is an `Opaque` node with a reason, never silence.
Word parts keep their quoting: `quoted` is True where IFS splitting and globbing do not apply.
"""

from __future__ import annotations

from ..model.effect import Span
from ..model.value import Value

# ---------------------------------------------------------------- words


class Part(Value):
    """A piece of a word."""

    span: Span


class Literal(Part):
    """Text with quotes, escapes and `$'..'` already removed. Unquoted glob characters stand in `Glob` parts, not here."""

    text: str
    quoted: bool


class Glob(Part):
    """Unquoted glob text: `*`, `?`, `[a-z]`, or an extglob such as `!(a|b)` when extglob is on."""

    text: str


class Tilde(Part):
    """`~` or `~user` at a place where bash expands it. user: "" for the own home, "+" and "-" for PWD and OLDPWD."""

    user: str


class Param(Part):
    """`$name`, `${name}`, `${name op argument}`.

    op: "" | "length" (${#x}) | "indirect" (${!x}) | "names" (${!x*}) | ":-" "-" ":=" "=" ":?" "?" ":+" "+" | "#" "##" "%" "%%" |
    "/" "//" "/#" "/%" (argument = pattern, second = replacement) | "^" "^^" "," ",," | ":" (substring; argument, second) | "@Q" "@P" ...
    index: the subscript word of an array element, None for a plain variable; `[@]` and `[*]` are Literal words.
    """

    name: str
    quoted: bool
    op: str = ""
    argument: Word | None = None
    second: Word | None = None
    index: Word | None = None


class CommandSub(Part):
    """`$(..)`, backticks, or the bash 5.3 `${ ..; }`. `$(<file)` has a body whose one command has only a redirect."""

    body: Script
    quoted: bool
    backtick: bool = False


class ProcessSub(Part):
    """`<(..)` or `>(..)`; direction is "<" or ">"."""

    body: Script
    direction: str


class Arith(Part):
    """`$((..))` or `$[..]`. `nested` are the substitutions inside, `text` the source."""

    text: str
    quoted: bool
    nested: tuple[Part, ...] = ()


class Brace(Part):
    """An unquoted brace expansion: alternatives in order. Sequences such as {1..3} come already listed (bounded; else an OpaquePart)."""

    alternatives: tuple[Word, ...]


class OpaquePart(Part):
    """A piece of a word that could not be read: the word is dynamic, and the reason says why."""

    reason: str


class Word(Value):
    """One shell word. `raw` is its source text with line continuations removed."""

    span: Span
    raw: str
    parts: tuple[Part, ...]


# ---------------------------------------------------------------- commands


class Node(Value):
    """A piece of a script that can run."""

    span: Span


class Heredoc(Value):
    """`quoted` bodies are data to the letter; unquoted ones are expanded by bash, so `body` holds their parts."""

    span: Span
    quoted: bool
    body: Word


class Redirect(Value):
    """op: `<` `>` `>>` `>|` `<>` `&>` `&>>` `>&` `<&` `<<` `<<-` `<<<`. fd: the number before it, None when absent; var: name in `{var}>`."""

    span: Span
    op: str
    fd: int | None
    target: Word | None
    heredoc: Heredoc | None = None
    var: str = ""


class Assignment(Value):
    """`name=value`, `name+=value`, `name[index]=value`, or an array `name=(..)` whose elements are (index word or None, value word)."""

    span: Span
    name: str
    value: Word | None
    append: bool = False
    index: Word | None = None
    array: tuple[tuple[Word | None, Word], ...] | None = None


class Script(Value):
    """Commands in the order they stand (`;`, newline or `&` between them).

    glued: the items (by number) whose `;` in front bash may lose, see shell/glued.py.
    """

    span: Span
    items: tuple[Node, ...]
    glued: tuple[int, ...] = ()


class Command(Node):
    """A simple command. Words of declaration builtins (declare, export, local ...) that assign are `assignments_in_words`, in order."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments_in_words: tuple[Assignment, ...] = ()


class AndOr(Node):
    """left && right, left || right."""

    left: Node
    op: str
    right: Node


class Pipeline(Node):
    """One or more commands joined by `|` (or `|&`: then the index is in stderr_joined)."""

    commands: tuple[Node, ...]
    negated: bool = False
    timed: bool = False
    stderr_joined: tuple[int, ...] = ()


class Background(Node):
    """command &"""

    body: Node


class Subshell(Node):
    body: Script
    redirects: tuple[Redirect, ...] = ()


class Group(Node):
    """{ ..; }"""

    body: Script
    redirects: tuple[Redirect, ...] = ()


class If(Node):
    """branches: (condition, body) for if and each elif."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None = None
    redirects: tuple[Redirect, ...] = ()


class Loop(Node):
    """while (until is True: until)."""

    condition: Script
    body: Script
    until: bool = False
    redirects: tuple[Redirect, ...] = ()


class For(Node):
    """for name in words; words is None for "$@". select is True for the select form."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    select: bool = False
    redirects: tuple[Redirect, ...] = ()


class ArithFor(Node):
    """for ((init; test; step)); `header` holds the parts that run commands."""

    header: tuple[Part, ...]
    body: Script
    text: str = ""
    redirects: tuple[Redirect, ...] = ()


class Case(Node):
    """items: (patterns, body, terminator) with terminator `;;` `;&` `;;&`."""

    word: Word
    items: tuple[tuple[tuple[Word, ...], Script, str], ...]
    redirects: tuple[Redirect, ...] = ()


class Function(Node):
    name: str
    body: Node


class Test(Node):
    """[[ .. ]]: operators stay literal words, in source order."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()


class Arithmetic(Node):
    """(( .. )), and `let` arguments that are known to be arithmetic."""

    text: str
    nested: tuple[Part, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Coproc(Node):
    name: str
    body: Node
    redirects: tuple[Redirect, ...] = ()


class Opaque(Node):
    """Text that could not be read. Judged as code that may do anything."""

    reason: str
    text: str


class Parsed(Value):
    """What a parser returns. `parser`: bashlex | shfmt | both | none. `syntax_error`: the parser's own message when the text is no shell."""

    script: Script
    parser: str
    syntax_error: str = ""
    disagreement: bool = False
