"""Money: requests that are charged (`api.call`) and requests that commit to spend later (`spend.commit`).

The founding case: a Google Ads `mutate` sets a budget or a bid in micros of the account's currency, where one zero too many is a thousand
times the money. Amounts are read from the request text; a request that commits and whose amount is not there gives `unknown=1`.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Scene
from .hosts import host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Amounts that the ads APIs take, in micros of the account currency.
_MICROS = re.compile(
    r"[\"']?\b(?:total_?)?(?:(?:amount|cpc_?bid|cpm_?bid|cpv_?bid|cpa_?bid|target_?cpa|target_?cpm|max_?cpc|percent_?cpc_?bid|bid|budget|"
    r"budget_?amount|daily_?budget|bid_?ceiling|cpc_?bid_?ceiling|total_?amount)_?micros|budget_amount_local_micro|bid_amount_local_micro|"
    r"(?:total|daily)_budget_amount_local_micro)\b[\"']?\s*[:=]\s*[\"']?(-?[\d_]+(?:\.\d+)?(?:[eE]\+?\d+)?(?:\s*\*\s*[\d_]+(?:\*\*\d+)?)*)",
    re.IGNORECASE,
)
_VALIDATE = re.compile(r"[\"']?\bvalidate_?only\b[\"']?\s*[:=]\s*[\"']?(?:true|1)\b|execution_options.{0,20}validate_only", re.IGNORECASE)
_ADS_MUTATE = re.compile(r":mutate\b|\bmutate_[a-z_]+\(|\.mutate\(|[a-z]+Service\.mutate", re.IGNORECASE)
_ADS_HOSTS = (
    "googleads.googleapis.com",
    "adwords.google.com",
    "graph.facebook.com",
    "ads-api.twitter.com",
    "api.linkedin.com",
    "advertising-api.amazon.com",
    "business-api.tiktok.com",
    "adsapi.snapchat.com",
    "ads.pinterest.com",
    "ads-api.reddit.com",
    "bingads.microsoft.com",
    "campaign.api.bingads.microsoft.com",
)
# Minor units (cents) that other ads APIs take.
_CENTS = re.compile(r"[\"']?\b(daily_budget|lifetime_budget|bid_amount|spend_cap)\b[\"']?\s*[:=]\s*[\"']?(\d+)", re.IGNORECASE)
# Payment providers: a POST moves money; amounts are minor units (cents). Test keys move none.
_PAYMENTS = re.compile(
    r"//(?:api\.stripe\.com|api\.paypal\.com|api-m\.paypal\.com|connect\.squareup\.com|api\.mollie\.com|[\w.-]*adyen\.com|api\.wise\.com|api\.mercury\.com)/",
    re.IGNORECASE,
)
_PAYS = re.compile(
    r"/(?:charges|payouts|transfers|payment_intents|refunds|subscriptions|invoices/\w+/pay|payments|orders|topups|issuing)\b", re.IGNORECASE
)
_PAY_AMOUNT = re.compile(r"[\"']?\b(?:amount|unit_amount)\b[\"']?\s*[:=]\s*[\"']?(\d+)\b", re.IGNORECASE)
# Gateways and consoles of paid models: a limit in dollars up to which others may spend.
_LIMIT_PATH = re.compile(
    r"/(?:key|team|user|customer|budget|organization|org)/(?:update|new|generate)\b|/(?:billing|spend|usage)[_/-]?limits?\b|/organizations?/[^/]+/limits?\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"[\"']?\b(?:max_budget|hard_limit(?:_usd)?|soft_limit(?:_usd)?|spend_limit|spending_limit|monthly_(?:budget|limit)|budget_limit|credit_limit)\b"
    r"[\"']?\s*[:=]\s*[\"']?(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_BUDGET_THING = re.compile(r"campaignBudget|campaign_budget|budget|bid|adGroupCriter|biddingStrateg|campaigns?\b|adsets", re.IGNORECASE)

_PAID = (
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "google"),
    ("aiplatform.googleapis.com", "google"),
    ("api.mistral.ai", "mistral"),
    ("api.cohere.", "cohere"),
    ("api.groq.com", "groq"),
    ("openrouter.ai", "openrouter"),
    ("api.together.", "together"),
    ("api.replicate.com", "replicate"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "xai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.fireworks.ai", "fireworks"),
    ("api.stability.ai", "stability"),
    ("openai.azure.com", "azure-openai"),
    ("bedrock-runtime", "bedrock"),
    ("api.elevenlabs.io", "elevenlabs"),
    ("api.twilio.com", "twilio"),
    ("maps.googleapis.com", "google-maps"),
    ("api.sendgrid.com", "sendgrid"),
    ("api.ai21.com", "ai21"),
    ("api.runpod.", "runpod"),
    ("fal.run", "fal"),
    ("api-inference.huggingface.co", "huggingface"),
    ("api.deepgram.com", "deepgram"),
    ("api.assemblyai.com", "assemblyai"),
    ("vision.googleapis.com", "google"),
    ("translation.googleapis.com", "google"),
    ("speech.googleapis.com", "google"),
)
# Paths of those hosts that list or show and cost nothing.
_FREE_PATHS = re.compile(r"/(?:v\d+/)?(?:models|files|usage|organization|batches/[\w-]+|me|account)(?:[/?]|$)", re.IGNORECASE)


def is_ads(text: str) -> bool:
    """Whether a URL or program text talks to an advertising API."""
    lower = text.lower()
    return (
        any(host in lower for host in _ADS_HOSTS)
        or "googleadsclient" in lower
        or "google.ads.googleads" in lower
        or "google-ads-api" in lower
    )


def amounts(text: str) -> tuple[int, ...]:
    """Every amount that the text sets, in micros. `5e6`, `5_000_000` and `500 * 1_000_000` are read."""
    found = [value for match in _MICROS.finditer(text) if (value := _product(match[1])) is not None]
    found += [int(match[2]) * 10_000 for match in _CENTS.finditer(text)]
    return tuple(found)


def _product(text: str) -> int | None:
    """The value of a product of numbers, rounded up; None when it is no number."""
    total = 1.0
    exact = 1
    whole = True
    for piece in re.split(r"(?<!\*)\*(?!\*)", text.replace("_", "").replace(" ", "")):
        base, _, power = piece.partition("**")
        try:
            value = float(base) ** int(power) if power else float(base)
        except (ValueError, OverflowError):
            return None
        total *= value
        if piece.isdigit():
            exact *= int(piece)
        else:
            whole = False
    if whole:
        return exact
    return int(total) + (total != int(total)) if total < 1e30 else 10**30


def ads_effects(call: Call, place: str, text: str, *, dynamic: bool = False) -> Iterator[Effect]:
    """The commitments of one ads request or client program. place: the URL or "client". dynamic: part of the text is not known."""
    if _VALIDATE.search(text) or not (_ADS_MUTATE.search(place + " " + text) or _CENTS.search(text) or _MICROS.search(text)):
        return
    provider = "google-ads" if "google" in (place + text).lower() else host_of(place) or "ads"
    found = amounts(text)
    target = Target(TargetKind.URL, place) if "://" in place else Target(TargetKind.OBJECT, place)
    for micros in found:
        yield call.effect(EffectKind.SPEND_COMMIT, target, micros=str(micros), provider=provider)
    if not found and (dynamic or _BUDGET_THING.search(place + " " + text)):
        yield call.effect(EffectKind.SPEND_COMMIT, target, unknown="1", provider=provider)


def repetition(call: Call, scene: Scene) -> dict[str, str]:
    """many=1 inside a loop, endless=1 as well when a condition of the text never fails (`while :`, `while true`)."""
    if "loop" not in call.invocation.context:
        return {}
    for other in scene.invocations:
        if "condition" in other.context and other.words and other.words[0].text in (":", "true"):
            return {"many": "1", "endless": "1"}
    return {"many": "1"}


def request_effects(
    call: Call, scene: Scene, url: str, method: str, body: str, *, dynamic: bool = False, many: bool = False
) -> Iterator[Effect]:
    """What one HTTP request costs or commits to. url may be a literal prefix; body is all text sent that is known."""
    if is_ads(url):
        if method not in ("GET", "HEAD"):
            yield from ads_effects(call, url, body, dynamic=dynamic)
        return
    host = host_of(url)
    if _PAYMENTS.search(url) and _PAYS.search(url) and method not in ("GET", "HEAD") and "sk_test_" not in body and "sandbox" not in host:
        found = [str(int(match[1]) * 10_000) for match in _PAY_AMOUNT.finditer(body)]
        for micros in found or [""]:
            yield call.effect(
                EffectKind.SPEND_COMMIT, Target(TargetKind.URL, url), provider=host, micros=micros, unknown="" if micros else "1"
            )
        return
    if method in ("POST", "PUT", "PATCH") and _LIMIT_PATH.search(url):
        for match in _LIMIT.finditer(body):
            yield call.effect(
                EffectKind.SPEND_COMMIT, Target(TargetKind.URL, url), provider=host, micros=str(int(float(match[1]) * 1_000_000)), limit="1"
            )
    for name, provider in _PAID:
        if name in host:
            if method in ("GET", "HEAD", "DELETE") and (_FREE_PATHS.search(url) or provider != "google-maps"):
                return
            repeated = {"many": "1"} if many else {}
            repeated.update(repetition(call, scene))
            yield call.effect(EffectKind.API_CALL, Target(TargetKind.URL, url), repeated, provider=provider, unknown="1", method=method)
            return


def reserved(call: Call, tool: str, what: str) -> Effect:
    """A standing commitment of unknown price: reserved instances, savings plans, committed use, domains."""
    return call.effect(EffectKind.SPEND_COMMIT, Target(TargetKind.OBJECT, what), provider=tool, unknown="1")
