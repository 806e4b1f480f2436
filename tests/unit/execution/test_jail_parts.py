"""The jail's small parts on their own: the Landlock ladder, levels and hints, limits, relays, and what a run's end means."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import subprocess
import sys

import pytest

from instinct_shell.execution import supervise
from instinct_shell.execution.jail import descriptors, landlock, probe
from instinct_shell.execution.jail.descriptors import Handed
from instinct_shell.execution.jail.syscalls import StepFailed
from instinct_shell.execution.relay import Relays
from instinct_shell.execution.watch import Watch
from instinct_shell.model.jailspec import JailLevel, Limits

FULL, PARTIAL, NONE = JailLevel.FULL, JailLevel.PARTIAL, JailLevel.NONE


LADDER = {1: landlock.MAKE_SYM, 2: landlock.REFER, 3: landlock.TRUNCATE, 4: landlock.TRUNCATE, 5: landlock.IOCTL_DEV, 7: landlock.IOCTL_DEV,
          9: landlock.RESOLVE_UNIX, 12: landlock.RESOLVE_UNIX}  # fmt: skip


@pytest.mark.parametrize(("version", "highest"), LADDER.items())
def test_a_right_the_kernel_does_not_know_is_never_handled(version: int, highest: int) -> None:
    assert landlock.known_rights(version) == 2 * highest - 1


def test_readable_grants_leave_the_hidden_out(tmp_path: os.PathLike[str]) -> None:
    top = os.path.realpath(tmp_path)
    for name in ("home/.ssh", "home/src", "other"):
        os.makedirs(f"{top}/{name}")
    os.symlink("src", f"{top}/home/link")
    granted = {path for path, rights in landlock.readable_grants((f"{top}/home/.ssh",)) if rights & landlock.READ_FILE}
    assert {f"{top}/home/src", f"{top}/other", "/usr"} <= granted
    assert not {f"{top}/home/.ssh", f"{top}/home", top, "/", f"{top}/home/link"} & granted


def test_nested_hidden_paths_do_not_open_what_is_between(tmp_path: os.PathLike[str]) -> None:
    top = os.path.realpath(tmp_path)
    os.makedirs(f"{top}/a/b/c")
    granted = {path for path, _ in landlock.readable_grants((f"{top}/a", f"{top}/a/b/c"))}
    assert not [path for path in granted if str(path).startswith(f"{top}/a")]


LEVELS = [(True, 7, 0, FULL), (True, 2, 1000, FULL), (True, 1, 0, PARTIAL), (True, 0, 1000, PARTIAL), (True, 0, 0, NONE), (False, 1, 0, PARTIAL),
          (False, 0, 1000, NONE)]  # fmt: skip


@pytest.mark.parametrize(("namespaces", "abi", "uid", "level"), LEVELS)
def test_levels(monkeypatch: pytest.MonkeyPatch, namespaces: bool, abi: int, uid: int, level: JailLevel) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert probe.level_of(with_namespaces=namespaces, landlock_abi=abi) is level


def test_reaching_a_level() -> None:
    assert [[probe.reaches(level, least) for least in (NONE, PARTIAL, FULL)] for level in (NONE, PARTIAL, FULL)] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EIO])
@pytest.mark.parametrize("step", [*probe.NAMESPACE_STEPS, "starting `/x`", "opening `/x`", "entering `/x`", "handing over stdin", "anything"])
def test_every_failure_has_a_next_step(step: str, number: int) -> None:
    hint = probe.hint_for(StepFailed(step, number))
    assert hint
    assert hint[0].islower()


def test_limits_only_ever_tighten() -> None:
    """In a child, whose limits are its own."""
    code = (
        f"import sys; sys.path.insert(0, {str(os.getcwd())!r}); import resource\n"
        "from instinct_shell.execution import supervise\nfrom instinct_shell.model.jailspec import Limits\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))\n"
        "supervise.apply_limits(Limits(open_files=150, cpu_seconds=7, file_bytes=9), own_user_namespace=True)\n"
        "print(*(resource.getrlimit(k) for k in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd())
    assert done.stdout.split() == "(100, 150) (7, 8) (9, 9)".split()


def test_no_limit_is_set_that_was_not_asked_for() -> None:
    assert all(getattr(Limits(), name) == 0 for name in Limits._fields)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_requests_are_real_time_signals_of_their_own() -> None:
    asked = {supervise.request(number) for number in {*supervise.FORWARDED, signal.SIGKILL}}
    assert len(asked) == len(supervise.FORWARDED) + 1
    assert min(asked) > 31
    assert max(asked) < supervise.PARENT_DIED <= max(signal.valid_signals())


def test_descendants_of_this_process() -> None:
    before = set(supervise.descendants_of(os.getpid()))  # what earlier tests keep: parser workers
    with subprocess.Popen(["/bin/sh", "-c", "sleep 100 & echo up; wait"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        found = set(supervise.descendants_of(os.getpid())) - before
        assert child.pid in found
        assert len(found) == 2
        for pid in found:
            os.kill(pid, signal.SIGKILL)


class Pipes:
    """A relay with both outer sides as pipes of the test's."""

    def __init__(self, reads: bool, most: int = 0) -> None:
        self.reader, self.writer = os.pipe()
        outside = self.reader if reads else self.writer
        self.relays = Relays((Handed(fd=outside, how="relay", reads=reads),), most)
        self.full = 0
        self.outside = outside

    def start(self) -> int:
        """Starts it; a copy of the command's end."""
        inner = os.dup(self.relays.inner_ends()[self.outside])
        self.relays.start(self._count)
        return inner

    def _count(self) -> None:
        self.full += 1


def test_a_relay_passes_everything_and_closes() -> None:
    pipes = Pipes(reads=False)
    with pipes.relays as relays:
        inner = pipes.start()
        os.write(inner, b"x" * 1000)
        os.close(inner)
        relays.finish()
    os.close(pipes.writer)
    assert os.read(pipes.reader, 5000) == b"x" * 1000
    os.close(pipes.reader)


def test_a_relay_cuts_at_the_limit_and_tells_once() -> None:
    pipes = Pipes(reads=False, most=10)
    with pipes.relays as relays:
        inner = pipes.start()
        os.write(inner, b"x" * 25)
        os.close(inner)
        relays.finish()
    os.close(pipes.writer)
    assert os.read(pipes.reader, 5000) == b"x" * 10
    assert pipes.full == 1
    os.close(pipes.reader)


def test_an_unread_relay_ends_when_the_command_does() -> None:
    pipes = Pipes(reads=True)
    with pipes.relays as relays:
        inner = pipes.start()
        os.write(pipes.writer, b"x" * 10_000)
        os.close(pipes.writer)
        os.close(inner)
        relays.finish()
    os.close(pipes.reader)


ENDS = [
    ("exit 3", f"ended {3 << 8} 1 2 3", "", (3, 0, "")),
    ("killed by TERM", f"ended {int(signal.SIGTERM)} 1 2 3", "", (143, 15, "")),
    ("cpu limit", f"ended {int(signal.SIGXCPU)} 1 2 3", "", (152, 24, "cpu_seconds")),
    ("file limit", f"ended {int(signal.SIGXFSZ)} 1 2 3", "", (153, 25, "file_bytes")),
    ("wall clock, command tidied up", "ended 0 1 2 3", "wall_seconds", (124, 0, "wall_seconds")),
    ("wall clock, killed", "", "wall_seconds", (124, 0, "wall_seconds")),
    ("output limit, killed", "", "output_bytes", (137, 9, "output_bytes")),
    ("output limit, pipe closed first", f"ended {int(signal.SIGPIPE)} 1 2 3", "output_bytes", (137, 9, "output_bytes")),
    ("no word from the attendant", "", "", (125, 0, "")),
]


@pytest.mark.parametrize(("line", "limit", "expected"), [end[1:] for end in ENDS], ids=[end[0] for end in ENDS])
def test_what_an_end_means(line: str, limit: str, expected: tuple[int, int, str]) -> None:
    watch = Watch(0, 0, Relays((), 0), 0, dedicated=False, own_tree=True)
    watch._hear(line)
    watch._limit = limit
    result = watch.result(FULL, ("x",), 7, 5)
    assert (result.status, result.signal, result.limit, result.started) == (*expected, True)
    assert bool(result.failure) == (result.status in (124, 125))


def test_extra_descriptors_must_be_what_passes_untouched(tmp_path: os.PathLike[str]) -> None:
    reader, writer = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        descriptors.check_extra((reader, writer, null, ours.fileno()))
    os.close(null)
    file = os.open(f"{tmp_path}/f", os.O_CREAT | os.O_RDWR)
    for wrong in (file, os.open("/", os.O_RDONLY), 9999):
        with pytest.raises(StepFailed):
            descriptors.check_extra((reader, wrong))
        if wrong != 9999:
            os.close(wrong)
    os.close(reader)
    os.close(writer)
