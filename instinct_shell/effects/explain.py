"""What the catalog knows of a program, as plain pairs for people: `instinct explain program git`."""

from __future__ import annotations

from .call import Program
from .catalog import MODULES, Catalog, canonical


def explain(name: str, catalog: Catalog) -> tuple[tuple[str, str], ...]:
    """(label, text) pairs of a program's row, in reading order; empty for a program without one."""
    row = catalog.row(name)
    if row is None:
        return ()
    known = canonical(name)
    told = [("program", name), ("does", row.summary), ("family", MODULES.get(known, "profile"))]
    told += _columns(row)
    if row.describe is not None:
        told.append(("also", _first_line(row.describe.__doc__)))
    told += _verbs(known)
    return tuple((label, text) for label, text in told if text)


def _columns(row: Program) -> list[tuple[str, str]]:
    told = [
        ("same row", " ".join(row.names) if len(row.names) > 1 else ""),
        ("operands", row.roles),
        ("options with argument", row.options),
    ]
    told += [(f"option {option}", f"its argument is {role}") for option, role in row.option_roles]
    told += [(f"when {condition}" if condition else "always", effect) for condition, effect in row.when]
    told.append(("harmless with", row.harmless))
    return told


def _verbs(name: str) -> list[tuple[str, str]]:
    if name != "git":
        return []
    from .git_verbs import VERBS

    return [(f"verb {verb}", _first_line(row.describe.__doc__)) for verb, row in sorted(VERBS.items())]


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
