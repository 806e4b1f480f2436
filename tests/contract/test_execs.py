"""Execs that are judged while a command runs: each way to start a program comes by, a refusal is EACCES with our words, and nothing can get stuck.

The judge here obeys words in the arguments (jail_driver.py); what the real one makes of an exec is in test_execs_judged.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time

import pytest
from jail_harness import Caller, Run, base_spec, gone, processes_with

pytestmark = pytest.mark.jail
NOT_PERMITTED, NOT_IMPLEMENTED = 13, 38


class Scene:
    """A workspace whose commands' execs are judged."""

    def __init__(self, caller: Caller, level: str) -> None:
        self.caller = caller
        self.level = level
        self.workspace = caller.folder()
        self.log = caller.folder() / "asked"

    def spec(self, text: str, **more: object) -> dict[str, object]:
        argv = ["/bin/bash", "--norc", "--noprofile", "-c", text]
        return {**base_spec(self.workspace), "argv": argv, "exec_log": str(self.log), **more}

    def run(self, text: str, **more: object) -> Run:
        return self.caller.run(self.spec(text, **more), at=self.level)

    def python(self, code: str, **more: object) -> Run:
        path = self.workspace / "program.py"
        path.write_text(code, encoding="utf-8")
        self.caller.own(path)
        return self.run("", argv=[self.caller.python, "-I", "-S", str(path)], **more)

    def asked(self) -> list[list[object]]:
        """What the judge was asked: program, first words, how many, folder, caller."""
        with contextlib.suppress(FileNotFoundError):
            return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return []


@pytest.fixture
def scene(caller: Caller, level: str) -> Scene:
    return Scene(caller, level)


def test_a_refusal_is_eacces_with_our_words(scene: Scene) -> None:
    run = scene.run("ls -d /; /bin/echo fine; /bin/echo deny-me; echo status $?")
    assert run.out == b"/\nfine\nstatus 126\n", run
    assert run.err.startswith(b"scripted: denied\n"), run
    assert b"Permission denied" in run.err
    assert run.result["execs_denied"] == 1
    assert "execs" in run.result["layers"]
    assert [each[1] for each in scene.asked()] == [["/bin/echo", "fine"], ["/bin/echo", "deny-me"]]  # the command itself and ls were not asked about


WAYS = {
    "xargs": ("printf 'deny-me\\n' | xargs /bin/echo", 126),
    "find -exec": ("find . -maxdepth 0 -exec /bin/echo deny-me \\;", 0),
    "env -i": ("env -i /bin/echo deny-me", 126),
    "nested shells": ("""sh -c "bash -c 'exec /bin/echo deny-me'" """, 126),
    "a script with its own interpreter": ("printf '#!/bin/sh\\n/bin/echo deny-me\\n' >s; chmod +x s; ./s", 126),
    "a link of another name": ("ln -s /bin/echo harmless; ./harmless deny-me", 126),
    "nohup, nice": ("nohup nice /bin/echo deny-me", 126),
    "a background job": ("/bin/echo deny-me & wait $!", 126),
    "exec": ("exec /bin/echo deny-me", 126),
    "make": ("command -v make >/dev/null || exit 126; printf 'a:\\n\\t@/bin/echo deny-me\\n' >Makefile; make -s; exit 126", 126),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_by_the_shell(scene: Scene, way: str) -> None:
    text, status = WAYS[way]
    run = scene.run(text)
    assert run.status in (status, 127 if way == "nohup, nice" else status), run
    assert run.out == b"", run


CODE = {
    "subprocess": "import subprocess; subprocess.run(['/bin/echo', 'deny-me'])",
    "by PATH": "import subprocess; subprocess.run(['echo', 'deny-me'])",
    "posix_spawn, which is a vfork": "import os; os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'deny-me'], os.environ), 0)",
    "os.system": "import os; os.system('exec /bin/echo deny-me')",
    "fexecve": "import os; fd = os.open('/bin/echo', os.O_RDONLY); os.execve(fd, ['echo', 'deny-me'], {})",
    "/proc/self/fd": "import os; fd = os.open('/bin/echo', os.O_RDONLY); os.execve(f'/proc/self/fd/{fd}', ['echo', 'deny-me'], {})",
    "a path that starts at a folder": """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('/bin', os.O_PATH | os.O_DIRECTORY)
words = (ctypes.c_char_p * 3)(b'echo', b'deny-me', None)
number = 322 if os.uname().machine == 'x86_64' else 281
libc.syscall(number, fd, b'echo', words, (ctypes.c_char_p * 1)(None), 0)
raise OSError(ctypes.get_errno(), 'refused')
""",
    "another thread": """
import os, threading
def go():
    try:
        os.execv('/bin/echo', ['echo', 'deny-me'])
    except OSError as error:
        print(error.errno, flush=True)
thread = threading.Thread(target=go); thread.start(); thread.join(); raise OSError(13, 'refused')
""",
    "an environment that says so": "import os; os.execve('/bin/echo', ['echo', 'x'], {'DENY': '1'})",
    "no words at all": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.execve(b'/bin/echo', None, (ctypes.c_char_p * 2)(b'DENY=1', None))
raise OSError(ctypes.get_errno(), 'refused')
""",
}


@pytest.mark.parametrize("way", CODE)
def test_each_way_by_a_program(scene: Scene, way: str) -> None:
    run = scene.python(CODE[way])
    assert b"scripted: denied" in run.err, run
    assert run.out in (b"", b"13\n"), run
    assert run.result["execs_denied"] == 1, run


def test_what_fills_the_memory(scene: Scene) -> None:
    """128 KB in one word, 20,000 words, bytes that are no text: all pass as they are, and are seen whole."""
    code = """
import hashlib, subprocess, sys
words = ["x" * 131071 if sys.argv[-1] else "", *map(str, range(20000)), b"\\xff\\xfe \\n".decode("utf-8", "surrogateescape")]
said = subprocess.run(["/bin/echo", "-n", *words], capture_output=True).stdout
print(said == b" ".join(w.encode("utf-8", "surrogateescape") for w in words))
refused = subprocess.run(["/bin/echo", *words, "deny-me"])
"""
    run = scene.python(code)
    assert run.out == b"True\n", run.err[-500:]
    assert b"PermissionError" in run.err
    assert [each[2] for each in scene.asked()] == [20004, 20004]


def test_five_hundred_at_once_and_none_is_lost(scene: Scene) -> None:
    run = scene.run("seq 500 | xargs -P 50 -I{} sh -c 'echo {}' | sort -n | cksum; seq 500 | cksum")
    first, second = run.out.splitlines()
    assert first == second, run
    assert len([each for each in scene.asked() if each[0] == "/usr/bin/sh" or each[0] == "/bin/sh"]) == 500


def test_the_same_again_is_not_judged_again(scene: Scene) -> None:
    run = scene.run("for i in $(seq 100); do /bin/echo same; done | wc -l; cd /; /bin/echo same; /bin/echo deny-me; /bin/echo deny-me")
    assert run.out == b"100\nsame\n"
    assert run.result["execs_denied"] == 1 or run.err.count(b"scripted: denied") == 2, run
    assert [(each[1][1], each[3]) for each in scene.asked()] == [("same", str(scene.workspace)), ("same", "/"), ("deny-me", "/")]


def test_a_process_that_dies_while_it_waits(scene: Scene) -> None:
    """The others go on, and so does the run; the verdict that comes too late is for nobody."""
    run = scene.run(f"sh -c hang-me & pid=$!; until [ -s {scene.log} ]; do :; done; kill -9 $pid; wait $pid; echo $?; ls -d /")
    assert run.out == b"137\n/\n", run


def test_no_verdict_in_time_is_a_refusal(scene: Scene) -> None:
    start = time.monotonic()
    run = scene.run("/bin/echo hang-me; echo $?; ls -d /")
    assert run.out == b"126\n/\n", run
    assert b"scripted: not judged, no verdict within 3 s" in run.err
    assert time.monotonic() - start < 15


def test_a_judge_that_fails_is_a_refusal(scene: Scene) -> None:
    run = scene.run("/bin/echo crash-me; echo $?; /bin/echo fine")
    assert run.out == b"126\nfine\n", run
    assert b"scripted: not judged, RuntimeError: crashed" in run.err


def test_when_nobody_answers_any_more_nothing_is_started(scene: Scene) -> None:
    """A fault in the answering itself: the listener closes, and the kernel refuses every exec."""
    run = scene.run("ls -d /; cp /bin/true explode; ./explode; echo $?; ls -d /; echo $?")
    assert run.out == b"/\n126\n126\n", run
    assert b"further programs are refused" in run.err
    assert b"Function not implemented" in run.err


def test_words_go_to_the_launchers_stderr_where_nobody_would_hear_them(scene: Scene) -> None:
    for redirect in ("2>/dev/null", "2>&-"):
        run = scene.run(f"(exec /bin/echo deny-me) {redirect}; true")
        assert run.err == b"scripted: denied\n", (redirect, run)


def test_words_do_not_wait_for_a_reader(scene: Scene) -> None:
    """A full pipe as stderr: the refusal comes all the same."""
    code = """
import os, subprocess
reader, writer = os.pipe()
os.set_blocking(writer, False)
try:
    while True:
        os.write(writer, b"x" * 4096)
except BlockingIOError:
    pass
try:
    subprocess.run(["/bin/echo", "deny-me"], stderr=writer)
except PermissionError:
    print("refused")
"""
    run = scene.python(code)
    assert (run.out, run.err) == (b"refused\n", b"scripted: denied\n"), run


def test_a_program_that_is_not_there_is_not_asked_about(scene: Scene) -> None:
    run = scene.run("PATH=/nonexistent:/usr/local/nonexistent; git deny-me; echo $?; /nonexistent/git deny-me; echo $?")
    assert run.out == b"127\n127\n", run
    assert scene.asked() == []


def test_a_process_that_hides_its_memory(scene: Scene) -> None:
    """Seen all the same where the jail has a user namespace of ours, and refused where not: never let through unseen."""
    code = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # not dumpable, as ssh-agent and gpg-agent make themselves
os.execv("/bin/echo", ["echo", WORD])
"""
    run = scene.python(code.replace("WORD", "'fine'"))
    assert run.out == b"fine\n" or b"scripted: not judged, its memory is closed to us" in run.err, run
    if scene.level != "partial":
        assert run.out == b"fine\n", run
    assert scene.python(code.replace("WORD", "'deny-me'")).out == b""


def test_a_filter_of_its_own_takes_nothing_over(scene: Scene) -> None:
    """A process may add filters of its own; a second listener, which would answer in our place, the kernel refuses."""
    code = """
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
code = struct.pack("=HBBI", 6, 0, 0, 0x7FC00000)
memory = ctypes.create_string_buffer(code, len(code))
header = ctypes.create_string_buffer(struct.pack("@HP", 1, ctypes.addressof(memory)))
libc.prctl(38, 1, 0, 0, 0)
number = 317 if os.uname().machine == "x86_64" else 277
print(libc.syscall(number, 1, 8, header), errno.errorcode[ctypes.get_errno()], flush=True)
os.execv("/bin/echo", ["echo", "deny-me"])
"""
    run = scene.python(code)
    assert run.out == b"-1 EBUSY\n", run
    assert b"scripted: denied" in run.err


def test_without_a_judge_nothing_runs(caller: Caller, level: str) -> None:
    run = caller.shell(caller.folder(), "echo ran", at=level, spec={"supervise_execs": True})
    assert (run.status, run.out) == (125, b""), run
    assert b"are to be judged" in run.err


def test_a_killed_launcher_ends_the_command(scene: Scene) -> None:
    marker = f"67{os.getpid()}.{time.monotonic_ns() % 10**6}"
    text = f"setsid sleep {marker} & (setsid sleep {marker} &); while :; do ls / >/dev/null; sh -c hang-me; done; sleep {marker}"
    for moment in (0.15, 0.3, 0.6):
        with subprocess.Popen(scene.caller.driver(scene.spec(text), at=scene.level), stderr=subprocess.DEVNULL, start_new_session=True) as running:
            select.select([], [], [], moment)
            running.send_signal(signal.SIGKILL)
        assert gone(marker), processes_with(marker)
    assert scene.run("/bin/echo next").out == b"next\n"


def test_what_a_session_keeps_is_judged_after_its_launcher(scene: Scene) -> None:
    if scene.level != "session":
        return  # elsewhere nothing outlives the command
    done = scene.workspace / "done"
    text = "(read <go; sh -c 'echo later >out'; sh -c 'echo deny-me' 2>err; echo $? >>out; mv out done) >/dev/null 2>&1 </dev/null &"
    os.mkfifo(scene.workspace / "go")
    scene.caller.own(scene.workspace / "go")
    start = time.monotonic()
    run = scene.run(text)
    assert run.status == 0, run
    assert time.monotonic() - start < 10  # the caller's pipes close although a process stays behind
    assert processes_with(str(scene.caller.code / "jail_driver.py"))
    with (scene.workspace / "go").open("w") as go:
        go.write("\n")
    deadline = time.monotonic() + 20
    while not done.exists() and time.monotonic() < deadline:
        select.select([], [], [], 0.02)
    assert done.read_text() == "later\n126\n"
    assert (scene.workspace / "err").read_text().startswith("scripted: denied\n")
    assert gone(str(scene.caller.code / "jail_driver.py")), "it ends with the last process"
