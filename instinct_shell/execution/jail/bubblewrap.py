"""The jail made by bubblewrap, for hosts where only that program may make namespaces (Ubuntu's AppArmor): the same view, one-shot.

bubblewrap makes namespaces and mounts from the plan, handed to it as arguments on a descriptor, and then starts `stage.py` as the first process
inside: our attendant, which puts on the inner layers and starts the command as in every jail. It differs from our own mounts in two ways. Paths are
resolved by name, so a process of the workspace may race it; and a symbolic link cannot be pinned, only what it leads to.

bubblewrap's own child waits for its parent's word before it asks for a death signal: a parent that is killed in between leaves it waiting for ever, or
unseen. So bubblewrap asks for none, and the launcher's child does not become bubblewrap but stays beside it, and holds the writing end of a pipe that
nobody writes to, the lifeline: it is closed by the kernel when that child ends, whatever ended it. Whoever is killed, and when:

- the launcher: its child has asked for a signal, and ends all its descendants, also those that bubblewrap's end has left to it;
- bubblewrap, while the child lives: the child reaps it, and does the same;
- the child, alone or with the launcher: bubblewrap is not disturbed and comes to the attendant, which asks for a signal at the lifeline's end and
  then looks whether it has ended, all before it starts the command; as the first process inside, it takes everything with it when it ends;
- the child and bubblewrap: the same, or bubblewrap's own child waits for ever. No command runs.
"""

from __future__ import annotations

import os
import stat
import sys

from ..watch import BUBBLEWRAP_STEP
from . import view
from .plan import LayerKind
from .syscalls import StepFailed

STEP = BUBBLEWRAP_STEP
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .confinement import Confinement
    from .plan import Layer, Plan

PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
_STAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stage.py")
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CALLERS = 120  # where stdin, stdout and stderr of the caller wait: bubblewrap keeps 0, 1 and 2 open, but a pipe must close when the command closes it
_ALWAYS = (
    "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --cap-drop ALL".split()  # as root it would keep every capability
)


def find() -> str:
    """The program, at a place that only root writes; "" when there is none."""
    for path in PLACES:
        try:
            found = os.stat(path)
        except OSError:
            continue
        if found.st_uid == 0 and stat.S_ISREG(found.st_mode) and not found.st_mode & 0o022:
            return path
    return ""


def works() -> str:
    """What keeps bubblewrap from making a jail here; "" when nothing does. About 10 ms."""
    import subprocess

    program = find()
    if not program:
        return f"{STEP}: it is not installed"
    try:
        done = subprocess.run(
            [program, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", *_ALWAYS, "--die-with-parent", "/bin/true"],
            capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=10, env={},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as problem:
        return f"{STEP}: {problem}"
    if done.returncode == 0:
        return ""
    return f"{STEP}: {done.stderr.decode(errors='replace').strip() or done.returncode}"


def own_paths() -> tuple[str, ...]:
    """What the first process inside is made of; shown again where a private folder would hide it."""
    library = os.path.dirname(os.path.realpath(os.__file__))
    return tuple(dict.fromkeys((PACKAGE, os.path.realpath(sys.executable), library)))


def arguments(plan: Plan, own_network: bool, cwd: str, uid: int) -> tuple[list[str], list[int]]:
    """bubblewrap's arguments for this view, and the descriptors that they name."""
    empty: list[int] = []
    words = ["--ro-bind", "/", "/", "--dev", "/dev"]
    for folder in plan.pins:
        words += ["--bind", folder, folder]  # so that the name cannot be moved; then buried under the writable layer
    for layer in plan.layers:
        if not _under_dev(layer.path):
            words += _mount(layer, plan, empty)
        if layer.kind is LayerKind.FRESH and layer.path == "/run":
            words += ["--perms", "0700", "--dir", f"/run/user/{uid}"]
    for path in plan.crowded:
        around = plan.layer_over(path)
        if around and around.kind is LayerKind.HIDDEN:
            words += ["--remount-ro", path]
    words += ["--proc", "/proc"]
    for name in view.KERNEL_KNOBS if uid == 0 else ():
        words += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    if own_network:
        words.append("--unshare-net")
    return [*words, "--chdir", cwd, *_ALWAYS], empty


def _under_dev(path: str) -> bool:
    """bubblewrap's own /dev has an empty shm already."""
    return path == "/dev" or path.startswith("/dev/")


def _mount(layer: Layer, plan: Plan, empty: list[int]) -> list[str]:
    path = layer.path
    match layer.kind:
        case LayerKind.WRITABLE:
            return ["--bind", path, path]
        case LayerKind.SHOWN:
            return ["--ro-bind-try", path, path]
        case LayerKind.READ_ONLY:
            return ["--ro-bind-try", path, path]
        case LayerKind.PINNED_LINK:
            return []
        case LayerKind.FRESH:
            return ["--perms", "0755" if path == "/run" else "1777", "--tmpfs", path] if os.path.isdir(path) and not os.path.islink(path) else []
        case LayerKind.HIDDEN | LayerKind.SOCKET:
            if _out_of_reach(path):
                return []  # nothing can be laid over it, and nobody inside gets there
            if os.path.isdir(path):
                crowded = path in plan.crowded
                return ["--perms", "0711" if crowded else "0000", "--tmpfs", path, *(() if crowded else ("--remount-ro", path))]
            if not os.path.exists(path):
                return []
            empty.append(os.open("/dev/null", os.O_RDONLY))
            return ["--ro-bind-data", str(empty[-1]), path]


def _out_of_reach(path: str) -> bool:
    """Whether a folder on the way is somebody else's and closed to us: inside, root has no rights over what other users own."""
    groups = {os.getegid(), *os.getgroups()}
    folder = os.path.dirname(path)
    while folder != "/":
        try:
            found = os.stat(folder)
        except OSError:
            return True
        if found.st_uid != os.geteuid() and not found.st_mode & (0o010 if found.st_gid in groups else 0o001):
            return True
        folder = os.path.dirname(folder)
    return False


def start(confinement: Confinement, report: int, lifeline: int) -> int:
    """In the launcher's forked child, all signals blocked, foreign descriptors closed: starts bubblewrap; its process id.

    lifeline: the end that goes inside.

    Raises StepFailed, in the process that was to be it.

    Its errors go to the report pipe, as does the process id of what it starts.
    """
    import json

    from ...model.codec import encode

    spec = confinement.spec
    words, named = arguments(confinement.plan, spec.own_network, spec.cwd, os.getuid())
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for fd, instead in ((0, null), (1, null), (2, report)):
        os.dup2(fd, _CALLERS + fd)
        os.dup2(instead, fd)
    here = os.stat(spec.cwd)
    told = json.dumps({
        "spec": encode(spec),
        "plan": encode(confinement.plan),
        "handed": encode(confinement.handed),
        "inner_ends": sorted(confinement.inner_ends.items()),
        "abi": confinement.abi,
        "mask": [int(number) for number in confinement.mask],
        "report": report,
        "lifeline": lifeline,
        "supervisor": confinement.supervisor,
        "passage": confinement.passage,
        "standard": [_CALLERS, _CALLERS + 1, _CALLERS + 2],
        "folder": [here.st_dev, here.st_ino],
    })  # fmt: skip
    unread = os.open(f"/proc/self/fd/{report}", os.O_RDONLY)  # or it would end of its first word, once the launcher is gone
    passed = [report, unread, lifeline, *named, *confinement.needed()]
    for name, content in (("arguments", "\0".join(words).encode("utf-8", "surrogateescape")), ("told", told.encode("ascii"))):
        fd = os.memfd_create(name, 0)
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        passed.append(fd)
    for fd in passed:
        os.set_inheritable(fd, True)
    program = find()
    argv = [program, "--args", str(passed[-2]), "--info-fd", str(os.dup(report)), "--"]
    os.set_inheritable(int(argv[4]), True)
    argv += [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8", _STAGE, str(passed[-1])]
    child = os.fork()  # `posix_spawn` would have signals 32 and 33 ignored in there
    if child == 0:
        try:
            os.execve(program, argv, {})  # noqa: S606  # no shell
        except OSError as problem:
            raise StepFailed(STEP, problem.errno or 0) from None
    return child
