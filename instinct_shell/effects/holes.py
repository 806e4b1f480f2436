"""Holes: stand-ins for values that nested code gets but nobody knows (`sh -c 'rm "$1"' _ {}`, `X=$(cat f) bash -c ..`).

A hole is an absolute path no file has. Nested code is evaluated with it as if it were a value; afterwards each effect whose target
holds it is rewritten to what is known: the folder that was searched, or a dynamic target with the literal prefix that stood before it.
"""

from __future__ import annotations

from ..model.effect import Certainty, Effect, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, Known
from .roles import DYNAMIC, weakest

_MARK = "\x1a"


class Hole(Value):
    """What stands behind one hole. found: the folders or files in which a search finds it (then every match is acted on, `sweep`);
    filter: the name pattern of the search; deep: whether it looks below the first level; reason and origins: why the value is not known."""

    found: tuple[Target, ...] = ()
    filter: str = ""
    deep: bool = True
    reason: str = ""
    bound: bool = False
    itself: bool = False  # the names found are the targets themselves, not what lies below them
    attributes: tuple[tuple[str, str], ...] = ()


class Holes:
    """The holes of one nested text."""

    __slots__ = ("_holes", "_label")

    def __init__(self, label: str = "") -> None:
        self._holes: dict[str, Hole] = {}
        self._label = label

    def new(self, hole: Hole) -> str:
        """The text that stands for this hole."""
        text = f"/{_MARK}{self._label}{len(self._holes)}{_MARK}"
        self._holes[text] = hole
        return text

    def of(self, field: Field) -> str:
        """The field's value, or a new hole for one that is not static."""
        text = field.text
        if text is not None:
            return text
        bound = bool(field.origins) and all(origin.kind == "mktemp" for origin in field.origins)
        return field.prefix + self.new(Hole(reason=field.reason or "one of several values", bound=bound)) + field.suffix

    def fill(self, effect: Effect) -> tuple[Effect, ...]:
        """The effect with the holes in its target replaced; several when a search has several folders."""
        text = effect.target.text
        if _MARK not in text:
            return (effect,)
        for mark, hole in self._holes.items():
            at = text.find(mark)
            if at < 0:
                continue
            prefix = text[: at + 1] if at else ""
            if hole.found and (not at or any(target.text == text[:at] for target in hole.found)):
                return tuple(_found(effect, target, hole, text[at:], mark) for target in hole.found)
            if hole.found:
                below = effect.target.replace(text=prefix, dynamic=f"below {prefix}, by the names that are found")
                return (_with(effect.replace(target=below), {"dynamic": DYNAMIC.get(effect.kind, "reader")}),)
            extra = {"dynamic": DYNAMIC.get(effect.kind, "reader"), "bound": "1" if hole.bound and not at else ""}
            target = effect.target.replace(text=prefix, dynamic=hole.reason)
            return (_with(effect.replace(target=target, certainty=Certainty.UNKNOWN), extra),)
        return (effect,)


def _found(effect: Effect, target: Target, hole: Hole, text: str, mark: str) -> Effect:
    # INVARIANT: an effect on "every file found below d" is an effect on d that sweeps; the filter counts only when the name itself is acted on.
    if hole.itself:
        return _with(effect.replace(target=target, certainty=weakest(effect.certainty, Certainty.POSSIBLE)), dict(hole.attributes))
    extra = {"sweep": "1", "recursive": "1" if hole.deep else "", **dict(hole.attributes)}
    rest = text[len(mark) :]
    if not rest and hole.filter:
        extra["filter"] = hole.filter
    elif rest and "/" not in rest and _MARK not in rest:
        extra["filter"] = f"*{rest}"  # `rm {}.bak`
    return _with(effect.replace(target=target), extra)


def _with(effect: Effect, extra: dict[str, str]) -> Effect:
    pairs = {**dict(effect.attributes), **{name: value for name, value in extra.items() if value}}
    return effect.replace(attributes=tuple(sorted(pairs.items())))


def is_hole(text: str) -> bool:
    """Whether the text stands for an unknown value, at least in part."""
    return _MARK in text


def hole_field(mark: str, like: Field | None = None) -> Field:
    """A static field whose value is a hole."""
    return Field(Known.STATIC, (mark,), span=like.span) if like is not None else Field(Known.STATIC, (mark,))


__all__ = ["Hole", "Holes", "TargetKind", "hole_field", "is_hole"]
