"""A profile's `[[program]]` tables as catalog rows, and what their columns may say. The keys are those of `call.Program`, without describers."""

from __future__ import annotations

import functools

from ..model.effect import EffectKind
from .call import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.profile import ProgramRow

STYLES = ("stop", "single", "raw", "bundle", "nohelp")
KEYS = ("names", "summary", "options", "longs", "style", "roles", "option_roles", "when", "harmless", "reads_stdin")


@functools.lru_cache(8)
def rows_of(programs: tuple[ProgramRow, ...]) -> tuple[Program, ...]:
    """The rows in the profile's order; those of a project file only add to what is known of a program."""
    return tuple(
        Program(
            row.names, row.options, row.roles, row.option_roles, None, row.reads_stdin, row.summary, row.longs, row.style, row.when, row.harmless,
            row.adds,
        )
        for row in programs
    )  # fmt: skip


def mistake(row: ProgramRow) -> tuple[str, str]:
    """(key, what is wrong) of the first column that means nothing; ("", "") for a good row."""
    import re

    from .roles import ROLES

    known = {*ROLES, "list", "ignore"}
    for name in row.names:
        if not name or "/" in name or any(c.isspace() for c in name):
            return "names", f"`{name}` is not a program's bare name"
    for key, text in (("options", row.options), ("longs", row.longs)):
        for word in text.split():
            if not re.fullmatch(r"--?[\w+?%#@.:-]+[=!]?", word):
                return key, f"`{word}` is not an option"
    for word in row.style.split():
        if word not in STYLES:
            return "style", f"`{word}` is not one of {', '.join(STYLES)}"
    for key, words in (("roles", row.roles.split()), ("option_roles", [role for _, role in row.option_roles])):
        for word in words:
            if word.rstrip("*").removeprefix("r-") not in known:
                return key, f"`{word}` is not a role ({', '.join(sorted(known))})"
    kinds = {kind.value for kind in EffectKind}
    for _, effect in row.when:
        words = effect.split()
        if not words or words[0] not in kinds:
            return "when", f"`{effect[:60]}` does not start with a kind of effect, such as infra.destroy"
        for word in words[1:]:
            if "=" not in word:
                return "when", f"`{word}` is not an attribute such as action=stop"
    return "", ""
