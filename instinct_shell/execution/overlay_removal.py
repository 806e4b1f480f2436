"""Taking away what a command left on its view: folders of any mode, at any depth, whoever else is at it."""

from __future__ import annotations

import os
import stat

from .beneath import FOLDER


def remove_tree(path: str) -> None:
    """A whole tree of ours, whatever modes its folders have and however deep it is: what lies in a folder is moved up, so that no name gets long."""
    try:
        top = os.open(path, FOLDER)
    except FileNotFoundError:
        return  # of two sweeps, the other was quicker
    try:
        while names := os.listdir(top):
            for name in names:
                _take_apart(top, name)
        os.rmdir(path)
    except FileNotFoundError:
        pass  # the same
    finally:
        os.close(top)


def _take_apart(top: int, name: str) -> None:
    """One entry of `top` goes; folders in it come to stand beside it."""
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)
    fd = os.open(name, FOLDER, dir_fd=top)
    try:
        for inner in os.listdir(fd):
            if _is_folder(fd, inner):
                os.chmod(inner, 0o700, dir_fd=fd)
                # A name of its own: a removal that was killed has left some already.
                os.rename(inner, f"moved-{os.urandom(8).hex()}", src_dir_fd=fd, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=top)


def _is_folder(parent: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
