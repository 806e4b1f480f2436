"""The engine: the same verdicts as without one, in every state that an engine can be in."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import PYTHON, TOP, Engines, copied_checkout, own_engines
from jail_harness import cannot

CASES = TOP / "tests" / "cases"
ALLOWED, DENIED = "git status", "rm -rf ~"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the programs: an engine ends when its own files change, and somebody may be at work on these."""
    return copied_checkout(tmp_path_factory.mktemp("engine"))


@pytest.fixture
def engines(checkout: Path, workspace: Path, tmp_path: Path) -> Iterator[Engines]:
    yield from own_engines(workspace, tmp_path, checkout)


def check(engines: Engines, text: str, **env: str) -> int:
    return engines.program("instinct", "check", "-c", text, env={**engines.env, **env}).returncode


def texts() -> list[str]:
    """Every labelled command of the project."""
    found = []
    for name, column in (("commands", 2), ("corners", 2), ("independent", 2), ("incidents", 5)):
        rows = [row for row in (CASES / f"{name}.tsv").read_text(encoding="utf-8").splitlines() if not row.startswith("#")][1:]
        found += [row.split("\t")[column].replace("␤", "\n").replace("␉", "\t") for row in rows]
    for case in tomllib.loads((CASES / "adversarial.toml").read_text(encoding="utf-8")).get("case", ()):
        found += [case[key] for key in ("run", "text", "command") if isinstance(case.get(key), str)]
    for line in (CASES / "client-shell-calls.jsonl").read_text(encoding="utf-8").splitlines():
        found.append(json.loads(line)["argv"][-1])
    return list(dict.fromkeys(found))


@pytest.mark.slow
def test_equal_verdicts_on_all_cases(engines: Engines) -> None:
    engines.start()
    lines = "".join(json.dumps(text) + "\n" for text in texts())
    argv = [str(PYTHON), "-I", "-X", "utf8", str(TOP / "tests" / "engine_driver.py"), str(engines.top), str(engines.workspace)]
    run = subprocess.run(argv, input=lines, capture_output=True, text=True, env=engines.env, cwd=engines.workspace, timeout=900, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(texts()) > 1000
    unanswered = [(text, trouble) for text, (_, warm, trouble) in zip(texts(), answers, strict=True) if warm is None]
    # What spends is left to the caller, as are texts that take bashlex over its time: its worker is killed by the kernel.
    assert {trouble for _, trouble in unanswered} <= {"declined", "died"}
    assert len(unanswered) < len(answers) / 20, unanswered[:20]
    assert [(text, cold, warm) for text, (cold, warm, _) in zip(texts(), answers, strict=True) if warm is not None and cold != warm] == []


def test_off_never_asks(engines: Engines) -> None:
    assert (check(engines, ALLOWED, INSTINCT_ENGINE="off"), check(engines, DENIED, INSTINCT_ENGINE="off")) == (0, 126)
    assert engines.processes() == []
    assert not engines.runtime.exists()


def test_the_first_command_starts_one_and_does_not_wait(engines: Engines) -> None:
    assert check(engines, ALLOWED) == 0
    engines.start()  # waits for the one that is starting
    assert engines.running()
    before = {record["kind"] for record in engines.records()}
    assert check(engines, DENIED) == 126
    assert {record["kind"] for record in engines.records()} == before == {"judged", "note"}


def test_one_record_for_each_intent(engines: Engines) -> None:
    engines.start()
    for text in (ALLOWED, DENIED, ALLOWED):
        check(engines, text)
    judged = [record["body"]["intent"]["content"] for record in engines.records() if record["kind"] == "judged"]
    assert judged == [ALLOWED, DENIED, ALLOWED]


def test_calls_do_not_see_each_other(engines: Engines) -> None:
    """A worker answers many calls; each stands in its own surroundings."""
    engines.start()
    for number in range(12):
        home = f"/home/person{number}"
        said = engines.program("instinct", "check", "--json", "-c", "rm -rf ~", env={**engines.env, "HOME": home}).stdout
        assert [effect["target"] for effect in json.loads(said)["effects"]] == [home]
    assert check(engines, DENIED) == 126


def test_state_belongs_to_the_caller(engines: Engines, tmp_path: Path) -> None:
    """One engine may be asked by callers with another state directory: the record is written where the caller would have written it."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    engines.env["XDG_RUNTIME_DIR"] = str(runtime)
    engines.start()
    assert check(engines, DENIED, XDG_STATE_HOME=str(tmp_path / "other")) == 126
    assert list((tmp_path / "other" / "instinct-shell" / "audit").glob("*.jsonl"))
    assert not (engines.state / "instinct-shell" / "audit").exists()


# ---------------------------------------------------------------- an engine in trouble


def test_killed_at_random_moments(engines: Engines) -> None:
    """kill -9 of the engine or a worker while calls are in flight: every call has its verdict and its record."""
    chance = random.Random(4)
    for _ in range(12):
        engines.start()
        calls = [subprocess.Popen(engines.argv("instinct", "check", "-c", text), cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL) for text in (ALLOWED, DENIED, ALLOWED, DENIED)]  # fmt: skip
        victims = engines.processes()
        for victim in chance.sample(victims, k=min(len(victims), chance.choice((1, 2, 4)))):
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass  # a worker that ended with the first one
        assert [call.wait(60) for call in calls] == [0, 126, 0, 126]
    judged = [record for record in engines.records() if record["kind"] == "judged"]
    assert len(judged) >= 48
    assert engines.program("instinct", "audit", "verify").returncode == 0


def test_stopped_is_replaced(engines: Engines) -> None:
    """SIGSTOP of everything: the caller judges by itself, and a new engine takes the name over."""
    engines.start()
    old = engines.processes()
    for pid in old:
        os.kill(pid, signal.SIGSTOP)
    assert check(engines, DENIED) == 126
    assert engines.start() not in old
    for pid in old:
        os.kill(pid, signal.SIGCONT)
    assert check(engines, DENIED) == 126
    assert ended(engines, old)


def test_a_worker_that_stops_in_the_middle(engines: Engines) -> None:
    engines.start()
    call = subprocess.Popen(
        engines.argv("instinct", "check", "-c", DENIED), cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL
    )
    for pid in engines.processes():
        os.kill(pid, signal.SIGSTOP)
    assert call.wait(60) == 126


def test_stale_code_is_not_asked(workspace: Path, tmp_path: Path) -> None:
    top = copied_checkout(tmp_path / "copy")
    for engines in own_engines(workspace, tmp_path, top):
        first = engines.start()
        assert check(engines, DENIED) == 126
        with (top / "instinct_shell" / "instincts" / "base.py").open("a", encoding="utf-8") as file:
            file.write("\n# a change\n")
        assert check(engines, DENIED) == 126
        assert ended(engines, [first])
        assert engines.start() != first


def test_a_changed_profile_is_seen_at_once(engines: Engines) -> None:
    engines.start()
    folder = engines.home / ".config" / "instinct-shell"
    assert check(engines, "touch notes.txt") == 0
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('profile = "prod"\n', encoding="utf-8")
    with_engine = check(engines, "touch notes.txt")
    assert with_engine == check(engines, "touch notes.txt", INSTINCT_ENGINE="off")
    (engines.workspace / ".instinct.toml").write_text('extends = "prod"\n', encoding="utf-8")
    assert check(engines, "touch notes.txt") == check(engines, "touch notes.txt", INSTINCT_ENGINE="off") != 0


def test_ends_with_its_folder(engines: Engines) -> None:
    first = engines.start()
    shutil.rmtree(engines.runtime)
    assert ended(engines, [first])


def test_stop(engines: Engines) -> None:
    engines.start()
    assert json.loads(engines.program("instinct", "engine", "stop", "--json").stdout) == {"stopped": True}
    assert ended(engines, engines.processes())
    assert engines.program("instinct", "engine", "status").returncode == 1
    assert json.loads(engines.program("instinct", "engine", "stop", "--json").stdout) == {"stopped": False}


def ended(engines: Engines, pids: list[int]) -> bool:
    """Waits until these are gone, at most half a minute."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        import select

        poll = select.poll()
        poll.register(fd, select.POLLIN)
        gone = poll.poll(30_000)
        os.close(fd)
        if not gone:
            return False
    return True


# ---------------------------------------------------------------- who answers, who is answered

FAKE = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
from instinct_shell.resident import protocol
folder = sys.argv[2]
os.makedirs(folder, 0o700, exist_ok=True)
os.chdir(folder)
listener = socket.socket(socket.AF_UNIX)
listener.bind(protocol.socket_name(sys.argv[1] + "/instinct_shell"))
listener.listen()
print("ready", flush=True)
while True:
    caller, _ = listener.accept()
    caller.sendall(protocol.message(protocol.record(protocol.HELLO)))
    try:
        protocol.receive(caller)
    except protocol.Hangup:
        print("refused", flush=True)
        continue
    print("asked", flush=True)
    caller.sendall(protocol.message(protocol.record(protocol.TO_STDOUT, b"allow\\n"), protocol.record(protocol.STATUS, b"0")))
"""


@pytest.mark.parametrize("held", [["unshare", "-Ur", "--"], ["unshare", "-Um", "--"], ["setpriv", "--no-new-privs", "--"]])
def test_a_jailed_process_cannot_pass_for_an_engine(engines: Engines, held: list[str]) -> None:
    """Same user, right folder, right name: but it is held by something that does not hold the caller."""
    check(engines, ALLOWED, INSTINCT_ENGINE="off")  # makes the state directory
    argv = [*held, sys.executable, "-c", FAKE, str(engines.top), str(engines.runtime)]
    fake = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert fake.stdout is not None
        if fake.stdout.readline() != "ready\n":
            pytest.skip(f"`{' '.join(held)}` does not work here")
        assert check(engines, DENIED) == 126
        assert fake.stdout.readline() == "refused\n"
    finally:
        fake.kill()
        fake.wait()
        assert fake.stdout is not None
        fake.stdout.close()


def test_a_caller_that_is_held_is_not_answered(engines: Engines) -> None:
    """It judges by itself; the verdict is the same, and no engine is started for it."""
    engines.start()
    argv = ["setpriv", "--no-new-privs", "--", *engines.argv("instinct", "check", "-c", DENIED)]
    run = subprocess.run(argv, cwd=engines.workspace, env=engines.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if b"setpriv" in run.stderr:
        pytest.skip("setpriv does not work here")
    assert run.returncode == 126


@pytest.mark.jail
def test_out_of_sight_in_the_jail(engines: Engines) -> None:
    engines.start()
    name = next(engines.runtime.glob("engine1-*"))
    run = engines.program("instinct-exec", "--", f"ls -la {engines.runtime}; test -e {name} && echo seen")
    if run.returncode == 125:
        cannot(f"no jail on this machine: {run.stderr.decode()}")
    assert b"seen" not in run.stdout


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_may_enter_is_not_used(engines: Engines, mode: int) -> None:
    engines.start()
    engines.runtime.chmod(mode)
    assert check(engines, DENIED) == 126
    assert engines.program("instinct", "engine", "status").returncode == 1


def test_garbage_is_survived(engines: Engines) -> None:
    """Whatever a caller sends, the next one is served."""
    import socket

    pid = engines.start()
    name = str(next(engines.runtime.glob("engine1-*")))
    folder = os.open(engines.runtime, os.O_PATH)
    chance = random.Random(7)
    for number in range(40):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(5)
            caller.connect(f"/proc/self/fd/{folder}/{os.path.basename(name)}")
            if number % 4:
                caller.sendall(chance.randbytes(chance.choice((1, 4, 9, 300))))
    os.close(folder)
    assert check(engines, DENIED) == 126
    assert engines.start() == pid
