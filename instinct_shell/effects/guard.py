"""The guard's own commands: looking is harmless, deciding is a person's; `instinct-exec` runs the command behind it."""

from __future__ import annotations

from ..model.effect import EffectKind, Target, TargetKind
from .call import Call, Program, Scene
from .verbs import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.effect import Effect

# Verbs, and verbs with their second word, that decide something. The rest of the guard's verbs only show.
_DECIDES = frozenset(
    (
        "approve", "deny", "install", "uninstall", "task set", "task clear", "budget set", "budget commit", "budget release", "learn accept",
        "audit repair", "engine stop", "session end", "profile use", "incident accept",
    )
)  # fmt: skip


def guard(call: Call, scene: Scene) -> Iterator[Effect]:
    """A verb that decides is told as `guard=VERB`; self-protection refuses those to a command."""
    words = split(call.argv, "--profile --workspace --session")
    first, second = words.verb(), words.verb(1)
    verb = first if first in _DECIDES else f"{first} {second}" if f"{first} {second}" in _DECIDES else ""
    yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, "instinct"), guard=verb)


def run(call: Call, scene: Scene) -> Iterator[Effect]:
    """`instinct-exec [options] [--] CMD`: one word is shell text, several are an argument vector, `-c` is text."""
    text = call.value("-c")
    words = (text,) if text is not None else call.operands
    if len(words) == 1 and words[0].text is not None:
        yield from scene.nested_shell(words[0].text, call, via="instinct-exec")
    elif words:
        yield from scene.nested_argv(words, call, via="instinct-exec")


_REMOVES = frozenset("uninstall remove purge erase rm delete del autoremove -e --erase -R -r -P --remove --purge".split())


def taken_away(call: Call) -> Iterator[Effect]:
    """A package manager told to remove the guard's own package."""
    texts = [word.text or "" for word in call.argv]
    if any(text.lower().replace("_", "-").partition("[")[0].partition("=")[0] == "instinct-shell" for text in texts) and _REMOVES.intersection(texts[:6]):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, "instinct"), guard="uninstall")


PROGRAMS: tuple[Program, ...] = (
    Program(("instinct",), style="raw", describe=guard, summary="the guard's own verbs; deciding ones are a person's"),
    Program(
        ("instinct-exec",),
        options="-c --profile --workspace --session --report-fd",
        style="stop",
        describe=run,
        summary="runs a command under the guard; that command counts",
    ),
)
