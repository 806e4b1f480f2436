"""docker run: what of the host is opened to a container, and the command inside with its paths mapped back through the mounts."""

from __future__ import annotations

import posixpath

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Scene, fold, inside
from .remote import REMOTE_CWD
from .roles import file_effects
from .verbs import Split, shown, split, thing, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_RUN = (
    "-a --attach --add-host --annotation --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile "
    "--cpus --cpu-shares --cpuset-cpus "
    "-c --device --device-cgroup-rule --dns --domainname --entrypoint -e --env --env-file --expose --gpus "
    "--group-add --health-cmd "
    "--health-interval -h --hostname --ip --ipc --isolation -l --label --link --log-driver --log-opt --mac-address "
    "-m --memory --memory-swap "
    "--mount --name --net --network --network-alias --oom-score-adj --pid --pids-limit --platform -p --publish "
    "--pull --restart --runtime "
    "--security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit -u --user "
    "--userns --uts -v --volume "
    "--volume-driver --volumes-from -w --workdir --detach-keys --index --secret --pod"
)


_SOCKETS = ("docker.sock", "podman.sock", "containerd.sock", "crio.sock", "dockershim.sock")


_HOST_FOLDERS = frozenset(
    "/ /etc /root /boot /var /usr /home /proc /sys /dev /lib /bin /sbin /run /var/run /var/lib /var/lib/docker /opt".split()
)


_STRONG_CAPS = frozenset("ALL SYS_ADMIN SYS_PTRACE SYS_MODULE DAC_READ_SEARCH DAC_OVERRIDE SYS_RAWIO BPF NET_ADMIN".split())


_FILES = frozenset(kind for kind in EffectKind if kind.value.startswith("file.") or kind == EffectKind.CODE_SCRIPT)


class Mount:
    """A host path seen inside the container."""

    __slots__ = ("host", "inner", "readonly")

    def __init__(self, host: Field, inner: str, readonly: bool) -> None:
        self.host, self.inner, self.readonly = host, inner, readonly


def mounts_of(words: Split) -> Iterator[Mount]:
    for field in words.all("-v", "--volume"):
        yield from _volume(field)
    for field in words.all("--mount"):
        pairs = dict(pair.partition("=")[::2] for pair in shown(field).split(","))
        source = pairs.get("source") or pairs.get("src") or ""
        if pairs.get("type", "volume") == "bind" and source:
            inner = pairs.get("target") or pairs.get("destination") or pairs.get("dst") or source
            yield Mount(literal(source), inner, "readonly" in pairs or "ro" in pairs)


def _volume(field: Field) -> Iterator[Mount]:
    """`host:inner[:options]`; a name without slash is a volume and stays inside docker."""
    if field.known is Known.DYNAMIC:
        text = field.prefix + "\0" + field.suffix
        host, _, rest = text.partition(":")
        if rest:
            cut = host.split("\0", 1)
            outside = Field(
                Known.DYNAMIC,
                prefix=cut[0],
                suffix=cut[1] if len(cut) > 1 else "",
                reason=field.reason,
                origins=field.origins,
                unset=field.unset,
            )
            yield Mount(outside if "\0" in host else literal(host), rest.split(":", 1)[0], rest.endswith(":ro"))
        return
    for value in field.values:
        host, _, rest = value.partition(":")
        inner, _, options = rest.partition(":")
        if rest and (host.startswith(("/", ".", "~")) or "/" in host):
            yield Mount(literal(host, field.span), inner, "ro" in options.split(","))


def run(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """docker run: what is opened to the container, then the command in it."""
    words = split(argv, _RUN, stop=1)
    image = words.words[:1]
    yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, shown(image[0]) if image else ""), via=call.name)
    for what in _privileges(words):
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, thing(what), tool="docker", action=what)
    for field in words.all("--env-file"):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    mounts = tuple(mounts_of(words))
    for mount in mounts:
        yield from mounted(call, scene, mount)
    command = words.words[1:]
    entry = words.value("--entrypoint")
    if entry is not None and shown(entry):
        command = (entry, *command)
    if not command:
        return
    workdir = words.value("-w", "--workdir")
    cwd = literal(fold(workdir.text)) if workdir is not None and workdir.text and workdir.text.startswith("/") else REMOTE_CWD
    quiet = call.replace(invocation=call.invocation.replace(cwd=cwd))
    for effect in scene.nested_argv(command, quiet, cwd=cwd, via="docker run"):
        mapped = _map_back(effect, mounts, call)
        if mapped is not None:
            yield mapped


def _privileges(words: Split) -> Iterator[str]:
    if words.has("--privileged"):
        yield "--privileged"
    for option in ("--pid", "--userns", "--ipc", "--uts", "--cgroupns"):
        if shown(words.value(option)) == "host":
            yield f"{option}=host"
    for field in words.all("--cap-add"):
        if shown(field).upper().removeprefix("CAP_") in _STRONG_CAPS:
            yield f"--cap-add={shown(field)}"
    for field in words.all("--device"):
        if shown(field).startswith(
            ("/dev/sd", "/dev/nvme", "/dev/mem", "/dev/mapper", "/dev/vd", "/dev/xvd", "/dev/dm", "/dev/kmem", "/dev/loop")
        ):
            yield f"--device={shown(field)}"
    for field in words.all("--security-opt"):
        if "unconfined" in shown(field) or shown(field) in ("label=disable", "label:disable"):
            yield f"--security-opt={shown(field)}"


def mounted(call: Call, scene: Scene, mount: Mount) -> Iterator[Effect]:
    text = mount.host.text
    if text is not None and text.endswith(_SOCKETS):
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, text), tool="docker-socket")
        return
    host = fold(posixpath.join(call.invocation.cwd.text or "", text)) if text is not None else ""
    if host in _HOST_FOLDERS or host == scene.home:
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, host), tool="docker", action=f"mount {host}")
        return
    if host and (inside(host, scene.workspace) or inside(host, "/tmp")):  # a scope, not a file of ours
        return
    kind = EffectKind.FILE_READ if mount.readonly else EffectKind.FILE_WRITE
    for effect in file_effects(call, scene, kind, mount.host, recursive="1", mount="1"):
        yield effect.replace(certainty=Certainty.POSSIBLE) if effect.certainty is Certainty.CERTAIN else effect
    if not mount.readonly and host:
        yield from file_effects(call, scene, EffectKind.FILE_READ, mount.host, recursive="1", mount="1")


def _map_back(effect: Effect, mounts: tuple[Mount, ...], call: Call) -> Effect | None:
    """An effect inside the container as an effect outside; None for what stays in the container's own scratch files."""
    if effect.kind not in _FILES:
        return with_attributes(effect, container="1")
    path = effect.target.text
    best: Mount | None = None
    for mount in mounts:
        inner = fold(mount.inner)
        if path and inside(path, inner) and (best is None or len(fold(best.inner)) < len(inner)):
            best = mount
        elif path and effect.get("recursive") and inside(inner, path) and best is None:
            best = mount  # everything below a folder that holds the mount
    if best is None:
        return None
    rest = path[len(fold(best.inner).rstrip("/")) :] if inside(path, fold(best.inner)) else ""
    host = best.host.text if best.host.text is not None else best.host.prefix
    place = fold(posixpath.join(call.invocation.cwd.text or "/", host) + rest)
    return with_attributes(effect.replace(target=effect.target.replace(text=place)), container="1")
