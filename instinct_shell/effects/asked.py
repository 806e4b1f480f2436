"""Values that are asked for by name: `terraform output -json | jq .db_password`, `docker inspect x | grep KEY`.

What holds settings and secrets together may be looked at; who picks the secret out of it means the secret. (The environment of a jailed command holds none.)
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Invocation
from .call import Call, Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SECRET = (
    r"(?:pass(?:word|wd|phrase)?|passw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|connection[_-]?string|auth[_-]?key)s?(?![a-z]*(?:_?(?:name|ref|arn|id|type|count|expiry|url|policy|length|less))\b)"
)
_FILTERS = frozenset("grep egrep fgrep zgrep rg ag ack awk gawk mawk jq yq gron sed".split())
_PASSES = frozenset("sort uniq head tail cat tee tr less column tac python python3 base64".split())
# Program -> first words after which it prints what it holds.
_HOLDS = {
    **dict.fromkeys(("docker", "podman", "nerdctl"), ("inspect", "container inspect", "compose config", "service inspect")),
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), ("output", "state pull", "show", "state show")),
    "pulumi": ("stack output", "config", "stack export"),
    "helm": ("get values", "get all", "get manifest"),
}
HOLDERS = frozenset(_HOLDS)


def asked(invocation: Invocation, scene: Scene, depth: int = 0) -> str:
    """The word by which a reader of this command's output picks a secret out of it, "" when none does."""
    for index in invocation.readers:
        reader = scene.invocations[index] if 0 <= index < len(scene.invocations) else None
        words = [word.text or "" for word in reader.words] if reader is not None else []
        name = words[0].rpartition("/")[2] if words else ""
        if name in _FILTERS and not _only_tells(name, words[1:]):
            pattern = next((word for word in words[1:] if not word.startswith("-")), "")
            match = re.search(_SECRET, pattern, re.IGNORECASE) or (re.search(r"(?i)^\W*(?:\w*_)?key\W*$", pattern) if "grep" in name else None)
            if match:
                return match[0]
        if reader is not None and depth < 6 and (name in _PASSES or name in _FILTERS) and (found := asked(reader, scene, depth + 1)):
            return found
    return ""


def _only_tells(name: str, words: list[str]) -> bool:
    """Whether a filter leaves out, counts or only says whether there is a match."""
    if name in ("jq", "yq", "gron", "awk", "gawk", "mawk", "sed"):
        return any(re.search(r"\b(?:keys|has|length|del)\b", word) for word in words)
    return any(re.fullmatch(r"-[a-zA-Z]*[vcqlL][a-zA-Z]*|--(?:count|quiet|silent|invert-match|files-with-matches)", word) for word in words)


def held(call: Call, scene: Scene) -> Iterator[Effect]:
    """A `secret.read` when a program that holds settings is asked for a secret among them, by its own words or by a filter."""
    words = [word.text or "" for word in call.argv if word.text and not word.text.startswith("-")]
    lead = next((lead for lead in _HOLDS[call.name] if words[: len(lead.split())] == lead.split()), "")
    if not lead:
        return
    own = [word for word in words[len(lead.split()) :] if re.search(_SECRET, word, re.IGNORECASE)] if call.name != "docker" else []
    if call.name in ("terraform", "tofu", "terragrunt") and lead != "output":
        own = []
    if call.name == "pulumi" and "--show-secrets" not in [word.text for word in call.argv]:
        own = own if "get" in words else []
    name = own[0] if own else asked(call.invocation, scene)
    if name:
        yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.NAME, name), store=call.name, prints="1")


__all__ = ["HOLDERS", "asked", "held"]
