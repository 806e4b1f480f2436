"""Lends the person's own means of reaching a git server to one command: the agent that signs for ssh, and the files of git's `store` helper.

Keys stay where they are: what goes in is the agent's socket. The environment that names it is not trusted: the socket has to be this account's and to
answer as such an agent does. git has to be the system's, and read the person's own configuration, or nothing is lent.
"""

from __future__ import annotations

import os
import stat

from ..model.hosts import ALLOWLIST, PROXY_PORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.jailspec import JailSpec

_STORES = (".git-credentials", ".config/git/credentials")
_LIST_KEYS, _KEYS = b"\x00\x00\x00\x01\x0b", 12  # SSH_AGENTC_REQUEST_IDENTITIES, SSH_AGENT_IDENTITIES_ANSWER
_ANSWER_SECONDS = 0.5
# ssh's way through the proxy, by what every jail has: a shell that can connect, and cat.
_TUNNEL = (
    f'exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT} && echo -en "CONNECT $0:$1 HTTP/1.1\\r\\n\\r\\n" >&3 && read -r _ s _ <&3 && [ "$s" = 200 ] '
    "&& while read -r l <&3 && [ ${#l} -gt 1 ]; do :; done && { cat <&3 & exec cat >&3; }"
)


def lend(spec: JailSpec, environ: Mapping[str, str], home: str) -> JailSpec:
    """The spec with what can be lent. environ: the caller's; home: of the account."""
    env = dict(spec.env)
    named = [name for name in env if name.startswith("GIT_CONFIG")]
    if named or env.get("HOME", "").rstrip("/") != home.rstrip("/") or env.get("XDG_CONFIG_HOME", f"{home}/.config").rstrip("/") != f"{home}/.config":
        return spec  # git would read a configuration that is not the person's, and that may name a program
    git, ssh = (_program(name, env.get("PATH", ""), spec.writable) for name in ("git", "ssh"))
    if not git:
        return spec
    stores = {f"{home}/{name}" for name in _STORES}
    agent = agent_socket(environ.get("SSH_AUTH_SOCK", "")) if ssh else ""
    # No question to a person who is not there, and no editor of the caller's choice.
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_MERGE_AUTOEDIT": "no", "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}
    if agent:
        env["SSH_AUTH_SOCK"] = agent
    if ssh:
        tunnel = f" -o {_quoted('ProxyCommand=/bin/bash --norc -c ' + _quoted(_TUNNEL) + ' %h %p')}" if spec.network == ALLOWLIST else ""
        env["GIT_SSH_COMMAND"] = f"{ssh} -o BatchMode=yes{tunnel}"
    return spec.replace(
        credentials=("git",),
        masked=tuple(path for path in spec.masked if path not in stores),
        sockets=(agent,) if agent else (),
        env=tuple(sorted(env.items())),
    )


def agent_socket(named: str) -> str:
    """The real path of this account's ssh agent; "" when nobody answers there as one."""
    from _socket import AF_UNIX, SOCK_CLOEXEC, SOCK_STREAM, socket

    if not named.startswith("/"):
        return ""
    path = os.path.realpath(named)
    try:
        found = os.lstat(path)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            return ""
        asked = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)
        try:
            asked.settimeout(_ANSWER_SECONDS)
            asked.connect(path)
            asked.send(_LIST_KEYS)
            answer = asked.recv(5)
        finally:
            asked.close()
    except OSError:
        return ""
    return path if len(answer) == 5 and answer[4] == _KEYS else ""


def _program(name: str, path: str, writable: tuple[str, ...]) -> str:
    """Where this program is; "" when there is none, or a command could have put it there."""
    for folder in path.split(":"):
        place = f"{folder.rstrip('/')}/{name}"
        if not folder.startswith("/"):
            return ""
        if os.access(place, os.X_OK):
            inside = any(f"{each}/".startswith(f"{top.rstrip('/')}/") for each in (place, os.path.realpath(place)) for top in writable)
            return "" if inside or "'" in place or " " in place else place
    return ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
