"""Object storage: what is copied, moved, mirrored and deleted between local files and buckets."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known
from .call import Call, Scene
from .infra import infra, verb_class
from .remote import landing
from .roles import file_effects
from .verbs import Split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def object_storage(
    call: Call, scene: Scene, words: Split, verb: str, places: tuple[Field, ...], scheme: str, tool: str, context: str
) -> Iterator[Effect]:
    """cp, mv, rm, sync, rb ... between local files and buckets."""
    recursive = "1" if words.has("--recursive", "-r", "-R") else ""
    if verb in ("rm", "rb", "del"):
        for place in places or (None,):
            yield infra(
                call,
                EffectKind.INFRA_DESTROY,
                tool,
                verb,
                place,
                context=context,
                recursive=recursive,
                one="" if recursive or verb == "rb" else "1",
            )
        return
    if verb not in ("cp", "mv", "sync", "rsync"):
        kind = verb_class(verb)
        if kind is not None:
            yield infra(call, kind, tool, verb, places[0] if places else None, context=context)
        return
    if len(places) < 2:
        return
    sources, destination = places[:-1], places[-1]
    outward = literal_text(destination).startswith(scheme)
    deletes = verb in ("sync", "rsync") and words.has("--delete", "-d", "--delete-unmatched-destination-objects")
    for source in sources:
        if not literal_text(source).startswith(scheme):
            if literal_text(source) != "-":
                kind = EffectKind.FILE_MOVE if verb == "mv" else EffectKind.FILE_READ
                whole = recursive or ("1" if verb in ("sync", "rsync") else "")
                yield from file_effects(call, scene, kind, source, source_of_copy="1", recursive=whole)
        elif verb == "mv":
            yield infra(call, EffectKind.INFRA_DESTROY, tool, verb, source, context=context, one="" if recursive else "1")
        elif not outward:
            yield infra(call, EffectKind.INFRA_READ, tool, verb, source, context=context)
    if outward:
        yield call.effect(
            EffectKind.NET_UPLOAD, Target(TargetKind.URL, literal_text(destination)), upload="file", via=tool, context=context
        )
        if deletes:
            yield infra(call, EffectKind.INFRA_DESTROY, tool, verb + " --delete", destination, context=context, recursive="1")
        elif all(literal_text(source).startswith(scheme) for source in sources):
            yield infra(call, EffectKind.INFRA_APPLY, tool, verb, destination, context=context)
    elif literal_text(destination) != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, landing(destination, sources[0]), recursive=recursive)
        if deletes:
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, destination, recursive="1", sweep="1")


def literal_text(field: Field) -> str:
    return field.prefix if field.known is Known.DYNAMIC else field.values[0] if field.values else ""
