"""Which jail session a command belongs to, and what sessions there are. What a session is: jail/session.py."""

from __future__ import annotations

import os

from ..errors import UsageError
from ..model.digest import text_digest
from ..model.jailspec import Session
from ..model.value import Value
from ..model.version import VERSION
from .agents import identify, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.profile import Profile


def session_for(
    state: str, profile: Profile, workspace: str, *, asked: str, environ: Mapping[str, str], above: Iterable[int], network: str
) -> Session | None:
    """The session of a command; None when nobody says whose it is: then it has a jail of its own.

    asked: the id that was given (`--session`); else the agent's own variable counts, else its nearest process. above: the processes above us,
    nearest first. Commands share a session when user, workspace, profile and id are the same.
    """
    from .jail.session import started_at

    agent, pid = nearest(above)
    started = started_at(pid) if pid else 0
    name = asked or identify(environ)[1] or (f"{agent}-{pid}.{started}" if pid else "")
    if not name:
        return None
    key = text_digest("\0".join((str(os.getuid()), workspace, profile.digest, VERSION, network, name)))[:24]
    return Session(os.path.join(folder_of(state), key), name, profile.name, workspace, pid, started)


def folder_of(state: str) -> str:
    """Where the holders' sockets are."""
    return os.path.join(state, "jail-sessions")


class Live(Value):
    """A session that answers. running: commands at work; background: processes that earlier commands left."""

    key: str
    name: str
    profile: str
    workspace: str
    agent: int
    running: int
    background: int


def live(state: str) -> list[Live]:
    """Every session of this user."""
    from .jail import session

    try:
        folder = os.open(folder_of(state), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        found = []
        for key in session.named(folder):
            membership = session.connect(folder, key)
            if membership is None:
                continue
            try:
                running, background, label = membership.ask(b"L").decode("utf-8", "surrogateescape").split(" ", 2)
            except (OSError, ValueError):
                continue  # it ended just now
            finally:
                membership.close()
            name, profile, workspace, agent = label.split("\t")
            found.append(Live(key, name, profile, workspace, int(agent), int(running), int(background)))
        return found
    finally:
        os.close(folder)


def left_behind(state: str, workspace: str) -> list[float]:
    """Since when commands of a workspace have left something in the background, epoch seconds, by the marks of sessions' holders (jail/holder.py).

    The mark of a session that is over is told once.
    """
    top = folder_of(state)
    found = []
    try:
        names = [name for name in os.listdir(top) if name.endswith(".left")]
    except OSError:
        return []  # no session yet
    for name in names:
        path = os.path.join(top, name)
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                label = file.read(8192).split("\t")
            if label[2:3] != [workspace]:
                continue
            found.append(os.stat(path).st_mtime)
            if not os.path.lexists(path.removesuffix(".left")):
                os.unlink(path)
        except OSError:
            continue  # told by another command just now
    return found


def end(state: str, wanted: str = "") -> list[Live]:
    """Ends sessions, with everything in them: all, or those whose name or key begins with `wanted`. Raises UsageError when there is none."""
    from .jail import session

    chosen = [one for one in live(state) if not wanted or one.name == wanted or one.key.startswith(wanted)]
    if wanted and not chosen:
        raise UsageError(f"there is no session `{wanted}`", hint="see `instinct session list`")
    folder = os.open(folder_of(state), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if chosen else -1
    for one in chosen:
        membership = session.connect(folder, one.key)
        if membership is None:
            continue
        try:
            membership.ask(b"E")
        except OSError:
            pass  # it has ended
        finally:
            membership.close()
    if folder >= 0:
        os.close(folder)
    return chosen
