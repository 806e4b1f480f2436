"""Splits the words after a program's name into options, their arguments and operands, by the program's row.

GNU habits: clusters (`-rfv`), attached and separate arguments, `--long=value`, abbreviated long names, `--`, options after operands. Every
rule over-reads: where a word may be an option or an operand (a set of values, a dynamic word) both readings are kept.
"""

from __future__ import annotations

from functools import lru_cache

from ..model.effect import Certainty
from ..shell.invocation import Field, Invocation, Known
from .call import Call, Program


class Spec:
    """The options of one row, ready for look-up."""

    __slots__ = ("attached", "final", "long_names", "separate", "single", "stop")

    def __init__(self, options: str, longs: str, style: str) -> None:
        words = options.split()
        self.final = frozenset(word[:-1] for word in words if word.endswith("!"))
        self.separate = self.final | {word for word in words if not word.endswith(("=", "!"))}
        self.attached = frozenset(word[:-1] for word in words if word.endswith("="))
        self.long_names = tuple(name for name in (*self.separate, *self.attached, *longs.split()) if name.startswith("--"))
        self.stop = "stop" in style
        self.single = "single" in style

    def resolve(self, name: str) -> tuple[str, ...]:
        """The long options that a possibly abbreviated name stands for; itself when the row knows none."""
        if name in self.long_names or len(name) < 3:
            return (name,)
        return tuple(known for known in self.long_names if known.startswith(name)) or (name,)


@lru_cache(maxsize=1024)
def spec_of(options: str, longs: str, style: str) -> Spec:
    """The parsed form of a row's option columns."""
    return Spec(options, longs, style)


class Split:
    """The words of one command, told apart."""

    __slots__ = ("ended", "flags", "operands", "spec", "style", "values", "wanted")

    def __init__(self, spec: Spec, style: str) -> None:
        self.spec = spec
        self.style = style
        self.flags: list[str] = []
        self.values: list[tuple[str, Field]] = []
        self.operands: list[Field] = []
        self.wanted = ""  # the option whose argument is the next word
        self.ended = False  # everything that follows is an operand

    def run(self, argv: tuple[Field, ...]) -> None:
        """Takes all words in order."""
        for index, field in enumerate(argv):
            if self.ended:
                self.operands.extend(argv[index:])
                break
            if self.wanted:
                self.value(self.wanted, field)
                self.wanted = ""
            elif field.known is Known.DYNAMIC:
                self.dynamic(field)
            elif field.text == "--":
                self.ended = True
            else:
                self.word(field)
            if index == 0 and "bundle" in self.style and self.operands:
                self.bundle(self.operands.pop())
        if self.wanted:
            self.flags.append(self.wanted)

    def value(self, option: str, field: Field) -> None:
        """An option with its argument."""
        self.values.append((option, field))
        self.ended = self.ended or option in self.spec.final

    def operand(self, field: Field) -> None:
        """A word that is no option."""
        self.operands.append(field)
        self.ended = self.ended or self.spec.stop

    def word(self, field: Field) -> None:
        """A word of known values: options where they begin with a dash, an operand for the rest."""
        # An option with glob characters (`--include=*.c`) matches no file in practice, so it stays what it is.
        dashed = tuple(value for value in field.values if len(value) > 1 and value[0] == "-")
        for value in dashed:
            self.option(value.replace("\\", "") if field.glob else value, field.replace(glob=False) if field.glob else field)
        if not dashed:
            self.operand(field)
        elif len(dashed) < len(field.values):
            self.operand(field.replace(values=tuple(value for value in field.values if value not in dashed)))

    def option(self, text: str, field: Field) -> None:
        """One option word: a long name, a single-dash long name, or a cluster of letters."""
        if self.spec.single or text.startswith("--"):
            self.long(text, field)
            return
        for position in range(1, len(text)):
            name = "-" + text[position]
            if name in self.spec.separate or name in self.spec.attached:
                rest = text[position + 1 :]
                if rest:
                    self.value(name, _part(field, rest))
                elif name in self.spec.separate:
                    self.wanted = name
                else:
                    self.flags.append(name)
                return
            self.flags.append(name)

    def long(self, text: str, field: Field) -> None:
        """`--name`, `--name=value`, or `-name` of a program with single-dash long names."""
        name, equals, rest = text.partition("=")
        names = (name,) if not text.startswith("--") else self.spec.resolve(name)
        for known in names:
            if equals:
                self.value(known, _part(field, rest))
            elif known in self.spec.separate:
                self.wanted = known
            else:
                self.flags.append(known)

    def dynamic(self, field: Field) -> None:
        """A word of unknown value: an attached argument (`-o$X`, `--out=$X`) when its known beginning says so, else an operand."""
        prefix = field.prefix
        if len(prefix) < 2 or prefix[0] != "-":
            self.operand(field)
        elif prefix.startswith("--") or self.spec.single:
            name, equals, rest = prefix.partition("=")
            if equals:
                for known in self.spec.resolve(name):
                    self.value(known, field.replace(prefix=rest))
            else:
                self.operands.append(field)
        else:
            for position in range(1, len(prefix)):
                name = "-" + prefix[position]
                if name in self.spec.separate or name in self.spec.attached:
                    self.value(name, field.replace(prefix=prefix[position + 1 :]))
                    return
                self.flags.append(name)

    def bundle(self, field: Field) -> None:
        """`tar xzf a.tgz`: the first word is a cluster without a dash; the letter that wants an argument takes the next word."""
        text = field.text
        if text is None:
            self.operands.append(field)
            return
        for letter in text:
            name = "-" + letter
            if name in self.spec.separate:
                self.wanted = name
            else:
                self.flags.append(name)


def _part(field: Field, text: str) -> Field:
    """The rest of an option word as a field of its own."""
    return field.replace(values=(text,), known=Known.STATIC)


def split(program: Program, argv: tuple[Field, ...]) -> Split:
    """Options, option arguments and operands of the words after the name."""
    state = Split(spec_of(program.options, program.longs, program.style), program.style)
    if "raw" in program.style:
        state.operands.extend(argv)
    else:
        state.run(argv)
    return state


def make_call(
    program: Program,
    name: str,
    argv: tuple[Field, ...],
    invocation: Invocation,
    *,
    certainty: Certainty,
    origin: tuple[str, ...] = (),
    path: str = "",
) -> Call:
    """The call that a describer sees."""
    state = split(program, argv)
    return Call(
        name, argv, tuple(state.flags), tuple(state.values), tuple(state.operands), invocation, invocation.span, certainty, origin, path
    )
