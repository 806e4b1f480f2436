"""The name table and the family modules must agree, and rows must be well formed."""

from __future__ import annotations

import re

import pytest

from instinct_shell.effects.call import Program
from instinct_shell.effects.catalog import FAMILIES, MODULES, Catalog, canonical, family
from instinct_shell.effects.roles import ROLES
from instinct_shell.model.effect import EffectKind


@pytest.mark.parametrize("module", [module for module, _ in FAMILIES])
def test_table_and_module_name_the_same_programs(module: str) -> None:
    listed = {name for name, home in MODULES.items() if home == module}
    assert listed == set(family(module)), f"catalog.py and {module}.py differ"


def test_every_name_has_one_home() -> None:
    names = [name for _, text in FAMILIES for name in text.split()]
    assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})


def test_the_catalog_is_wide() -> None:
    assert len(MODULES) >= 450


@pytest.mark.parametrize("module", [module for module, _ in FAMILIES])
def test_rows_are_well_formed(module: str) -> None:
    for program in set(family(module).values()):
        for word in program.options.split() + program.longs.split():
            assert re.fullmatch(r"--?[\w+?%#@.:-]+[=!]?", word), (program.names, word)
        for role in [*program.roles.split(), *(role for _, role in program.option_roles)]:
            assert role.rstrip("*").removeprefix("r-") in {*ROLES, "ignore", "list"}, (program.names, role)
        for _, effect in program.when:
            assert EffectKind(effect.split()[0])
        assert program.summary or program.describe, program.names


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("python3.12", "python"),
        ("pip3", "pip"),
        ("gcc-13", "gcc"),
        ("git.exe", "git"),
        ("md5sum", "md5sum"),
        ("base64", "base64"),
        ("rm2", "rm2"),
        ("b3sum", "b3sum"),
    ],
)
def test_versioned_names(name: str, known: str) -> None:
    if canonical(name) != name or known == name:
        assert canonical(name) == known


def test_a_profile_row_wins() -> None:
    own = Program(("rm", "our-tool"), roles="read", summary="ours")
    catalog = Catalog((own,))
    assert catalog.row("rm") is own
    assert catalog.row("our-tool") is own
    assert catalog.row("no-such-program") is None
