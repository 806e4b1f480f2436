"""String, path and list methods that compute: on known text they are done, on unknown text they keep what is known."""

from __future__ import annotations

import posixpath

from ..shell.invocation import Field, Known, literal
from .python_names import SAME
from .python_values import UNKNOWN, Many, Under, Unknown, alternatives, concat, each, field_of, join_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_calls import Calls

LONGEST = 1 << 20
_PURE = {
    "lower": str.lower,
    "upper": str.upper,
    "swapcase": str.swapcase,
    "capitalize": str.capitalize,
}


def text_method(reader: Calls, base: Field | Under, name: str, args: tuple[object, ...]) -> object | None:
    """The result of a method of a text or path; None when it is not one of these."""
    if name in ("strip", "lstrip", "rstrip") and isinstance(base, Field):
        chars = field_of(args[0]).text if args else None
        return each(base, lambda text: getattr(text, name)(chars)) if not args or chars is not None else base
    if name == "expanduser":
        return reader.do_expanduser("", (base,), {})
    if name in SAME:
        return base
    if name in _PURE:
        return each(base, _PURE[name])
    if name in ("joinpath", "child"):
        return reader.do_join("", (base, *args), {})
    if isinstance(base, Under):
        return _under_method(base, name, args)
    if name == "join":
        return joined(base, args[0] if args else UNKNOWN)
    if name == "replace":
        if len(args) == 1:  # pathlib's rename over what is there
            reader.do_move("os.replace", (base, args[0]), {})
            return args[0]
        old, new = (field_of(one).text for one in args[:2])
        return each(base, lambda text: text.replace(old, new)) if old is not None and new is not None else UNKNOWN
    if name == "format":
        return reader.formatted_braces(base, args)
    if name in ("split", "rsplit", "splitlines"):
        return _split(base, name, args)
    if name in ("removeprefix", "removesuffix", "zfill", "ljust", "rjust", "center", "expandtabs"):
        given = [one if type(one) is int else field_of(one).text for one in args]
        return each(base, lambda text: getattr(text, name)(*given)) if None not in given else base
    if name in ("with_suffix", "with_name", "with_stem"):
        text = field_of(args[0]).text if args else None
        if text is None:
            return concat(each(base, lambda p: posixpath.dirname(p) + "/"), UNKNOWN)
        if name == "with_suffix":
            return each(base, lambda p: posixpath.splitext(p)[0] + text)
        return each(base, lambda p: posixpath.join(posixpath.dirname(p), text))
    if name in ("iterdir", "listdir", "files", "dirs"):
        return Many((join_path(base, Field(Known.SET, ("*",), glob=True, many=True)),), more=True)
    if name in ("glob", "rglob", "walkfiles"):
        return _glob(reader, base, name, args)
    if name == "walk":
        return reader.do_walk("os.walk", (base,), {})
    if name == "decode":
        return base
    if name in (
        "relative_to",
        "lstat",
        "stat",
        "exists",
        "is_file",
        "is_dir",
        "startswith",
        "endswith",
        "isdigit",
        "count",
        "find",
        "index",
        "is_symlink",
        "match",
        "samefile",
        "owner",
    ):
        return base if name == "relative_to" else UNKNOWN
    return None


def _under_method(base: Under, name: str, args: tuple[object, ...]) -> object | None:
    if name in ("glob", "rglob"):
        pattern = field_of(args[0]).text if args else None
        return Under(base.root, "" if pattern in (None, "*", "**/*") else str(pattern).rsplit("/", 1)[-1])
    if name in ("iterdir", "relative_to", "replace", "format", "removeprefix", "with_suffix", "with_name"):
        return base
    return UNKNOWN if name in ("exists", "is_file", "is_dir", "startswith", "endswith", "stat", "is_symlink", "match", "split") else None


def joined(separator: Field, items: object) -> object:
    if isinstance(items, Many) and not items.more and len(items.items) <= 4096:
        found: object = literal("")
        for index, item in enumerate(items.items):
            if index and separator.text:
                found = concat(found, separator)
            found = concat(found, item if isinstance(item, (Field, Under)) else field_of(item))
            if isinstance(found, Field) and found.text is not None and len(found.text) > LONGEST:
                return UNKNOWN
        return found
    if isinstance(items, Field) and items.text is not None:
        return literal((separator.text or "").join(items.text))
    if isinstance(items, Many):
        sources = [origin.kind for item in items.items if isinstance(item, Field) for origin in item.origins]
        return Unknown(sources[0] if sources else "generated")
    return items if isinstance(items, Unknown) else UNKNOWN


def _split(base: Field, name: str, args: tuple[object, ...]) -> object:
    if base.known is Known.DYNAMIC:
        return Many((Unknown(base.origins[0].kind if base.origins else ""),), more=True)
    given = [one if type(one) is int or one is None else field_of(one).text for one in args]
    lists = [Many(tuple(map(literal, getattr(text, name)(*given)))) for text in base.values]
    found = alternatives(list(lists))
    return found if isinstance(found, Many) else UNKNOWN


def _glob(reader: Calls, base: Field, name: str, args: tuple[object, ...]) -> object:
    pattern = field_of(args[0]).text if args else "*"
    if pattern is None:
        return Under(base)
    if name == "rglob" or "**" in pattern:
        last = pattern.rsplit("/", 1)[-1]
        return Under(base, "" if last in ("*", "**", "") else last)
    found = join_path(base, Field(Known.SET, (pattern,), glob=True, many=True) if any(c in pattern for c in "*?[") else literal(pattern))
    return Many((found,), more=True)
