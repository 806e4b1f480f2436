"""The acts that `instinct doctor` tries inside a real jail. Each runs in a process of its own and tells what came of it as one JSON line.

Started inside by `execution/doctor.py`; it does nothing by being imported. An act returns when it succeeded, so a jail that holds makes it raise.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys

from .syscalls import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NEW_USER, _PTRACE_ATTACH, _TIOCSTI = 0x10000000, 16, 0x5412


class Scene:
    """Where the acts find their targets: folders as paths, the caller's pid outside, names of live sockets."""

    def __init__(self, text: str) -> None:
        values = json.loads(text)
        self.outside: str = values["outside"]
        self.secret: str = values["secret"]
        self.caller: int = values["caller"]
        self.abstract: str = values["abstract"]
        self.memory: str = values["memory"]


def _call(name: str, *arguments: int | bytes | None) -> None:
    result = attempt(name, *arguments)
    if result < 0:
        raise OSError(-result, name)


def _append(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def _own_ioctl() -> None:
    """A terminal of our own, so that nothing but the filter can refuse."""
    import fcntl

    os.setsid()
    _, slave = os.openpty()
    fcntl.ioctl(slave, 0x540E, 0)  # TIOCSCTTY
    _call("ioctl", slave, _TIOCSTI, b"x")


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(address)


def _connect_in_run() -> None:
    """Whatever program of the host listens below /run; an empty /run is as good as a refusal."""
    for folder, _, names in os.walk("/run"):
        for name in names:
            try:
                _connect(os.path.join(folder, name))
            except OSError:
                continue
            return
    raise OSError(errno.ENOENT, "no socket to be seen")


def _attach(pid: int) -> None:
    if attempt("ptrace", _PTRACE_ATTACH, pid, 0, 0) < 0:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))


def _same_setting() -> None:
    """Writes back what is there: harmless where it works."""
    with open("/proc/sys/kernel/core_pattern", "rb") as file:
        content = file.read()
    with open("/proc/sys/kernel/core_pattern", "wb") as file:
        file.write(content)


def _raw_device() -> None:
    refusal = OSError(errno.ENOENT, "no device")
    for path in (*(f"/dev/{name}" for name in os.listdir("/sys/block")), "/dev/mem", "/dev/kmsg"):
        try:
            os.close(os.open(path, os.O_RDONLY))
        except OSError as problem:
            refusal = problem if problem.errno != errno.ENOENT else refusal
            continue
        return
    raise refusal


def _capability() -> None:
    with open("/proc/self/status", encoding="ascii") as file:
        held = [line.split()[1] for line in file if line.startswith(("CapPrm", "CapEff", "CapInh", "CapAmb"))]
    if not any(int(value, 16) for value in held):
        raise OSError(errno.EPERM, "none held")


def acts(scene: Scene) -> dict[str, Callable[[], None]]:
    """Id -> act, in the order in which they are tried and told. The workspace is the current folder."""
    return {
        "write-outside": lambda: _append(f"{scene.outside}/victim"),
        "chmod-outside": lambda: os.chmod(f"{scene.outside}/victim", 0o666),  # noqa: S103  # the act under test
        "link-outside": lambda: os.link(f"{scene.outside}/victim", "twin"),
        "write-protected": lambda: _append(".env"),
        "rename-over-protected": lambda: os.rename("plain", ".env"),
        "rename-parent-of-protected": lambda: os.rename("deep", "moved"),
        "protected-through-stdin": lambda: _append("/proc/self/fd/0"),
        "read-masked": lambda: _read_secret(scene.secret),
        "read-masked-through-proc": lambda: _read_secret(f"/proc/1/root{scene.secret}"),
        "set-id-bit": lambda: os.chmod("plain", 0o4755),  # noqa: S103  # the act under test
        "kill-caller": lambda: os.kill(scene.caller, 0),
        "attach-caller": lambda: _attach(scene.caller),
        "read-callers-memory": lambda: _call("process_vm_readv", scene.caller, 0, 0, 0, 0, 0),
        "new-namespaces": lambda: _call("unshare", _NEW_USER),
        "unmount": lambda: _call("umount2", b".env", 2),
        "io-uring": lambda: _call("io_uring_setup", 1, bytes(120)),
        "terminal-injection": _own_ioctl,
        "unix-socket": lambda: _connect(f"{scene.outside}/door"),
        "run-socket": _connect_in_run,
        "abstract-socket": lambda: _connect("\0" + scene.abstract),
        "fifo-outside": lambda: os.close(os.open(f"{scene.outside}/pipe", os.O_WRONLY | os.O_NONBLOCK)),
        "shared-memory": lambda: _append(scene.memory),
        "kernel-setting": _same_setting,
        "raw-device": _raw_device,
        "capability": _capability,
    }


def _read_secret(path: str) -> None:
    with open(path, "rb") as file:
        if b"canary" not in file.read():
            raise OSError(errno.ENODATA, "empty")


def main(scene_text: str, results: str) -> None:
    """Tries every act and appends `{"id", "errno", "signal"}` lines to the file; errno and signal 0 mean that the act succeeded."""
    with open(results, "w", encoding="utf-8") as file:
        for name, act in acts(Scene(scene_text)).items():
            child = os.fork()
            if child == 0:
                os._exit(_try(act))
            _, status = os.waitpid(child, 0)
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            json.dump({"id": name, "errno": 0 if number else os.WEXITSTATUS(status), "signal": number}, file)
            file.write("\n")
    sys.exit(0)


def _try(act: Callable[[], None]) -> int:
    try:
        act()
    except OSError as problem:
        return problem.errno or 255
    return 0
