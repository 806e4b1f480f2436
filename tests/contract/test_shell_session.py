"""Sessions: what is piped or typed into the shell runs as in bash, command by command, each judged with what the session has defined."""

from __future__ import annotations

import os
import pty
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from jail_harness import Running, gone, processes_with
from shell_harness import REAL, Shell, needs_jail

pytestmark = pytest.mark.jail

# Fed to both shells; the same stdout, stderr (but for the name of the shell) and status.
SAME = {
    "state": "cd /usr; x=5\npwd\necho $x $OLDPWD\nexport Y=1\nenv | grep ^Y=\n",
    "functions": "f() {\n  echo in $1\n}\nf 3\n",
    "status": "false\necho $?\ntrue | false; echo ${PIPESTATUS[@]} $?\n(exit 7)\n",
    "last status": "echo a\n(exit 9)",
    "exit": "echo a\nexit 4\necho never\n",
    "own input": "read a b\none two three\necho $b\ncat\nrest of it\nall\n",
    "heredoc": "cat <<E\nhello $((1+1))\nE\ncat <<'E'\n$x\nE\n",
    "tabs": "if true; then\n\tcat <<-E\n\ta\n\tE\nfi\n",
    "compound": "for i in 1 2\ndo\n echo $i\ndone\nwhile read l; do echo got $l; break; done\nline\ncase x in\n x) echo yes;;\nesac\n",
    "continuation": "echo a \\\n b\n",
    "quotes over lines": "echo 'a\nb' \"c\nd\"\n",
    "comments and blanks": "\n# nothing\n   \necho a # b\n",
    "unknown command": "nosuchcommand_x\necho $?\n",
    "errors": "cd /nonexistent_x\nbreak\nreturn 3\necho $?\n",
    "unset": "set -u\necho $nosuch\necho never\n",
    "errexit": "set -e\necho a\nfalse\necho never\n",
    "parameter error": "echo ${nosuch?gone}\necho never\n",
    "arrays": "a=(1 2 3)\ndeclare -A m=([k]=v)\necho ${a[1]} ${m[k]} ${#a[@]}\n",
    "traps": "trap 'echo bye' EXIT\necho a\n",
    "descriptors": "exec 5>out.txt\necho hi >&5\nexec 5>&-\ncat out.txt\n",
    "redirected for good": "exec >out.txt\necho hidden\nexec >&2\ncat out.txt\n",
    "aliases": "shopt -s expand_aliases\nalias zz='echo aliased'\nzz 1\n",
    "subshell keeps state": "x=1\n(x=2; cd /)\necho $x\n",
    "background": "sleep 0 &\nwait $!\necho $?\n",
    "positional": "set -- a 'b c'\necho $# \"$2\"\n",
    "special characters": "printf '%s\\n' 'a\\nb' \"it's\" $'t\\tab' \"\\\\\"\n",
    "bytes": "printf '%s' 'é€' | od -An -tx1\n",
    "process substitution": "cat <(echo a) <(echo b)\n",
    "local options": "shopt -s nullglob\necho *.nosuch end\n",
    "set -x": "set -x\n: a\n{ set +x; } 2>/dev/null\necho b\n",
    "long line": "echo " + "x" * 9000 + "\n",
    "no newline at the end": "echo a",
    "nothing": "",
}
SET_X_NOISE = b"+ eval "


@pytest.fixture
def shell(tmp_path: Path, workspace: Path) -> Shell:
    found = Shell(tmp_path, workspace)
    needs_jail(found)
    return found


def plain(stderr: bytes, name: str) -> list[bytes]:
    """What was said, without the shell's name, line numbers, and the traces of the line that carries a command."""
    lines = [line for line in stderr.replace(name.encode(), b"bash").splitlines() if SET_X_NOISE not in line]
    return [
        b" ".join(word for word in line.split(b" ") if not word.rstrip(b":").isdigit() and word != b"line").replace(b"++", b"+")
        for line in lines
    ]


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_piped_commands_run_as_in_bash(text: str, shell: Shell) -> None:
    ours = shell.run("-s", given=text.encode())
    (shell.workspace / "out.txt").unlink(missing_ok=True)
    theirs = shell.run("--norc", "--noprofile", "-s", given=text.encode(), shell=REAL)
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode), ours.stderr
    assert plain(ours.stderr, shell.path) == plain(theirs.stderr, REAL)


def test_a_killed_shell_leaves_no_command(shell: Shell) -> None:
    """Neither one that will not hear of an end, nor one in the background."""
    marker = f"79{os.getpid()}.{time.monotonic_ns() % 10**6}"
    text = f"trap '' TERM\necho up\nsetsid sleep {marker} & sleep {marker}\n"
    with Running([shell.path, "-s"], cwd=shell.workspace, env=shell.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as front:
        assert front.stdin is not None
        assert front.stdout is not None
        front.stdin.write(text.encode())
        front.stdin.flush()
        assert front.stdout.readline() == b"up\n"
        deadline = time.monotonic() + 20
        while len(processes_with(f"sleep\0{marker}")) < 2:
            assert time.monotonic() < deadline
        front.kill()
    assert gone(f"sleep\0{marker}")


DENIED = {
    "at once": ("rm -rf ~\necho $?\n", b"126\n"),
    "in a function": ('f() { rm -rf "$1"; }\nf ~\necho $?\n', b"126\n"),
    "by a variable": ('D=/\nrm -rf "$D"\necho $?\n', b"126\n"),
    "by two variables": ("H=/etc; D=$H/ssh\nH=x\nrm -rf $D\necho $?\n", b"126\n"),
    "by the folder": ("cd ~\nrm -rf ./*\necho $?\n", b"126\n"),
    "by an alias": ("shopt -s expand_aliases\nalias l='rm -rf ~'\nl\necho $?\n", b"126\n"),
    "by positional parameters": ('set -- ~\nrm -rf "$1"\necho $?\n', b"126\n"),
    "half a command": ("echo 'never ended\nrm -rf ~\n", b""),
    "the way commands come": ("eval() { :; }\necho $?\n", b"126\n"),
}


@pytest.mark.parametrize(("text", "expected"), DENIED.values(), ids=DENIED.keys())
def test_harm_is_seen_across_commands(text: str, expected: bytes, shell: Shell) -> None:
    (shell.home / "precious").write_text("x", encoding="ascii")
    done = shell.run(given=text.encode())
    assert done.stdout == expected
    assert b"instinct: " in done.stderr
    assert (shell.home / "precious").exists()


HARMLESS = {
    "a variable in the workspace": "D=build\nmkdir -p $D/x\nrm -rf $D\nls -d build || echo gone\n",
    "a scratch folder": 'T=$(mktemp -d)\ntouch $T/a\nrm -rf "$T"\necho done\n',
    "a value read": 'read name\nhello\necho "$name" > note.txt\ncat note.txt\n',
    "a function used twice": "build() { mkdir -p out && touch out/$1; }\nbuild a\nbuild b\nls out\n",
    "a loop over names": "for n in a b; do touch $n.txt; done\nls *.txt\nrm -f $n.txt\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_sessions_are_not_disturbed(text: str, shell: Shell) -> None:
    done = shell.run(given=text.encode())
    assert done.stderr.replace(b"ls: cannot access 'build': No such file or directory\n", b"") == b""
    assert done.returncode == 0


def test_each_command_has_its_records(shell: Shell) -> None:
    before = len(shell.records())
    shell.run(given=b"echo a\ncd /tmp\necho b\n", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s-3")
    kinds = [record["kind"] for record in shell.records()[before:]]
    assert [kinds.count(kind) for kind in ("judged", "started", "finished")] == [3, 3, 3]
    assert {record["agent"] for record in shell.records()[before:] if record["kind"] == "judged"} == {"claude"}


def test_commands_are_judged_one_by_one_as_they_come(shell: Shell) -> None:
    """A client that waits for each answer before it writes the next line, as SWE-agent does."""
    process = subprocess.Popen(
        [shell.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=shell.workspace, env=shell.env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        for line, answer in ((b"cd /usr; echo one\n", b"one\n"), (b"pwd\n", b"/usr\n"), (b"echo $((40+2))\n", b"42\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("kind", ["socket", "/dev/null", "file"])
def test_commands_come_by_whatever_a_client_has(shell: Shell, kind: str) -> None:
    """Programs of Node give their children sockets for pipes."""
    text = b"echo $0 >&2; exit 3\n" if kind == "file" else b"read a\none two\necho $a\nexit 3\n"  # a file is a script, judged whole
    (shell.workspace / "given").write_bytes(text)
    found = []
    for path, words in ((shell.path, []), (REAL, ["--norc", "--noprofile"])):
        ours, theirs = socket.socketpair()
        with ours, theirs, open("/dev/null" if kind == "/dev/null" else shell.workspace / "given", "rb") as file:
            ours.sendall(text)
            ours.shutdown(socket.SHUT_WR)
            done = subprocess.run(
                [path, *words], stdin=theirs if kind == "socket" else file, capture_output=True, cwd=shell.workspace, env=shell.env, check=False, timeout=60
            )  # fmt: skip
        found.append((done.stdout, done.stderr.replace(path.encode(), b"bash"), done.returncode))
    assert found[0] == found[1]


def test_the_end_of_the_client_ends_the_session(shell: Shell) -> None:
    process = subprocess.Popen([shell.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=shell.workspace, env=shell.env)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"echo started; exec sleep 300\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout.read() == b"", "every holder of the output is gone"
    process.stdin.close()
    process.stdout.close()


class Terminal:
    """A client with a terminal: types lines, reads what appears."""

    def __init__(self, argv: list[str], shell: Shell) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(shell.workspace)
            os.execve(argv[0], argv, shell.env | {"TERM": "dumb"})
        self.seen = b""

    def until(self, text: bytes, seconds: float = 30.0) -> bytes:
        """Everything up to and with this text."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                pytest.fail(f"`{text!r}` did not appear in {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 4096)
            except OSError:
                pytest.fail(f"the shell ended before `{text!r}` appeared: {self.seen!r}")
        found, _, self.seen = self.seen.partition(text)
        return found + text

    def shows(self, text: bytes, seconds: float) -> bool:
        """Whether this text appears in time."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], max(0.0, end - time.monotonic()))[0]:
                self.seen += os.read(self.fd, 4096)
        return text in self.seen

    def type(self, text: bytes) -> None:
        os.write(self.fd, text)

    def end(self) -> int:
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_a_typed_session(shell: Shell) -> None:
    """OpenHands and people: prompts, typed input, interrupts, state, an exit status."""
    terminal = Terminal([shell.path, "-i"], shell)
    terminal.until(b"$ " if os.getuid() else b"# ")
    terminal.type(b"PS1='READY> '\n")
    terminal.until(b"\r\nREADY> ")
    terminal.type(b"cd /usr; v=1\n")
    terminal.until(b"READY> ")
    terminal.type(b"pwd; echo v=$v\n")
    assert b"/usr\r\nv=1\r\n" in terminal.until(b"READY> ")
    terminal.type(b"rm -rf ~\n")
    assert b"instinct: denied by destructive-operation" in terminal.until(b"READY> ")
    terminal.type(b"echo status $?\n")
    assert b"status 126" in terminal.until(b"READY> ")
    terminal.type(b"read w\n")
    terminal.type(b"typed words\n")
    terminal.until(b"READY> ")
    terminal.type(b"echo w=$w\n")
    assert b"w=typed words\r\n" in terminal.until(b"READY> ")
    terminal.type(b"if true\n")
    terminal.until(b"> ")
    terminal.type(b"then echo inside; fi\n")
    assert b"inside\r\n" in terminal.until(b"READY> ")
    terminal.type(b"echo waiting; sleep 300\n")
    terminal.until(b"waiting\r\n")
    while not terminal.shows(b"READY> ", 1.0):
        terminal.type(b"\x03")  # bash itself loses one that comes between fork and exec
    terminal.until(b"READY> ")
    terminal.type(b"echo alive $?\n")
    assert b"alive 130" in terminal.until(b"READY> ")
    terminal.type(b"exit 5\n")
    assert terminal.end() == 5


def test_what_is_typed_ahead_is_judged_too(shell: Shell) -> None:
    (shell.home / "precious").write_text("x", encoding="ascii")
    terminal = Terminal([shell.path, "-i"], shell)
    terminal.type(b"sleep 0.2\nrm -rf ~\necho after $?\nexit\n")
    assert b"denied by destructive-operation" in terminal.until(b"after 126")
    terminal.end()
    assert (shell.home / "precious").exists()


def test_history_is_not_put_in_place_of_what_was_judged(shell: Shell) -> None:
    terminal = Terminal([shell.path, "-i"], shell)
    terminal.type(b"echo first\n")
    terminal.until(b"first\r\n")
    terminal.type(b"echo !!; echo end\n")
    assert b"!!\r\nend" in terminal.until(b"end\r\n") + terminal.until(b"end\r\n", 5) if b"!!\r\n" not in terminal.seen else True
    terminal.type(b"exit\n")
    terminal.end()
