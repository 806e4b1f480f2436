"""Effects of intents that are no shell text: the file tools, charged API calls, other tools, output."""

from __future__ import annotations

import posixpath

from ..model.effect import Certainty, Effect, EffectKind, Span, Target, TargetKind
from ..model.intent import Intent, IntentType
from .call import fold


def effects_of_intent(intent: Intent, home: str = "") -> tuple[Effect, ...]:
    """What the intent would do; () for output (nothing acts) and for shell commands (`derive` works those out).

    `~` in a target is the home directory, relative targets stand under cwd. Estimated costs are dollars and round up to micro-dollars;
    one that is no finite number of at least zero becomes `unknown=1`.
    """
    kinds = {
        IntentType.FILE_READ: EffectKind.FILE_READ,
        IntentType.FILE_WRITE: EffectKind.FILE_WRITE,
        IntentType.FILE_EDIT: EffectKind.FILE_WRITE,
        IntentType.FILE_DELETE: EffectKind.FILE_DELETE,
    }
    program = str(intent.type)
    span = Span(0, len(intent.content))
    if intent.type in kinds:
        extra = (("edit", "1"),) if intent.type is IntentType.FILE_EDIT else ()
        if intent.type is IntentType.FILE_DELETE and intent.meta("recursive"):
            extra = (("recursive", "1"),)
        return (Effect(kinds[intent.type], _path(intent.target, intent.cwd, home), span=span, program=program, attributes=extra),)
    if intent.type is IntentType.FILE_MOVE:
        source = _path(intent.target, intent.cwd, home)
        destination = str(intent.meta("destination", ""))
        moved = Effect(EffectKind.FILE_MOVE, source, span=span, program=program)
        if not destination:
            place = Target(TargetKind.PATH, "", "the move names no destination")
            return (moved, Effect(EffectKind.FILE_WRITE, place, Certainty.UNKNOWN, span, program, (("dynamic", "write"),)))
        return (moved, Effect(EffectKind.FILE_WRITE, _path(destination, intent.cwd, home), span=span, program=program))
    if intent.type is IntentType.API_CALL:
        return (_charge(intent, span, program),)
    if intent.type is IntentType.TOOL_CALL:
        target = Target(TargetKind.NAME, intent.target)
        found = Effect(
            EffectKind.UNKNOWN, target, Certainty.UNKNOWN, span, program, (("reason", "a tool of another program"), ("tool", intent.target))
        )
        return (found, _charge(intent, span, program)) if intent.meta("estimatedCost") is not None else (found,)
    return ()


def read_as(intent: Intent, home: str = "") -> tuple[str, tuple[Effect, ...]]:
    """What an intent that is no shell command is judged by: shell text that is equal to it, "" for none, and effects besides."""
    effects = effects_of_intent(intent, home)
    if intent.type is not IntentType.TOOL_CALL:
        return "", effects
    from .tool_calls import told

    said = told(intent, home)
    return said.text, effects + said.effects


def place_of(intent: Intent, home: str = "") -> str:
    """The folder that the intent's text runs in: cwd, but for a tool call whose arguments name another."""
    if intent.type is not IntentType.TOOL_CALL:
        return intent.cwd
    from .tool_calls import place_told

    return place_told(intent, home)


def placed(intent: Intent, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects with spans that hold for the intent: those of a tool call stand in its arguments, not in a text of their own."""
    if intent.type is not IntentType.TOOL_CALL:
        return effects
    return tuple(effect.replace(span=Span(0, len(intent.content))) for effect in effects)


def _path(text: str, cwd: str, home: str) -> Target:
    if home and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    text = text.removeprefix("file://")
    return Target(TargetKind.PATH, fold(posixpath.join(cwd, text)))


def _charge(intent: Intent, span: Span, program: str) -> Effect:
    micros = dollars_to_micros(intent.meta("estimatedCost"))
    provider = str(intent.meta("provider", "") or intent.target)
    pairs = [("micros", str(micros))] if micros is not None else [("unknown", "1")]
    if provider:
        pairs.append(("provider", provider))
    kind = TargetKind.URL if "://" in intent.target else TargetKind.NAME
    return Effect(EffectKind.API_CALL, Target(kind, intent.target), span=span, program=program, attributes=tuple(sorted(pairs)))


def dollars_to_micros(value: object) -> int | None:
    """Dollars (a number, or text that is one) as micro-dollars, rounded up; None when it is not a finite amount of at least zero."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, int):
        return value * 1_000_000 if value >= 0 else None
    try:
        from decimal import ROUND_CEILING, Decimal, InvalidOperation

        amount = Decimal(str(value))
        if not amount.is_finite() or amount < 0:
            return None
        return int((amount * 1_000_000).to_integral_value(ROUND_CEILING))
    except (InvalidOperation, ValueError, OverflowError):
        return None


__all__ = ["dollars_to_micros", "effects_of_intent", "place_of", "placed", "read_as"]
