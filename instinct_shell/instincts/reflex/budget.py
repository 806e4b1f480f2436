"""Budget ceiling: no call, and no commitment, over what the person set.

*Stops* an `api_call` (or a command whose cost a rule names) that would take the session, day or month over its ceiling, and a standing
commitment (an ad budget, a bid, reserved capacity) over the commitment ceiling; a value that looks a million times too high is named as
such. *Asks* when the amount or the price is unknown: unknown is never zero.

*Lets pass* calls inside the ceilings, queries, validate-only calls and dry runs.

*How it was fooled before*: estimates as text or fractions (they are rounded up to whole micros), `estimatedCost: 0`, negative numbers, a
`sessionBudget` in the request that is higher than the ledger's (the lower of both holds), paid calls in a loop without an end.

*To adjust*: `[spend]` in the person's profile; `instinct budget set`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.intent import IntentType
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

MICROS = 1_000_000
_MOST = 10**18  # anything above is no amount but an attempt


class BudgetCeiling(BuiltIn):
    id = "budget-ceiling"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found = [
            finding
            for effect in effects
            if effect.kind is EffectKind.SPEND_COMMIT and (finding := self._commitment(effect, profile)) is not None
        ]
        calls = [effect for effect in effects if effect.kind is EffectKind.API_CALL]
        finding = self._calls(intent, calls, profile, situation) if calls or intent.type is IntentType.API_CALL else None
        return (*found, finding) if finding is not None else tuple(found)

    def _commitment(self, effect: Effect, profile: Profile) -> Finding | None:
        name = shown(effect.target.text or effect.get("provider") or effect.program or "the account")
        amount = _whole(effect.get("micros"))
        instead = "send it with validate-only first, and let a person set the amount"
        if effect.has("unknown") or amount is None:
            decision = max(profile.effect_decision(EffectKind.SPEND_COMMIT), Decision.ASK)
            return self.finding(decision, f"commits an unknown amount of money on {name}", instead, effect=effect)
        ceiling = profile.spend_ceiling_micros
        if amount > ceiling:
            hint = ""
            if amount >= 1_000 * MICROS and amount % MICROS == 0 and amount // MICROS <= 1_000 * max(ceiling, MICROS):
                hint = (
                    f"; written in micros, {amount} is {money(amount)}"
                    if amount < MICROS * MICROS
                    else f"; a million times {money(amount // MICROS)}: was it meant in micros already?"
                )
            return self.finding(
                Decision.DENY, f"commits {money(amount)} on {name}, over the ceiling of {money(ceiling)}{hint}", instead, effect=effect
            )
        decision = profile.effect_decision(EffectKind.SPEND_COMMIT)
        return None if decision is Decision.ALLOW else self.finding(decision, f"commits {money(amount)} on {name}", instead, effect=effect)

    def _calls(self, intent: Intent, calls: list[Effect], profile: Profile, situation: Situation) -> Finding | None:
        effect = next((call for call in calls if call.has("endless")), calls[0] if calls else None)
        span = effect.span if effect else None
        instead = "make one call with a known price, or ask the person for a higher ceiling"
        if effect is not None and effect.has("endless"):
            return self.finding(Decision.DENY, "makes paid calls in a loop without an end", instead, effect=effect)
        amount = 0
        unknown = None
        for call in calls:
            micros = _whole(call.get("micros"))
            if call.has("unknown") or micros is None:
                unknown = call
            else:
                amount += micros
        given = intent.meta("estimatedCost")
        if given is not None:
            estimate = dollars(given)
            if estimate is None:
                return self.finding(
                    Decision.DENY,
                    f"estimatedCost {shown(str(given))} is not an amount of money",
                    "give it in dollars, such as 0.25",
                    effect=effect,
                    span=span,
                )
            amount = max(amount, estimate)
            unknown = None
        for scope, spent, ceiling in _accounts(intent, profile, situation):
            if spent + amount > ceiling and amount:
                reason = f"would exceed the {scope} budget ({money(spent)} + {money(amount)} > {money(ceiling)})"
                return self.finding(Decision.DENY, reason, instead, effect=effect, span=span)
            if spent >= ceiling and (calls or amount):
                return self.finding(
                    Decision.DENY, f"the {scope} budget is used up ({money(spent)} of {money(ceiling)})", instead, effect=effect, span=span
                )
        if unknown is not None:
            return self.finding(
                Decision.ASK,
                f"makes a paid call of unknown price ({shown(unknown.target.text or unknown.get('provider') or unknown.program)})",
                instead,
                effect=unknown,
            )
        return None


def _accounts(intent: Intent, profile: Profile, situation: Situation) -> list[tuple[str, int, int]]:
    """(scope, spent and held, ceiling) of every account; the request's own numbers may only tighten them."""
    rows = {"session": [0, profile.session_ceiling_micros]}
    for scope, ceiling in (("day", profile.day_ceiling_micros), ("month", profile.month_ceiling_micros)):
        if ceiling:
            rows[scope] = [0, ceiling]
    for spend in situation.spend:
        row = rows.setdefault(spend.scope, [0, spend.ceiling])  # a person may set a ceiling of nothing
        row[0] = max(row[0], spend.committed + spend.reserved)
        row[1] = min(row[1], spend.ceiling)
    budget, spent = dollars(intent.meta("sessionBudget")), dollars(intent.meta("sessionSpent"))
    if budget:
        rows["session"][1] = min(rows["session"][1], budget)
    if spent:
        rows["session"][0] = max(rows["session"][0], spent)
    return [(scope, row[0], row[1]) for scope, row in rows.items()]


def dollars(value: object) -> int | None:
    """Whole micro-dollars of an amount in dollars, rounded up; None for what is no amount (text, negative, infinite, not a number)."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value * MICROS if 0 <= value <= _MOST // MICROS else None
    text = str(value).strip()
    if isinstance(value, float):
        if not 0 <= value <= _MOST / MICROS:
            return None  # negative, infinite, or not a number
        text = repr(value)
    return _decimal(text)


def _decimal(text: str) -> int | None:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, digits = mantissa.removeprefix("+").removeprefix("$").partition(".")
    if not (whole + digits).isascii() or not (whole + digits).isdigit() or len(whole) > 15:
        return None
    power = 0
    if exponent:
        if not exponent.lstrip("+-").isdigit() or len(exponent) > 4:
            return None
        power = int(exponent)
    number, shift = int(whole + digits), power - len(digits) + 6
    amount = number * 10**shift if shift >= 0 else -(-number // 10**-shift)
    return amount if amount <= _MOST else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 24 else None


def money(micros: int) -> str:
    """An amount for a person: at least two decimals, as many as it needs."""
    whole, rest = divmod(micros, MICROS)
    digits = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{whole:,}.{digits}"
