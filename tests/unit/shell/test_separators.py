"""Separators that stand in values of their own (`$a$s$b` is split as bash splits the whole word: each row is what bash printed), and loops whose values grow."""

from __future__ import annotations

import pytest
from effect_tables import parser

from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings

ROWS = [
    ("$a$s$a", ["/w", "/w"]), ("$a$s", ["/w"]), ("$s$a", ["", "/w"]), ("$s", [""]), ("$a$t", ["/w", "x"]), ("$t", ["", "x"]), ("$a$s$s$a", ["/w", "", "/w"]),
    ("$a,$a", ["/w,/w"]), ("$e$s$a", ["", "/w"]), ('"$a"$s$a', ["/w", "/w"]), ('""$s$a', ["", "/w"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "wanted"), ROWS)
def test_a_separator_ends_the_field_that_is_there(words, wanted):
    found = evaluate(parser().parse(f"IFS=,; a=/w; e=; s=,; t=,x\np {words}\n").script, Surroundings("/w", "/home/dev"), parser().parse)
    assert [word.text for word in found.invocations[-1].words[1:]] == wanted


def test_what_follows_unknown_text_keeps_its_place():
    found = evaluate(parser().parse("IFS=,\nc $PWD$IFS$(git x) end\n").script, Surroundings("/w", "/home/dev"), parser().parse)
    words = found.invocations[-1].words
    assert [words[0].text, words[1].text, words[-1].text] == ["c", "/w", "end"]
    assert len(words) == 4


@pytest.mark.parametrize("loop", ["while read -r y; do {} done < list", "for ((;;)); do {} done", "until c; do {} done", "for y in $(c); do {} done"])
def test_what_grows_in_each_pass_is_not_one_of_two_values(loop):
    text = loop.replace("{}", '"$x" a; x+=rm; done=1;')
    found = evaluate(parser().parse(text).script, Surroundings("/w", "/home/dev"), parser().parse)
    heads = [one.words[0] for one in found.invocations if len(one.words) == 2 and one.words[1].text == "a"]
    assert any(head.text is None and not head.values for head in heads), heads
    kept = evaluate(parser().parse(loop.replace("{}", '"$x" a; x=rm;')).script, Surroundings("/w", "/home/dev"), parser().parse)
    assert any("rm" in one.words[0].values for one in kept.invocations if len(one.words) == 2 and one.words[1].text == "a")


def test_the_step_of_an_arithmetic_loop_comes_behind_its_body():
    found = evaluate(parser().parse("for ((y=0; y<2; y++)); do let y=1+2; done; c2 $y").script, Surroundings("/w", "/home/dev"), parser().parse)
    assert not found.invocations[-1].words[1].values
