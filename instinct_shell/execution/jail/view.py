"""The command's file tree: gathered from the spec and the host into a plan, then mounted inside the new mount namespace.

What is always so, whatever the spec says: the host's tree is read-only; /run, /dev/shm and the socket folders of /tmp are private or empty, since
a read-only mount does not stop a connect; /dev/pts is a fresh instance, so that the person's other terminals cannot be opened; /proc shows the
jail's own processes only.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat

from . import mounts, overlay
from .plan import Layer, LayerKind, Plan, is_within, layered
from .syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.jailspec import JailSpec

# shown again inside the private /run: name resolution, NixOS programs, mounted disks
_SHOWN_IN_RUN = ("/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/run/current-system", "/run/opengl-driver", "/run/media")
_SOCKET_FOLDERS = (".X11-unix", ".ICE-unix", ".XIM-unix", ".font-unix", "ssh-", "tmux-", "dbus-", "gpg-", "keyring-", "pulse-", "vscode-", "snap-private-tmp")
# as uid 0 these belong to "us" even without any capability; Landlock refuses every write in /proc, this is the second lock on what matters most
KERNEL_KNOBS = ("sys", "sysrq-trigger", "irq", "bus")
_TMP, _SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108  # named to be replaced or hidden, not to put a file there
_LEAST_PID_MAX = 301  # the kernel takes nothing smaller


def plan_for(spec: JailSpec, shown: tuple[str, ...] = ()) -> Plan:
    """The layers this spec asks for on this host. Absent protected or masked paths are left out: there is nothing to hold.

    shown: what is to be seen, read-only, even inside a private folder.

    Raises StepFailed for a spec that cannot be meant: relative paths, `/` writable.
    """
    for path in (*spec.writable, *spec.protected, *spec.masked, spec.cwd):
        if posixpath.normpath(path) != path or not path.startswith("/") or path.startswith("//"):
            raise StepFailed(f"reading the plan: `{path}` is not an absolute, normal path")
    if "/" in spec.writable:
        raise StepFailed("reading the plan: `/` cannot be writable")
    inside = LayerKind.SHOWN if spec.read_only else LayerKind.WRITABLE
    wanted = [Layer(inside, path) for path in spec.writable]
    wanted += [Layer(LayerKind.SHOWN, path) for path in (spec.workspace, spec.cwd, *shown, *spec.sockets)]
    private = ("/run", "/var/run", _SHARED_MEMORY, *((_TMP,) if spec.private_tmp else ()))
    wanted += [Layer(LayerKind.FRESH, os.path.realpath(path)) for path in private]
    wanted += [Layer(LayerKind.SHOWN, path) for path in (*_SHOWN_IN_RUN, os.path.realpath("/etc/resolv.conf"))]
    for paths, kind in ((spec.protected, LayerKind.READ_ONLY), (spec.masked, LayerKind.HIDDEN)):
        for path in paths:
            wanted += _held(path, kind)
    wanted += _sockets(spec)
    return layered(wanted)


def _held(path: str, kind: LayerKind) -> list[Layer]:
    """The layer for one path; for a symbolic link also the file it leads to, since the link alone holds no content."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return []
    if not stat.S_ISLNK(mode):
        return [Layer(kind, path)]
    real = os.path.realpath(path)
    return [Layer(LayerKind.PINNED_LINK, path)] + ([Layer(kind, real)] if os.path.lexists(real) else [])


def _sockets(spec: JailSpec) -> list[Layer]:
    """Pathname sockets of host programs outside the workspace, and the folders in /tmp where such sockets appear later."""
    folders = set()
    if not spec.private_tmp:
        try:
            folders = {f"{_TMP}/{name}" for name in os.listdir(_TMP) if name.startswith(_SOCKET_FOLDERS)}
        except OSError:
            folders = set()
    found = set()
    with open("/proc/self/net/unix", "rb") as table:
        for line in table:
            start = line.find(b" /")
            if start > 0 and (real := _socket_at(os.fsdecode(line[start + 1 :].rstrip(b"\n")))):
                found.add(real)
    outside = [Layer(LayerKind.HIDDEN, path) for path in folders] + [Layer(LayerKind.SOCKET, path) for path in found - folders - set(spec.sockets)]
    return [layer for layer in outside if not is_within(layer.path, spec.workspace)]


def _socket_at(name: str) -> str:
    """The real path of a socket bound under this name; empty when it is gone or was named through its owner's own /proc."""
    if name.startswith("/proc/"):
        return ""
    real = os.path.realpath(name)
    try:
        return real if stat.S_ISSOCK(os.lstat(real).st_mode) else ""
    except OSError:
        return ""


def build(plan: Plan, spec: JailSpec, uid: int, terminal: str) -> None:
    """Mounts the plan in the current (fresh) mount namespace and enters spec.cwd there. `terminal`: the caller's, or empty. Raises StepFailed."""
    mounts.keep_mounts_private()
    if spec.overlay:
        overlay.attach(spec.overlay, spec.workspace)
        mounts.open_folder(spec.cwd)  # stays open: an overlay may give a folder that nobody holds another number
    here = _identity(spec.cwd)
    originals = {layer.path: _copy(layer) for layer in plan.layers if layer.kind in (LayerKind.WRITABLE, LayerKind.SHOWN)}
    console = mounts.copy_tree(mounts.open_path(terminal), terminal) if terminal and os.path.exists("/dev/console") else None
    for folder in plan.pins:
        # bound onto itself so that the name cannot be moved, then buried under the writable layer so that renames below stay on one mount
        fd = mounts.open_path(folder)
        mounts.attach(mounts.copy_tree(fd, folder), fd, folder)
    root = mounts.open_folder("/")
    proc = mounts.new_filesystem("proc", attributes=mounts.PLAIN | mounts.NO_EXEC)
    pts = mounts.new_filesystem("devpts", (("mode", "620"), ("ptmxmode", "666")), attributes=mounts.NO_SET_ID)
    mounts.make_read_only(root, "/")
    void = _Void()
    for layer in plan.layers:
        _mount(layer, plan, originals.get(layer.path), void, uid)
    for path in plan.crowded:
        around = plan.layer_over(path)
        if around and around.kind is LayerKind.HIDDEN:
            mounts.make_read_only(mounts.open_path(path), path, below=False)
    mounts.attach(pts, mounts.open_path("/dev/pts"), "/dev/pts")
    if console is not None:
        mounts.attach(console, mounts.open_path("/dev/console"), "/dev/console")
    _mount_proc(proc, spec, uid)
    os.chdir(spec.cwd)
    if _identity(".") != here:
        raise StepFailed(f"entering `{spec.cwd}`: it is not the folder that was judged")


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError as problem:
        raise StepFailed(f"entering `{path}`", problem.errno or 0) from None
    return found.st_dev, found.st_ino


def _copy(layer: Layer) -> int | None:
    """A detached mount of the host's object, read-only if it is only to be shown; None when there is nothing to show."""
    shown = layer.kind is LayerKind.SHOWN
    fd = mounts.try_open_path(layer.path) if shown else mounts.open_path(layer.path)
    if fd is None:
        return None
    if stat.S_ISLNK(os.fstat(fd).st_mode):
        raise StepFailed(f"opening `{layer.path}`: it is a symbolic link now", errno.ELOOP)
    tree = mounts.copy_tree(fd, layer.path)
    if shown:
        mounts.make_read_only(tree, layer.path)
    return tree


class _Void:
    """An empty folder and an empty file to lay over what must not be seen; made when first needed."""

    def __init__(self) -> None:
        self._top: int | None = None

    def piece(self, name: str) -> int:
        """A detached, read-only mount of the empty `folder` or `file`."""
        if self._top is None:
            self._top = mounts.new_filesystem("tmpfs", (("mode", "755"), ("size", "4k")))
            os.mkdir("folder", 0o000, dir_fd=self._top)
            os.close(os.open("file", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444, dir_fd=self._top))
        fd = os.open(name, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._top)
        tree = mounts.copy_tree(fd, name)
        mounts.make_read_only(tree, name)
        return tree


def _mount(layer: Layer, plan: Plan, original: int | None, void: _Void, uid: int) -> None:
    path = layer.path
    match layer.kind:
        case LayerKind.WRITABLE | LayerKind.SHOWN:
            if original is not None:
                _make_place(path, original, plan)
                mounts.attach(original, mounts.open_path(path), path)
        case LayerKind.READ_ONLY | LayerKind.PINNED_LINK:
            target = mounts.try_open_path(path)
            if target is not None:
                tree = mounts.copy_tree(target, path)
                mounts.make_read_only(tree, path)
                mounts.attach(tree, target, path)
        case LayerKind.HIDDEN:
            target = mounts.try_open_path(path)
            if target is not None:
                mounts.attach(_cover(path, target, plan, void), target, path)
        case LayerKind.SOCKET:
            _close_socket(path, void)
        case LayerKind.FRESH:
            target = mounts.try_open_path(path)
            if target is not None:
                mounts.attach(mounts.new_filesystem("tmpfs", (("mode", "755" if path == "/run" else "1777"),)), target, path)
                if path == "/run":
                    os.makedirs(f"/run/user/{uid}", 0o700)


def _close_socket(path: str, void: _Void) -> None:
    """Lays an empty file over a socket. Its owner may remove it, or lead its name elsewhere, at any moment: then nobody reaches it by that name."""
    try:
        target = mounts.try_open_path(path)
        if target is not None:
            mounts.attach(void.piece("file"), target, path)
    except StepFailed as failure:
        if failure.errno not in (errno.ELOOP, errno.ENOENT):
            raise


def _cover(path: str, target: int, plan: Plan, void: _Void) -> int:
    if not stat.S_ISDIR(os.fstat(target).st_mode):
        return void.piece("file")
    if path in plan.crowded:
        return mounts.new_filesystem("tmpfs", (("mode", "711"),))
    return void.piece("folder")


def needs_place(path: str, plan: Plan) -> bool:
    """Whether `path` is to be mounted in a layer of ours, which may have no entry of that name."""
    return any(is_within(path, folder) for folder in plan.crowded)


def _make_place(path: str, original: int, plan: Plan) -> None:
    """An empty folder or file to mount on, where the layer around is one of ours and has no entry of that name."""
    if not needs_place(path, plan) or os.path.lexists(path):
        return
    try:
        os.makedirs(posixpath.dirname(path), 0o755, exist_ok=True)
        if stat.S_ISDIR(os.fstat(original).st_mode):
            os.mkdir(path, 0o755)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    except OSError as problem:
        raise StepFailed(f"making a place for `{path}`", problem.errno or 0) from None


def _mount_proc(proc: int, spec: JailSpec, uid: int) -> None:
    mounts.attach(proc, mounts.open_path("/proc"), "/proc")
    if spec.limits.processes and own_pid_limit():
        _limit_pids(spec.limits.processes)
    for name in KERNEL_KNOBS if uid == 0 else ():
        target = mounts.try_open_path(f"/proc/{name}")
        if target is not None:
            tree = mounts.copy_tree(target, f"/proc/{name}")
            mounts.make_read_only(tree, f"/proc/{name}")
            mounts.attach(tree, target, f"/proc/{name}")


def own_pid_limit() -> bool:
    """From Linux 6.14 on each pid namespace has its own pid_max. Before, writing it as uid 0 would change the host's."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor)) >= (6, 14)


def pid_limit(processes: int) -> int:
    """What to write for at most this many processes."""
    return max(_LEAST_PID_MAX, processes + 1)


def _limit_pids(processes: int) -> None:
    """The only process limit that holds for uid 0 too, whom RLIMIT_NPROC does not count; it cannot be below 300."""
    try:
        with open("/proc/sys/kernel/pid_max", "w", encoding="ascii") as knob:
            knob.write(str(pid_limit(processes)))
    except OSError as problem:
        raise StepFailed("limiting the number of processes", problem.errno or 0) from None
