"""Frozen, slotted values that are cheap to define.

`dataclasses` costs about 12 ms to import and 1 ms a class, which every agent command would pay (docs/decisions/0002-values.md). A `Value`
subclass declares annotated fields; the metaclass makes `__slots__`, an `__init__` with the same signature, equality, hash and repr.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_: object):
        return lambda cls: cls


_set = object.__setattr__


@dataclass_transform(frozen_default=True, eq_default=True)
class ValueMeta(type):
    """Builds the value class from its annotations; fields of a base value come first."""

    _fields: tuple[str, ...]
    _defaults: dict[str, Any]
    _own_init: Any  # the class whose `__init__` this one has

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> ValueMeta:
        own = [field for field in namespace.get("__annotations__", {}) if not field.startswith("_")]
        defaults = {field: namespace.pop(field) for field in own if field in namespace}
        inherited: list[str] = []
        for base in bases:
            inherited += [field for field in getattr(base, "_fields", ()) if field not in inherited]
            defaults = {**getattr(base, "_defaults", {}), **defaults}
        fields = tuple(inherited + [field for field in own if field not in inherited])
        namespace["__slots__"] = tuple(field for field in own if field not in inherited)
        namespace["_fields"] = fields
        namespace["_defaults"] = defaults
        made = fields and "__init__" not in namespace
        if made:
            namespace["__init__"] = _first_use
        cls = super().__new__(mcs, name, bases, namespace)
        if made:
            cls._own_init = cls
        return cls


def _first_use(self: Any, *args: Any, **kwargs: Any) -> None:
    """Compiles the class's own `__init__` when its first value is made: most classes are never used by one command."""
    owner = type(self)._own_init
    defaults = owner._defaults
    parameters = ", ".join(f"{f}=_d[{f!r}]" if f in defaults else f for f in owner._fields)
    body = "\n".join(f"    _set(self, {f!r}, {f})" for f in owner._fields)
    check = "\n    self._check()" if hasattr(owner, "_check") else ""
    scope: dict[str, Any] = {"_set": _set, "_d": defaults}
    exec(f"def __init__(self, {parameters}):\n{body}{check}", scope)  # noqa: S102  # field names are our own source text
    owner.__init__ = scope["__init__"]
    owner.__init__(self, *args, **kwargs)


class Value(metaclass=ValueMeta):
    """A frozen value. A subclass may define `_check()`, which runs after construction and raises when the value would be wrong."""

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]
        _defaults: ClassVar[dict[str, Any]]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, f) == getattr(other, f) for f in self._fields)

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(getattr(self, f) for f in self._fields)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={getattr(self, f)!r}' for f in self._fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, f) for f in self._fields))

    def replace(self, **changes: Any) -> Self:
        """The same value with some fields changed; raises TypeError for a field that does not exist."""
        return type(self)(**{**{f: getattr(self, f) for f in self._fields}, **changes})
