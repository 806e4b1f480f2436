"""The command line of the drop-in shell: bash's own reading of it, and nothing that would run text unjudged."""

from __future__ import annotations

import subprocess

import pytest

from instinct_shell.errors import UsageError
from instinct_shell.frontends.shell_args import ShellCall, read_call

TEXT = 'printf "%s|" "$0" "$@"; shopt -q login_shell && echo login; echo "$SHELLOPTS"; shopt -p extglob'
READ = {
    "-c": (["-c", "x"], ShellCall("text", text="x")),
    "-c name and arguments": (["-c", "x", "n", "a", "-l"], ShellCall("text", text="x", name="n", positional=("a", "-l"))),
    "-lc": (["-lc", "x"], ShellCall("text", text="x", login=True)),
    "-c -l": (["-c", "-l", "x"], ShellCall("text", text="x", login=True)),
    "-l -c": (["-l", "-c", "x"], ShellCall("text", text="x", login=True)),
    "--login -c": (["--login", "-c", "x"], ShellCall("text", text="x", login=True)),
    "long options": (["--norc", "--noprofile", "-c", "x"], ShellCall("text", text="x")),
    "long options with one dash": (["-norc", "-noprofile", "-c", "x"], ShellCall("text", text="x")),
    "start-up file is not read": (["--rcfile", "/tmp/evil", "-c", "x"], ShellCall("text", text="x")),
    "-o": (["-o", "pipefail", "-c", "x"], ShellCall("text", text="x", words=("-o", "pipefail"), prelude="set -o pipefail\n")),
    "-euo": (["-euo", "pipefail", "-c", "x"], ShellCall("text", text="x", words=("-o", "pipefail", "-eu"), prelude="set -o pipefail\nset -eu\n")),
    "-ec": (["-ec", "x"], ShellCall("text", text="x", words=("-e",), prelude="set -e\n")),
    "-xc": (["-xc", "x"], ShellCall("text", text="x", words=("-x",))),
    "+e": (["+e", "-c", "x"], ShellCall("text", text="x", words=("+e",), prelude="set +e\n")),
    "-O": (["-O", "extglob", "-c", "x"], ShellCall("text", text="x", words=("-O", "extglob"), prelude="shopt -s extglob\n")),
    "+O": (["+O", "extglob", "-c", "x"], ShellCall("text", text="x", words=("+O", "extglob"), prelude="shopt -u extglob\n")),
    "-i -c": (["-i", "-c", "x"], ShellCall("text", text="x", interactive=True)),
    "-- after -c": (["-c", "--", "x"], ShellCall("text", text="x")),
    "script": (["x.sh", "a", "-c"], ShellCall("script", script="x.sh", name="x.sh", positional=("a", "-c"))),
    "script with options": (["-x", "x.sh"], ShellCall("script", script="x.sh", name="x.sh", words=("-x",))),
    "script after --": (["--", "x.sh"], ShellCall("script", script="x.sh", name="x.sh")),
    "stdin": ([], ShellCall("stdin")),
    "-s": (["-s", "a", "b"], ShellCall("stdin", positional=("a", "b"))),
    "-i": (["-i"], ShellCall("stdin", interactive=True)),
    "a lone dash": (["-"], ShellCall("stdin")),
    "version": (["--version"], ShellCall("version")),
    "version among others": (["--norc", "--version", "-c", "x"], ShellCall("version")),
    "help": (["--help"], ShellCall("help")),
    "posix": (["--posix", "-c", "x"], ShellCall("text", text="x", words=("--posix",))),
    "empty text": (["-c", ""], ShellCall("text")),
}
REFUSED = {
    "-c without text": ["-c"],
    "unknown letter": ["-Z", "-c", "x"],
    "unknown long option": ["--fast", "-c", "x"],
    "long option after letters": ["-c", "--norc", "x"],
    "-o without name": ["-o"],
    "debugger": ["--debugger", "-c", "x"],
    "rcfile without file": ["--rcfile"],
}
COMPARABLE = [given for given, call in READ.values() if call.mode == "text" and call.text and "--rcfile" not in given and not call.interactive]


@pytest.mark.parametrize(("arguments", "expected"), READ.values(), ids=READ.keys())
def test_reads(arguments: list[str], expected: ShellCall) -> None:
    assert read_call("bash", arguments) == expected


@pytest.mark.parametrize("arguments", REFUSED.values(), ids=REFUSED.keys())
def test_refuses(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        read_call("bash", arguments)


def test_a_login_shell_by_its_name() -> None:
    assert read_call("-bash", ["-c", "x"]).login


@pytest.mark.parametrize("arguments", COMPARABLE, ids=str)
def test_the_pinned_shell_gets_what_bash_would_have_understood(arguments: list[str]) -> None:
    """Both command lines, run by the real bash with a text that shows its own surroundings, say the same."""
    from instinct_shell.frontends.shell import command_line

    given = [TEXT if word == "x" else word for word in arguments]
    call = read_call("/bin/bash", given)
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    theirs = subprocess.run(["/bin/bash", *given], capture_output=True, env=environment, check=False)
    ours = subprocess.run(command_line(call, "/bin/bash"), capture_output=True, env=environment, check=False)
    assert (ours.stdout, ours.stderr, ours.returncode) == (theirs.stdout, theirs.stderr, theirs.returncode)
