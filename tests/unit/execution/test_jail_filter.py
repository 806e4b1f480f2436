"""The system call filter, run by a small interpreter of its own bytes, for both architectures: nothing needs to be jailed to read it."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator
from types import ModuleType

import pytest

from instinct_shell.execution.jail import seccomp, syscalls

ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x50001, 0x50000 + 38, 0x50000 + 97
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HOST = (1, 2, 10, 16)


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would answer, by the rules of classic BPF."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *arguments, *(0,) * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, true, false, constant = instructions[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, constant)[0]
        elif code == 0x54:
            accumulator &= constant
        elif code == 0x06:
            return int(constant)
        else:
            holds = {0x15: accumulator == constant, 0x45: bool(accumulator & constant), 0x35: accumulator >= constant}[code]
            at += true if holds else false


@pytest.fixture(params=list(ARCHITECTURES))
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Both modules as they would be on that machine, and afterwards the very same as before: of a second `StepFailed` nobody else would know."""
    before = [(module, dict(vars(module))) for module in (syscalls, seccomp)]
    with monkeypatch.context() as patch:
        patch.setattr("os.uname", type("Name", (), {"machine": request.param, "release": "6.18.0"}))
        importlib.reload(syscalls)
        importlib.reload(seccomp)
        yield request.param
    for module, known in before:
        vars(module).clear()
        vars(module).update(known)


def ask(machine: str, call: str, *arguments: int, module: ModuleType = seccomp, **options: bool) -> int:
    number = syscalls.number(call)
    assert number is not None
    program: bytes = module.assemble(HOST, **options)
    return decide(program, ARCHITECTURES[machine], number, *arguments)


ORDINARY = [
    ("openat", (-100, 0, 0o100, 0o644), ALLOW),
    ("openat", (-100, 0, 0o100, 0o4755), EPERM),
    ("openat", (-100, 0, 0, 0o4755), ALLOW),  # without O_CREAT the mode means nothing
    ("openat", (-100, 0, 0o20200000, 0o4755), EPERM),  # O_TMPFILE
    ("openat2", (), ENOSYS),
    ("fchmod", (3, 0o755), ALLOW),
    ("fchmod", (3, 0o4755), EPERM),
    ("fchmodat", (-100, 0, 0o2755), EPERM),
    ("fchmodat2", (-100, 0, 0o6755), EPERM),
    ("mknodat", (-100, 0, 0o010644), ALLOW),  # a FIFO
    ("mknodat", (-100, 0, 0o100644), ALLOW),
    ("mknodat", (-100, 0, 0o104644), EPERM),
    ("mknodat", (-100, 0, 0o020644), EPERM),
    ("mknodat", (-100, 0, 0o060644), EPERM),
    ("ioctl", (0, 0x5413), ALLOW),  # TIOCGWINSZ
    ("ioctl", (0, 0x5412), EPERM),
    ("ioctl", (0, 0x1_0000_5412), EPERM),  # the kernel reads the low half only
    ("ioctl", (0, 0x541C), EPERM),
    ("clone", (0x01200011,), ALLOW),  # fork
    ("clone", (0x003D0F00,), ALLOW),  # a thread
    ("clone", (0x10000011,), EPERM),
    ("unshare", (0x00000400,), ALLOW),  # CLONE_FILES
    ("unshare", (0x00000080,), EPERM),  # a time namespace
    ("clone3", (), ENOSYS),
    ("socket", (1, 1), ALLOW),
    ("socket", (2, 2), ALLOW),
    ("socket", (17, 3), EAFNOSUPPORT),
    ("socket", (40, 1), EAFNOSUPPORT),
    ("socketpair", (1, 1), ALLOW),
    ("kill", (0, 15), ALLOW),
    *((name, (), EPERM) for name in ("ptrace", "io_uring_setup", "mount", "setns", "bpf", "keyctl", "pidfd_getfd", "open_by_handle_at")),
]


@pytest.mark.parametrize(("call", "arguments", "answer"), ORDINARY)
def test_rules(machine: str, call: str, arguments: tuple[int, ...], answer: int) -> None:
    assert ask(machine, call, *(argument & 0xFFFFFFFFFFFFFFFF for argument in arguments)) == answer


@pytest.mark.parametrize("call", ["fchmod", "fchmodat", "fchownat", "utimensat", "setxattr", "fremovexattr", "file_setattr"])
def test_a_read_only_run_changes_no_metadata(machine: str, call: str) -> None:
    assert ask(machine, call, 0, 0, 0o644, read_only=True) == EPERM
    assert ask(machine, call, 0, 0, 0o644) == ALLOW


def test_kill_of_the_own_group_where_signals_are_not_scoped(machine: str) -> None:
    assert ask(machine, "kill", 0, 15, signals_scoped=False) == EPERM
    assert ask(machine, "kill", 4711, 15, signals_scoped=False) == ALLOW


def test_foreign_architectures_die_and_unknown_numbers_are_absent(machine: str) -> None:
    program = seccomp.assemble(HOST)
    assert decide(program, 0x40000003, 20) == KILL
    assert decide(program, ARCHITECTURES[machine], 0x40000000 + 39) == ENOSYS
    assert decide(program, ARCHITECTURES[machine], syscalls.NEWEST_KNOWN + 1) == ENOSYS


def test_the_filter_that_asks_knows_execs_alone(machine: str) -> None:
    """Installed beside the other one, whose refusals are stricter and count: x32 and foreign architectures never get as far as an exec."""
    program = seccomp.execs()
    here = ARCHITECTURES[machine]
    asked = {number for number in range(600) if decide(program, here, number) == 0x7FC00000}
    assert asked == {syscalls.number("execve"), syscalls.number("execveat")}
    assert asked == ({59, 322} if machine == "x86_64" else {221, 281})
    assert {decide(program, here, number) for number in range(600) if number not in asked} == {ALLOW}
    assert decide(program, 0x40000003, 11) == ALLOW  # i386's execve: the other filter kills it
    assert decide(seccomp.assemble(HOST), 0x40000003, 11) == KILL
    assert decide(seccomp.assemble(HOST), here, 0x40000000 + 520) == ENOSYS  # x32's execve


def test_the_usual_calls_pass(machine: str) -> None:
    """Every number without a rule is allowed without looking at its arguments, so that the kernel can cache it."""
    program = seccomp.assemble(HOST)
    ruled = {syscalls.number(name) for name in syscalls.NUMBERS}
    free = [number for number in range(335) if number not in ruled]
    assert len(free) > 200
    assert {decide(program, ARCHITECTURES[machine], number, *(0xFFFFFFFF,) * 6) for number in free} == {ALLOW}


def test_every_jump_lands_inside() -> None:
    program = seccomp.assemble(HOST, read_only=True, signals_scoped=False)
    length = len(program) // 8
    for at, (code, true, false, _) in enumerate(struct.iter_unpack("=HBBI", program)):
        if code in (0x15, 0x45, 0x35):
            assert at + 1 + max(true, false) < length
