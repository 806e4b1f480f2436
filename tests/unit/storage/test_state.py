"""The state directory is made private, or refused with a way to mend it."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from instinct_shell.errors import StorageError
from instinct_shell.model.refusal import explain
from instinct_shell.storage.state import state_directory, state_path, subdirectory

ME = os.geteuid()


def directory(home, env=None, uid=ME):
    return state_directory(env or {}, str(home), uid)


@pytest.mark.parametrize(
    ("env", "home", "expected"),
    [
        ({}, "/home/u", "/home/u/.local/state/instinct-shell"),
        ({"XDG_STATE_HOME": "/var/s"}, "/home/u", "/var/s/instinct-shell"),
        ({"XDG_STATE_HOME": "/var/x/../s/"}, "/home/u", "/var/s/instinct-shell"),
        ({"XDG_STATE_HOME": "relative"}, "/home/u", "/home/u/.local/state/instinct-shell"),
        ({"INSTINCT_STATE": "/home/ada/.local/state/instinct-shell", "XDG_STATE_HOME": "/tmp/x"}, "/tmp/y", "/home/ada/.local/state/instinct-shell"),
        ({"INSTINCT_STATE": "relative"}, "/home/u", "/home/u/.local/state/instinct-shell"),
        ({"XDG_STATE_HOME": ""}, "/home/u", "/home/u/.local/state/instinct-shell"),
    ],
)
def test_where_it_lies(env, home, expected):
    assert state_path(env, home) == expected


def test_it_is_made_private_with_its_parents(tmp_path):
    path = directory(tmp_path / "new")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(tmp_path / "new" / ".local" / "state").st_mode) == 0o700
    assert directory(tmp_path / "new") == path


def test_a_loose_umask_does_not_loosen_it(tmp_path):
    old = os.umask(0)
    try:
        path = directory(tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700


def test_one_that_others_may_read_is_tightened(tmp_path):
    path = directory(tmp_path)
    os.chmod(path, 0o755)
    directory(tmp_path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
def test_one_that_others_may_write_is_refused(tmp_path, mode):
    path = directory(tmp_path)
    os.chmod(path, mode)
    with pytest.raises(StorageError, match="can be written by others") as caught:
        directory(tmp_path)
    assert f"chmod 700 {path}" in caught.value.hint


def test_a_symlink_is_refused(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "state" / "instinct-shell").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="symlink"):
        directory(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "state")})


def test_a_dangling_symlink_is_refused_and_not_followed(tmp_path):
    (tmp_path / "instinct-shell").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="symlink"):
        directory(tmp_path, {"XDG_STATE_HOME": str(tmp_path)})
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "instinct-shell").write_text("x")
    with pytest.raises(StorageError, match="not a directory"):
        directory(tmp_path, {"XDG_STATE_HOME": str(tmp_path)})


def test_a_file_on_the_way_is_refused(tmp_path):
    (tmp_path / "home").write_text("x")
    with pytest.raises(StorageError, match="not a directory"):
        directory(tmp_path / "home")


def test_somebody_elses_is_refused(tmp_path):
    directory(tmp_path)
    with pytest.raises(StorageError, match=f"belongs to uid {ME}, not to you"):
        directory(tmp_path, uid=ME + 1)


def test_a_parent_that_everyone_may_write_is_refused(tmp_path):
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o777)
    with pytest.raises(StorageError, match="anyone may replace"):
        directory(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "open")})
    os.chmod(tmp_path / "open", 0o1777)
    directory(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "open")})


def test_no_home_is_refused():
    with pytest.raises(StorageError, match="no place for the state directory"):
        directory("relative/home")


def test_a_home_that_cannot_be_written_is_refused():
    with pytest.raises(StorageError, match=r"/proc/.*") as caught:
        directory("/proc/self")
    assert caught.value.hint


def test_a_file_where_a_subdirectory_belongs(tmp_path):
    (tmp_path / "audit").write_text("x")
    with pytest.raises(StorageError, match="not a directory"):
        subdirectory(str(tmp_path), "audit")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EDQUOT, "no space left"),
        (errno.EROFS, "read-only file system"),
        (errno.EACCES, "no permission"),
        (errno.EPERM, "no permission"),
        (errno.EFBIG, "file size limit"),
        (errno.ELOOP, "not a directory"),
        (errno.ENOENT, "missing"),
        (errno.EIO, "input/output error"),
    ],
)
def test_every_refusal_says_where_and_what_next(number, words):
    error = explain(OSError(number, os.strerror(number)), "/the/place")
    assert words in error.message
    assert "`/the/place`" in error.message
    assert error.hint
    assert error.exit_status == 125
