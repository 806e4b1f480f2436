"""`[[rule]]` tables: a person's own reflexes and gates, evaluated over effects.

A rule holds when every condition it gives holds for one and the same effect: its kind, its program, a word of the command, its target. A
rule that allows says nothing: findings can only restrict.
"""

from __future__ import annotations

from ..instincts.base import shown
from ..instincts.gate.scope_validation import path_allowed
from ..instincts.ground import Ground, ground_of, path_of
from ..instincts.patterns import any_matches
from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.profile import Profile, Rule
from ..model.verdict import Decision, Finding, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.intent import Intent
    from ..model.situation import Situation


def judge_rules(tier: Tier, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> list[Finding]:
    """The findings of the rules of this tier, at most one a rule."""
    found: list[Finding] = []
    for rule in profile.rules:
        if rule.tier != tier or rule.decision is Decision.ALLOW:
            continue
        effect = first_match(rule, intent, effects, ground_of(intent, profile, situation))
        if effect is not None:
            where = f" ({shown(effect.target.text)})" if effect.target.text else ""
            found.append(Finding(rule.id, rule.decision, rule.reason + where, rule.alternative, effect.span, effect))
    return found


def rule_costs(intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Effect, ...]:
    """An `api.call` effect for each rule that names what a run costs and holds: so budget-ceiling judges it and the ledger holds it."""
    found = []
    for rule in profile.rules:
        if rule.costs_micros:
            effect = first_match(rule, intent, effects, ground_of(intent, profile, situation))
            if effect is not None:
                pairs = (("micros", str(rule.costs_micros)), ("provider", rule.id))
                found.append(
                    Effect(EffectKind.API_CALL, Target(TargetKind.NAME, rule.id), effect.certainty, effect.span, effect.program, pairs)
                )
    return tuple(found)


def first_match(rule: Rule, intent: Intent, effects: tuple[Effect, ...], ground: Ground) -> Effect | None:
    """The first effect for which every condition of the rule holds."""
    for effect in effects:
        if rule.effects and not any_matches(rule.effects, effect.kind.value):
            continue
        if rule.programs and not any_matches(rule.programs, effect.program):
            continue
        if rule.paths and not path_allowed(rule.paths, path_of(effect) or effect.target.text, ground):
            continue
        if rule.arguments and not any(any_matches(rule.arguments, word) for word in words_of(effect, intent)):
            continue
        return effect
    return None


def words_of(effect: Effect, intent: Intent) -> list[str]:
    """The words of the command that the effect stands in, quotes removed, and the effect's own target and attribute values."""
    text = intent.content[effect.span.start : effect.span.end]
    words = effect.get("words").split() or [word.strip("'\"") for word in text.split()]
    return [*words, effect.target.text, *(value for _, value in effect.attributes)]
