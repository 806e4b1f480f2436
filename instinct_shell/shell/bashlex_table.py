"""bashlex with its LALR table built ahead: 10 ms to import instead of 130. `python -m instinct_shell.shell.bashlex_table` builds it.

bashlex 0.18 computes its parser table at every import and has no code to read one. `load` puts a `yacc` function in place that takes the
table from a file beside this module; when the file is missing or was made for another bashlex or Python, bashlex builds as it always does.
"""

from __future__ import annotations

import marshal
import posixpath
import sys
from importlib.util import find_spec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PATH = posixpath.join(posixpath.dirname(__file__), "bashlex_table.bin")
_SOURCES = ("parser.py", "yacc.py", "tokenizer.py")


def load() -> ModuleType:
    """The `bashlex.parser` module, from the prepared table when there is a fitting one."""
    if "bashlex.parser" in sys.modules:
        return sys.modules["bashlex.parser"]
    folder = _folder()
    table = _read(_key(folder))
    package = _bare_package(folder)
    if table is None:
        import bashlex.parser as built  # type: ignore[import-untyped]  # bashlex has no types

        return _finished(package, built)
    had_inspect = "inspect" in sys.modules
    if not had_inspect:
        sys.modules["inspect"] = ModuleType("inspect")  # only the table builder uses it, and it costs 10 ms
    try:
        import bashlex.yacc as yacc  # type: ignore[import-untyped]  # bashlex has no types
    finally:
        if not had_inspect:
            del sys.modules["inspect"]
    original = yacc.yacc
    yacc.yacc = _from_table(yacc, table)
    try:
        import bashlex.parser as parser
    finally:
        yacc.yacc = original
    return _finished(package, parser)


def build(path: str = PATH) -> str:
    """Writes the table and returns its path. Raises OSError when the folder is not writable."""
    folder = _folder()
    for name in [name for name in sys.modules if name == "bashlex" or name.startswith("bashlex.")]:
        del sys.modules[name]
    _bare_package(folder)
    import bashlex.yacc as yacc

    captured: list[Any] = []
    original = yacc.LRParser.__init__

    def capture(self: Any, table: Any, error: Any) -> None:
        # parser.py patches the actions after this call, so they are copied as they are now
        captured.append([(p.name, p.len, p.func, str(p)) for p in table.lr_productions])
        captured.append({state: dict(row) for state, row in table.lr_action.items()})
        captured.append({state: dict(row) for state, row in table.lr_goto.items()})
        original(self, table, error)

    yacc.LRParser.__init__ = capture
    try:
        import bashlex.parser  # noqa: F401  # importing it builds the table
    finally:
        yacc.LRParser.__init__ = original
    with open(path, "wb") as file:
        file.write(marshal.dumps((_key(folder), *captured)))
    return path


def _folder() -> str:
    spec = find_spec("bashlex")
    if spec is None or spec.origin is None:
        raise ImportError("bashlex is not installed")
    return posixpath.dirname(spec.origin)


def _bare_package(folder: str) -> ModuleType:
    """A package object without bashlex's `__init__`, which would import the parser too early."""
    package = ModuleType("bashlex")
    package.__path__ = [folder]
    package.__spec__ = find_spec("bashlex")
    sys.modules["bashlex"] = package
    return package


def _finished(package: ModuleType, parser: ModuleType) -> ModuleType:
    package.parser = parser  # type: ignore[attr-defined]  # what bashlex's own __init__ sets
    package.parse = parser.parse  # type: ignore[attr-defined]  # what bashlex's own __init__ sets
    package.parsesingle = parser.parsesingle  # type: ignore[attr-defined]  # what bashlex's own __init__ sets
    package.split = parser.split  # type: ignore[attr-defined]  # what bashlex's own __init__ sets
    return parser


def _key(folder: str) -> str:
    """Names the Python and the exact bashlex sources a table fits."""
    from hashlib import sha256

    digest = sha256()
    for name in _SOURCES:
        with open(f"{folder}/{name}", "rb") as file:
            digest.update(file.read())
    return f"{sys.implementation.cache_tag} {digest.hexdigest()}"


def _read(key: str) -> tuple[Any, ...] | None:
    try:
        with open(PATH, "rb") as file:
            found: tuple[Any, ...] = marshal.loads(file.read())  # noqa: S302  # our own build, beside our own code
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return found[1:] if len(found) == 4 and found[0] == key else None


class _Row:
    """Stands for PLY's Production and LRTable, which the parser reads by attribute."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def _from_table(yacc: Any, table: tuple[Any, ...]) -> Callable[..., Any]:
    def from_table(**_: Any) -> Any:
        names = sys._getframe(1).f_globals
        productions, actions, gotos = table
        rows = []
        for name, length, function, text in productions:
            row = _Production(name, length, function, names[function] if function else None, text)
            rows.append(row)
        return yacc.LRParser(_Row(lr_productions=rows, lr_action=actions, lr_goto=gotos), names["p_error"])

    return from_table


class _Production:
    __slots__ = ("callable", "func", "len", "name", "str")

    def __init__(self, name: str, length: int, func: str | None, function: Any, text: str) -> None:
        self.name = name
        self.len = length
        self.func = func
        self.callable = function
        self.str = text

    def __str__(self) -> str:
        return self.str


if __name__ == "__main__":
    print(build())  # noqa: T201  # a build step tells what it wrote
