"""Layers of a profile: a TOML table as flat checked keys, and how a key of one layer changes the inherited value."""

from __future__ import annotations

from ..errors import ProfileError
from .profile_schema import KEYS, LISTS, MAPS, check, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    Table = dict[str, object]
    Rules = tuple[tuple[object, ...], ...]
    Flat = tuple[dict[str, object], tuple[tuple[str, str], ...], Rules]


def _is_cache(text: str) -> bool:
    """A plain folder name, or an option such as `-Drepo={cache}/maven`."""
    option, mark, folder = text.partition("{cache}/")
    if mark:
        return option.startswith("-") and option.endswith("=") and " " not in option and _is_cache(folder) and "{" not in folder
    return bool(text) and "/" not in text and not text.startswith(".")


def flatten(table: Table, source: str) -> Flat:
    """Dotted keys with checked values, the caches, and the rules. `{add, remove}` tables of list keys are kept as dicts."""
    from .profile_build import read_rules

    values: dict[str, object] = {}
    caches: tuple[tuple[str, str], ...] = ()
    rules: Rules = ()

    def walk(node: Table, prefix: str) -> None:
        for name, value in node.items():
            path = f"{prefix}{name}"
            if path in KEYS:
                values[path] = (
                    _edit(path, value, source) if isinstance(value, dict) and KEYS[path].kind in LISTS else check(path, value, source)
                )
            elif isinstance(value, dict) and any(known.startswith(path + ".") for known in KEYS):
                walk(value, path + ".")
            else:
                raise ProfileError(
                    f"{source}: {path}: unknown key{nearest(path, _NAMES)}",
                    hint="instinct profile show lists all keys",
                )

    for name, value in table.items():
        if name in ("extends", "program", "instinct"):
            continue  # read by profile_tables
        if name == "rule":
            rules = read_rules(value, source)
        elif name == "caches":
            if not isinstance(value, dict) or not all(isinstance(v, str) and _is_cache(v) for v in value.values()):
                raise ProfileError(f"{source}: caches: must map variables to plain folder names", hint='write PIP_CACHE_DIR = "pip"')
            caches = tuple((str(k), str(v)) for k, v in value.items())
        else:
            walk({name: value}, "")
    return values, caches, rules


_NAMES = (*KEYS, *MAPS, "extends", "rule", "program", "instinct", *dict.fromkeys(path.rpartition(".")[0] for path in KEYS if "." in path))


def _edit(path: str, value: Table, source: str) -> dict[str, tuple[str, ...]]:
    for name in value:
        if name not in ("add", "remove"):
            raise ProfileError(
                f"{source}: {path}.{name}: unknown key{nearest(name, ('add', 'remove'))}",
                hint="a list is changed by { add = [...], remove = [...] }",
            )
    return {name: strings(check(path, entries, source)) for name, entries in value.items()}


def changed(path: str, before: object, value: object, source: str) -> object:
    """The new value of a key: replaced, or the inherited list with entries added and removed."""
    if not isinstance(value, dict):
        return value
    entries = strings(before)
    gone = value.get("remove", ())
    for entry in gone:
        if entry not in entries:
            raise ProfileError(
                f"{source}: {path}.remove: `{entry}` is not in the inherited list{nearest(entry, entries)}", hint="remove the entry"
            )
    return tuple(dict.fromkeys([entry for entry in entries if entry not in gone] + list(value.get("add", ()))))


def strings(value: object) -> tuple[str, ...]:
    """The entries of a list key; nothing for any other value."""
    return value if isinstance(value, tuple) else ()


def show(value: object) -> str:
    """A value for a message, cut when it is long."""
    text = str(list(value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def plant(table: Table, path: str, value: object) -> None:
    """Set a dotted key in nested tables, as TOML would have."""
    head, _, rest = path.partition(".")
    if not rest or head == "effects":
        inner = table.setdefault(head, {}) if rest else table
        assert isinstance(inner, dict)
        inner[rest or head] = value
        return
    inner = table.setdefault(head, {})
    assert isinstance(inner, dict)
    plant(inner, rest, value)
