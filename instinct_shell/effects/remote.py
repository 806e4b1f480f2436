"""Other machines by name: ssh, scp, sftp, ftp, rsync's remote side, and raw sockets (nc, socat, telnet).

What a remote command does is described as if it ran here, with `remote=<host>` on each effect; `ssh localhost` is here. A socket that is
tied to a shell is a reverse shell (`net.remote_exec reverse=1`), whichever end listens.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Program, Scene
from .database_apis import wire_effects
from .flow import upstream
from .hosts import address_attributes, host_of, host_target, is_local, is_private
from .options import split
from .output import stdin_text
from .roles import file_effects
from .verbs import shown, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FORGES = frozenset(["github.com", "ssh.github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "ssh.dev.azure.com", "git.sr.ht"])
REMOTE_CWD = Field(Known.DYNAMIC, reason="directory on another machine")
_SHELL_OPTIONS = re.compile(r"^(proxycommand|localcommand|knownhostscommand)[\s=]+(.*)", re.IGNORECASE | re.DOTALL)
_HARMLESS_PROXY = re.compile(
    r"^(?:none|(?:\S*/)?(?:ssh|nc|ncat|connect|cloudflared|aws|gcloud|corkscrew|socat)\b[^;&|`$(]*)$", re.IGNORECASE
)


def nested_remote(text: str, call: Call, scene: Scene, host: str, via: str) -> Iterator[Effect]:
    """Effects of shell text on another machine; on this one when the host is local."""
    if is_local(host):
        yield from scene.nested_shell(text, call, via=via)
        return
    for effect in scene.nested_shell(text, call, cwd=REMOTE_CWD, via=via):
        yield with_attributes(effect, remote=host or "unknown")


def ssh_option(field: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """`-o ProxyCommand=..` and its kin run a command on this machine; plain jumps through ssh or nc are how they are meant."""
    text = field.text
    if text is None:
        return
    match = _SHELL_OPTIONS.match(text.strip())
    if match is None or _HARMLESS_PROXY.match(match[2].strip()):
        return
    command = re.sub(r"%[hprnuLlTtdiCk%]", "x", match[2])
    yield from scene.nested_shell(command, call, via=f"{call.name} -o {match[1]}")


_AFTER_HOST = Program(
    ("ssh",), options="-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -P -Q -R -S -W -w", style="stop"
)
_SSH_OPTIONS = "-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -P -Q -R -S -W -w"


def _options_behind(call: Call) -> Call:
    """ssh reads options behind the host too (`ssh HOST -p 2222 -o ...  COMMAND`); they count as if they stood before it."""
    if len(call.operands) < 2 or not (call.operands[1].text or call.operands[1].prefix).startswith("-"):
        return call
    behind = split(_AFTER_HOST, call.operands[1:])
    return call.replace(
        flags=(*call.flags, *behind.flags), values=(*call.values, *behind.values), operands=(call.operands[0], *behind.operands)
    )


def ssh(call: Call, scene: Scene) -> Iterator[Effect]:
    """ssh HOST [COMMAND]: words of the command are joined by blanks, as ssh does."""
    call = _options_behind(call)
    if call.has("-V", "-Q", "-G") or not call.operands:
        return
    for field in (f for o, f in call.values if o == "-o"):
        yield from ssh_option(field, call, scene)
    log = call.value("-E")
    if log is not None:
        yield from file_effects(call, scene, EffectKind.FILE_APPEND, log)
    if call.value("-O") is not None:
        return
    where = host_target(call.operands[0])
    host = where.text
    for option in ("-L", "-D", "-R"):
        forward = call.value(option)
        if forward is not None:
            back = option == "-R"
            # A port of this machine handed to another one: a tunnel that lets it in.
            public = "1" if back and not is_private(host) else ""
            yield call.effect(
                EffectKind.NET_LISTEN, Target(TargetKind.HOST, shown(forward)), remote="1" if back and not public else "", public=public, via="ssh"
            )
    words = call.operands[1:]
    stdin = call.invocation.stdin
    attributes = address_attributes(host)
    if not words and call.has("-N", "-f") and call.has("-N"):
        yield call.effect(EffectKind.NET_CONNECT, where, attributes, via="ssh")
        return
    if not words and call.has("-T") and host in _FORGES and (shown(call.operands[0]).startswith("git@") or shown(call.value("-l")) == "git"):
        yield call.effect(EffectKind.NET_CONNECT, where, attributes, via="ssh")  # a forge only says who one is
        return
    command = " ".join(shown(word) for word in words)
    upload = "stdin" if stdin.kind in ("pipe", "file") else ""
    yield call.effect(EffectKind.NET_REMOTE_EXEC, where, attributes, via="ssh", command=command[:80], upload=upload)
    if words:
        text = joined(words)
        if text is not None:
            yield from nested_remote(text, call, scene, host, f"ssh {host}")
        elif is_local(host):
            yield call.effect(
                EffectKind.CODE_OPAQUE, reason="part of the remote command is not known", source="variable", dynamic="interpreter"
            )
    elif stdin.kind in ("text", "pipe", "file"):
        text = stdin_text(call.invocation, scene)
        if text is not None:
            yield from nested_remote(text, call, scene, host, f"ssh {host}")
        else:
            yield call.effect(
                EffectKind.CODE_OPAQUE, reason="the remote shell reads its commands from elsewhere", source="stdin", remote=host
            )


def joined(words: tuple[Field, ...]) -> str | None:
    """The words joined by blanks when each has one value; a set gives its first value only when all values are one word."""
    texts = [word.text for word in words]
    return " ".join(text for text in texts if text is not None) if None not in texts else None


# ---------------------------------------------------------------- copies


def remote_place(field: Field) -> tuple[str, str] | None:
    """(host, path) of a word such as `user@host:path`, `rsync://host/path`, `scp://host/path`; None for a local path."""
    text = field.text if field.text is not None else field.values[0] if field.values else field.prefix
    if re.match(r"(?:rsync|scp|sftp|ssh|ftp)://", text):
        rest = text.split("://", 1)[1]
        return host_of(text), "/" + rest.partition("/")[2]
    head = text.split("/", 1)[0]
    if ":" not in head or text.startswith(("/", "./", "../")):
        return None
    host, _, path = text.partition(":")
    return host_of(host), path.lstrip(":")


def landing(destination: Field, source: Field) -> Field:
    """Where a fetched file lands: in a folder (`.`, `dir/`) under its own name, else at the destination."""
    text = destination.text
    name = (source.text or "").rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    if text is not None and name and (text in (".", "..") or text.endswith("/")):
        return literal(f"{text.rstrip('/')}/{name}")
    return destination


def transfer(call: Call, scene: Scene, sources: tuple[Field, ...], destination: Field) -> Iterator[Effect]:
    """A copy between machines: local sources that leave are read and uploaded, remote ones are fetched into a local place."""
    place = remote_place(destination)
    for source in sources:
        origin = remote_place(source)
        if origin is not None:
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, origin[0]), address_attributes(origin[0]), via=call.name)
        else:
            recursive = "1" if call.has("-r", "-a", "--archive", "--recursive", "-R") else ""
            yield from file_effects(call, scene, EffectKind.FILE_READ, source, source_of_copy="1", recursive=recursive)
    if place is not None:
        host, path = place
        yield call.effect(
            EffectKind.NET_UPLOAD, Target(TargetKind.HOST, host), address_attributes(host), upload="file", via=call.name, to=path
        )
        if is_local(host):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(path or "."))
    else:
        for source in sources:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, landing(destination, source))


def scp(call: Call, scene: Scene) -> Iterator[Effect]:
    """scp [options] SOURCE... DESTINATION."""
    for option, field in call.values:
        if option == "-o":
            yield from ssh_option(field, call, scene)
        elif option == "-S":
            yield from scene.nested_argv((field,), call, via="scp -S")
    if len(call.operands) > 1:
        yield from transfer(call, scene, call.operands[:-1], call.operands[-1])


def sftp(call: Call, scene: Scene) -> Iterator[Effect]:
    """sftp and ftp: a dialogue on stdin or in a batch file, as far as it can be read."""
    host = host_target(call.operands[0]) if call.operands else Target(TargetKind.HOST, "")
    if call.operands:
        yield call.effect(EffectKind.NET_CONNECT, host, address_attributes(host.text), via=call.name)
    batch = call.value("-b")
    text: str | None = None
    if batch is not None and batch.text != "-":
        found = tuple(file_effects(call, scene, EffectKind.FILE_READ, batch))
        yield from found
        text = scene.files.get(found[0].target.text) if found else None
    elif call.invocation.stdin.kind in ("text", "pipe", "file"):
        text = stdin_text(call.invocation, scene)
    else:
        return
    if text is None:
        yield call.effect(EffectKind.CODE_OPAQUE, reason=f"the {call.name} dialogue cannot be read", source="stdin")
        return
    yield from dialogue(text, call, scene, host)


def dialogue(text: str, call: Call, scene: Scene, host: Target) -> Iterator[Effect]:
    """The commands of a file transfer dialogue, one a line."""
    for line in text.splitlines():
        line = line.strip().lstrip("-@")
        if line.startswith("!"):
            yield from scene.nested_shell(line[1:], call, via=call.name)
            continue
        words = line.split()
        verb, names = (words[0].lower(), [word for word in words[1:] if not word.startswith("-")]) if words else ("", [])
        if verb in ("put", "mput", "reput", "send", "append", "mirror") and names:
            for name in names if verb == "mput" else names[:1]:
                yield from file_effects(call, scene, EffectKind.FILE_READ, literal(name), source_of_copy="1")
            yield call.effect(EffectKind.NET_UPLOAD, host, upload="file", via=call.name)
        elif verb in ("get", "mget", "reget", "recv") and names:
            yield from file_effects(
                call, scene, EffectKind.FILE_WRITE, literal(names[1] if len(names) > 1 and verb != "mget" else names[0].rsplit("/", 1)[-1])
            )
        elif verb in ("rm", "rmdir", "delete", "mdelete", "del", "mrm"):
            yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, names[0] if names else ""), remote=host.text or "unknown")


def lftp(call: Call, scene: Scene) -> Iterator[Effect]:
    """lftp -c/-e 'commands'."""
    host = host_target(call.operands[0]) if call.operands else Target(TargetKind.HOST, "")
    yield call.effect(EffectKind.NET_CONNECT, host, address_attributes(host.text), via="lftp")
    for option in ("-c", "-e"):
        field = call.value(option)
        if field is not None:
            yield from dialogue(shown(field).replace(";", "\n").replace("mirror -R", "put"), call, scene, host)


# ---------------------------------------------------------------- sockets


@cache
def _shell_program() -> re.Pattern[str]:
    return re.compile(
        r"^(?:\S*/)?(?:(?:ba|z|da|k|a|c|tc|fi)?sh|cmd(?:\.exe)?|powershell|pwsh|python\d*|perl|ruby|busybox|script|su|sudo|login)\b"
    )


def tied(call: Call, scene: Scene, where: Target, command: Field | str, via: str, port: str = "") -> Iterator[Effect]:
    """A program tied to a socket: with a shell whoever is at the other end commands this machine; other programs run as they stand."""
    text = command if isinstance(command, str) else command.text
    if text is None or _shell_program().match(text.strip()):
        told = command if isinstance(command, str) else shown(command)
        yield call.effect(EffectKind.NET_REMOTE_EXEC, where, reverse="1", via=via, command=told[:80], port=port)
        return
    if where.text:
        yield call.effect(EffectKind.NET_UPLOAD, where, address_attributes(where.text), upload="stdin", via=via, port=port)
    else:
        yield call.effect(EffectKind.NET_LISTEN, where, port=port, via=via)
    yield from scene.nested_shell(text, call, via=via)


def shell_behind(call: Call, scene: Scene) -> bool:
    """Whether what is sent comes out of a shell that runs whatever it is told: `cat fifo | sh -i | nc HOST > fifo`."""
    for index in upstream(call.invocation.stdin.producers, scene):
        invocation = scene.invocations[index]
        words = [word.text or word.prefix for word in invocation.words]
        if words and _shell_program().match(words[0]) and all(word.startswith("-") for word in words[1:]) and "-c" not in words:
            if stdin_text(invocation, scene) is None:
                return True
    return False


def netcat(call: Call, scene: Scene) -> Iterator[Effect]:
    """nc, ncat, netcat: -e/-c tie a program to the socket; -z only looks; what stdin holds is sent."""
    program = call.value("-e", "-c", "--exec", "--sh-exec", "--lua-exec")
    listens = call.has("-l", "--listen", "-L", "-k", "--keep-open")
    where = host_target(call.operands[0]) if call.operands and not listens else Target(TargetKind.HOST, "")
    port = shown(call.operands[-1]) if call.operands else shown(call.value("-p", "--source-port"))
    if program is not None:
        yield from tied(call, scene, where, program, "nc", port)
        return
    if listens:
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), port=port)
        return
    if call.has("-z"):
        return
    if where.text.endswith((".sock", ".socket")) and call.has("-U", "--unixsock"):
        if where.text.endswith(("docker.sock", "podman.sock", "containerd.sock")):
            yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, where.text), tool="docker-socket")
        return
    stdin = call.invocation.stdin.kind
    kind = EffectKind.NET_UPLOAD if stdin in ("pipe", "text", "file") else EffectKind.NET_CONNECT
    from .http_request import fed_with

    if shell_behind(call, scene):
        yield call.effect(EffectKind.NET_REMOTE_EXEC, where, reverse="1", via="nc", port=port)
    upload = fed_with(call, scene) if kind is EffectKind.NET_UPLOAD else ""
    yield call.effect(kind, where, address_attributes(where.text), upload=upload, via="nc", port=port)
    yield from wire_effects(call, scene, stdin_text(call.invocation, scene), where.text, port)


def socat(call: Call, scene: Scene) -> Iterator[Effect]:
    """socat ADDRESS ADDRESS: what the two ends tie together."""
    ends = [shown(word) for word in call.operands[:2]]
    kinds = [end.partition(":")[0].partition(",")[0].upper() for end in ends]
    runs = [end.partition(":")[2] for end, kind in zip(ends, kinds, strict=True) if kind in ("EXEC", "SYSTEM", "SHELL")]
    nets = [(end, kind) for end, kind in zip(ends, kinds, strict=True) if re.match(r"(TCP|UDP|SSL|OPENSSL|SCTP|SOCKS|PROXY|VSOCK)", kind)]
    for end, kind in nets:
        rest = end.partition(":")[2].split(",", 1)[0]
        if runs:
            where = "" if "LISTEN" in kind or kind.endswith("-L") else host_of(rest)
            yield from tied(call, scene, Target(TargetKind.HOST, where), runs[0], "socat", rest if not where else "")
        elif "LISTEN" in kind or kind.endswith("-L"):
            yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), port=rest)
        else:
            sends = call.invocation.stdin.kind in ("pipe", "text", "file") and any(k in ("-", "STDIO", "STDIN") for k in kinds)
            reads = [e.partition(":")[2].split(",", 1)[0] for e, k in zip(ends, kinds, strict=True) if k in ("FILE", "OPEN", "GOPEN")]
            for name in reads:
                yield from file_effects(call, scene, EffectKind.FILE_READ, literal(name), source_of_copy="1")
            kind_of = EffectKind.NET_UPLOAD if sends or reads or "-u" in call.flags else EffectKind.NET_CONNECT
            from .http_request import fed_with

            upload = "file" if reads else fed_with(call, scene) if kind_of is EffectKind.NET_UPLOAD else ""
            yield call.effect(
                kind_of, Target(TargetKind.HOST, host_of(rest)), address_attributes(host_of(rest)), via="socat", upload=upload
            )
            yield from wire_effects(call, scene, stdin_text(call.invocation, scene), host_of(rest), rest.rpartition(":")[2])
    if runs and not nets:
        for text in runs:
            yield from scene.nested_shell(re.split(r",(?=[a-z]+(?:[,=]|$))", text)[0], call, via="socat")
    for end, kind in zip(ends, kinds, strict=True):
        name = end.partition(":")[2].split(",", 1)[0]
        if kind in ("CREATE", "CREAT") or (kind in ("OPEN", "GOPEN", "FILE") and not nets):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(name))
        elif kind.startswith("UNIX") and name.endswith(("docker.sock", "podman.sock", "containerd.sock")):
            yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, name), tool="docker-socket")


def telnet(call: Call, scene: Scene) -> Iterator[Effect]:
    """telnet HOST [PORT]."""
    if call.operands:
        where = host_target(call.operands[0])
        if shell_behind(call, scene):
            yield call.effect(EffectKind.NET_REMOTE_EXEC, where, reverse="1", via=call.name)
        sends = call.invocation.stdin.kind in ("pipe", "text", "file")
        kind = EffectKind.NET_UPLOAD if sends else EffectKind.NET_CONNECT
        yield call.effect(kind, where, address_attributes(where.text), via=call.name, upload="stdin" if sends else "")
        yield from wire_effects(call, scene, stdin_text(call.invocation, scene), where.text, shown(call.operands[1]) if len(call.operands) > 1 else "23")


def copy_id(call: Call, scene: Scene) -> Iterator[Effect]:
    """ssh-copy-id lets a key log in on another machine."""
    if call.operands:
        where = host_target(call.operands[0])
        yield call.effect(EffectKind.NET_REMOTE_EXEC, where, address_attributes(where.text), via="ssh-copy-id")


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("ssh", "autossh", "mosh", "dbclient", "slogin"),
        _SSH_OPTIONS,
        describe=ssh,
        style="stop",
        summary="runs a command on another machine",
    ),
    Program(("scp", "pscp"), "-c -D -F -i -J -l -o -P -S -X", describe=scp, summary="copies files between machines"),
    Program(("sftp", "psftp"), "-B -b -c -D -F -i -J -l -o -P -R -S -s -X", describe=sftp, summary="file transfer dialogue"),
    Program(("ftp", "tftp", "ncftp"), "-P -s -T", describe=sftp, summary="file transfer dialogue"),
    Program(("lftp",), "-c -e -u -p -f", describe=lftp, summary="file transfer by commands"),
    Program(
        ("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"),
        "-c -e --exec --sh-exec --lua-exec -g -G -i -I -m -M -O -o -p --source-port -q -s "
        "-T -V -w -W -X -x --proxy --proxy-type -d --idle-timeout",
        describe=netcat,
        longs="--listen --keep-open --unixsock",
        summary="raw sockets",
    ),
    Program(("socat",), "-T -t -L -W -lf -b -s -S", describe=socat, summary="ties two byte streams together"),
    Program(("telnet", "rlogin", "rsh"), "-l -b -e -n", describe=telnet, summary="dialogue with another machine"),
    Program(("ssh-copy-id",), "-i -p -o -F -t", describe=copy_id, summary="installs a key on another machine"),
    Program(("ssh-keyscan",), style="raw", summary="prints public host keys"),
)
