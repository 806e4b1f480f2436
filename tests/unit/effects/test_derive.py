"""The derivation as a whole: order, certainty, spans, origins, bounds, files given, what is opaque."""

from __future__ import annotations

import shlex

import pytest
from effect_tables import AROUND, WORKSPACE, assert_effects, effects_of, fits, parser
from hypothesis import given, settings, strategies as st

from instinct_shell.effects.call import Program
from instinct_shell.effects.derive import derive
from instinct_shell.errors import LimitError
from instinct_shell.model.effect import Certainty, EffectKind


def test_effects_stand_in_run_order() -> None:
    kinds = [effect.target.text for effect in effects_of("cat a; rm b; cat c")]
    assert kinds == [f"{WORKSPACE}/a", f"{WORKSPACE}/b", f"{WORKSPACE}/c"]


@pytest.mark.parametrize(
    ("text", "certainty"),
    [
        ("rm a", Certainty.CERTAIN),
        ("rm a*", Certainty.POSSIBLE),
        ("true && rm a", Certainty.CERTAIN),
        ("make || rm a", Certainty.POSSIBLE),
        ("if make; then rm a; fi", Certainty.POSSIBLE),
        ("bash -c 'make || rm a'", Certainty.POSSIBLE),
        ('rm "$(cat f)"', Certainty.UNKNOWN),
    ],
)
def test_certainty(text: str, certainty: Certainty) -> None:
    found = [effect.certainty for effect in effects_of(text) if effect.kind is EffectKind.FILE_DELETE]
    assert found == [certainty]


def test_spans_point_at_the_word_and_nested_ones_at_the_command() -> None:
    text = "echo hi; rm -rf build"
    (effect,) = effects_of(text)
    assert text[effect.span.start : effect.span.end] == "build"
    text = "true; bash -c 'rm -rf build'"
    (effect,) = effects_of(text)
    assert text[effect.span.start : effect.span.end] == "bash -c 'rm -rf build'"
    assert effect.origin == ("bash -c",)


def test_origin_names_each_wrapper() -> None:
    effect = next(effect for effect in effects_of("sudo env nice bash -c 'rm x'") if effect.kind is EffectKind.FILE_DELETE)
    assert effect.origin == ("sudo", "env", "nice", "bash -c")


def test_the_same_effect_is_told_once() -> None:
    assert len(effects_of("cat a; cat a")) == 2  # two places in the text
    assert len(effects_of("for i in 1 2 3; do cat a; done")) == 1


def test_deep_nesting_ends_in_opaque_code_and_not_in_silence() -> None:
    text = "rm -rf ~"
    for _ in range(12):
        text = f"bash -c {shlex.quote(text)}" if len(text) < 20_000 else text
    assert any(effect.kind in (EffectKind.CODE_OPAQUE, EffectKind.FILE_DELETE) for effect in effects_of(text))


def test_many_commands_are_told_in_full_or_as_unknown() -> None:
    found = effects_of("for a in {1..90}; do for b in {1..90}; do rm x$a$b; done; done")
    unknown = [effect for effect in found if effect.kind is EffectKind.CODE_OPAQUE or effect.target.dynamic]
    assert unknown or len(found) == 8100


def test_nested_text_that_no_parser_takes_is_opaque() -> None:
    def parse(text: str):  # a parser with a limit
        if "inner" in text and not text.startswith("bash"):
            raise LimitError("the command is too long")
        return parser().parse(text)

    derivation = derive(parse("bash -c 'inner'"), AROUND, parse, workspace=WORKSPACE)
    assert [effect.kind for effect in derivation.effects] == [EffectKind.CODE_OPAQUE]
    assert "too long" in derivation.effects[0].get("reason")


def test_profile_programs_are_described_by_their_rows() -> None:
    own = Program(
        ("deploytool",), roles="read", when=(("push", "infra.apply tool=deploytool target=1"),), harmless="--dry-run", summary="ours"
    )
    for text, count in (("deploytool push prod", 1), ("deploytool --dry-run push prod", 0), ("deploytool status", 0)):
        found = derive(parser().parse(text), AROUND, parser().parse, workspace=WORKSPACE, profile_programs=(own,)).effects
        assert sum(effect.kind is EffectKind.INFRA_APPLY for effect in found) == count, text


def test_files_that_were_read_are_followed() -> None:
    files = ((f"{WORKSPACE}/scripts/clean.sh", '#!/bin/sh\nrm -rf "$1"\n'), (f"{WORKSPACE}/lib.sh", "rm -rf /etc\n"))
    for text in ("bash scripts/clean.sh ~", "./scripts/clean.sh ~", "sh ./scripts/clean.sh /home/dev", "cd scripts && ./clean.sh ~"):
        found = derive(parser().parse(text), AROUND, parser().parse, workspace=WORKSPACE, files=files).effects
        assert any(fits(effect, "file.delete /home/dev recursive=1") for effect in found), text
        assert not any(effect.get("written") for effect in found), text
    found = derive(parser().parse(". ./lib.sh"), AROUND, parser().parse, workspace=WORKSPACE, files=files).effects
    assert any(fits(effect, "file.delete /etc") for effect in found)


def test_uncalled_functions_do_nothing_unless_something_unknown_may_call_them() -> None:
    assert_effects("f() { rm -rf ~; }", "nothing")
    assert_effects("f() { rm -rf ~; }; export -f f; bash -c f", "file.delete /home/dev")
    assert_effects("f() { rm -rf ~; }; $(cat x)", "file.delete /home/dev; code.opaque")


OTHER = [
    ("svn revert -R .", "git.discard . sweep=1"),
    ("svn revert a.c", "git.discard ./a.c named=1"),
    ("svn status", "nothing"),
    ("hg update -C", "git.discard . force=1"),
    ("hg update", "no git.discard"),
    ("hg push -f", "git.force_push"),
    ("hg purge", "git.discard untracked=1"),
    ("ffmpeg -i a.mp4 -c copy b.mp4", "file.read ./a.mp4; file.write ./b.mp4"),
    ("convert a.png -resize 10x10 b.png", "file.read ./a.png; file.write ./b.png"),
    ("pandoc a.md -o b.html", "file.read ./a.md; file.write ./b.html"),
    ("mogrify -resize 10 a.png", "file.write ./a.png in_place=1"),
]


@pytest.mark.parametrize(("text", "expected"), OTHER)
def test_other_families(text: str, expected: str) -> None:
    assert_effects(text, expected)


WORDS = st.sampled_from(
    "rm cat git -rf -- ~ / .env a b* ${X} $(x) `y` bash -c 'rm\\ -rf\\ /' | && ; > >> < xargs find -delete -exec {} \\; + sudo env sh tar x f push --force"
    " reset --hard sed -i s/a/b/ awk '{print}' tee dd if=a of=b <<< $'\\x41' \"$1\" ( ) { } & ! if then fi for i in do done".split()
)


@given(st.lists(WORDS, max_size=12))
@settings(max_examples=300, deadline=None)
def test_derivation_never_raises(words: list[str]) -> None:
    derive(parser().parse(" ".join(words)), AROUND, parser().parse, workspace=WORKSPACE)


@given(st.lists(WORDS, max_size=8), st.sampled_from(["true; ", "( ", "sudo ", "env A=1 ", "bash <<'E'\n"]))
@settings(max_examples=150, deadline=None)
def test_a_harmless_wrapping_hides_no_delete_of_home(words: list[str], before: str) -> None:
    after = {"( ": " )", "bash <<'E'\n": "\nE\n"}.get(before, "")
    text = (
        before
        + "rm -rf ~"
        + after
        + "\n"
        + " ".join(word for word in words if word not in ("exit", "(", ")", "{", "}", "if", "then", "fi", "for", "do", "done", "!"))
    )
    parsed = parser().parse(text)
    if parsed.syntax_error:
        return
    assert any(fits(effect, "file.delete /home/dev") for effect in derive(parsed, AROUND, parser().parse, workspace=WORKSPACE).effects), (
        text
    )
