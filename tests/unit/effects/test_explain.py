"""What the catalog tells people about itself."""

from __future__ import annotations

from instinct_shell.effects.catalog import MODULES, Catalog
from instinct_shell.effects.explain import explain


def test_git_names_its_verbs() -> None:
    told = dict(explain("git", Catalog()))
    assert told["does"] == "version control"
    assert "lose work" in told["verb reset"]


def test_columns_are_told() -> None:
    told = dict(explain("shutdown", Catalog()))
    assert told["always"] == "system.power action=shutdown"
    assert "--show" in told["harmless with"]


def test_unknown_programs_have_nothing_to_tell() -> None:
    assert explain("no-such-program", Catalog()) == ()


def test_every_program_says_what_it_does() -> None:
    catalog = Catalog()
    silent = [name for name in MODULES if not dict(explain(name, catalog)).get("does") and not dict(explain(name, catalog)).get("also")]
    assert not silent
