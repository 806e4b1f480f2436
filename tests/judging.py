"""Judging in tests: effects made by hand, a situation, and one judgement without a host or with one."""

from __future__ import annotations

from instinct_shell.engine.judge import judge
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from instinct_shell.model.fact import Answer
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.situation import Situation

WORKSPACE = "/srv/work/app"
HOME = "/home/dev"


class Still:
    """A clock that stands."""

    def now(self) -> float:
        return 0.0

    def monotonic_us(self) -> int:
        return 0


def effect(kind_name: str, text: str = "", *, target: str = "", dynamic: str = "", program: str = "", origin: tuple[str, ...] = (), **attributes: str) -> Effect:
    """An effect from its kind's name; the target is a path (below the workspace when relative), a pattern when it holds `*`, `?` or `[`."""
    if not target:
        target = "path" if kind_name.startswith("file.") or kind_name in ("git.discard", "code.script", "git.hook") else "object"
        if target == "path" and any(c in text for c in "*?["):
            target = "pattern"
    if target in ("path", "pattern") and text and not text.startswith("/"):
        text = f"{WORKSPACE}/{text}"
    pairs = tuple(sorted((name, str(value)) for name, value in attributes.items()))
    sure = Certainty.UNKNOWN if dynamic else Certainty.CERTAIN
    return Effect(EffectKind(kind_name), Target(TargetKind(target), text, dynamic), sure, program=program, attributes=pairs, origin=origin)


def situation(**changes: object) -> Situation:
    return Situation(home=HOME, user="dev", workspace=WORKSPACE).replace(**changes)


def intent(text: str = "", **changes: object) -> Intent:
    return Intent(IntentType.SHELL_COMMAND, text, cwd=WORKSPACE, env=(("HOME", HOME),)).replace(**changes)


def nothing_known(questions):
    return {question: Answer(False, (), "no host in this test") for question in questions}


def verdict(profile, *effects: Effect, ask=nothing_known, asked: Intent | None = None, where: Situation | None = None, instincts=BUILTIN):
    """The verdict of all instincts over these effects."""
    return judge(asked or intent(), tuple(effects), profile, where or situation(), ask, Still(), instincts)[0]


def said(instinct, profile, *effects: Effect, facts=None, asked: Intent | None = None, where: Situation | None = None):
    """The findings of one instinct."""
    from instinct_shell.model.fact import Facts

    return instinct.judge(asked or intent(), tuple(effects), profile, where or situation(), facts or Facts())
