"""Trees as plain tuples and back, so that a parser's worker process can hand them over with `marshal`.

A value becomes a tuple (class number, field ...), a tuple becomes a list; everything else is a string, number, bool or None.
"""

from __future__ import annotations

from ..model.effect import Span
from ..model.value import Value
from . import syntax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CLASSES: tuple[type[Value], ...] = (
    Span,
    *sorted(
        (c for c in vars(syntax).values() if isinstance(c, type) and issubclass(c, Value) and c is not Value and c is not Span),
        key=lambda c: c.__name__,
    ),
)
_NUMBERS = {cls: number for number, cls in enumerate(_CLASSES)}


def pack(value: Any) -> Any:
    """A tree (or any part of one) as nested tuples and lists of plain values."""
    if isinstance(value, Value):
        return (_NUMBERS[type(value)], *[pack(getattr(value, field)) for field in value._fields])
    if isinstance(value, tuple):
        return [pack(item) for item in value]
    return value


def unpack(packed: Any) -> Any:
    """The inverse of `pack`."""
    kind = type(packed)
    if kind is tuple:
        return _CLASSES[packed[0]](*[unpack(item) if type(item) in (tuple, list) else item for item in packed[1:]])
    if kind is list:
        return tuple([unpack(item) if type(item) in (tuple, list) else item for item in packed])
    return packed
