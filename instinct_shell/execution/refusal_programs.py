"""Programs whose whole business a jail closes: tracing, mounting, raw sockets, gaining rights, talking to daemons by their sockets.

Each row says when it holds: only where the same person could have done it outside.
"""

from __future__ import annotations

import os

from ..model.effect import EffectKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..engine.judgement import Judgement
    from ..model.jailspec import JailSpec

    Holds = Callable[[tuple[str, ...], JailSpec], bool]

# Programs that run another one: what they run comes after their own options.
_WRAPPERS = frozenset("env timeout nice nohup time stdbuf setsid ionice xargs command exec sudo doas watch".split())


def closed_to(judgement: Judgement, spec: JailSpec) -> str:
    """The line for the first command of a closed kind; "" when there is none."""
    for words in _commands(judgement):
        row = _TABLE.get(words[0])
        if row is not None and row[0](words, spec):
            return row[1].format(program=words[0])
    for effect in judgement.effects:
        if effect.kind is EffectKind.PROCESS_KILL and _outside(effect.target.text):
            return _KILL.format(program=effect.target.text)
        if effect.kind is EffectKind.PACKAGE_INSTALL and effect.get("global"):
            return _GLOBAL.format(program=effect.get("manager") or effect.program)
    return ""


def _commands(judgement: Judgement) -> Iterator[tuple[str, ...]]:
    """The words of each command, and of what a wrapper runs; a word that is not known is empty."""
    if judgement.evaluation is None:
        return
    for invocation in judgement.evaluation.invocations:
        words = tuple(field.text or "" for field in invocation.words)
        for _ in range(4):
            if not words:
                break
            words = (words[0].rpartition("/")[2], *words[1:])
            yield words
            if words[0] not in _WRAPPERS:
                break
            rest = words[1:]
            while rest and (rest[0].startswith("-") or "=" in rest[0] or rest[0][:1].isdigit()):
                rest = rest[1:]
            words = rest


def _always(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # one signature for all rows
    return True


def _as_root(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
    return os.geteuid() == 0


def _with_socket(*paths: str) -> Holds:
    """The daemon's socket is there, and not opened by the profile."""

    def holds(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
        there = [path for each in paths if os.path.exists(path := os.path.realpath(each.replace("{uid}", str(os.getuid()))))]
        return bool(there) and not set(there) & set(spec.sockets)

    return holds


def _with_variable(name: str, *below_home: str) -> Holds:
    """The real environment has it, or a masked file of the person's stands for it."""

    def holds(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
        if os.environ.get(name):
            return True
        return any(piece in path for path in spec.masked for piece in below_home)

    return holds


def _gains(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
    """Outside it would have rights: root's own, or those that its file gives."""
    import shutil
    import stat

    if os.geteuid() == 0:
        return True
    path = shutil.which(words[0])
    if path is None:
        return False
    if os.stat(path).st_mode & stat.S_ISUID:
        return True
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


def _no_echo(words: tuple[str, ...], spec: JailSpec) -> bool:
    """No ping without a raw socket: this group may not send echoes by itself."""
    try:
        with open("/proc/sys/net/ipv4/ping_group_range", encoding="ascii") as knob:
            low, high = map(int, knob.read().split())
    except (OSError, ValueError):
        low, high = 1, 0
    return not low <= os.getegid() <= high and _gains(words, spec)


def _root_with(*marks: str) -> Holds:
    """Root, and one of the words begins so; "=" anywhere in one; "" for any operand."""

    def holds(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
        def fits(word: str) -> bool:
            return any("=" in word if mark == "=" else bool(word) and word[0] != "-" if not mark else word.startswith(mark) for mark in marks)

        return os.geteuid() == 0 and any(fits(word) for word in words[1:])

    return holds


def _owns(words: tuple[str, ...], spec: JailSpec) -> bool:
    """Root, and the files are there."""
    operands = [word for word in words[1:] if not word.startswith("-")][1:]
    return os.geteuid() == 0 and bool(operands) and all(os.path.lexists(os.path.join(spec.cwd, word)) for word in operands)


def _lower_number(words: tuple[str, ...], spec: JailSpec) -> bool:  # noqa: ARG001  # the same
    return os.geteuid() == 0 and any(word.startswith("-") and word.lstrip("-n").isdigit() for word in words[1:])


_TRACE = "`{program}` looks into other programs (ptrace, perf), which every jail closes; use the program's own logging, or a person runs it"
_MOUNTS = "`{program}` makes mounts or namespaces, which every jail closes; a command is in a jail already, or a person runs it"
_RAW = "`{program}` needs a raw socket, which no jailed program gets; test the connection with `curl` or `nc`, or a person runs it"
_RIGHTS = "`{program}` would gain rights, and nothing in a jail can: no program of root's counts there; a person runs it"
_ROOT = "`{program}` needs a right of root's that no command keeps inside a jail; a person runs it"
_DOCKER = "`{program}` talks to the container daemon, whose socket the jail keeps closed: it would be root outside; a person runs it"
_DAEMON = "`{program}` talks to a daemon of this machine by its socket in /run, which is private in a jail; a person runs it"
_KEYS = "`{program}` found no key: the ssh agent and private keys stay outside the jail; a person runs it"
_SECRETS = "`{program}` found no key: keyrings and their agent stay outside the jail; a person runs it"
_DISPLAY = "`{program}` needs the desktop, whose sockets stay outside the jail; a person runs it"
_SERVER = "`{program}` looked for the server's socket, which is private in a jail; name host and port (`-h 127.0.0.1`)"
_TERMINALS = "`{program}` looked for its server's socket, which stays outside the jail; start a server of the session's own under another name"
_OWNER = "`{program}` gives files to another account, and a jail knows its own only; a person runs it"
_KILL = "process `{program}` runs outside the jail, where no command's signal reaches; end what was started here, or a person ends it"
_GLOBAL = "`{program}` installs outside the workspace, where a command may not write; install into the project or a virtual environment"

_BUS = _with_socket("/run/dbus/system_bus_socket", "/run/user/{uid}/bus", "/run/systemd/private")
_ROWS: tuple[tuple[str, Holds, str], ...] = (
    ("strace ltrace gdb lldb perf bpftrace rr pstack gcore", _always, _TRACE),
    ("unshare bwrap firejail nsjail", _always, _MOUNTS),
    ("mount umount nsenter chroot pivot_root fusermount fusermount3 losetup swapon swapoff", _gains, _MOUNTS),
    ("ping ping6", _no_echo, _RAW),
    ("traceroute traceroute6 tcpdump arping mtr fping hping3 tshark dumpcap", _gains, _RAW),
    ("sudo su doas pkexec passwd chsh chfn newgrp crontab at batch", _gains, _RIGHTS),
    ("mknod chcon setcap dmesg insmod rmmod modprobe iptables nft hwclock", _as_root, _ROOT),
    ("date", _root_with("-s", "--set"), _ROOT),
    ("hostname", _root_with("-F", ""), _ROOT),
    ("sysctl", _root_with("-w", "-p", "--write", "="), _ROOT),
    ("ip ifconfig", _root_with("add", "del", "delete", "set", "up", "down", "flush", "replace", "change"), _ROOT),
    ("renice nice chrt ionice", _lower_number, _ROOT),
    ("chown chgrp", _owns, _OWNER),
    ("docker docker-compose podman nerdctl", _with_socket("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"), _DOCKER),
    ("systemctl loginctl busctl dbus-send gdbus nmcli timedatectl hostnamectl systemd-run notify-send journalctl", _BUS, _DAEMON),
    ("ssh scp sftp ssh-add ssh-copy-id rsync mosh", _with_variable("SSH_AUTH_SOCK", "/.ssh/"), _KEYS),
    ("gpg gpg2 pass secret-tool", _with_variable("GPG_AGENT_INFO", "/.gnupg", "/.password-store", "keyrings"), _SECRETS),
    ("xclip xsel xdotool xdg-open wl-copy wl-paste", _with_variable("DISPLAY"), _DISPLAY),
    ("psql pg_dump pg_isready createdb dropdb", _with_socket("/run/postgresql/.s.PGSQL.5432"), _SERVER),
    ("mysql mysqldump mysqladmin", _with_socket("/run/mysqld/mysqld.sock"), _SERVER),
    ("tmux", _with_socket("/tmp/tmux-{uid}"), _TERMINALS),  # noqa: S108  # looked at, nothing is put there
    ("screen", _with_socket("/run/screen/S-{uid}"), _TERMINALS),
)
_TABLE = {name: (holds, words) for names, holds, words in _ROWS for name in names.split()}


def _outside(pid: str) -> bool:
    """Whether such a process runs, where this process sees it and the jail does not."""
    return pid.isdigit() and int(pid) > 0 and os.path.exists(f"/proc/{pid}")
