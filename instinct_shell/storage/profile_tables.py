"""`[[program]]` and `[[instinct]]` tables of a profile, checked and made plain."""

from __future__ import annotations

from ..errors import ProfileError
from ..model.profile import ProgramRow
from .profile_schema import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    Table = dict[str, object]
    Rows = tuple[tuple[object, ...], ...]

_PAIRS = ("option_roles", "when")


def read_programs(table: Table, source: str, *, adds: bool) -> Rows:
    """`[[program]]` tables as tuples in the order of `ProgramRow`'s fields. adds: they stand in a project file."""
    rows = []
    for number, entry in enumerate(_tables(table, "program", source), 1):
        from ..effects.own_rows import KEYS, mistake

        where = f"{source}: program {number}"
        for key in entry:
            if key not in KEYS:
                raise ProfileError(f"{where}: {key}: unknown key{nearest(key, KEYS)}", hint="base.toml shows a program with every key")
        names = entry.get("names")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ProfileError(f"{where}: names: missing or not a list of strings", hint='write names = ["deployctl"]')
        reads_stdin = entry.get("reads_stdin", False)
        if not isinstance(reads_stdin, bool):
            raise ProfileError(f"{where}: reads_stdin: not true or false", hint="write reads_stdin = true")
        words = {key: _text(entry, key, where) for key in ("summary", "options", "longs", "style", "roles", "harmless")}
        pairs = {key: _pairs(entry, key, where) for key in _PAIRS}
        row = ProgramRow(tuple(names), reads_stdin=reads_stdin, adds=adds, **words, **pairs)  # type: ignore[arg-type]  # the keys say which
        key, wrong = mistake(row)
        if wrong:
            raise ProfileError(f"{where}: {key}: {wrong}", hint="docs/profiles.md says what each column may hold")
        rows.append(tuple(getattr(row, field) for field in row._fields))
    return tuple(rows)


def read_plugged(table: Table, source: str) -> tuple[tuple[str, str], ...]:
    """`[[instinct]]` tables as (entry, sha256)."""
    found = []
    for number, entry in enumerate(_tables(table, "instinct", source), 1):
        where = f"{source}: instinct {number}"
        for key in entry:
            if key not in ("entry", "sha256"):
                raise ProfileError(
                    f"{where}: {key}: unknown key{nearest(key, ('entry', 'sha256'))}", hint="an instinct has entry and sha256"
                )
        name, digest = _text(entry, "entry", where), _text(entry, "sha256", where).lower()
        module, colon, attribute = name.partition(":")
        if not colon or not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
            raise ProfileError(f"{where}: entry: `{name}` is not package.module:name", hint='write entry = "acme_judge.judge:judge"')
        if len(digest) != 64 or any(c not in "0123456789abcdef" for c in digest):
            raise ProfileError(f"{where}: sha256: not 64 hexadecimal digits", hint="sha256sum of the module's file")
        found.append((name, digest))
    return tuple(found)


def _tables(table: Table, name: str, source: str) -> list[Table]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ProfileError(f"{source}: {name}: must be an array of tables", hint=f"write [[{name}]]")
    return value


def _text(entry: Table, key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise ProfileError(f"{where}: {key}: not a string", hint=f'write {key} = "..."')
    return value


def _pairs(entry: Table, key: str, where: str) -> tuple[tuple[str, str], ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair) for pair in value
    ):
        raise ProfileError(f"{where}: {key}: not a list of pairs of strings", hint=f'write {key} = [["...", "..."]]')
    return tuple((first, second) for first, second in value)
