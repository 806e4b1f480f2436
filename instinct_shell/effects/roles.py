"""What a row's columns say without a describer: operand roles, option roles and `when` effects."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Span, Target, TargetKind
from ..shell.invocation import Field, Known
from .call import Call, Program, Scene, path_targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROLES: dict[str, tuple[EffectKind, tuple[tuple[str, str], ...]]] = {
    "read": (EffectKind.FILE_READ, ()),
    "copy": (EffectKind.FILE_READ, (("source_of_copy", "1"),)),
    "write": (EffectKind.FILE_WRITE, ()),
    "append": (EffectKind.FILE_APPEND, ()),
    "create": (EffectKind.FILE_CREATE, ()),
    "delete": (EffectKind.FILE_DELETE, ()),
    "move": (EffectKind.FILE_MOVE, ()),
    "metadata": (EffectKind.FILE_METADATA, ()),
    "execute": (EffectKind.CODE_SCRIPT, ()),
}

# The kind of question a dynamic operand poses (profiles decide per kind; see the dynamic table in profiles/).
DYNAMIC = {
    EffectKind.FILE_READ: "reader",
    EffectKind.FILE_WRITE: "write",
    EffectKind.FILE_APPEND: "write",
    EffectKind.FILE_CREATE: "write",
    EffectKind.FILE_LINK: "write",
    EffectKind.FILE_METADATA: "write",
    EffectKind.FILE_DELETE: "delete",
    EffectKind.FILE_MOVE: "delete",
    EffectKind.CODE_SCRIPT: "interpreter",
    EffectKind.FILE_EXECUTE: "interpreter",
    EffectKind.GIT_DISCARD: "delete",
}

# Devices that swallow or produce bytes and hold nothing.
SINKS = frozenset(
    (
        "/dev/null /dev/zero /dev/full /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/random /dev/urandom /dev/fd/0 /dev/fd/1 /dev/fd/2"
    ).split()
)


def file_effects(call: Call, scene: Scene, kind: EffectKind, field: Field, **attributes: str) -> Iterator[Effect]:
    """One effect per path the field may name, relative to the call's cwd; adds what is known of a dynamic word (dynamic, bound, unset).

    Harmless devices (/dev/null ...) yield nothing. The one helper through which every family names files.
    """
    yield from path_effects(call, kind, field, call.invocation.cwd, scene, **attributes)


def path_effects(call: Call, kind: EffectKind, field: Field, cwd: Field, scene: Scene, **attributes: str) -> Iterator[Effect]:
    """`file_effects` with another directory (`tar -C`, `git -C`)."""
    if any(origin.kind == "process" for origin in field.origins):
        return  # a pipe with a name: what is behind it stands in the text as commands of its own
    if field.unset and "unset" not in attributes:
        attributes["unset"] = ",".join(field.unset)
    if field.known is Known.DYNAMIC and not field.prefix and not field.suffix and any(origin.producers for origin in field.origins):
        listed = list(_listed(call, kind, field, scene, attributes))
        if listed:
            yield from listed
            return
    for target, sure in path_targets(field, cwd, scene.home):
        if target.text in SINKS:
            continue
        extra = dict(attributes)
        if target.dynamic:
            extra["dynamic"] = DYNAMIC.get(kind, "reader")
            if field.suffix:
                extra["suffix"] = field.suffix
            if is_scratch(field) or below_scratch(field, cwd):
                extra["bound"] = "1"
            elif field.origins:
                extra["source"] = ",".join(sorted({origin.kind for origin in field.origins}))
        yield call.effect(kind, target, extra, certainty=weakest(call.certainty, sure), span=_span(call, field))


def listed_files(call: Call, kind: EffectKind, field: Field, scene: Scene, **attributes: str) -> list[Effect]:
    """One effect on each file (or pattern) that a word may be, when the word is the output of a listing; empty when that is not known."""
    if field.known is not Known.DYNAMIC or field.prefix or field.suffix or not any(origin.producers for origin in field.origins):
        return []
    return list(_listed(call, kind, field, scene, attributes))


def is_scratch(field: Field) -> bool:
    """Whether an unknown name is surely below a fresh one that mktemp made."""
    return bool(field.origins) and all(origin.kind == "mktemp" for origin in field.origins) and ".." not in field.suffix


def below_scratch(field: Field, cwd: Field) -> bool:
    """Whether a relative name surely lies below a fresh folder that mktemp made."""
    names = field.values if field.known is not Known.DYNAMIC else (field.prefix or "/",)
    return cwd.known is Known.DYNAMIC and is_scratch(cwd) and bool(names) and not any(name.startswith("/") or ".." in name for name in names)


def _listed(call: Call, kind: EffectKind, field: Field, scene: Scene, attributes: dict[str, str]) -> Iterator[Effect]:
    """The effects of a word that is the output of a listing: `rm $(find . -name '*.pyc')`, `while read f; do rm "$f"; done`."""
    from .listing import listing_of

    producers = [index for origin in field.origins for index in origin.producers]
    for found in listing_of(producers, scene) or ():
        for target in found.targets:
            if target.dynamic:
                continue
            extra = {**attributes, **dict(found.attributes)}
            if not found.itself:
                extra.update(sweep="1", recursive="1" if found.deep else "", filter=found.filter)
            yield call.effect(kind, target, extra, certainty=weakest(call.certainty, Certainty.POSSIBLE), span=_span(call, field))


def _span(call: Call, field: Field) -> Span:
    # The word's own span when it stands in the judged text, the call's when it comes from nested text.
    return field.span if field.span.end and not call.origin else call.span


def weakest(first: Certainty, second: Certainty) -> Certainty:
    """The less sure of two."""
    order = (Certainty.UNKNOWN, Certainty.POSSIBLE, Certainty.CERTAIN)
    return order[min(order.index(first), order.index(second))]


def apply_row(program: Program, call: Call, scene: Scene) -> Iterator[Effect]:
    """All that the columns of the row say."""
    if program.roles:
        yield from apply_roles(program.roles, call, scene)
    for option, role in program.option_roles:
        for given, field in call.values:
            if given == option:
                yield from apply_role(role, field, call, scene)
    for condition, effect in program.when:
        if holds(condition, call):
            yield spelled(effect, call)


def apply_roles(roles: str, call: Call, scene: Scene, operands: tuple[Field, ...] | None = None) -> Iterator[Effect]:
    """Roles over the operands: the last role repeats; "a* b" gives all but the last operand the role a and the last one b."""
    fields = call.operands if operands is None else operands
    words = roles.split()
    if words[0].endswith("*") and len(words) == 2:
        for field in fields[:-1]:
            yield from apply_role(words[0][:-1], field, call, scene)
        for field in fields[-1:]:
            yield from apply_role(words[1], field, call, scene)
        return
    for index, field in enumerate(fields):
        yield from apply_role(words[min(index, len(words) - 1)], field, call, scene)


def apply_role(role: str, field: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """The effect of one operand in one role; "-" (a stream) and roles without effect yield nothing."""
    recursive = role.startswith("r-")
    known = ROLES.get(role[2:] if recursive else role)
    if known is None or field.text == "-" or (field.known is Known.STATIC and not field.values):
        return
    attributes = dict(known[1])
    if recursive:
        attributes["recursive"] = "1"
    yield from file_effects(call, scene, known[0], field, **attributes)


def holds(condition: str, call: Call) -> bool:
    """Whether any word of a `when` condition (or of `harmless`) is there; the empty condition always holds."""
    if not condition:
        return True
    for word in condition.split():
        if word.startswith("-"):
            if call.has(word):
                return True
        elif leads(word.split("+"), call):
            return True
    return False


def leads(words: list[str], call: Call) -> bool:
    """Whether the first operands may be these words."""
    if len(call.operands) < len(words):
        return False
    return all(word in field.values and not field.glob for word, field in zip(words, call.operands, strict=False))


def spelled(effect: str, call: Call) -> Effect:
    """The effect that a row spells as text: "system.service action=stop target=1"."""
    kind, *pairs = effect.split()
    attributes = dict(pair.split("=", 1) for pair in pairs)
    target: Target | None = None
    wanted = attributes.pop("target", "")
    if wanted:
        target = Target(TargetKind.OBJECT, "")
        if wanted.isdigit():
            rest = call.operands[int(wanted) :]
            if rest:
                field = rest[0]
                target = Target(TargetKind.OBJECT, field.text or field.prefix, "" if field.text is not None else field.reason)
        else:
            target = Target(TargetKind.OBJECT, wanted)
    return call.effect(EffectKind(kind), target, attributes)
