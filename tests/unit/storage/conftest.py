"""Who keeps things: a person with a home and a workspace."""

from __future__ import annotations

import pytest


@pytest.fixture
def person(tmp_path):
    """A home with a configuration directory, and a workspace."""
    (tmp_path / "home/.config/instinct-shell").mkdir(parents=True, mode=0o700)
    (tmp_path / "w").mkdir()
    return tmp_path
