"""The state directory on a made-up disk: owners, modes and links that a test on a real one would need root for."""

from __future__ import annotations

import os

import pytest
from pyfakefs.helpers import reset_ids, set_gid, set_uid

from instinct_shell.errors import StorageError
from instinct_shell.storage.state import state_directory

HOME = "/home/ada"


@pytest.fixture
def ada(fs):
    """A home directory of uid 1000, and this process as that user."""
    fs.create_dir(HOME)
    os.chown(HOME, 1000, 1000)
    set_uid(1000)
    set_gid(1000)
    yield fs
    reset_ids()


def directory(env=None):
    return state_directory(env or {}, HOME, 1000)


def test_it_is_made_in_an_empty_home(ada):
    assert directory() == "/home/ada/.local/state/instinct-shell"


def as_root(action):
    set_uid(0)
    set_gid(0)
    try:
        action()
    finally:
        set_uid(1000)
        set_gid(1000)


@pytest.mark.parametrize("env", [{}, {"XDG_STATE_HOME": "/home/ada/elsewhere"}])
def test_a_home_that_cannot_be_written_is_refused_with_the_way_out(ada, env):
    as_root(lambda: os.chmod(HOME, 0o500))
    with pytest.raises(StorageError, match="no permission to write") as caught:
        directory(env)
    assert "XDG_STATE_HOME" in caught.value.hint


def test_one_that_root_made_is_refused(ada):
    as_root(lambda: os.makedirs("/home/ada/.local/state/instinct-shell", 0o755))
    with pytest.raises(StorageError, match="belongs to uid 0") as caught:
        directory()
    assert "chown -R 1000" in caught.value.hint


def test_one_behind_a_folder_that_cannot_be_entered_is_refused(ada):
    directory()
    as_root(lambda: os.chmod("/home/ada/.local", 0))
    with pytest.raises(StorageError, match="no permission"):
        directory()


@pytest.mark.parametrize("target", ["/home/ada/real", "/nowhere"])
def test_a_link_in_its_place_is_refused_wherever_it_leads(ada, target):
    os.makedirs("/home/ada/.local/state")
    ada.create_dir("/home/ada/real")
    os.symlink(target, "/home/ada/.local/state/instinct-shell")
    with pytest.raises(StorageError, match="symlink"):
        directory()


def test_a_link_on_the_way_is_the_persons_business(ada):
    os.makedirs("/home/ada/data")
    os.symlink("/home/ada/data", "/home/ada/.local")
    assert directory() == "/home/ada/.local/state/instinct-shell"
    assert os.path.isdir("/home/ada/data/state/instinct-shell")


def test_dots_are_folded_before_anything_is_made(ada):
    assert directory({"XDG_STATE_HOME": "/home/ada/x/../y/./"}) == "/home/ada/y/instinct-shell"
    assert not os.path.exists("/home/ada/x")


def test_names_differ_by_case(ada):
    directory({"XDG_STATE_HOME": "/home/ada/State"})
    assert not os.path.exists("/home/ada/state/instinct-shell")
