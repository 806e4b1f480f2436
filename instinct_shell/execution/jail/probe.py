"""What this kernel lets this process do, found out by doing it. Lists of security modules and sysctls are not read: they lie in containers."""

from __future__ import annotations

import errno
import os
from functools import cache

from ...model.jailspec import JailLevel
from ...model.value import Value
from . import landlock, mounts, namespaces, syscalls
from .syscalls import StepFailed

# errno of the step that failed -> what a person can do about it
_NAMESPACE_HINTS = {
    errno.ENOSPC: "user namespaces are switched off: as root, set `sysctl -w user.max_user_namespaces=15000`",
    errno.EPERM: "user namespaces are refused: on Debian `sysctl -w kernel.unprivileged_userns_clone=1`; in a container allow `unshare` and an unmasked "
    "/proc; on Ubuntu 24.04 and later give this interpreter an AppArmor profile with `userns,`",
    errno.EACCES: "another sandbox or AppArmor forbids it: give this interpreter an AppArmor profile with `userns,`, or start outside that sandbox",
    errno.ENOSYS: "the kernel is older than 5.12 or the call is filtered away",
}
_DOCTOR = "run `instinct doctor` to see which layer is missing"


class Reach(Value):
    """How far a jail can go here. `obstacle` says in words why we cannot make namespaces ourselves; empty when we can.

    maker: what makes the jail: namespaces | bubblewrap | landlock | none.
    """

    level: JailLevel
    landlock_abi: int
    obstacle: str = ""
    hint: str = ""
    maker: str = "namespaces"


def level_of(*, with_namespaces: bool, landlock_abi: int) -> JailLevel:
    """Full needs both kinds of layer: mounts do not stop a FIFO outside from being opened, Landlock does not stop chmod.

    Namespaces alone hold an ordinary user well enough for partial; root owns the device nodes, which only Landlock closes.
    """
    if with_namespaces and landlock_abi >= 2:
        return JailLevel.FULL
    if landlock_abi >= 1 or (with_namespaces and os.geteuid() != 0):
        return JailLevel.PARTIAL
    return JailLevel.NONE


def reaches(level: JailLevel, least: JailLevel) -> bool:
    """Whether `level` is at least `least`."""
    order = (JailLevel.NONE, JailLevel.PARTIAL, JailLevel.FULL)
    return order.index(level) >= order.index(least)


# steps whose refusal means that this host gives no namespaces, not that one spec is wrong
NAMESPACE_STEPS = (namespaces.UNSHARE, namespaces.MAP, mounts.PRIVATE, mounts.READ_ONLY_CALL, "making a new proc", "starting the jail's first process")
_OTHER_HINTS = (
    ("starting `", "check that the program exists and may be executed"),
    ("opening `", "make the folder, or run the command again: the path is not what was judged"),
    ("entering `", "change to a folder that exists and is not masked"),
    ("handing over ", "redirect from a file, a pipe or /dev/null instead"),
    ("installing the filter that has each exec", "start outside of what has a notification filter of its own, or leave `supervise_execs` off in your profile"),
    ("reading the plan", "correct the paths in the profile"),
)


def hint_for(failure: StepFailed) -> str:
    """The next step for a person after this step was refused."""
    if failure.step.startswith(NAMESPACE_STEPS):
        return _NAMESPACE_HINTS.get(failure.errno, _DOCTOR)
    return next((hint for start, hint in _OTHER_HINTS if failure.step.startswith(start)), _DOCTOR)


@cache
def probe() -> Reach:
    """Tries it once in a child that ends at once, and remembers: about 2 ms."""
    version = landlock.abi()
    failure = _try_namespaces()
    level = level_of(with_namespaces=failure is None, landlock_abi=version)
    if failure is None:
        return Reach(level=level, landlock_abi=version)
    from . import bubblewrap

    second = bubblewrap.works() if syscalls.supported() else "no second way"
    if not second:
        full = level_of(with_namespaces=True, landlock_abi=version)
        return Reach(level=full, landlock_abi=version, obstacle=describe(failure), hint=hint_for(failure), maker="bubblewrap")
    maker = "landlock" if version else "none"
    hint = hint_for(failure) if bubblewrap.find() else f"{hint_for(failure)}; or install bubblewrap, which some systems let make them"
    return Reach(level=level, landlock_abi=version, obstacle=f"{describe(failure)}; {second}", hint=hint, maker=maker)


def describe(failure: StepFailed) -> str:
    """The step and the kernel's answer in words."""
    return f"{failure.step}: {os.strerror(failure.errno)}" if failure.errno else failure.step


def _try_namespaces() -> StepFailed | None:
    """Makes namespaces and a fresh /proc in a child, as a run would; what was refused, if anything was."""
    if not syscalls.supported():
        return StepFailed(f"the jail knows x86_64 and aarch64, not {syscalls.MACHINE}")
    if not mounts.supported():
        return StepFailed(mounts.READ_ONLY_CALL, errno.ENOSYS)
    reader, writer = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        try:
            namespaces.enter(own_network=False)
            if first := os.fork():
                os.waitpid(first, 0)
                os._exit(0)
            mounts.keep_mounts_private()
            mounts.new_filesystem("proc")
            os.write(writer, b"ok")
        except StepFailed as failure:
            os.write(writer, f"{failure.errno}\t{failure.step}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    answer = b""
    while part := os.read(reader, 4096):
        answer += part
    os.close(reader)
    os.waitpid(child, 0)
    if answer == b"ok":
        return None
    number, _, step = answer.decode().partition("\t")
    return StepFailed(step or "the probe died", int(number or 0))
