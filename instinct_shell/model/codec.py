"""Values as plain JSON data and back, so that a record can be judged again.

`encode` leaves out fields that hold their default, so records stay small and a field added later does not change old ones. `decode` reads the
annotations of the value classes; it is strict: a field or a word it does not know is an error, never a guess. `decode` imports `typing`, so
it has no place on the hot path; `encode` is cheap.

    encode(Effect(EffectKind.FILE_READ, Target(TargetKind.PATH, "/a"))) == {"kind": "file.read", "target": {"kind": "path", "text": "/a"}}
    decode(Effect, that) == the effect
"""

from __future__ import annotations

from enum import Enum

from ..errors import StorageError
from .fact import Answer, Facts, Question
from .value import Value
from .verdict import DECISIONS, Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

PLAIN = (str, int, float, bool, type(None))


def encode(value: object, *, full: bool = False) -> object:
    """JSON data for a value, a tuple of values, facts, or plain data; full: defaults stand in it too. Raises StorageError for anything else."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None or kind is float:
        return value
    if isinstance(value, Value):
        defaults = value._defaults
        out: dict[str, object] = {}
        for field in value._fields:
            item = getattr(value, field)
            if full or field not in defaults or item != defaults[field]:
                out[field] = encode(item, full=full)
        return out
    if isinstance(value, Decision):
        return value.word
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [encode(item, full=full) for item in value]
    if isinstance(value, Facts):
        return [[encode(question, full=full), encode(answer, full=full)] for question, answer in value.items()]
    if isinstance(value, dict):
        return {_key(key): encode(item, full=full) for key, item in value.items()}
    if isinstance(value, PLAIN):
        return value
    raise StorageError(f"a `{kind.__name__}` cannot be written to a record")


def decode(kind: type[T], data: object) -> T:
    """The value of this class that `encode` wrote. Raises StorageError when the data is not one."""
    return _decode(kind, data, kind.__name__)  # type: ignore[return-value]  # checked by the branches of _decode


def decode_facts(data: object) -> Facts:
    """The facts that `encode` wrote."""
    if not isinstance(data, list):
        raise _wrong("facts", data)
    answers: dict[Question, Answer] = {}
    for pair in data:
        if not isinstance(pair, list) or len(pair) != 2:
            raise _wrong("facts", pair)
        answers[decode(Question, pair[0])] = decode(Answer, pair[1])
    return Facts(answers)


def _decode(kind: object, data: object, where: str) -> object:
    import types
    import typing

    origin = typing.get_origin(kind)
    if kind is object:
        return data
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind), data, where)
    if origin in (types.UnionType, typing.Union):
        return _decode_union(typing.get_args(kind), data, where)
    if kind is type(None):
        if data is None:
            return None
        raise _wrong(where, data)
    assert isinstance(kind, type)
    if issubclass(kind, Value):
        return _decode_value(kind, data, where)
    if kind is Decision:
        if isinstance(data, str) and data in DECISIONS:
            return DECISIONS[data]
        raise _wrong(where, data)
    if issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            raise _wrong(where, data) from None
    if kind is float and type(data) is int:
        return float(data)
    if type(data) is not kind:
        raise _wrong(where, data)
    return data


def _decode_value(kind: type[Value], data: object, where: str) -> Value:
    import typing

    if not isinstance(data, dict):
        raise _wrong(where, data)
    hints = typing.get_type_hints(kind)
    for name in data:
        if name not in kind._fields:
            raise StorageError(f"{where}.{name}: unknown field", hint="the record was written by a newer version: read it with that one")
    for name in kind._fields:
        if name not in data and name not in kind._defaults:
            raise StorageError(f"{where}.{name}: missing")
    try:
        return kind(**{name: _decode(hints[name], item, f"{where}.{name}") for name, item in data.items()})
    except ValueError as error:
        raise StorageError(f"{where}: {error}") from error


def _decode_tuple(arguments: tuple[object, ...], data: object, where: str) -> tuple[object, ...]:
    if not isinstance(data, list):
        raise _wrong(where, data)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_decode(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(data))
    if len(arguments) != len(data):
        raise _wrong(where, data)
    return tuple(_decode(kind, item, f"{where}[{index}]") for index, (kind, item) in enumerate(zip(arguments, data, strict=True)))


def _decode_union(choices: tuple[object, ...], data: object, where: str) -> object:
    for choice in choices:
        try:
            return _decode(choice, data, where)
        except StorageError:
            continue
    raise _wrong(where, data)


def _key(key: object) -> str:
    if isinstance(key, Enum):
        return str(key.value)
    if isinstance(key, str):
        return key
    raise StorageError(f"a `{type(key).__name__}` cannot be a key in a record")


def _wrong(where: str, data: object) -> StorageError:
    return StorageError(f"{where}: `{str(data)[:40]}` does not fit")
