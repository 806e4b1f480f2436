"""Starting an engine, once a command has been judged without one. Nobody waits for it."""

from __future__ import annotations

import os
import sys

from . import client

_KEPT = ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "INSTINCT_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


def command() -> list[str] | None:
    """The command line of an engine of this installation; None when this process was not started by one of its launchers."""
    launcher = os.path.abspath(sys.argv[0]) if sys.argv else ""
    if os.path.basename(launcher) != "launch.py":
        return None
    return [sys.executable, "-I", "-S", "-B", "-X", "utf8", launcher, "instinct", "engine", "serve"]


def environment() -> dict[str, str]:
    """What an engine needs of ours: where its socket goes. Each call brings its own."""
    kept = {name: os.environ[name] for name in _KEPT if os.environ.get(name)}
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin"}


def start_if_missed() -> None:
    """Start an engine, detached, when this command looked for one and none answered. Never raises and never waits."""
    if client.trouble in (client.ABSENT, client.HUNG, client.DIED):
        client.trouble = client.OFF  # once
        start()


def start() -> bool:
    """Start an engine in a session of its own, without any descriptor of ours. Whether one could be started; it may find another one there."""
    argv = command()
    if argv is None:
        return False
    try:
        child = os.fork()
    except OSError:
        return False
    if child == 0:
        try:
            os.setsid()
            if os.fork():
                os._exit(0)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.closerange(3, 1 << 16)
            os.execve(argv[0], argv, environment())  # noqa: S606  # our own interpreter and launcher
        finally:
            os._exit(1)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass  # SIGCHLD is ignored here: reaped already
    return True
