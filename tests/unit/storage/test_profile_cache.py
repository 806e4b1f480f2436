"""Resolved profiles are cached: the answers are the same, and what was changed is read again."""

from __future__ import annotations

import pytest
from profile_files import own, project, store

from instinct_shell.errors import ProfileError
from instinct_shell.model.effect import EffectKind
from instinct_shell.model.verdict import Decision
from instinct_shell.storage.profiles import ProfileStore, shipped_directory


@pytest.fixture
def cached(person, tmp_path):
    """A store with its own copy of the shipped profiles and a state directory, so that caches can be looked at."""
    import shutil

    shipped = tmp_path / "shipped"
    shutil.copytree(shipped_directory(), shipped, ignore=shutil.ignore_patterns("__pycache__"))
    (person / "home/.local/state/instinct-shell").mkdir(parents=True, mode=0o700)
    return lambda: ProfileStore(home=str(person / "home"), shipped=str(shipped)), shipped, person


def files(folder):
    return sorted(path for path in folder.rglob("*.marshal"))


def test_the_cache_answers_the_same(cached, monkeypatch):
    make, shipped, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    first = make().load("", str(person / "w"), {})
    assert len(files(shipped)) == 1
    monkeypatch.setattr(ProfileStore, "_read", lambda *_, **__: pytest.fail("the files were read again"))
    assert make().load("", str(person / "w"), {}) == first


def test_a_changed_source_is_read_again(cached, monkeypatch):
    make, shipped, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    assert make().load("", str(person / "w"), {}).private_tmp is False
    text = (shipped / "dev.toml").read_text(encoding="utf-8")
    (shipped / "dev.toml").write_text(text.replace("[jail]\n", "[jail]\nprivate_tmp = true\n"), encoding="utf-8")
    assert make().load("", str(person / "w"), {}).private_tmp is True


def test_a_new_source_is_noticed(cached, monkeypatch):
    make, _, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    assert make().load("", str(person / "w"), {}).name == "dev"
    own(person, "config.toml", 'profile = "staging"\n')
    assert make().load("", str(person / "w"), {}).name == "staging"
    project(person, '[effects]\n"net.listen" = "deny"\n')
    assert make().load("", str(person / "w"), {}).effect_decision(EffectKind.NET_LISTEN) is Decision.DENY


@pytest.mark.parametrize("damage", [b"", b"rubbish", b"\xff" * 50])
def test_a_damaged_cache_is_only_slower(cached, monkeypatch, damage):
    make, shipped, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    first = make().load("", str(person / "w"), {})
    files(shipped)[0].write_bytes(damage)
    assert make().load("", str(person / "w"), {}) == first


def test_a_cache_that_others_can_write_is_not_believed(cached, monkeypatch):
    make, shipped, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    make().load("", str(person / "w"), {})
    path = files(shipped)[0]
    path.write_bytes(b"x" + path.read_bytes())
    path.chmod(0o666)
    assert make().load("", str(person / "w"), {}).name == "dev"


def test_the_persons_profiles_are_cached_in_their_state_directory(cached, monkeypatch):
    make, shipped, person = cached
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    own(person, "mine.toml", 'extends = "dev"\n[effects]\n"net.upload" = "deny"\n')
    make().load("mine", str(person / "w"), {})
    assert files(shipped) == []
    assert len(files(person / "home")) == 1
    assert files(person / "home")[0].stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("cache", [False, True])
def test_a_link_that_leads_nowhere_is_no_absent_file(person, tmp_path, cache):
    """What it would lead to, on a disk that is not mounted say, may be stricter. Also when the cache remembers that nothing was there."""
    kept = store(person, cache=cache)
    kept.load("", str(person / "w"), {})
    places = (person / "w/.instinct.toml", person / "home/.config/instinct-shell/config.toml")
    for place in places:
        place.symlink_to(tmp_path / "nowhere")
        with pytest.raises(ProfileError, match="leads nowhere"):
            store(person, cache=cache).load("", str(person / "w"), {})
        place.unlink()
    (person / "home/.config/instinct-shell").rmdir()
    (person / "home/.config/instinct-shell").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ProfileError, match="leads nowhere"):
        store(person, cache=cache).load("", str(person / "w"), {})
    (person / "home/.config/instinct-shell").unlink()
    assert store(person, cache=cache).load("", str(person / "w"), {}).name == "dev"
