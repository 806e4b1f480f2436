"""Variables and parameters that bash itself sets: some always the same, most known only when the text runs."""

from __future__ import annotations

from . import values
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

# what bash sets itself when the environment does not
SET_BY_BASH = {
    "BASH": "/bin/bash",
    "SHELL": "/bin/bash",
    "OSTYPE": "linux-gnu",
    "PS4": "+ ",
    "IFS": " \t\n",
    "TERM": "dumb",
    "OPTERR": "1",
}
# A text may set these, until then nobody knows.
_OPEN = frozenset("HOSTNAME COLUMNS LINES SHLVL MACHTYPE HOSTTYPE COMP_LINE COMP_WORDBREAKS BASH_EXECUTION_STRING BASH_ARGV0 BASH_VERSION".split())
# What a text gives to these is not what it gets back.
DYNAMIC = frozenset(
    "RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME LINENO BASHPID PPID UID EUID BASH_COMMAND BASH_SUBSHELL SHELLOPTS BASHOPTS OPTIND HISTCMD "
    "_ BASH_MONOSECONDS".split()
)
_ARRAYS = frozenset("PIPESTATUS GROUPS DIRSTACK BASH_VERSINFO BASH_LINENO BASH_ARGC BASH_ARGV BASH_ALIASES BASH_CMDS".split())


def lookup(ev: Evaluator, name: str) -> Text | Array | None:
    """What a special parameter or a variable of bash's own holds; None for any other name."""
    state = ev.state
    if name.isdigit():
        number = int(name)
        if number == 0:
            return ev.argv0
        if number <= len(state.positional):
            return state.positional[number - 1]
        return values.unknown(f"argument {number} is not known", "positional", name) if state.open_positional else None
    if name == "PWD":
        return state.cwd
    if name == "OLDPWD":
        return state.oldpwd
    if name == "HOME":
        return Text((ev.surroundings.home,)) if ev.surroundings.home else None
    if name == "#":
        return values.unknown("number of arguments", "positional", "#") if state.open_positional else Text((str(len(state.positional)),))
    if name in ("USER", "LOGNAME"):
        return Text((ev.surroundings.user,)) if ev.surroundings.user else values.unknown("user name", "variable", name)
    if name in SET_BY_BASH:
        return Text((SET_BY_BASH[name],))
    if name == "_" and state.last is not None:
        return state.last
    if name in ("$", "!", "?", "-", "PATH"):
        return values.unknown(f"`${name}` is set when it runs", "variable", name)
    if name in DYNAMIC or name in _OPEN:
        return values.unknown(f"`{name}` is set when it runs", "variable", name)
    if name in _ARRAYS:
        return _unknown_list(name)
    if name in ("FUNCNAME", "BASH_SOURCE"):
        return _callers(ev, name)
    return None


def is_dynamic(name: str) -> bool:
    """Whether bash decides what the variable holds, whatever it is given."""
    return name in DYNAMIC or name in _ARRAYS or name == "FUNCNAME"


def _unknown_list(name: str, first: Text | None = None) -> Array:
    return Array({"0": first} if first is not None else {}, False, values.unknown(f"`{name}` is set when it runs", "variable", name))


def _callers(ev: Evaluator, name: str) -> Array | None:
    """The functions that run now, innermost first, or the files they stand in."""
    file = ev.argv0 if ev.argv0.text is None or "/" in ev.argv0.text else None  # a script, not the text of `bash -c`
    if not ev.calls:
        return Array({"0": file}) if file is not None and name == "BASH_SOURCE" else None
    return _unknown_list(name, Text((ev.calls[-1],)) if name == "FUNCNAME" else file or Text(("environment",)))
