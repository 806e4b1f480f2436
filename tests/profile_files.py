"""Profiles as a person and a project keep them, for the tests."""

from __future__ import annotations

from instinct_shell.storage.profiles import ProfileStore


def store(person, **more):
    return ProfileStore(home=str(person / "home"), **{"cache": False, **more})


def own(person, name, text):
    path = person / "home/.config/instinct-shell" / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def project(person, text):
    (person / "w/.instinct.toml").write_text(text, encoding="utf-8")


def load(person, name="", **overrides):
    return store(person).load(name, str(person / "w"), overrides)
