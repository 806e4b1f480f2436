"""The jail as a plain value: planned first, then carried out (execution/jail)."""

from __future__ import annotations

from enum import StrEnum

from .value import Value


class JailLevel(StrEnum):
    FULL = "full"  # every canary of `instinct doctor` is stopped
    PARTIAL = "partial"  # Landlock + seccomp + rlimits: no protected files inside a writable folder, no UDP or unix socket control by path
    NONE = "none"


class Limits(Value):
    """0 means no limit. Seconds, bytes, counts."""

    wall_seconds: float = 0.0
    cpu_seconds: int = 0
    memory_bytes: int = 0
    processes: int = 0
    open_files: int = 0
    file_bytes: int = 0
    output_bytes: int = 0


class Session(Value):
    """The jail session that a command joins: all commands of one agent share process, ipc and, without a network, network namespaces.

    path: the socket of the session's holder, in a folder of mode 0700 that no command sees. agent: the process whose end ends the session, and its
    start time in clock ticks since boot (0: nobody's). name, profile, workspace: for people.
    idle_seconds: how long it lives without a command.
    """

    path: str
    name: str = ""
    profile: str = ""
    workspace: str = ""
    agent: int = 0
    agent_started: int = 0
    idle_seconds: float = 1800.0


class JailSpec(Value):
    """What one command may touch. All paths absolute and real (resolved by the planner once; carried out by descriptor).

    writable: folders (or files) with write rights. protected: existing paths below a writable one that stay read-only, ancestors pinned.
    masked: paths whose content must not be seen. private_tmp: /tmp is a fresh tmpfs.
    network: "host" | "allowlist" | "none"; with the last two a network of its own with nothing but loopback, in which a proxy lets through what
    network_allow names (model/hosts.py), and the loopback ports in `publish` are reached from the host.
    credentials: which of the person's were lent, by name. sockets: pathname sockets of the host that the command may connect to, all others being hidden.
    read_only: the command was surely predicted to only read: no write rights at all but for /dev and its own fds.
    session: the jail session to join; None is a jail of its own, in which nothing outlives the command.
    vetted: git configuration files that are open for git's own notes, and vetted_keys what else may be changed in them: compared after the run.
    supervise_execs: every program that is started inside is judged when it starts (execution/execs.py).
    overlay: a folder of ours; then the workspace is a copy-on-write view of itself whose changes go there (execution/overlays.py).
    descriptors: open pipes and terminals of the caller's that the command inherits under the same numbers, beside 0, 1 and 2; never files.
    """

    workspace: str
    cwd: str
    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    network: str = "host"
    private_tmp: bool = False
    read_only: bool = False
    least_level: JailLevel = JailLevel.FULL
    limits: Limits = Limits()
    env: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()  # argv[0] is an absolute path of the pinned program
    session: Session | None = None
    descriptors: tuple[int, ...] = ()
    vetted: tuple[str, ...] = ()
    vetted_keys: tuple[str, ...] = ()
    supervise_execs: bool = False
    network_allow: tuple[str, ...] = ()
    publish: tuple[int, ...] = ()
    overlay: str = ""
    credentials: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()

    @property
    def own_network(self) -> bool:
        """Whether the command is kept off the host's network: by every word but the one that means it."""
        return self.network != "host"


class Connection(Value):
    """One connection out of a jail with an allow-list. refused: why there was none. how: connect | http | socks | local | publish.

    up, down: bytes from and to the command. state: closed | open (its bytes are told by a later record, as `earlier`) | refused | left out.
    """

    host: str
    port: int
    allowed: bool
    refused: str = ""
    address: str = ""
    how: str = ""
    up: int = 0
    down: int = 0
    state: str = ""


class RunResult(Value):
    """How a run ended. status: exit status as a shell would report it (128+n for a signal). started: False when nothing ran.

    failure: our own words when we failed (then status is 125 and started False, or 124 for the wall-clock limit).
    """

    status: int
    started: bool
    signal: int = 0
    level: JailLevel = JailLevel.NONE
    layers: tuple[str, ...] = ()
    landlock_abi: int = 0
    wall_us: int = 0
    user_us: int = 0
    system_us: int = 0
    max_rss_bytes: int = 0
    failure: str = ""
    limit: str = ""  # which limit ended it, when one did
    held_anew: tuple[str, ...] = ()  # protected files that the host replaced meanwhile
    execs_denied: int = 0  # programs that were refused when something inside wanted to start them
    put_back: tuple[str, ...] = ()  # changes of git's configuration that were undone after it, in words
    connections: tuple[Connection, ...] = ()  # through the proxy of a network allow-list
