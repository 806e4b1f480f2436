"""How an agent's configuration is changed: pure functions from the old text to the new one, each the same when applied twice.

Every entry of ours names our hook program by its absolute path, so it is found again whatever stands around it. A file that cannot be read with
certainty (comments in JSON, broken TOML, another shape than the agent documents) is refused, with what a person would have to put there.
"""

from __future__ import annotations

import json

from ...errors import UsageError
from ...model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Edit = Callable[[str | None], str]

BEGIN = "# >>> instinct-shell: written by `instinct install`, removed by `instinct uninstall` >>>"
END = "# <<< instinct-shell <<<"


class FileEdit(Value):
    """One file of a recipe. change: from the old text (None: no file) to the new one. executable: the file is a program."""

    path: str
    change: Edit
    executable: bool = False


def whole_file(text: str) -> Edit:
    """A file that is ours alone. One that somebody else wrote is refused."""

    def change(old: str | None) -> str:
        if old is not None and old != text and "instinct" not in old:
            raise UsageError("a file of this name is there already and is not ours", hint="move it away, then install again")
        return text

    return change


def json_entries(lists: dict[str, list[dict[str, object]]], mark: str, *, under: str = "hooks", values: dict[str, object] | None = None) -> Edit:
    """Entries added to the lists `under.NAME` of a JSON object; entries that hold `mark` are ours and are replaced.

    values: further keys, dotted, that are set when they are missing (`version`) or ours to set (`env.NAME`).
    """

    def change(old: str | None) -> str:
        data = _object(old)
        place = _child(data, under)
        for name in list(place):
            found = place[name]
            if isinstance(found, list):
                place[name] = [entry for entry in found if mark not in json.dumps(entry)]
                if not place[name] and name not in lists:
                    del place[name]
        for name, entries in lists.items():
            found = place.setdefault(name, [])
            if not isinstance(found, list):
                raise UsageError(f"`{under}.{name}` is not a list", hint="mend the file by hand, then install again")
            found += entries
        for dotted, value in (values or {}).items():
            _set(data, dotted, value)
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    return change


def json_values(values: dict[str, object]) -> Edit:
    """Keys, dotted, set in a JSON object."""

    def change(old: str | None) -> str:
        data = _object(old)
        for dotted, value in values.items():
            _set(data, dotted, value)
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    return change


def toml_block(block: str) -> Edit:
    """A block of TOML at the end of a file, between two marks. What comes out is parsed before it is written."""

    def change(old: str | None) -> str:
        import tomllib

        before = _without_block(old or "")
        if before and not before.endswith("\n"):
            before += "\n"
        new = f"{before}{BEGIN}\n{block}{END}\n"
        for text, what in ((before, "is no TOML that can be read"), (new, "cannot take our tables at its end")):
            try:
                tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                raise UsageError(f"the file {what}: {error}", hint="add this by hand:\n" + block) from error
        return new

    return change


def _without_block(text: str) -> str:
    head, begin, rest = text.partition(BEGIN + "\n")
    if not begin:
        return text
    _, end, tail = rest.partition(END + "\n")
    if not end:
        raise UsageError("our block in the file has lost its end", hint=f"remove what follows `{BEGIN}` by hand, then install again")
    return head + tail


def _object(old: str | None) -> dict[str, object]:
    if old is None or not old.strip():
        return {}
    try:
        data = json.loads(old)
    except ValueError as error:
        raise UsageError(f"the file is no plain JSON ({error}); comments would be lost", hint="remove the comments, or add the hooks by hand") from error
    if not isinstance(data, dict):
        raise UsageError("the file does not hold a JSON object", hint="mend it by hand, then install again")
    return data


def _child(data: dict[str, object], name: str) -> dict[str, object]:
    child = data.setdefault(name, {})
    if not isinstance(child, dict):
        raise UsageError(f"`{name}` is not an object", hint="mend the file by hand, then install again")
    return child


def _set(data: dict[str, object], dotted: str, value: object) -> None:
    *path, last = dotted.split(".")
    for name in path:
        data = _child(data, name)
    data[last] = value
