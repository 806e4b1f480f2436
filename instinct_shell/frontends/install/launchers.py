"""The programs that an installation writes for agents to call: below the person's data directory, outside every folder that a command may write.

    <data>/bin/instinct, instinct-exec, instinct-hook     for people, rewritten calls and hook configurations
    <data>/bin/instinct-with AGENT [ARG]...               starts an agent whose shell is found by PATH or a variable
    <data>/bin/instinct-prefix TEXT                       for agents that put a program in front of a whole command string
    <data>/shell/bash, sh                                 drop-in shells; agents accept a shell by exactly these names

Each of them uses the state directory of the installation, whatever the variables of its caller say (storage/state.py).
`-I -S -B`: no environment variable, user site or `.pth` file has a say, and a full disk cannot leave half a compiled module behind.
"""

from __future__ import annotations

import os
import shutil
import sys

from ...errors import StorageError, UsageError
from ...model.refusal import explain
from ...storage.state import PINNED
from ..instinct_exec import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "instinct-shell"
PROGRAMS = ("instinct", "instinct-exec")
SHELLS = ("bash", "sh")
LATE = 6  # seconds after which a hook's interpreter is given up: more than its watchdog takes, far less than agents wait (recipes.TIMEOUT)
MARK = "written by `instinct install`; `instinct uninstall` removes it"

LAUNCH = '''"""Starts the programs of Instinct Shell. {mark}."""

from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal

if getsignal(SIGINT) is default_int_handler:
    signal(SIGINT, SIG_DFL)  # before anything is judged ^C needs no words

import sys
from _frozen_importlib_external import SourceFileLoader

sys.path += {path!r}
name = "instinct_shell.frontends.launching"
start = {{"__name__": name}}
exec(SourceFileLoader(name, {package!r} + "/frontends/launching.py").get_code(name), start)
start["launch"]({package!r}, sys.argv[1], sys.argv[2:])
'''

# With a folder as one of them no interpreter would start, and a jail must not be given one.
FOLDERS = """\
if [ -d /dev/stdin ] || [ -d /dev/stdout ] || [ -d /dev/stderr ]; then
  echo "instinct: stdin, stdout or stderr is a folder, which would lead around the jail; nothing ran" >&2
  echo "  mend: name a file, a pipe or /dev/null" >&2
  exit 125
fi
"""

PROGRAM = """#!/bin/sh
# {mark}.
{folders}\
{pin}
{quick}\
exec {python} -I -S -B -X utf8 {launch} {program} "$@"
"""

# The C launcher of a checkout, where it was built: the same run, started in half the time.
QUICK = """if [ -x {path} ]; then exec {path} {words}; fi
"""

SHELL = """#!/bin/sh
# A drop-in {name}: what it is given is judged, run in a jail and recorded. {mark}.
{folders}\
{pin}
{quick}\
exec {python} -I -S -B -X utf8 {launch} shell "$0" "$@"
"""

PREFIX = """#!/bin/sh
# Runs one whole command string, as agents with a shell prefix hand it over. {mark}.
{folders}\
{pin}
{quick}\
exec {python} -I -S -B -X utf8 {launch} shell {shell}/bash -c "$1"
"""

# Three ways in which agents find their shell: by name on PATH, by SHELL, by a variable of their own.
WITH = """#!/bin/sh
# Starts an agent with our shell in its way: {name} AGENT [ARG]... {mark}.
PATH={shell}:$PATH SHELL={shell}/bash CLAUDE_CODE_SHELL={shell}/bash GOOSE_SHELL={shell}/bash
export PATH SHELL CLAUDE_CODE_SHELL GOOSE_SHELL
exec "$@"
"""

# Agents go on when a hook dies or is late, so this shell outlives the interpreter and says no for it: exit 2, and JSON for the agent that reads JSON
# only. The judging process has a watchdog of its own; `timeout` is there for an interpreter that never gets as far as that.
HOOK = """#!/bin/sh
# An agent's hook. {mark}.
{pin}
answer=$({limit}{python} -I -S -B -X utf8 {launch} hook "$@")
status=$?
case $status in
0 | 2) if [ -n "$answer" ]; then printf '%s\\n' "$answer" || status=2; fi; exit $status ;;
esac
case " $* " in
*" post "* | *" start "* | *" prompt "* | *" stop "* | *" end "*) exit 1 ;;
*" cline "*) printf '%s\\n' '{{"cancel": true, "errorMessage": "instinct: denied, because the hook failed"}}' ;;
esac
echo "instinct: denied, because the hook failed (status $status); run: instinct doctor" >&2
exit 2
"""


def data_directory(environ: Mapping[str, str], home: str) -> str:
    """Where programs of ours are installed: `$XDG_DATA_HOME/instinct-shell`, else `~/.local/share/instinct-shell`."""
    base = environ.get("XDG_DATA_HOME", "")
    if not base.startswith("/"):
        base = os.path.join(home, ".local", "share")
    return os.path.join(os.path.normpath(base), NAME)


def contents(data: str, state: str = "") -> dict[str, str]:
    """Each file of the installation with its text, for the interpreter and package that run now. state: the state directory that its programs
    use whatever HOME and XDG_STATE_HOME say when they are called; "" for the one that these say."""
    python, launch = quote(sys.executable), quote(os.path.join(data, "launch.py"))
    clock = shutil.which("timeout", path="/usr/bin:/bin")
    limit = f"{clock} -s KILL {LATE} " if clock else ""
    pin = f"{PINNED}={quote(state)}; export {PINNED}" if state else f"unset {PINNED}"
    words = {"limit": limit, "python": python, "launch": launch, "mark": MARK, "pin": pin}
    fill = {**words, "shell": quote(os.path.join(data, "shell")), "folders": FOLDERS}
    folders = _import_path()
    package = os.path.join(folders[-1], "instinct_shell")
    found = {os.path.join(data, "launch.py"): LAUNCH.format(mark=MARK, path=folders, package=package)}
    for program in PROGRAMS:
        quick = _quick(folders[-1], program, '"$@"') if program == "instinct-exec" else ""
        found[os.path.join(data, "bin", program)] = PROGRAM.format(program=program, quick=quick, **fill)
    prefix = _quick(folders[-1], "instinct-shell", f'{fill["shell"]}/bash -c "$1"')
    for name, text in (("instinct-hook", HOOK), ("instinct-prefix", PREFIX), ("instinct-with", WITH)):
        found[os.path.join(data, "bin", name)] = text.format(name=name, quick=prefix, **fill)
    for name in SHELLS:
        found[os.path.join(data, "shell", name)] = SHELL.format(name=name, quick=_quick(folders[-1], "instinct-shell", '"$0" "$@"'), **fill)
    return found


def _quick(top: str, name: str, words: str) -> str:
    """The lines that try the C launcher of a checkout; nothing for a package that was installed without one."""
    folder = os.path.join(top, "bin", "launcher")
    return QUICK.format(path=quote(os.path.join(folder, "build", name)), words=words) if os.path.isdir(folder) else ""


def _import_path() -> list[str]:
    """The folders that hold the packages that this one needs, and at last this one; nothing that a variable could have added."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import click

    packages = os.path.dirname(os.path.dirname(os.path.realpath(click.__file__)))
    return list(dict.fromkeys((packages, os.path.dirname(package))))


def write(data: str, state: str = "") -> list[str]:
    """Write what is missing or different; the paths written. Each is replaced in one step. Raises StorageError."""
    written = []
    try:
        for folder in (data, os.path.join(data, "bin"), os.path.join(data, "shell")):
            os.makedirs(folder, mode=0o755, exist_ok=True)
        for path, text in contents(data, state).items():
            if _read(path) == text and os.access(path, os.X_OK | os.R_OK):
                continue
            draft = f"{path}.new"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(draft, 0o755)  # noqa: S103  # programs are for everybody to run, whatever the umask said
            os.replace(draft, path)
            written.append(path)
    except OSError as error:
        raise explain(error, data) from error
    return written


def remove(data: str) -> list[str]:
    """Remove what `write` wrote, and nothing that somebody changed or added; the paths removed. Raises StorageError."""
    removed = []
    try:
        for path in contents(data):
            text = _read(path)
            if text is not None and MARK in text:
                os.unlink(path)
                removed.append(path)
        for folder in ("bin", "shell", "."):
            try:
                os.rmdir(os.path.normpath(os.path.join(data, folder)))
            except (FileNotFoundError, OSError):
                pass  # something else lies there: it is not ours to remove
    except OSError as error:
        raise explain(error, data) from error
    return removed


def check_place(data: str, writable: tuple[str, ...]) -> None:
    """Raise UsageError when the launchers would lie where a judged command may write."""
    real = os.path.realpath(data)
    for scope in writable:
        place = os.path.realpath(scope)
        if real == place or real.startswith(place.rstrip("/") + "/"):
            raise UsageError(
                f"the launchers would lie in `{data}`, which commands may write (`{scope}`)",
                hint="set XDG_DATA_HOME to a folder outside the workspace and /tmp",
            )


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise StorageError(f"`{path}` is not a text file", hint="move it away, then install again") from error
