"""The judge: a pure function of intent, effects, profile, situation and facts.

Promises: inside a tier the most restrictive finding wins; a deny ends the judging after its tier, an ask goes on so that a later deny is
seen; an instinct that raises is a deny with its name; adding a finding never loosens a verdict.
"""

from __future__ import annotations

from ..instincts.base import shown
from ..model.fact import Facts
from ..model.verdict import TIERS, Decision, Finding, Tier, Timing, Verdict, merge
from .offers import offered
from .rules import judge_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..instincts.base import Instinct
    from ..model.effect import Effect
    from ..model.fact import Answer, Question
    from ..model.intent import Intent
    from ..model.ports import Clock
    from ..model.profile import Profile
    from ..model.situation import Situation

    Follow = Callable[[], tuple[tuple[Effect, ...], dict[Question, Answer]]]
    Ask = Callable[[Sequence[Question]], dict[Question, Answer]]

_MEND = "take it out of the configuration, or mend it; `instinct explain` shows what ran"


def judge(
    intent: Intent,
    effects: tuple[Effect, ...],
    profile: Profile,
    situation: Situation,
    ask: Ask,
    clock: Clock,
    instincts: Iterable[Instinct],
    *,
    unreadable: bool = False,
    facts: Facts | None = None,
    follow: Follow | None = None,
) -> tuple[Verdict, Facts]:
    """All tiers in order, and the facts that were gathered on the way.

    ask: answers questions (the host's facts, or a record's). unreadable: the text is no shell, so that bash's own message is wanted before
    anything else. follow: reads the scripts that the command runs, once the reflexes have let it pass; what they do is judged by the reflexes
    too, in the gate tier. In a record their effects stand among the others, marked by `script`.
    """
    members = tuple(instincts)
    steps = [(tier, tuple(each for each in members if each.tier is tier)) for tier in TIERS]
    if unreadable:
        steps.insert(0, (Tier.GATE, tuple(each for each in members if each.id == "shell-syntax")))
    known = facts or Facts()
    findings: tuple[Finding, ...] = ()
    ran: tuple[Timing, ...] = ()
    decided = Tier.REFLEX
    reflexes = tuple(each for each in members if each.tier is Tier.REFLEX)
    effects, scripted = split(effects)
    for number, (tier, present) in enumerate(steps):
        first_look = unreadable and number == 0
        if tier is Tier.GATE and not first_look:
            if follow is not None:
                scripted, read = follow()
                known = known.with_answers(read)
            effects += scripted
        wanted, faults = questions(present, intent, effects, profile, situation, known)
        if wanted:
            known = known.with_answers(ask(wanted))
        rules = profile if not first_look else profile.replace(rules=())
        said, took = judge_tier(tier, present, intent, effects, rules, situation, known, clock)
        if tier is Tier.GATE and scripted and not first_look:
            inner, more = judge_tier(Tier.REFLEX, reflexes, intent, scripted, profile, situation, known, clock)
            said += tuple(finding for finding in inner if finding.effect is not None)
            took += tuple(timing.replace(tier=tier) for timing in more)
        said = offered(tuple(of_script(finding, situation.workspace) for finding in said), profile)
        before = merge(findings)
        findings, ran = findings + faults + said, ran + took
        after = merge(findings)
        if after > before or after is Decision.ALLOW:
            decided = tier
        if after is Decision.DENY:
            break
    elapsed = sum(timing.elapsed_us for timing in ran)
    return Verdict(merge(findings), findings, decided, elapsed, ran), known


def split(effects: tuple[Effect, ...]) -> tuple[tuple[Effect, ...], tuple[Effect, ...]]:
    """The effects of the line itself, and those of scripts on disk."""
    own = tuple(effect for effect in effects if not effect.has("script"))
    return own, tuple(effect for effect in effects if effect.has("script")) if len(own) < len(effects) else ()


def of_script(finding: Finding, workspace: str) -> Finding:
    """A finding about a script's effect names the line, never the text: the file may hold what nobody should repeat."""
    effect = finding.effect
    if effect is None or not effect.has("script") or finding.decision is Decision.ALLOW:
        return finding
    path = effect.get("script").removeprefix(workspace.rstrip("/") + "/")
    place = f"line {effect.get('line')} of {shown(path)}" if effect.has("line") else f"{shown(path)} holds code that"
    need = "would be denied" if finding.decision is Decision.DENY else "needs a person's approval"
    reason = f"{place} {need} as a command of its own ({effect.kind})"
    return finding.replace(reason=reason, alternative="read the script; run the harmless parts of it by themselves")


def judge_tier(
    tier: Tier,
    instincts: Iterable[Instinct],
    intent: Intent,
    effects: tuple[Effect, ...],
    profile: Profile,
    situation: Situation,
    facts: Facts,
    clock: Clock,
) -> tuple[tuple[Finding, ...], tuple[Timing, ...]]:
    """The findings of one tier, and how long each instinct took. The profile's `[[rule]]` tables come after the instincts."""
    findings: list[Finding] = []
    ran: list[Timing] = []
    for instinct in instincts:
        start = clock.monotonic_us()
        try:
            said = _checked(instinct.id, instinct.judge(intent, effects, profile, situation, facts))
        except Exception as error:  # noqa: BLE001  # INVARIANT: whatever an instinct raises is a refusal, never a pass
            said = (_fault(instinct.id, _words(error)),)
        findings += said
        ran.append(Timing(instinct.id, tier, clock.monotonic_us() - start))
    if profile.rules:
        findings += judge_rules(tier, intent, effects, profile, situation)
    return tuple(findings), tuple(ran)


def questions(
    members: Iterable[Instinct], intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, known: Facts
) -> tuple[list[Question], tuple[Finding, ...]]:
    """What these instincts want to know and nobody has asked yet, once each in the order asked; a fault for each that could not say."""
    answered = {question for question, _ in known.items()}
    wanted: dict[Question, None] = {}
    faults: list[Finding] = []
    for instinct in members:
        if instinct.tier is Tier.REFLEX:
            continue  # reflexes ask nothing
        try:
            for question in instinct.questions(intent, effects, profile, situation):
                if question not in answered:
                    wanted[question] = None
        except Exception as error:  # noqa: BLE001  # the same invariant
            faults.append(_fault(instinct.id, _words(error)))
    return list(wanted), tuple(faults)


def _checked(name: str, said: object) -> tuple[Finding, ...]:
    """What an instinct answered, or a fault when it is no tuple of findings: instincts of others are not type-checked."""
    if isinstance(said, tuple) and all(isinstance(finding, Finding) for finding in said):
        return said
    return (_fault(name, "answered with something that is not a tuple of findings"),)


def _fault(name: str, what: str) -> Finding:
    return Finding(name, Decision.DENY, f"the instinct failed: {what}", _MEND)


def _words(error: Exception) -> str:
    text = " ".join(str(error).split()).replace("`", "'")
    return f"{type(error).__name__}" + (f": {text[:120]}" if text else "")
