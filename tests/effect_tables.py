"""Effects of shell text in the assumed world: workspace /srv/work/app, home /home/dev. Nothing is run and no file is looked at."""

from __future__ import annotations

from functools import cache

from instinct_shell.effects.derive import Derivation, derive
from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.model.effect import Effect
from instinct_shell.shell.invocation import Surroundings

WORKSPACE = "/srv/work/app"
AROUND = Surroundings(cwd=WORKSPACE, home="/home/dev", env=(("HOME", "/home/dev"), ("PWD", WORKSPACE), ("USER", "dev")), user="dev")


@cache
def parser() -> WorkerParser:
    """One parser for all tests; the deadline is generous since machines that run tests are busy."""
    return WorkerParser(deadline_ms=5_000)


@cache
def derived(text: str) -> Derivation:
    """The derivation of a text."""
    return derive(parser().parse(text), AROUND, parser().parse, workspace=WORKSPACE)


def effects_of(text: str) -> tuple[Effect, ...]:
    """The effects of a text."""
    return derived(text).effects


def brief(effect: Effect) -> str:
    """An effect as `kind target name=value ...`, with ? for possible and ~ for unknown in front."""
    mark = {"certain": "", "possible": "?", "unknown": "~"}[effect.certainty.value]
    parts = [
        mark + effect.kind.value,
        effect.target.text.replace(WORKSPACE, "."),
        *(f"{name}={value}" for name, value in effect.attributes),
    ]
    return " ".join(part for part in parts if part)


def fits(effect: Effect, wanted: str) -> bool:
    """Whether an effect is the wanted one: `kind [target] [name=value ...]`; what is not said may be anything. `.` stands for the workspace."""
    kind, *rest = wanted.split(" ")
    if effect.kind.value != kind:
        return False
    for part in rest:
        name, equals, value = part.partition("=")
        if equals and name.replace("_", "").isalnum():
            if effect.get(name) != value:
                return False
        elif effect.target.text.replace(WORKSPACE, ".") != part:
            return False
    return True


def assert_effects(text: str, expected: str) -> None:
    """`expected`: wanted effects joined by `; `; an item that begins with `no ` must fit no effect; `nothing` means no effect at all."""
    found = effects_of(text)
    told = "\n  ".join([text, *map(brief, found)])
    for wanted in expected.split("; "):
        if wanted == "nothing":
            assert not found, told
        elif wanted.startswith("no "):
            assert not any(fits(effect, wanted[3:]) for effect in found), f"unwanted: {wanted[3:]}\n  {told}"
        else:
            assert any(fits(effect, wanted) for effect in found), f"missing: {wanted}\n  {told}"
