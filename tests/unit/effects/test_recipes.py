"""Targets of task files -> the shell lines they run."""

from __future__ import annotations

import pytest

from instinct_shell.effects.recipes import lines_of

MAKEFILE = """
OUT := build
DIRS = $(OUT) dist
.PHONY: all clean deploy
all: compile
\t@echo done
compile:
\tmkdir -p $(OUT)
clean: ; rm -rf $(DIRS)
deploy: all
\t-ssh host 'rm -rf $$HOME/x' \\
\t  && true
wipe:
\trm -rf $(UNKNOWN)/x
"""
JUSTFILE = """
out := "build"
# comment
build: prepare
    cc -o {{out}}/a a.c
prepare:
    @mkdir -p {{out}}
clean dir="x":
    rm -rf {{dir}}
"""
PACKAGE = '{"scripts": {"pretest": "echo a", "test": "jest", "posttest": "echo b", "wipe": "rm -rf ~"}}'


@pytest.mark.parametrize(
    ("language", "text", "entries", "lines"),
    [
        ("make", MAKEFILE, (), ("mkdir -p build", "echo done")),
        ("make", MAKEFILE, ("clean",), ("rm -rf build dist",)),
        ("make", MAKEFILE, ("deploy",), ("mkdir -p build", "echo done", "ssh host 'rm -rf $HOME/x' && true")),
        ("make", MAKEFILE, ("wipe",), ("rm -rf ${UNKNOWN}/x",)),
        ("make", MAKEFILE, ("nothing",), ()),
        ("make", "X := $(shell rm -rf /)\nall:\n\techo\n", (), ("rm -rf /", "echo")),
        ("make", "a: b\nb: a\n\ttrue\n", ("a",), ("true",)),
        ("just", JUSTFILE, (), ("mkdir -p build", "cc -o build/a a.c")),
        ("just", JUSTFILE, ("clean",), ("rm -rf ${1}",)),
        ("npm", PACKAGE, ("test",), ("echo a", "jest", "echo b")),
        ("npm", PACKAGE, ("wipe",), ("rm -rf ~",)),
        ("npm", "not json", ("test",), ()),
        ("npm", "[]", ("test",), ()),
        ("cargo", "x", ("y",), ()),
    ],
)
def test_lines_of_a_target(language: str, text: str, entries: tuple[str, ...], lines: tuple[str, ...]) -> None:
    assert tuple(line.text for line in lines_of(language, text, entries)) == lines
