"""The kernel jail: namespaces and mounts, Landlock, a system call filter. `jail_for` picks the strongest form this host can make."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.jailspec import JailLevel
    from ..launcher import Launcher


def jail_for(least: JailLevel, *, dedicated: bool = False) -> Launcher:
    """A launcher that can reach `least`; raises JailError with what to do when this host cannot.

    It probes, which costs about 2 ms; a launcher made directly finds out when it runs.
    """
    from ...errors import JailError
    from ..launcher import Launcher
    from .probe import probe, reaches

    reach = probe()
    if not reaches(reach.level, least):
        raise JailError(f"this profile needs a jail of level `{least}`, this host reaches `{reach.level}`: {reach.obstacle}", hint=reach.hint)
    return Launcher(dedicated=dedicated)
