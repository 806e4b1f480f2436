"""Hand-made invocations for tests of describers: the words of one simple command, split by shlex, all static."""

from __future__ import annotations

import shlex

from instinct_shell.effects.derive import derive_evaluation
from instinct_shell.model.effect import Effect, Span
from instinct_shell.shell.invocation import Evaluation, Field, Invocation, Known, Surroundings, literal

WORKSPACE = "/srv/work/app"
AROUND = Surroundings(cwd=WORKSPACE, home="/home/dev", env=(("HOME", "/home/dev"), ("PWD", WORKSPACE)), user="dev")


def command(text: str) -> Invocation:
    """One invocation of static words; a word with an unquoted-looking `*` or `?` is taken as a glob."""
    words = []
    for word in shlex.split(text):
        at = text.find(word)
        field = literal(word, Span(max(at, 0), max(at, 0) + len(word)))
        if any(c in word for c in "*?") and f"'{word}'" not in text and f'"{word}"' not in text:
            field = Field(Known.STATIC, (word,), glob=True, many=True, span=field.span)
        words.append(field)
    return Invocation(tuple(words), literal(WORKSPACE), Span(0, len(text)))


def no_parse(text: str):  # noqa: ANN201  # never reached by tests that use it
    raise AssertionError(f"unexpected nested text {text!r}")


def effects_of(*texts: str, parse=no_parse) -> tuple[Effect, ...]:  # noqa: ANN001
    """Effects of simple commands that run one after the other in the workspace."""
    evaluation = Evaluation(tuple(command(text) for text in texts))
    return derive_evaluation(evaluation, AROUND, parse, workspace=WORKSPACE).effects


def brief(effects: tuple[Effect, ...]) -> list[str]:
    """Effects as "kind target attr=value ..." for tables."""
    return [" ".join([effect.kind.value, effect.target.text, *(f"{n}={v}" for n, v in effect.attributes)]).rstrip() for effect in effects]
