"""Every name of the catalog, plain and in the forms a machine may have it in, can be described, whatever follows it."""

from __future__ import annotations

import pytest
from effect_tables import effects_of

from instinct_shell.effects.catalog import MODULES, VERSIONED, canonical

TAILS = ("", " --", " -", " x", " -x", " --x=", " -c", " -e 'a b'", " install x", " run", ' "$u"', " *", " --version", " -f < x", " x y z", " :", " =", " -C", " -o a=b")


@pytest.mark.parametrize("module", sorted(set(MODULES.values())))
def test_any_words_are_described(module: str) -> None:
    for name in (name for name, where in MODULES.items() if where == module):
        effects_of("\n".join(f"{name}{tail}" for tail in TAILS))  # no exception is the promise; what it says is tested elsewhere


@pytest.mark.parametrize("name", sorted(VERSIONED))
def test_versions_and_suffixes(name: str) -> None:
    for spelled in (f"{name}9", f"{name}-9.1", f"{name}.exe"):
        assert canonical(spelled) == canonical(name)
        effects_of("\n".join(f"{spelled}{tail}" for tail in TAILS))


def test_a_dash_is_no_version() -> None:
    assert canonical("npm--") == "npm--"
