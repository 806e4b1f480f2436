"""`instinct doctor`: what this machine's jail is made of, and forbidden acts really tried inside one.

Version numbers prove nothing: each canary is an act that a small program attempts in a real jail over a throw-away workspace, and what is told is
what the kernel answered.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import tempfile

from ..errors import JailError
from ..model.jailspec import JailLevel, JailSpec, Limits, RunResult
from ..model.value import Value
from .jail import probe
from .jail.hosts import kind_of
from .launcher import Launcher

_ACTS = {
    "write-outside": "write a file outside the workspace",
    "chmod-outside": "change the mode of a file outside",
    "link-outside": "hard-link a file outside into the workspace",
    "write-protected": "write a protected file",
    "rename-over-protected": "rename another file over a protected one",
    "rename-parent-of-protected": "rename the folder of a protected file",
    "protected-through-stdin": "write a protected file through /proc/self/fd/0",
    "read-masked": "read a masked secret",
    "read-masked-through-proc": "read it through /proc/1/root",
    "set-id-bit": "make a set-uid program",
    "kill-caller": "signal the program that called",
    "attach-caller": "trace it or open its memory",
    "read-callers-memory": "read its memory by process_vm_readv",
    "new-namespaces": "make a new user namespace",
    "unmount": "unmount what protects a file",
    "io-uring": "use io_uring",
    "terminal-injection": "type into the terminal (TIOCSTI)",
    "unix-socket": "connect to a unix socket outside",
    "run-socket": "connect to a socket in /run",
    "abstract-socket": "connect to an abstract unix socket",
    "fifo-outside": "open a FIFO outside for writing",
    "shared-memory": "open another program's shared memory",
    "kernel-setting": "write /proc/sys",
    "raw-device": "open a block device, /dev/mem or /dev/kmsg",
    "capability": "hold any capability",
}
# what level partial does not claim: Landlock sees neither metadata nor, inside a folder it granted, single files
_NOT_CLAIMED_AT_PARTIAL = ("chmod-outside", "write-protected", "rename-over-protected", "rename-parent-of-protected", "protected-through-stdin")
_LAYER_BY_ERRNO = {
    errno.EROFS: "read-only mount",
    errno.EBUSY: "pinned mount",
    errno.EXDEV: "mount boundary or Landlock",
    errno.EACCES: "Landlock or file rights",
    errno.EPERM: "system call filter",
    errno.ESRCH: "own process namespace",
    errno.ENOENT: "own file tree",
    errno.ECONNREFUSED: "masked socket",
    errno.EAFNOSUPPORT: "system call filter",
    errno.ENOSYS: "system call filter",
    errno.ENODATA: "mask",
    errno.EISDIR: "mask",
}
_LAYER_BY_ACT = {  # where the errno alone does not tell
    ("kill-caller", errno.EPERM): "Landlock's signal scope",
    ("unix-socket", errno.EACCES): "masked socket",
    ("abstract-socket", errno.EPERM): "Landlock's socket scope",
    ("capability", errno.EPERM): "dropped capabilities",
    ("read-masked", errno.EACCES): "Landlock",
    ("read-masked-through-proc", errno.EACCES): "Landlock's process boundary",
    ("terminal-injection", errno.EACCES): "Landlock (no new terminal)",
}


class Canary(Value):
    """One forbidden act. `claimed`: whether this level promises to stop it; `stopped_by`: the layer, by the kernel's answer (empty when it worked)."""

    id: str
    act: str
    stopped: bool
    claimed: bool
    stopped_by: str = ""

    @property
    def healthy(self) -> bool:
        """Nothing promised is broken."""
        return self.stopped or not self.claimed


class Host(Value):
    """What the jail is made of here. obstacle, hint: why we cannot make namespaces ourselves, and what to do. kind, advice: of hosts.py's table.

    execs: why the programs that a command starts cannot be judged here; "" when they can.
    """

    level: JailLevel
    layers: tuple[str, ...]
    landlock_abi: int
    kernel: str
    machine: str
    bash: str
    obstacle: str = ""
    hint: str = ""
    kind: str = ""
    advice: str = ""
    execs: str = ""


def claims() -> tuple[tuple[str, bool], ...]:
    """Each act, and whether level partial promises to stop it; level full promises all."""
    return tuple((act, name not in _NOT_CLAIMED_AT_PARTIAL) for name, act in _ACTS.items())


def host() -> Host:
    """Looks without running anything in a jail, but for `bash --version`."""
    reach = probe.probe()
    kind = kind_of(reach)
    layers = [
        *((reach.maker,) if reach.maker in ("namespaces", "bubblewrap") else ()),
        *((f"landlock (ABI {reach.landlock_abi})",) if reach.landlock_abi else ()),
        *(("seccomp", "rlimits") if reach.level is not JailLevel.NONE else ()),
    ]
    system = os.uname()
    return Host(
        level=reach.level,
        layers=tuple(layers),
        landlock_abi=reach.landlock_abi,
        kernel=system.release,
        machine=system.machine,
        bash=_bash_version(),
        obstacle=reach.obstacle,
        hint=reach.hint,
        kind=kind.kind,
        advice=kind.advice,
        execs=_obstacle_to_execs(),
    )


def _obstacle_to_execs() -> str:
    """What the kernel says to the filter that has execs judged, tried in a process of its own; "" when it takes it."""
    from .jail import privileges, seccomp, syscalls

    if not syscalls.supported():
        return f"not known on `{syscalls.MACHINE}`"
    child = os.fork()
    if child == 0:
        status = 255
        try:
            privileges.no_new_privileges()
            seccomp.listen(seccomp.execs())
            status = 0
        except syscalls.StepFailed as failure:
            status = failure.errno or 255
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == errno.EBUSY:
        return "something above us has its own notification filter, and the kernel allows only one"
    return "" if status == 0 else f"the kernel refused the filter ({errno.errorcode.get(status, status)})"


def _bash_version() -> str:
    import subprocess

    try:
        said = subprocess.run(["/bin/bash", "--norc", "-c", 'echo "$BASH_VERSION"'], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()


def examine(at: JailLevel = JailLevel.FULL) -> list[Canary]:
    """Tries every act in a real jail of the strongest level this host reaches, not above `at`. Raises JailError when there is no jail at all."""
    with tempfile.TemporaryDirectory(prefix="instinct-doctor-") as top:
        scene = _Scene(os.path.realpath(top))
        try:
            result, answers = scene.run(at)
        finally:
            scene.close()
    if len(answers) != len(_ACTS):
        raise JailError(f"the canaries did not finish: status {result.status} {result.failure}".rstrip(), hint="run `instinct doctor` again")
    return [_canary(name, answers[name], result.level) for name in _ACTS]


def _canary(name: str, answer: tuple[int, int], level: JailLevel) -> Canary:
    number, killed_by = answer
    stopped = bool(number or killed_by)
    if killed_by:
        layer = f"system call filter ({signal.Signals(killed_by).name})"
    else:
        layer = f"{_LAYER_BY_ACT.get((name, number)) or _LAYER_BY_ERRNO.get(number, 'the kernel')} ({errno.errorcode.get(number, number)})"
    claimed = level is JailLevel.FULL or name not in _NOT_CLAIMED_AT_PARTIAL
    return Canary(id=name, act=_ACTS[name], stopped=stopped, claimed=claimed, stopped_by=layer if stopped else "")


class _Scene:
    """A throw-away workspace with something to attack beside it: files, a FIFO, sockets, a secret, shared memory."""

    def __init__(self, top: str) -> None:
        self._workspace, outside, secret = f"{top}/app", f"{top}/outside", f"{top}/secret"
        for folder in (f"{self._workspace}/deep", outside):
            os.makedirs(folder)
        files = (f"{self._workspace}/.env", f"{self._workspace}/deep/held", f"{self._workspace}/plain", f"{outside}/victim", secret)
        for path in files:
            with open(path, "w", encoding="ascii") as file:
                file.write("canary\n")
        os.mkfifo(f"{outside}/pipe")
        self._reader = os.open(f"{outside}/pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        name = f"instinct-doctor-{os.getpid()}"
        self._doors = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for door, address in zip(self._doors, (f"{outside}/door", f"\0{name}"), strict=True):
            door.bind(address)
            door.listen()
        self._memory = f"/dev/shm/{name}"  # noqa: S108  # the very place under test
        with open(self._memory, "w", encoding="ascii") as file:
            file.write("canary\n")
        self._values = {"outside": outside, "secret": secret, "caller": os.getpid(), "abstract": name, "memory": self._memory}

    def close(self) -> None:
        os.close(self._reader)
        for door in self._doors:
            door.close()
        os.unlink(self._memory)

    def run(self, at: JailLevel) -> tuple[RunResult, dict[str, tuple[int, int]]]:
        """The run, and for each act its errno and the signal that ended it."""
        import json
        import sys

        results = f"{self._workspace}/results"
        package_parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        program = (
            f"import sys; sys.path.insert(0, {package_parent!r}); from instinct_shell.execution.jail.canaries import main; "
            f"main({json.dumps(self._values)!r}, {results!r})"
        )
        spec = JailSpec(
            workspace=self._workspace,
            cwd=self._workspace,
            writable=(self._workspace,),
            protected=(f"{self._workspace}/.env", f"{self._workspace}/deep/held"),
            masked=(str(self._values["secret"]),),
            least_level=JailLevel.PARTIAL,
            limits=Limits(wall_seconds=30),
            env=(("PATH", os.defpath),),
            argv=(sys.executable, "-I", "-S", "-c", program),
        )
        stdin = os.open(f"{self._workspace}/.env", os.O_RDONLY)
        with _as_stdin(stdin):
            result = Launcher(at=at).run(spec)
        answers = {}
        if os.path.exists(results):
            with open(results, encoding="utf-8") as file:
                for line in file:
                    answer = json.loads(line)
                    answers[answer["id"]] = (answer["errno"], answer["signal"])
        return result, answers


class _as_stdin:  # noqa: N801  # reads as a verb where it is used
    """Puts a descriptor in the place of stdin for a while, and closes it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        try:
            self._kept: int | None = os.dup(0)
        except OSError:
            self._kept = None  # the caller has no stdin
        if self._fd:
            os.dup2(self._fd, 0)
            os.close(self._fd)

    def __exit__(self, *_: object) -> None:
        if self._kept is None:
            os.close(0)
        else:
            os.dup2(self._kept, 0)
            os.close(self._kept)
