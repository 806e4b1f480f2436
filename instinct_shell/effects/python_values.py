"""Values that the Python reader computes with: what a piece of code surely or possibly holds, never run.

Strings, bytes and pathlib paths are `Field`s as in the shell (static, set, dynamic with literal ends); numbers, booleans and None are themselves.
"""

from __future__ import annotations

import posixpath

from ..model.value import Value
from ..shell.invocation import Field, Known, Origin, literal
from .call import escape_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_VALUES = 64


class Under(Value):
    """Any path below `root` (os.walk, rglob); `filter` is the name pattern, "" for all."""

    root: Field
    filter: str = ""


class Many(Value):
    """A list, tuple, set or generator with these items; `more` when there may be others."""

    items: tuple[object, ...]
    more: bool = False


class Table(Value):
    """A dict with known keys."""

    pairs: tuple[tuple[object, object], ...]

    def get(self, key: str) -> object:
        """The value under a string key, or None."""
        for name, value in self.pairs:
            if isinstance(name, Field) and name.text == key:
                return value
        return None


class Ref(Value):
    """A module, function or class by its dotted name."""

    name: str


class Thing(Value):
    """An object of a known kind: file, walk, environ, socket, database, response, process, library, repository, client ..."""

    kind: str
    detail: object = None
    more: object = None


class Either(Value):
    """One of these values; made when known and unknown ones meet, so that neither hides the other."""

    values: tuple[object, ...]


class Unknown(Value):
    """Anything. source: "" | network | file | stdin | env | generated: what it was made of; detail: the file's path."""

    source: str = ""
    detail: object = None


UNKNOWN = Unknown()


def field_of(value: object) -> Field:
    """The value as a word: what is not text becomes a dynamic field that remembers its source."""
    if isinstance(value, Field):
        return value
    if isinstance(value, bool) or value is None:
        return literal(str(value))
    if isinstance(value, (int, float)):
        return literal(str(value))
    if isinstance(value, Under):
        root = value.root
        prefix = (root.text if root.text is not None else root.prefix).rstrip("/") + "/"
        return Field(Known.DYNAMIC, prefix=prefix, reason="a path found by a walk", origins=(*root.origins, Origin("generated")))
    source = (
        value.source
        if isinstance(value, Unknown) and value.source
        else "environ"
        if isinstance(value, Thing) and value.kind == "environ"
        else "variable"
    )
    return Field(Known.DYNAMIC, reason="computed by the program", origins=(Origin("env" if source == "environ" else source),))


def taint(value: object) -> frozenset[str]:
    """Sources that a value is made of."""
    if isinstance(value, Field):
        return frozenset(origin.kind for origin in value.origins)
    if isinstance(value, Unknown):
        return frozenset((value.source,)) if value.source else frozenset()
    if isinstance(value, Thing):
        whole = value.kind == "environ" or (
            value.kind == "method" and isinstance(value.detail, Thing) and value.detail.kind == "environ" and value.more != "keys"
        )
        return frozenset(("env",)) if whole else frozenset()
    if isinstance(value, Either):
        return frozenset().union(*(taint(one) for one in value.values))
    if isinstance(value, Many):
        return frozenset().union(*(taint(item) for item in value.items)) if value.items else frozenset()
    if isinstance(value, Table):
        return frozenset().union(*(taint(item) for pair in value.pairs for item in pair)) if value.pairs else frozenset()
    return frozenset()


def alternatives(values: list[object]) -> object:
    """One value that stands for any of these."""
    distinct = list(dict.fromkeys(values)) if all(_hashable(value) for value in values) else values
    if not distinct:
        return UNKNOWN
    if len(distinct) == 1:
        return distinct[0]
    if all(isinstance(value, Field) and value.known is not Known.DYNAMIC for value in distinct):
        fields = [value for value in distinct if isinstance(value, Field)]
        texts = tuple(
            dict.fromkeys(
                text
                for field in fields
                for text in (field.values if field.glob or not any(f.glob for f in fields) else map(escape_glob, field.values))
            )
        )
        if len(texts) <= MOST_VALUES:
            return Field(Known.SET if len(texts) > 1 else Known.STATIC, texts, glob=any(field.glob for field in fields))
    if all(isinstance(value, Many) for value in distinct):
        return Many(tuple(item for value in distinct if isinstance(value, Many) for item in value.items), more=True)
    if any(isinstance(value, (Field, Under, Either)) for value in distinct):
        flat = [one for value in distinct for one in (value.values if isinstance(value, Either) else (value,))]
        return Either(tuple(flat[:MOST_VALUES]))
    sources = frozenset().union(*(taint(value) for value in distinct))
    return Unknown(next(iter(sorted(sources)), ""))


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def combine(left: object, right: object, operation: Callable[[str, str], str]) -> object:
    """Two texts combined (concatenation, path join); what is unknown keeps the literal ends."""
    if isinstance(left, Under):
        return left
    if isinstance(left, Either):
        return alternatives([combine(one, right, operation) for one in left.values])
    if isinstance(right, Either):
        return alternatives([combine(left, one, operation) for one in right.values])
    one, two = field_of(left), field_of(right)
    if isinstance(right, Under):
        return right if not (one.text or one.prefix) else Under(one)
    if one.known is not Known.DYNAMIC and two.known is not Known.DYNAMIC:
        glob = one.glob or two.glob
        lefts = one.values if one.glob or not glob else tuple(map(escape_glob, one.values))
        rights = two.values if two.glob or not glob else tuple(map(escape_glob, two.values))
        texts = tuple(dict.fromkeys(operation(a, b) for a in lefts for b in rights))
        if len(texts) <= MOST_VALUES:
            known = Known.STATIC if len(texts) == 1 else Known.SET
            return Field(known, texts, glob=glob, many=glob, origins=(*one.origins, *two.origins))
        return UNKNOWN
    origins = tuple(dict.fromkeys((*one.origins, *two.origins)))
    reason = one.reason or two.reason
    if one.known is Known.DYNAMIC:
        suffix = two.suffix if two.known is Known.DYNAMIC else one.suffix + operation("x", two.values[0])[1:] if two.values else ""
        return Field(Known.DYNAMIC, prefix=one.prefix, suffix=suffix, reason=reason, origins=origins)
    start = operation(one.values[0], two.prefix or "") if one.values else ""
    return Field(Known.DYNAMIC, prefix=start, suffix=two.suffix, reason=reason, origins=origins)


def concat(left: object, right: object) -> object:
    """left + right."""
    return combine(left, right, lambda a, b: a + b)


def join_path(left: object, right: object) -> object:
    """os.path.join(left, right)."""
    if isinstance(right, Field) and right.text is not None and right.text.startswith("/"):
        return right
    return combine(left, right, posixpath.join)


def each(value: object, operation: Callable[[str], str]) -> object:
    """A text operation on every alternative; unknown text stays unknown with its sources."""
    if isinstance(value, Under):
        return value
    if isinstance(value, Either):
        return alternatives([each(one, operation) for one in value.values])
    if not isinstance(value, Field):
        return value if isinstance(value, Unknown) else UNKNOWN
    if value.known is Known.DYNAMIC or value.glob:
        return (
            Field(Known.DYNAMIC, reason=value.reason or "computed by the program", origins=value.origins)
            if value.known is Known.DYNAMIC
            else value
        )
    texts = tuple(dict.fromkeys(operation(text) for text in value.values))
    return Field(Known.STATIC if len(texts) == 1 else Known.SET, texts, origins=value.origins)


def to_bytes(text: str) -> bytes:
    """The bytes that a text stands for in the reader."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """The text that stands for these bytes."""
    return data.decode("utf-8", "surrogateescape")
