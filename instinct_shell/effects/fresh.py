"""Containers that the same text started: they are its own scratch."""

from __future__ import annotations

from ..shell.invocation import Field, Invocation, literal
from .call import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = frozenset(("docker", "podman", "nerdctl", "finch"))


def _starts(invocation: Invocation) -> tuple[Field, ...]:
    """The words behind `docker run` or `docker create`; () for anything else."""
    words = invocation.words
    if len(words) > 2 and words[0].text in _TOOLS:
        at = 2 if words[1].text == "container" else 1
        if words[at].text in ("run", "create"):
            return words[at + 1 :]
    return ()


def _values(words: tuple[Field, ...], *names: str) -> Iterator[Field]:
    """Arguments of an option, attached or apart."""
    for at, word in enumerate(words):
        text = word.text if word.text is not None else word.prefix
        head, equals, tail = text.partition("=")
        if text in names and at + 1 < len(words):
            yield words[at + 1]
        elif equals and head in names:
            yield literal(tail) if word.text is not None else word.replace(prefix=tail)
        elif text[:2] in names and len(text) > 2 and text[1] != "-":
            yield literal(text[2:])


def is_own(name: Field, scene: Scene) -> bool:
    """Whether a word names a container that an earlier command of the text started."""
    if name.origins and all(origin.producers for origin in name.origins) and not name.prefix and not name.suffix:
        return all(bool(_starts(scene.invocations[index])) for origin in name.origins for index in origin.producers if index < len(scene.invocations))
    for invocation in scene.invocations:
        for given in _values(_starts(invocation), "--name"):
            if name.text is not None and given.text == name.text:
                return True
            if name.text is None and given.text is None and (given.prefix, given.suffix, given.origins) == (name.prefix, name.suffix, name.origins):
                return True
    return False


__all__ = ["is_own"]
