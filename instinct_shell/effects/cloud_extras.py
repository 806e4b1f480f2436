"""What a cloud's tool does beside what its verb says: commands for machines, rights for everyone, money."""

from __future__ import annotations

import re
from itertools import pairwise

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Scene
from .remote import nested_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer

_EVERYONE = r"all(?:Authenticated)?Users|AllUsers|\"Principal\"\s*:\s*(?:\"\*\"|\{\s*\"AWS\"\s*:\s*\"\*\")|public-read-write|http://acs\.amazonaws\.com/groups/global/AllUsers"
_CHANGES = r"(?i)owner|editor|admin|writer|write|full_control|objectcreator|objectuser|\"Action\"\s*:\s*\"(?:\*|s3:\*|s3:Put|s3:Delete)|:[WO]\b"


def and_more(describe: Describer) -> Describer:
    """The describer of a cloud's tool, and these effects beside its own."""

    def described(call: Call, scene: Scene) -> Iterator[Effect]:
        yield from describe(call, scene)
        texts = [word.text or word.prefix for word in call.argv]
        yield from _for_everyone(call, texts)
        if call.name in ("aws", "awslocal") and texts[:2] == ["ssm", "send-command"]:
            yield from _commands(call, scene, texts)
        elif call.name in ("stripe", "vastai", "runpodctl"):
            yield from _money(call, texts)

    return described


def _for_everyone(call: Call, texts: list[str]) -> Iterator[Effect]:
    """Rights to change things, given to everyone on the internet."""
    line = " ".join(texts)
    if re.search(_EVERYONE, line) and ("public-read-write" in line or re.search(_CHANGES, line)) and not re.search(r"\bremove-|\bget-|\bdelete-", line):
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.OBJECT, "everyone"), tool="open-to-all", action="everyone on the internet")


def _commands(call: Call, scene: Scene, texts: list[str]) -> Iterator[Effect]:
    """`aws ssm send-command --parameters 'commands=["..."]'`: shell text for other machines."""
    for text in texts:
        match = re.search(r"commands\"?\s*[=:]\s*(\[.*\]|.+)", text, re.DOTALL)
        if match:
            for piece in re.findall(r'"((?:\\.|[^"\\])*)"', match[1]) or [match[1]]:
                yield from nested_remote(piece.replace('\\"', '"'), call, scene, "aws ssm", "aws ssm send-command")


def _money(call: Call, texts: list[str]) -> Iterator[Effect]:
    """Payments in live mode, and machines rented by a price for the hour."""
    pairs = {name: value for name, _, value in (text.partition("=") for text in texts)}
    pairs |= {name: value for name, value in pairwise(texts) if name.startswith("--") and not value.startswith("-")}
    if call.name == "stripe":
        amount = pairs.get("--amount", "")
        moves = set(texts[:2]) & {"payouts", "transfers", "charges", "payment_intents", "topups", "refunds", "invoices", "subscriptions"}
        if "--live" in texts and moves and {"create", "confirm", "capture", "pay"} & set(texts[:3]):
            micros = str(int(amount) * 10_000) if amount.isdigit() else ""
            yield call.effect(EffectKind.SPEND_COMMIT, Target(TargetKind.OBJECT, texts[0]), provider="stripe", micros=micros, unknown="" if micros else "1")
    elif "create" in texts[:2]:
        price = pairs.get("--price") or pairs.get("--bid_price") or pairs.get("--cost") or ""
        micros = str(int(float(price) * 1_000_000)) if re.fullmatch(r"\d+(?:\.\d+)?", price) else ""
        yield call.effect(EffectKind.SPEND_COMMIT, Target(TargetKind.OBJECT, "instance"), provider=call.name, micros=micros, unknown="" if micros else "1")


__all__ = ["and_more"]
