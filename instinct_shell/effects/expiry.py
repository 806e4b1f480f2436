"""Rules by which a cloud deletes by itself: a lifecycle that expires everything within days, logs kept for a day, back-ups kept for none."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from .call import Call, Scene
from .output import absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer

_SOON = 31  # days
_KEPT = {"--retention-in-days": 3, "--backup-retention-period": 0, "--retention-period-hours": 24, "--backup-retention-days": 0, "--retained-backups-count": 0}


def or_expired(describe: Describer) -> Describer:
    """The describer of a cloud's tool, whose change counts as a loss when it makes everything expire."""

    def described(call: Call, scene: Scene) -> Iterator[Effect]:
        gone = expires(call, scene)
        for effect in describe(call, scene):
            yield effect.replace(kind=EffectKind.INFRA_DESTROY) if gone and effect.kind is EffectKind.INFRA_APPLY else effect

    return described


def expires(call: Call, scene: Scene) -> bool:
    """Whether a call sets such a rule."""
    texts = [word.text or "" for word in call.argv]
    for at, text in enumerate(texts):
        name, equals, value = text.partition("=")
        value = value if equals else texts[at + 1] if at + 1 < len(texts) else ""
        if name in _KEPT and value.isdigit() and int(value) <= _KEPT[name]:
            return True
    if not any("lifecycle" in text or "life-cycle" in text for text in texts):
        return False
    for text in texts:
        body = text if text.lstrip()[:1] in ("{", "[") else scene.files.get(absolute(re.sub(r"^(?:.*=)?(?:file://)?", "", text), call.invocation)) or ""
        if any(_takes_all(rule) for rule in _rules(body)):
            return True
    return False


def _rules(body: str) -> list[dict[str, object]]:
    import json

    try:
        data = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return []
    if isinstance(data, dict):
        inner = data.get("lifecycle")
        data = data.get("Rules") or data.get("rule") or (inner.get("rule") if isinstance(inner, dict) else None) or []
    return [rule for rule in data if isinstance(rule, dict)] if isinstance(data, list) else []


def _takes_all(rule: dict[str, object]) -> bool:
    """Whether one rule, of S3's kind or of Google's, deletes every object soon."""
    action, condition = rule.get("action"), rule.get("condition")
    if isinstance(action, dict) and isinstance(condition, dict):
        age = condition.get("age")
        return action.get("type") == "Delete" and isinstance(age, int) and age <= _SOON and not set(condition) - {"age", "isLive"}
    expiration = rule.get("Expiration")
    if not isinstance(expiration, dict) or rule.get("Status") not in (None, "Enabled"):
        return False
    days = expiration.get("Days")
    chosen = rule.get("Filter") if isinstance(rule.get("Filter"), dict) else {"Prefix": rule.get("Prefix") or ""}
    narrow = any(value not in ("", {}, None) for value in chosen.values()) if isinstance(chosen, dict) else False
    return not narrow and ((isinstance(days, int) and days <= _SOON) or "Date" in expiration)


__all__ = ["expires", "or_expired"]
