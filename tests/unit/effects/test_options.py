"""Options told apart from operands, as GNU programs do it."""

from __future__ import annotations

import shlex

import pytest

from instinct_shell.effects.call import Program
from instinct_shell.effects.options import split
from instinct_shell.shell.invocation import Field, Known, literal

RM = Program(("rm",), longs="--recursive --force --verbose --interactive", options="--interactive=")
CUT = Program(("cut",), options="-d -f --delimiter --fields -i=")
ENV = Program(("env",), options="-u -C", style="stop")
PYTHON = Program(("python",), options="-c! -m! -W", style="stop")
FIND = Program(("openssl",), options="-in -out", style="single")
TAR = Program(("tar",), options="-f -C --file", style="bundle")


@pytest.mark.parametrize(
    ("program", "line", "flags", "values", "operands"),
    [
        (RM, "-r -f a", "-r -f", "", "a"),
        (RM, "-rfv a b", "-r -f -v", "", "a b"),
        (RM, "a -rf b", "-r -f", "", "a b"),
        (RM, "--rec --for a", "--recursive --force", "", "a"),
        (RM, "--recursiv a", "--recursive", "", "a"),
        (RM, "-- -rf", "", "", "-rf"),
        (RM, "-f -- -x", "-f", "", "-x"),
        (RM, "--interactive a", "--interactive", "", "a"),
        (RM, "--interactive=never a", "", "--interactive=never", "a"),
        (RM, "- a", "", "", "- a"),
        (CUT, "-d= -f1 x", "", "-d== -f=1", "x"),
        (CUT, "-d , -f 2 x", "", "-d=, -f=2", "x"),
        (CUT, "--delimiter=: --fields 3 x", "", "--delimiter=: --fields=3", "x"),
        (CUT, "-i x", "-i", "", "x"),
        (CUT, "-i.bak x", "", "-i=.bak", "x"),
        (CUT, "-d", "-d", "", ""),
        (ENV, "-u X rm -rf a", "", "-u=X", "rm -rf a"),
        (ENV, "-i A=1 rm --help", "-i", "", "A=1 rm --help"),
        (PYTHON, "-c code --help x", "", "-c=code", "--help x"),
        (PYTHON, "-ccode --help", "", "-c=code", "--help"),
        (PYTHON, "-W error -m pip --help", "", "-W=error -m=pip", "--help"),
        (FIND, "-in a -out b -nodes", "-nodes", "-in=a -out=b", ""),
        (TAR, "xzf a.tgz b", "-x -z", "-f=a.tgz", "b"),
        (TAR, "-xzf a.tgz -C d", "-x -z", "-f=a.tgz -C=d", ""),
        (TAR, "xf a.tgz -C d", "-x", "-f=a.tgz -C=d", ""),
    ],
)
def test_split(program: Program, line: str, flags: str, values: str, operands: str) -> None:
    state = split(program, tuple(literal(word) for word in shlex.split(line)))
    assert " ".join(state.flags) == flags
    assert " ".join(f"{option}={field.text}" for option, field in state.values) == values
    assert " ".join(field.text or "" for field in state.operands) == operands


def test_a_set_of_values_is_read_both_ways() -> None:
    state = split(RM, (Field(Known.SET, ("-r", "dir")), literal("x")))
    assert state.flags == ["-r"]
    assert [field.values for field in state.operands] == [("dir",), ("x",)]


def test_a_dynamic_word_with_a_known_beginning_is_the_option_it_begins_with() -> None:
    state = split(
        CUT, (Field(Known.DYNAMIC, prefix="--delimiter=a", reason="variable"), Field(Known.DYNAMIC, prefix="-f", reason="variable"))
    )
    assert [(option, field.prefix) for option, field in state.values] == [("--delimiter", "a"), ("-f", "")]


def test_an_option_with_glob_characters_stays_an_option() -> None:
    state = split(CUT, (Field(Known.STATIC, ("--fields=*",), glob=True, many=True), literal("x")))
    assert [option for option, _ in state.values] == ["--fields"]
