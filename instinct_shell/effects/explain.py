"""What the catalog knows of a program, as plain pairs for people: `instinct explain program git`."""

from __future__ import annotations

from .call import Program
from .catalog import MODULES, Catalog, canonical


def explain(name: str, catalog: Catalog) -> tuple[tuple[str, str], ...]:
    """(label, text) pairs of a program's row, in reading order; empty for a program without one."""
    row = catalog.row(name)
    added = catalog.added(name)
    if row is None and not added:
        return ()
    told: list[tuple[str, str]] = []
    if row is not None:
        told += [("program", name), ("does", row.summary), ("family", MODULES.get(canonical(name), "profile"))]
        told += _columns(row)
        if row.describe is not None:
            told.append(("also", plain(row.describe.__doc__)))
        told += _verbs(canonical(name))
    for number, other in enumerate(added):
        told += [("program", name)] if row is None and not number else []
        told += [("the project adds", other.summary or "effects"), *_columns(other)]
    return tuple((label, text) for label, text in told if text)


def row_object(name: str, catalog: Catalog) -> dict[str, object]:
    """The same as JSON-able data; empty for a program without a row."""
    row = catalog.row(name)
    found = _object(name, row) if row is not None else {"program": name}
    added = [_object(name, other) for other in catalog.added(name)]
    return {**found, **({"added": added} if added else {})}


def _object(name: str, row: Program) -> dict[str, object]:
    return {
        "program": name,
        "family": MODULES.get(canonical(name), "profile"),
        "names": list(row.names),
        "summary": row.summary,
        "options": row.options.split(),
        "longs": row.longs.split(),
        "style": row.style,
        "roles": row.roles.split(),
        "option_roles": [list(pair) for pair in row.option_roles],
        "when": [list(pair) for pair in row.when],
        "harmless": row.harmless.split(),
        "reads_stdin": row.reads_stdin,
        "describes": plain(row.describe.__doc__) if row.describe is not None else "",
        "verbs": {label.removeprefix("verb "): text for label, text in _verbs(canonical(name))},
    }


def _columns(row: Program) -> list[tuple[str, str]]:
    told = [
        ("same row", " ".join(row.names) if len(row.names) > 1 else ""),
        ("operands", row.roles),
        ("options with argument", row.options),
        ("other long options", row.longs),
        ("style", row.style),
        ("reads", "stdin when no file is named" if row.reads_stdin else ""),
    ]
    told += [(f"option {option}", f"its argument is {role}") for option, role in row.option_roles]
    told += [(f"when {condition}" if condition else "always", effect) for condition, effect in row.when]
    told.append(("harmless with", row.harmless))
    return told


def _verbs(name: str) -> list[tuple[str, str]]:
    if name != "git":
        return []
    from .git_table import VERBS

    return [(f"verb {verb}", plain(row.describe.__doc__).split("\n")[0]) for verb, row in sorted(VERBS.items())]


def plain(text: str | None) -> str:
    """A docstring without its indentation."""
    return "\n".join(line.strip() for line in (text or "").strip().split("\n"))
