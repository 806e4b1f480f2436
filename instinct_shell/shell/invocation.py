"""What the evaluator yields: each command that would run, with its words expanded, in execution order.

`evaluate(script, environment, parse)` in shell/evaluate.py walks the tree with bash's scoping (variables, cwd, functions, subshells,
pipelines) and returns an `Evaluation`. Effects are derived from invocations alone; nothing there looks at the tree again.
"""

from __future__ import annotations

from enum import StrEnum

from ..model.effect import NOWHERE, Span
from ..model.value import Value
from .syntax import Opaque


class Known(StrEnum):
    STATIC = "static"  # exactly one value
    SET = "set"  # one of a few values (at most 64)
    DYNAMIC = "dynamic"  # not known; `reason` says why


class Origin(Value):
    """Where an unknown piece comes from.

    kind: "variable" (unset or of unknown value; detail = name), "command" (output of the invocations in `producers`), "file" (`$(<f)`,
    `read < f`), "mktemp" (a fresh scratch name; detail = its directory when known), "positional", "read", "arithmetic", "glob", "opaque".
    """

    kind: str
    detail: str = ""
    producers: tuple[int, ...] = ()  # indexes into Evaluation.invocations


def folder_patterns(origins: tuple[Origin, ...]) -> tuple[str, ...]:
    """The absolute patterns that an unknown directory surely fits (`for d in packages/*/; do cd "$d"`); () when nobody knows."""
    return tuple(origin.detail for origin in origins) if all(origin.kind == "glob" and origin.detail.startswith("/") for origin in origins) else ()


class Field(Value):
    """One word after expansion.

    values: the one value, or the members of the set; for DYNAMIC the empty tuple. prefix / suffix: literal text known at the ends of a
    dynamic field. glob: when the field has active glob characters, `values` hold *patterns* (literal specials backslash-escaped).
    many: may become any number of arguments (unquoted dynamic, "$@", glob). unset: names of unset variables that expanded to nothing.
    """

    known: Known
    values: tuple[str, ...] = ()
    prefix: str = ""
    suffix: str = ""
    reason: str = ""
    origins: tuple[Origin, ...] = ()
    glob: bool = False
    many: bool = False
    quoted: bool = False  # some part was quoted: an empty result stays a word
    unset: tuple[str, ...] = ()
    span: Span = NOWHERE
    no_number: bool = False  # something is known of it that no expression of arithmetic holds

    @property
    def text(self) -> str | None:
        """The one value of a static field without globs, else None."""
        return self.values[0] if self.known is Known.STATIC and not self.glob else None


def literal(text: str, span: Span = NOWHERE) -> Field:
    """A static field with this value."""
    return Field(Known.STATIC, (text,), span=span)


class Stdin(Value):
    """What a command reads on fd 0.

    kind: "inherit" | "null" | "pipe" (producers: indexes of the invocations whose stdout comes in) | "file" (field: its name) |
    "text" (field: heredoc body or here-string, expanded; or the known output of the `producers` of a pipe) | "closed".
    outer: what is behind an inherited one, when the door says so: "pipe" | "file" (field: its name). Only readers of programs look at it (`program`):
    whether others read what an agent happens to have on fd 0 says nothing.
    """

    kind: str
    field: Field | None = None
    producers: tuple[int, ...] = ()
    outer: str = ""

    @property
    def program(self) -> Stdin:
        """The same for a command that takes its program from here: an inherited pipe or file is one."""
        return Stdin(self.outer, self.field, self.producers) if self.kind == "inherit" and self.outer else self


INHERIT = Stdin("inherit")


class Stream(Value):
    """One expanded redirection to or from a file. op as in syntax.Redirect; fd is the affected descriptor (1 for both of `&>`)."""

    op: str
    fd: int
    target: Field
    span: Span


class Invocation(Value):
    """One command that runs. words[0] is the command name; empty when only assignments or redirects stand there.

    cwd: where it runs (dynamic when a `cd` was). env: assignments in front of it, and exported changes made earlier in the text.
    certain: False inside a branch, loop body, function body never surely called, after `||`, in a trap ...
    stdout: index list of the invocations that read its output by pipe; captured: its output becomes part of a word.
    context: outermost first, of "subshell" "pipeline" "background" "loop" "branch" "function" "trap" "substitution" "coproc" "condition".
    """

    words: tuple[Field, ...]
    cwd: Field
    span: Span
    assignments: tuple[tuple[str, Field], ...] = ()
    env: tuple[tuple[str, Field], ...] = ()
    stdin: Stdin = INHERIT
    streams: tuple[Stream, ...] = ()
    certain: bool = True
    captured: bool = False
    readers: tuple[int, ...] = ()
    context: tuple[str, ...] = ()
    defined: bool = False  # the body of a function that was defined and never called in this text
    fds: tuple[tuple[int, Stdin], ...] = ()  # what other descriptors from 3 on are open to read from
    output: Field | None = None  # what it writes to stdout, when that can be told without running it


class Evaluation(Value):
    """The result. opaque: every piece that could not be read. functions: names defined in the text. notes: things the caller must judge,
    as (kind, detail, span): "alias", "extglob", "trap-dynamic", "hash", "enable", "limit" (bound reached: the rest is opaque) ..."""

    invocations: tuple[Invocation, ...]
    opaque: tuple[Opaque, ...] = ()
    functions: tuple[str, ...] = ()
    notes: tuple[tuple[str, str, Span], ...] = ()


class Surroundings(Value):
    """What the text starts with. env holds all exported variables the command would see; anything else is unset."""

    cwd: str
    home: str
    env: tuple[tuple[str, str], ...] = ()
    argv0: str = "bash"
    positional: tuple[str, ...] = ()
    user: str = ""
    # for nested text (bash -c, functions, xargs): what is known of its start beyond plain strings; each wins over its plain twin
    cwd_field: Field | None = None
    argv0_field: Field | None = None
    positional_fields: tuple[Field, ...] = ()
    variables: tuple[tuple[str, Field], ...] = ()
    stdin: Stdin | None = None
    workspace: str = ""  # what `git rev-parse --show-toplevel` says in there
