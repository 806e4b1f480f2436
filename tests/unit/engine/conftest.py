"""Profiles as shipped, and effects made by hand."""

from __future__ import annotations

import pytest

from instinct_shell.storage.profiles import ProfileStore


@pytest.fixture(scope="session")
def store() -> ProfileStore:
    return ProfileStore(home="/nonexistent", cache=False)


@pytest.fixture(scope="session")
def dev(store):
    return store.load("dev", "", {})


@pytest.fixture(scope="session")
def staging(store):
    return store.load("staging", "", {})


@pytest.fixture(scope="session")
def prod(store):
    return store.load("prod", "", {})
