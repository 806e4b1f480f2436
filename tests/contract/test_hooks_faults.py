"""Whatever breaks under a hook, a harmful call never runs, and the answer is there within half the agent's time-out.

The count can be raised: INSTINCT_HOOK_FAULTS=10000 pytest tests/contract/test_hooks_faults.py
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hook_clients
import pytest

from instinct_shell.frontends.hooks.registry import AGENTS
from instinct_shell.frontends.install import launchers

RUNS = int(os.environ.get("INSTINCT_HOOK_FAULTS", "200"))
HARMFUL = "rm -rf ~"
AGENT_TIMEOUT = 20.0  # seconds: far above what a judgement takes on a busy machine, so that a late answer is a finding and not a slow test


class Place:
    """One hook call's surroundings, to be damaged."""

    def __init__(self, folder: Path, workspace: Path, agent: str) -> None:
        self.home, self.state = folder / "home", folder / "state"
        for each in (self.home, self.state):
            each.mkdir(parents=True)
        self.agent = agent
        self.env = {"HOME": str(self.home), "XDG_STATE_HOME": str(self.state), "PATH": os.environ["PATH"], "INSTINCT_ENGINE": "off"}
        self.hook = str(folder.parent / "data" / "bin" / "instinct-hook")
        self.raw = json.dumps(hook_clients.inputs(agent, HARMFUL, str(workspace))).encode()
        self.timeout = AGENT_TIMEOUT
        self.prepare: Callable[[], None] | None = None
        self.strike: Callable[[subprocess.Popen[bytes]], None] | None = None
        self.keep_open = False

    def run(self) -> tuple[hook_clients.Seen, float]:
        words = ["--agent", self.agent, "--timeout", str(self.timeout), "pre"]
        began = time.monotonic()
        process = subprocess.Popen(
            [self.hook, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env,
            preexec_fn=self.prepare,  # noqa: PLW1509 - it only sets limits, and no thread runs here
        )
        assert process.stdin
        assert process.stdout
        assert process.stderr
        try:
            process.stdin.write(self.raw)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has answered already
        if not self.keep_open:
            _close(process.stdin)
        if self.strike is not None:
            self.strike(process)
        stdout, stderr = process.stdout.read(), process.stderr.read()
        status = process.wait()
        took = time.monotonic() - began
        for pipe in (process.stdin, process.stdout, process.stderr):
            _close(pipe)
        return hook_clients.AGENTS[self.agent](status, stdout.decode(), stderr.decode()), took


def _close(pipe: object) -> None:
    try:
        pipe.close()  # type: ignore[attr-defined]  # a file
    except BrokenPipeError:
        pass  # what was left in the buffer has no reader any more


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path) -> None:
    """The launchers, as `instinct install` writes them."""
    launchers.write(str(tmp_path / "data"))


# ---------------------------------------------------------------- the faults


def nothing(place: Place, chance: random.Random) -> None:
    """No fault: the plain denial."""


def kill_the_child(place: Place, chance: random.Random) -> None:
    """SIGKILL for the judging process, for the watchdog over it, or for the clock over both, at any point of their lives."""
    delay, depth = chance.uniform(0, 0.3), chance.choice((0, 1, 2, 2, 2))

    def strike(process: subprocess.Popen[bytes]) -> None:
        time.sleep(delay)  # the point in its life is the fault that is injected
        send(chain(process.pid), depth, signal.SIGKILL)

    place.strike = strike


def children(pid: int) -> list[int]:
    """The processes below this one, as the kernel lists them."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def chain(pid: int) -> list[int]:
    """The launcher, and below it the clock (`timeout`), the watchdog, the judging process, as far as they are there yet."""
    found = [pid]
    while below := children(found[-1]):
        found.append(below[0])
    return found


def send(line: list[int], depth: int, number: int) -> bool:
    """A signal to the process that stands so deep below the launcher; whether it was there. Never to a stranger who got its number since."""
    if depth + 1 >= len(line):
        return False
    parent, victim = line[depth : depth + 2]
    try:
        handle = os.pidfd_open(victim)
    except ProcessLookupError:
        return False  # it was quicker
    try:
        if victim in children(parent):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        pass  # the same
    finally:
        os.close(handle)
    return True


def stop_the_child(place: Place, chance: random.Random) -> None:
    """A judging process that hangs: SIGSTOP, then only the watchdog can answer."""
    place.timeout = 8.0

    place.strike = stop_below(2)


def stop_the_watchdog(place: Place, chance: random.Random) -> None:
    """An interpreter that hangs before or while it watches: only the clock over it can answer."""
    place.strike = stop_below(1)


def stop_below(depth: int) -> Callable[[subprocess.Popen[bytes]], None]:
    """SIGSTOP for the process that stands so deep in the chain, as soon as it is there."""

    def strike(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if send(chain(process.pid), depth, signal.SIGSTOP):
                return

    return strike


def full_disk(place: Place, chance: random.Random) -> None:
    """Nothing can be written beyond a few bytes."""
    size = chance.choice((0, 1, 200, 2000))
    place.prepare = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_state(place: Place, chance: random.Random) -> None:
    """The state directory cannot be made: a file stands in its way."""
    place.env["XDG_STATE_HOME"] = str(place.home / "file" / "state")
    (place.home / "file").write_text("x", encoding="ascii")


def open_state(place: Place, chance: random.Random) -> None:
    """Everybody may write the state directory."""
    (place.state / "instinct-shell").mkdir()
    (place.state / "instinct-shell").chmod(0o777)


def linked_state(place: Place, chance: random.Random) -> None:
    """The state directory is a symlink."""
    (place.state / "instinct-shell").symlink_to(place.home)


def corrupt_state(place: Place, chance: random.Random) -> None:
    """Rubbish where the state's own files stand."""
    place.run()
    for path in (place.state / "instinct-shell").rglob("*"):
        if path.is_file() and chance.random() < 0.7:
            path.write_bytes(chance.randbytes(chance.randrange(200)))


def corrupt_profile(place: Place, chance: random.Random) -> None:
    """The person's own configuration is no TOML."""
    folder = place.home / ".config" / "instinct-shell"
    folder.mkdir(parents=True)
    for name in ("config.toml", "dev.toml", "profile.toml"):
        (folder / name).write_bytes(b"= [[[ \xff")


def read_only_home(place: Place, chance: random.Random) -> None:
    """Home and state belong to nobody who may write (root may all the same: then it is a plain denial)."""
    place.home.chmod(0o500)
    place.state.chmod(0o500)


def few_descriptors(place: Place, chance: random.Random) -> None:
    """The process may open little more than a shell needs to read its own script."""
    count = chance.randrange(14, 30)
    place.prepare = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def little_memory(place: Place, chance: random.Random) -> None:
    """Memory runs out somewhere on the way."""
    size = chance.randrange(30, 90) << 20
    place.prepare = lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def broken_input(place: Place, chance: random.Random) -> None:
    """JSON cut short, mangled, or something else altogether."""
    raw = place.raw
    place.raw = chance.choice(
        [raw[: chance.randrange(len(raw))], raw + b"}", b"", b"[]", b"null", b"\xff\xfe", raw.replace(b'"', b"'", 1), b"[" * 100_000, b"{}"]
    )


def wrong_fields(place: Place, chance: random.Random) -> None:
    """Fields of the wrong type, without name, or unknown."""
    data = json.loads(place.raw)
    name = chance.choice(sorted(data))
    change = chance.choice(["drop", 1, None, [], {}, True, "\ud800", "x\0y"])
    if change == "drop":
        del data[name]
    else:
        data[name] = change
    place.raw = json.dumps(data).encode()


def input_without_end(place: Place, chance: random.Random) -> None:
    """The agent never closes the hook's stdin."""
    place.keep_open = True
    place.timeout = 8.0
    place.raw = place.raw[: chance.randrange(len(place.raw))]


FAULTS = (
    nothing, kill_the_child, kill_the_child, kill_the_child, stop_the_child, stop_the_watchdog, full_disk, no_state, open_state, linked_state, corrupt_state, corrupt_profile,
    read_only_home, few_descriptors, little_memory, broken_input, broken_input, wrong_fields, wrong_fields, input_without_end,
)  # fmt: skip


def one(number: int, folder: Path, workspace: Path) -> str:
    """Run one fault; "" when all is well, else what happened."""
    chance = random.Random(number)
    fault, agent = FAULTS[number % len(FAULTS)], chance.choice(AGENTS)
    place = Place(folder / str(number), workspace, agent)
    fault(place, chance)
    (outcome, _), took = place.run()
    if outcome == "ran" and not (fault is wrong_fields and b"rm -rf" not in place.raw):
        return f"run {number}: {fault.__name__} with {agent}: it ran"
    if took > place.timeout / 2:
        return f"run {number}: {fault.__name__} with {agent}: {took:.1f} s"
    return ""


def test_nothing_fails_open(tmp_path: Path, workspace: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        problems = [found for found in pool.map(lambda number: one(number, tmp_path, workspace), range(RUNS)) if found]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("where", ["/dev/full", "closed"])
@pytest.mark.parametrize("agent", AGENTS)
def test_an_answer_that_cannot_be_printed_blocks_by_its_status(agent: str, where: str, workspace: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "p", workspace, agent)
    target = os.open("/dev/full", os.O_WRONLY)
    try:
        done = subprocess.run(
            [place.hook, "--agent", agent, "pre"], input=place.raw, env=place.env, stdout=target, stderr=subprocess.PIPE, check=False,
            preexec_fn=(lambda: os.close(1)) if where == "closed" else None,
        )  # fmt: skip
    finally:
        os.close(target)
    assert done.returncode == 2
    assert done.stderr.strip()


BAD_CALLS = {
    "no agent": ["pre"],
    "unknown agent": ["--agent", "clade", "pre"],
    "unknown event": ["--agent", "claude", "before"],
    "no event": ["--agent", "claude"],
    "unknown option": ["--agent", "claude", "--fast", "pre"],
    "time-out of words": ["--agent", "claude", "--timeout", "soon", "pre"],
    "event of another kind": ["--agent", "claude", "post"],
}


@pytest.mark.parametrize("words", BAD_CALLS.values(), ids=BAD_CALLS.keys())
def test_a_wrong_registration_does_not_pass(words: list[str], workspace: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "p", workspace, "claude")
    done = subprocess.run([place.hook, *words], input=place.raw, env=place.env, capture_output=True, check=False)
    assert done.returncode in {1, 2}
    assert done.returncode == 2 or words[-1] == "post"
    assert done.stderr.startswith(b"instinct: ")
    assert done.stdout == b""
