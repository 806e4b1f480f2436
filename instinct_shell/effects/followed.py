"""Scripts that are followed: which files a derivation would read as code, and what their effects weigh.

A file that this line did not write says more than the line does, and says it less surely: what cannot be read in there is no more than
"a script runs" (the profile decides about unread scripts), while what can be read is judged as if it stood in the line.
"""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, TargetKind
from .call import Scene, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The source (`Scene.sources`) of a file whose content the caller gave: it stands on disk, this line did not write it.
GIVEN = "given"
# Programs that put a file's values into the environment of what they start, and print nothing.
LOADERS = frozenset("source . dotenv dotenvx env-cmd docker docker-compose podman node bun deno nodemon tsx ts-node python python3 ruby php".split())
# Builtins and programs that take settings over from their words: `export $(grep -v '^#' .env | xargs)`.
_TAKERS = frozenset("export declare typeset env set eval source .".split())


def wanted(effects: Iterable[Effect], scene: Scene) -> tuple[str, ...]:
    """Files that run or are read as code and whose text is not known, in the order in which they are met."""
    found = {
        effect.target.text: None
        for effect in effects
        if effect.kind is EffectKind.CODE_SCRIPT
        and effect.target.kind is TargetKind.PATH
        and effect.target.text.startswith("/")
        and not effect.target.dynamic
        and effect.target.text not in scene.files
    }
    return tuple(dict.fromkeys((*found, *scene.wants)))


def at_line(effect: Effect, line: int) -> Effect:
    """The effect with the line of its file on which it stands."""
    return effect.replace(attributes=tuple(sorted((*effect.attributes, ("line", str(line))))))


def loaded(effect: Effect) -> Effect:
    """The effect marked as one that only loads settings."""
    return effect.replace(attributes=tuple(sorted((*effect.attributes, ("loaded", "1")))))


def followed(effects: Iterable[Effect], path: str, scene: Scene) -> Iterator[Effect]:
    """Effects that come out of the file at this path: marked and weighed when the file was there before, as they are when the line wrote it."""
    if scene.sources.get(path) != GIVEN:
        yield from effects
        return
    unread = False
    for effect in effects:
        if effect.get("script"):
            yield effect  # a script that this script runs
        elif is_unread(effect):
            if not unread:
                unread = True
                line = (("line", effect.get("line")),) if effect.get("line") else ()
                pairs = (*line, ("reason", effect.get("reason") or effect.target.dynamic), ("script", path), ("unread", "1"))
                yield effect.replace(
                    kind=EffectKind.CODE_SCRIPT,
                    target=effect.target.replace(kind=TargetKind.PATH, text=path, dynamic=""),
                    certainty=Certainty.POSSIBLE,
                    attributes=tuple(sorted(pairs)),
                )
        elif not _is_loading(effect, scene):
            yield effect.replace(attributes=tuple(sorted((*effect.attributes, ("script", path)))))


def is_unread(effect: Effect) -> bool:
    """Whether the effect only says that something in there is not known. Code from the network, and what is half known, says more."""
    if effect.kind is EffectKind.CODE_OPAQUE:
        return effect.get("source") != "network" and not effect.get("reverse")
    if effect.get("dynamic") in ("command", "interpreter"):
        return effect.kind is not EffectKind.PACKAGE_INSTALL
    return effect.kind.value.startswith("file.") and bool(effect.target.dynamic) and not effect.target.text and not effect.get("suffix")


def _is_loading(effect: Effect, scene: Scene) -> bool:
    """Whether a script of the project only loads the project's own settings, as applications do when they start."""
    from .flow import looks_secret

    if effect.kind is EffectKind.CODE_SCRIPT:
        return effect.program in ("source", ".") and looks_secret(effect.target.text) and inside(effect.target.text, scene.workspace)
    if effect.kind is not EffectKind.FILE_READ or effect.get("source_of_copy") or not inside(effect.target.text, scene.workspace):
        return False
    return effect.program in LOADERS or effect.has("loaded")


def loads_settings(index: int, scene: Scene) -> bool:
    """Whether what this invocation prints goes into words of `export` and its like, and nowhere else."""
    from .flow import producers_of, upstream

    takers = [one for one in scene.invocations if any(origin.producers for word in one.words for origin in word.origins)]
    names = [one.words[0].text for one in takers if index in upstream(producers_of(one), scene)]
    return bool(names) and all(name in _TAKERS for name in names)


__all__ = ["GIVEN", "at_line", "followed", "is_unread", "loaded", "loads_settings", "wanted"]
