"""What a jail has to know of this disk: what to protect, what to mask, the cache folder of the workspace, and what of the person's may be lent."""

from __future__ import annotations

import os

from ..execution.protect import on_disk, secrets_on_disk
from .newcomers import settle_newcomers

NO_VARIABLES: tuple[tuple[str, str], ...] = ()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.confine import OnDisk
    from ..engine.judgement import Judgement
    from ..model.jailspec import JailSpec
    from ..model.situation import Situation
    from .guard import Guard


def disk_of(guard: Guard, situation: Situation) -> OnDisk:
    """For the home that commands see and for the account's own; what has appeared unjudged is set aside first. Raises StorageError and JailError."""
    cache, readable = "", NO_VARIABLES
    if guard.profile.caches:
        from ..execution.caches import open_folder, variables

        cache = open_folder(guard.person.home, guard.workspace, os.environ)
        readable = variables(os.environ, guard.person.home)
    found = on_disk(guard.profile, situation, cache=cache).replace(readable_caches=readable)
    for home in guard.person.homes:
        if home != situation.home:
            masked = secrets_on_disk(guard.profile, situation.replace(home=home))
            found = found.replace(masked=tuple(dict.fromkeys((*found.masked, *masked))))
    if guard.profile.network == "allowlist":
        from ..execution.registries import registries_for

        found = found.replace(registries=registries_for(guard.profile))
    settle_newcomers(guard, found.guarded)
    # Ours too: it holds pre-images and hashes, and whoever can open a file can hold its lock and so stop every other command.
    states = [guard.state, *(os.path.join(home, ".local", "state", "instinct-shell") for home in guard.person.homes)]
    return found.replace(masked=tuple(dict.fromkeys((*found.masked, *(state for state in states if os.path.lexists(state))))))


def with_credentials(guard: Guard, judgement: Judgement, spec: JailSpec) -> JailSpec:
    """The spec with the person's credentials, where their profile lends them to such a command."""
    from ..engine.lending import borrowed
    from ..execution.credentials import lend
    from ..execution.registries import account_home

    return lend(spec, os.environ, account_home()) if borrowed(judgement, guard.profile) else spec


def with_sockets(guard: Guard, spec: JailSpec) -> JailSpec:
    """The spec with the sockets that the person's profile opens to every command, as far as they are there."""
    import stat

    docker = ("/run/docker.sock", f"{os.environ.get('XDG_RUNTIME_DIR', '')}/docker.sock", "{home}/.docker/run/docker.sock")
    names = [place for entry in guard.profile.sockets for place in (docker if entry == "docker" else (entry,))]
    found = []
    for name in names:
        path = os.path.realpath(name.replace("{home}", guard.person.home))
        try:
            if name.startswith(("/", "{home}/")) and stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
        except OSError:
            continue  # its program does not run
    return spec.replace(sockets=tuple(dict.fromkeys((*spec.sockets, *found))))
