"""What agents put around a command before they hand it to their shell, matched strictly.

Recognition changes which text is judged, never whether it is, and never what runs: the bytes that run are the agent's, whole. Whatever does not
match to the last byte is judged whole. Each template was recorded from the real client (tests/cases/client-shell-calls.jsonl).
"""

from __future__ import annotations

import re
from functools import cache

from ..model.value import Value
from .rewriting import unquote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shell_args import ShellCall

CLAUDE_SNAPSHOT = r"/[^\s'\"$`\\;&|<>()*?]+/\.claude/shell-snapshots/snapshot-(?:bash|zsh)-[0-9]+-[a-z0-9]+\.sh"
CLAUDE = (
    rf"\A(?:source (?P<snapshot>{CLAUDE_SNAPSHOT}) 2>/dev/null \|\| true && )?"
    r"(?:\\builtin shopt -u extglob 2>/dev/null \|\| true && "
    r"|\{ \\builtin shopt -u extglob \|\| \\builtin setopt(?: NO_[A-Z_]+)+; \} >/dev/null 2>&1 \|\| true && )?"
    r"(?:\{ \\builtin unalias -- '(?P<last>[A-Za-z_]\w*)'; \\builtin unset -f -- '(?P=last)'; \} >/dev/null 2>&1 \|\| true && )*"
    r"eval (?P<word>'.*'|[\w@%+=:,./-]+) < /dev/null && pwd -P >\| (?P<tracker>/tmp/claude-[0-9a-f]{4,12}-cwd)\Z"
)
GEMINI = (
    r"\Ashopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=(?P<tracker>/tmp/gemini-shell-[A-Za-z0-9]{6}/bgpids\.tmp)\n"
    r"""\(\n  trap 'jobs -p > "\$_bgpids_file"' EXIT\n(?P<inner>.*)\n\)\n__code=\$\?\nexit \$__code\Z"""
)
# Codex saves variables, reads its snapshot, restores them, and starts the shell again with the command. Only such lines may stand in front.
CODEX_SNAPSHOT = r"/[^\s'\"$`\\;&|<>()*?]+/\.codex/shell_snapshots/[\w.-]+"
SAVED = r"__CODEX_SNAPSHOT_[A-Z0-9_]+"
STEP = rf"""(?:(?:builtin |command )?(?:export [A-Za-z_]\w*="\$\{{{SAVED}\}}"|unset(?: [A-Za-z_]\w*)+)(?: 2>/dev/null)?|:)"""
STEPS = rf"{STEP}(?: \|\| {STEP})*"
CODEX_LINES = (
    rf"""{SAVED}="\$\{{[A-Za-z_]\w*(?:\+x|-)\}}\"""",
    rf"if \. '{CODEX_SNAPSHOT}' >/dev/null 2>&1; then(?: :; fi)?",
    rf"""if \[ -n "\$\{{{SAVED}\}}" \]; then(?: {STEPS};(?: else {STEPS};)? fi)?""",
    rf"else(?: {STEPS}; fi)?",
    "fi",
    STEPS,
    r"""if \[ -n "\$\{PATH:-\}" \]; then export PATH='[\w/.:@+ ~-]*':"\$PATH"; else export PATH='[\w/.:@+ ~-]*'; fi""",
)
CODEX = rf"\A(?:(?:{'|'.join(CODEX_LINES)})?\n)+exec '(?P<shell>/[^'\n]+/(?:bash|sh))' -l?c (?P<word>'.*')\Z"

SYSTEM_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh")

PROBE_CODEX = rf'\Aset -e; \. "{CODEX_SNAPSHOT}"\Z'
PROBE_COPILOT = (
    r"\Aprintf %s '__copilot_login_env_snapshot_[0-9a-f]+_[0-9a-f]+__'; if ! command env -0 2>/dev/null; then for __copilot_k in \$\(compgen -e\); "
    r"""do printf '%s=%s\\0' "\$__copilot_k" "\$\{!__copilot_k\}"; done; fi\Z"""
)
PROBE_CLAUDE = rf"\ASNAPSHOT_FILE=(?P<file>{CLAUDE_SNAPSHOT})\n.*# First, create/clear the snapshot file\n.*\n        exit 1\n      fi\n    \Z"
PROBE_CODEX_SNAPSHOT = """\
if [ -z "${BASH_ENV-}" ] && [ -n "${HOME-}" ] && [ -r "$HOME/.bashrc" ]; then
  . "$HOME/.bashrc"
fi
echo '# Snapshot file'
"""


class Wrapped(Value):
    """A command found in an agent's wrapper. tracker: the file in /tmp by which the agent follows folder or jobs, "" for none."""

    agent: str
    inner: str
    tracker: str = ""


class Probe(Value):
    """A start-up call of the agent itself, not a command of its model. writes: the one file that it makes, "" for none."""

    agent: str
    writes: str = ""


def unwrap(text: str, home: str, shell: str) -> Wrapped | None:
    """The command in an agent's wrapper; None when the text is no wrapper that we know to the last byte. shell: the path we were called by."""
    if text.endswith("-cwd") and (found := _compiled(CLAUDE).match(text)):
        inner = unquote(found["word"])
        if inner is not None and _below(found["snapshot"], home):
            return Wrapped("claude", inner, found["tracker"])
    if text.startswith("shopt -u promptvars") and (found := _compiled(GEMINI).match(text)):
        return Wrapped("gemini", found["inner"], found["tracker"])
    if "__CODEX_SNAPSHOT_" in text and (found := _compiled(CODEX).match(text)):
        inner = unquote(found["word"])
        if inner is not None and found["shell"] in {shell, *SYSTEM_SHELLS}:
            return Wrapped("codex", inner)
    return None


def probe(call: ShellCall, agent: str, session: str, home: str) -> Probe | None:
    """The start-up call that this is; None for anything else. Model commands carry a session id, start-up calls come before there is one."""
    text = call.text
    if call.mode != "text" or call.name or call.positional:
        return None
    if call.login and text.startswith("printf %s '__copilot_login") and _compiled(PROBE_COPILOT).match(text):
        return Probe("copilot")
    if text.startswith("set -e; . ") and _compiled(PROBE_CODEX).match(text) and _below(text[len('set -e; . "') : -1], home):
        return Probe("codex")
    if call.login and agent in {"", "codex"} and text.startswith(PROBE_CODEX_SNAPSHOT) and text.endswith("\nprintf '\\0'\n\n"):
        return Probe("codex")
    if call.login and agent == "claude" and not session and text.startswith("SNAPSHOT_FILE="):
        found = _compiled(PROBE_CLAUDE).match(text)
        if found and _below(found["file"], home):
            return Probe("claude", found["file"])
    return None


def _below(path: str | None, home: str) -> bool:
    return path is None or (path.startswith(home.rstrip("/") + "/.") and "/../" not in path)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL | re.ASCII)
