"""The commands of a text as effects, for allow-list profiles: there a program counts even when it would change nothing that is known."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shell.invocation import Evaluation

WORDS = 6  # enough for a program, its subcommands and the options between them


def command_effects(evaluation: Evaluation | None) -> tuple[Effect, ...]:
    """One `process.spawn` for each command that runs, with its first words (`words`); a name that is not known is opaque-code's business."""
    if evaluation is None:
        return ()
    found: dict[Effect, None] = {}
    for invocation in evaluation.invocations:
        name = invocation.words[0].text if invocation.words else None
        if not name or invocation.defined or name in evaluation.functions:
            continue
        words = " ".join((word.text or "?") for word in invocation.words[:WORDS])
        program = name.rpartition("/")[2]
        sure = Certainty.CERTAIN if invocation.certain else Certainty.POSSIBLE
        target = Target(TargetKind.NAME, program)
        found[Effect(EffectKind.PROCESS_SPAWN, target, sure, invocation.span, program, (("words", words),))] = None
    return tuple(found)
