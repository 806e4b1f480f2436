"""Containers: docker, podman, nerdctl and compose.

A container's own files are scratch, but its mounts are the host's, written by a daemon that no jail of ours holds. So `docker run` describes
the command inside with its paths mapped back through the mounts, and names what opens the host: sockets, devices, privileges, `/`.
"""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Program, Scene
from .container_run import Mount, mounted, mounts_of, run
from .fresh import is_own
from .infra import infra
from .output import absolute, stdin_text
from .projects import dockerfile
from .remote import REMOTE_CWD, landing, remote_place
from .roles import file_effects
from .verbs import Split, shown, split, thing, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GLOBAL = "-c --context -H --host --config -l --log-level --tlscacert --tlscert --tlskey --connection --url --namespace --address"
# What happens where the context points; files named on the command line are read here.
_THERE = frozenset({EffectKind.INFRA_APPLY, EffectKind.INFRA_DESTROY, EffectKind.INFRA_READ, EffectKind.NET_REMOTE_EXEC})
_HERE = frozenset("default desktop-linux desktop-windows colima orbstack rootless rancher-desktop".split())
_COMPOSE = "-f --file -p --project-name --project-directory --env-file --profile --parallel --progress --ansi"


def docker(call: Call, scene: Scene) -> Iterator[Effect]:
    """docker [GROUP] VERB."""
    top = split(call.argv, _GLOBAL, stop=1)
    if not top.words or top.has("--help", "-v", "--version"):
        return
    verb, argv = top.verb(), top.words[1:]
    context = shown(top.value("-c", "--context", "-H", "--host", "--connection", "--url"))
    if verb == "compose":
        for effect in compose(call.replace(argv=argv), scene):
            yield _there(call, effect, context) if context and context not in _HERE else effect
        return
    if verb in (
        "container",
        "image",
        "buildx",
        "builder",
        "volume",
        "network",
        "system",
        "manifest",
        "stack",
        "service",
        "swarm",
        "node",
        "secret",
        "config",
        "context",
        "plugin",
        "trust",
        "machine",
        "pod",
        "model",
        "scout",
    ):
        group, inner = verb, split(argv, stop=1)
        verb, argv = inner.verb(), inner.words[1:]
        if group not in ("container", "image", "buildx", "builder") or (group, verb) in (
            ("image", "prune"),
            ("container", "prune"),
            ("builder", "prune"),
            ("image", "rm"),
            ("buildx", "prune"),
            ("buildx", "rm"),
        ):
            yield from _group(call, group, verb, argv, context)
            return
    if any(word.text == "--help" for word in argv):
        return
    yield from _verb(call, scene, verb, argv, context)


def _there(call: Call, effect: Effect, context: str) -> Effect:
    """An effect of compose on the machine that the context names."""
    if effect.kind is EffectKind.PROCESS_SPAWN:
        return infra(call, EffectKind.INFRA_APPLY, "compose", effect.target.text, context=context)
    return with_attributes(effect, context=context) if effect.kind in _THERE else effect


def _verb(call: Call, scene: Scene, verb: str, argv: tuple[Field, ...], context: str) -> Iterator[Effect]:
    if verb in ("run", "create"):
        yield from run(call, scene, argv)
    elif verb == "exec":
        words = split(argv, "-e --env --env-file -u --user -w --workdir --detach-keys", stop=1)
        yield from _inside(call, scene, words.words[:1], words.words[1:], "docker exec", words.has("--privileged"))
    elif verb in ("build", "bake"):
        yield from _build(call, scene, argv)
    elif verb == "push":
        words = split(argv, "")
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(words.words[0] if words.words else None), tool=call.name, context=context)
    elif verb in ("rm", "kill", "stop", "restart", "pause", "rmi"):
        yield from _remove(call, scene, verb, split(argv, "-t --time -s --signal --timeout"), context)
    elif verb == "cp":
        words = split(argv, "")
        yield from _copy(call, scene, words.words)
    elif verb in ("save", "export"):
        output = split(argv, "-o --output").value("-o", "--output")
        if output is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
    elif verb in ("load", "import"):
        source = split(argv, "-i --input").value("-i", "--input")
        if source is not None:
            yield from file_effects(call, scene, EffectKind.FILE_READ, source)
    elif verb in ("pull", "login", "search"):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, "container registry"), via=call.name)
    elif verb == "attach":
        yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, shown(argv[-1]) if argv else ""), via="docker", local="1")
    elif verb in ("ps", "images", "logs", "inspect", "top", "stats", "version", "info", "diff", "port", "history", "events", "ls", "wait"):
        yield infra(call, EffectKind.INFRA_READ, call.name, verb, context=context)


def _group(call: Call, group: str, verb: str, argv: tuple[Field, ...], context: str) -> Iterator[Effect]:
    """docker volume rm, system prune, swarm leave ..."""
    words = split(argv, "--filter --format -f= --driver -d -o --opt --label --name -c --compose-file --filter")
    line = f"{group} {verb}"
    named = words.words[0] if words.words else None
    if verb in ("ls", "list", "inspect", "ps", "df", "info", "events", "show", "logs", "version", "use", "help", "") and group != "context":
        yield infra(call, EffectKind.INFRA_READ, call.name, line, named, context=context)
    elif line in (
        "image prune",
        "builder prune",
        "buildx prune",
        "image rm",
        "buildx rm",
        "container prune",
        "network prune",
        "network rm",
    ):
        if line in ("container prune", "network rm", "network prune") or (line == "image prune" and words.has("-a", "--all")):
            yield infra(call, EffectKind.INFRA_APPLY, call.name, line, named, context=context)
    elif (verb in ("rm", "remove", "prune", "leave", "reset", "down") and group not in ("context", "machine")) or line in (
        "machine rm",
        "machine reset",
    ):
        everything = "1" if verb in ("prune", "reset") else ""
        yield infra(
            call,
            EffectKind.INFRA_DESTROY,
            call.name,
            line,
            named,
            context=context,
            all=everything,
            volumes="1" if words.has("--volumes") else "",
        )
    elif group in ("stack", "service", "swarm", "node", "secret", "config") or line in (
        "context use",
        "context rm",
        "plugin install",
        "plugin enable",
    ):
        yield infra(call, EffectKind.INFRA_APPLY, call.name, line, named, context=context)
    elif verb == "push":
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(named), tool=call.name, context=context)


def _remove(call: Call, scene: Scene, verb: str, words: Split, context: str) -> Iterator[Effect]:
    """Named containers are one's own scratch; all of them (a listing) are somebody's work."""
    many = any(word.known is not Known.STATIC and not is_own(word, scene) for word in words.words) or words.has("-a", "--all")
    own = bool(words.words) and not many and all(is_own(word, scene) for word in words.words)
    if (verb == "rm" and words.has("-v", "--volumes") and not own) or (verb == "rm" and many):
        yield infra(
            call,
            EffectKind.INFRA_DESTROY,
            call.name,
            verb,
            words.words[0] if words.words else None,
            context=context,
            all="1" if many else "",
        )
    elif verb == "rm" or (many and verb != "rmi") or (many and verb == "rmi"):
        yield infra(
            call,
            EffectKind.INFRA_APPLY,
            call.name,
            verb,
            words.words[0] if words.words else None,
            context=context,
            all="1" if many else "",
            local="1",
        )


def _copy(call: Call, scene: Scene, operands: tuple[Field, ...]) -> Iterator[Effect]:
    if len(operands) < 2:
        return
    source, destination = operands[0], operands[1]
    if remote_place(destination) is not None:
        if shown(source) != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, source, source_of_copy="1", recursive="1")
    elif shown(destination) != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, landing(destination, source))


def _build(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    words = split(
        argv,
        "-t --tag -f --file --build-arg --target --platform --progress --secret --ssh -o --output --cache-from "
        "--cache-to --label --network --builder --iidfile --metadata-file --add-host --build-context --set --pull=",
    )
    for field in words.all("--secret"):
        for pair in shown(field).split(","):
            name, _, value = pair.partition("=")
            if name in ("src", "source") and value:
                yield from file_effects(call, scene, EffectKind.FILE_READ, literal(value))
    for field in words.all("-o", "--output"):
        for pair in shown(field).split(","):
            name, _, value = pair.partition("=")
            if name == "dest" or "=" not in pair:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(value or pair), recursive="1")
    for field in words.all("--iidfile", "--metadata-file"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
    if words.has("--push"):
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(words.value("-t", "--tag")), tool=call.name)
    file = words.value("-f", "--file")
    if file is not None and shown(file) != "-":
        yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    base, context = call.invocation.cwd.text, words.words[0].text if words.words else None
    if base is not None and context and "://" not in context:
        folder = posixpath.normpath(posixpath.join(base, context))
        path = posixpath.normpath(posixpath.join(base, file.text)) if file is not None and file.text else f"{folder}/Dockerfile"
        given = stdin_text(call.invocation, scene) if "-" in (shown(file) if file is not None else "", context) else None
        yield from dockerfile(call, scene, path, folder if context != "-" else "", given)
    yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"{call.name} build"))


# ---------------------------------------------------------------- run


def _inside(call: Call, scene: Scene, where: tuple[Field, ...], command: tuple[Field, ...], via: str, privileged: bool) -> Iterator[Effect]:
    """A command in a container that stays: its files may be anyone's data."""
    name = shown(where[0]) if where else ""
    yield call.effect(
        EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, name), via="docker", local="1", command=" ".join(map(shown, command))[:80]
    )
    if privileged:
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, thing("--privileged"), tool="docker", action="exec --privileged")
    if command:
        for effect in scene.nested_argv(command, call, cwd=REMOTE_CWD, via=via):
            yield with_attributes(effect, remote=name or "container", container="1")


# ---------------------------------------------------------------- compose


def compose(call: Call, scene: Scene) -> Iterator[Effect]:
    """docker compose VERB: `down` keeps the volumes, `down -v` loses them."""
    top = split(call.argv, _COMPOSE, stop=1)
    verb, argv = top.verb(), top.words[1:]
    if top.has("--help", "-h", "--version", "-v", "--dry-run") or any(word.text in ("--help", "--dry-run") for word in argv):
        return
    for field in top.all("--env-file"):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    if (scene.files or any(field.text == "-" for field in top.all("-f", "--file"))) and verb in ("up", "run", "create", "start", "exec"):
        yield from _written_files(call, scene, top)
    words = split(argv, "-t --timeout --rmi --scale --tail --since --until -n --index --pull --format -s= --signal")
    if verb == "down" and words.has("-v", "--volumes"):
        yield infra(call, EffectKind.INFRA_DESTROY, "compose", "down --volumes", volumes="1")
    elif verb == "rm" and words.has("-v", "--volumes"):
        yield infra(call, EffectKind.INFRA_DESTROY, "compose", "rm --volumes", volumes="1")
    elif verb == "push" or (verb == "publish"):
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(words.words[0] if words.words else "images"), tool="compose")
    elif verb in ("exec", "run"):
        inner = split(
            argv, "-e --env -u --user -w --workdir --index -v --volume -p --publish --name --entrypoint -l --label --env-from-file", stop=1
        )
        for mount in mounts_of(inner):
            yield from mounted(call, scene, mount)
        yield from _inside(call, scene, inner.words[:1], inner.words[1:], f"compose {verb}", inner.has("--privileged"))
    elif verb == "cp":
        yield from _copy(call, scene, words.words)
    elif verb in (
        "up",
        "start",
        "restart",
        "build",
        "create",
        "watch",
        "scale",
        "pull",
        "stop",
        "down",
        "kill",
        "pause",
        "unpause",
        "rm",
        "attach",
    ):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"compose {verb}"))
    elif verb:
        yield infra(call, EffectKind.INFRA_READ, "compose", verb)


def _written_files(call: Call, scene: Scene, words: Split) -> Iterator[Effect]:
    """What a compose file that the same text wrote gives to its containers: folders of the host, its rights."""
    for field in words.all("-f", "--file") or (literal("docker-compose.yml"), literal("compose.yaml"), literal("compose.yml")):
        text = scene.files.get(absolute(field.text, call.invocation)) if field.text and field.text != "-" else stdin_text(call.invocation, scene)
        if not text:
            continue
        if re.search(r"\bprivileged\s*:\s*true\b", text):
            yield call.effect(EffectKind.SYSTEM_PRIVILEGE, thing("privileged"), tool="docker", action="privileged")
        for match in re.finditer(r"""[\s"'\[,-](~?/[^\s:"',]*|~):/""", text):
            place = scene.home + match[1][1:] if match[1].startswith("~") else match[1]
            for effect in mounted(call, scene, Mount(literal(place), "/", readonly=False)):
                if effect.kind is EffectKind.SYSTEM_PRIVILEGE:
                    yield effect


def machines(call: Call, scene: Scene) -> Iterator[Effect]:
    """lxc, incus, virsh, machinectl, VBoxManage: whole machines."""
    words = split(call.argv, "-c --connect --project -p --format -H -M")
    verb = words.verb()
    if verb in ("exec", "shell", "console"):
        yield from _inside(call, scene, words.words[1:2], words.rest or words.words[2:], f"{call.name} {verb}", False)
    elif verb in (
        "delete",
        "rm",
        "undefine",
        "destroy",
        "vol-delete",
        "pool-delete",
        "snapshot-delete",
        "unregistervm",
        "remove",
        "reset",
        "closemedium",
    ):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, verb, words.words[1] if len(words.words) > 1 else None)
    elif verb not in (
        "list",
        "ls",
        "info",
        "show",
        "dominfo",
        "domstate",
        "dumpxml",
        "status",
        "image",
        "version",
        "help",
        "showvminfo",
        "",
    ):
        yield infra(call, EffectKind.INFRA_APPLY, call.name, verb, words.words[1] if len(words.words) > 1 else None)


def image_tool(call: Call, scene: Scene) -> Iterator[Effect]:
    """skopeo, crane, oras, cosign, buildah, ctr: images without a daemon."""
    words = split(
        call.argv, "-t --tag -f --file --creds --src-creds --dest-creds --authfile -u --username -p --password -n --namespace --key -o"
    )
    verb = words.verb()
    last = words.words[-1] if len(words.words) > 1 else None
    if verb in ("push", "copy", "cp", "sync", "append", "mutate", "attach", "sign", "attest") and not shown(last).startswith(
        ("dir:", "oci:", "docker-archive:", "docker-daemon:", "containers-storage:")
    ):
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(last), tool=call.name)
    elif verb in ("delete", "rm", "remove", "del", "rmi", "prune", "clean"):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, verb, last)
    elif verb in ("bud", "build", "run", "pull", "tasks", "exec", "login"):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"{call.name} {verb}"))


PROGRAMS: tuple[Program, ...] = (
    Program(("docker", "podman", "nerdctl", "finch"), style="raw nohelp", describe=docker, summary="containers"),
    Program(("docker-compose", "podman-compose"), style="raw nohelp", describe=compose, summary="sets of containers"),
    Program(
        ("lxc", "incus", "virsh", "machinectl", "VBoxManage", "prlctl"),
        style="raw",
        describe=machines,
        summary="containers and virtual machines",
    ),
    Program(
        ("skopeo", "crane", "oras", "cosign", "buildah", "ctr", "crictl", "regctl", "kaniko"),
        style="raw",
        describe=image_tool,
        summary="container images",
    ),
    Program(("hadolint", "dive", "trivy", "grype", "syft", "container-diff", "ctop", "lazydocker"), style="raw", summary="looks at images"),
)
