"""Kubernetes: kubectl and oc, helm, and the tools around them."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field
from .call import Call, Program, Scene
from .infra import dry_run, infra, verb_class
from .remote import REMOTE_CWD, landing, remote_place
from .roles import file_effects
from .secrets import reveals
from .verbs import Split, shown, split, thing, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = (
    "-n --namespace --context --kubeconfig --cluster --user -s --server --token --as --as-group --request-timeout -v "
    "--cache-dir "
    "--certificate-authority --client-key --client-certificate -o --output -f --filename -l --selector -c "
    "--container --field-selector --tail "
    "--since --since-time -k --kustomize --replicas --type -p --patch --patch-file --image --port --target-port "
    "--from-literal --from-file "
    "--from-env-file --grace-period --timeout --overrides --template --sort-by --to-revision --cascade "
    "--field-manager --name --labels -L "
    "--label-columns --limit --min --max --cpu-percent --target --address --raw --serviceaccount --schedule "
    "--subresource --chunk-size --retries"
)
_NOTHING = frozenset("explain api-resources api-versions version completion options plugin wait diff kustomize help auth".split())
_READS = frozenset("get describe logs top cluster-info events".split())
_DESTROYS = frozenset("delete drain".split())
_APPLIES = frozenset(
    "apply create edit patch set label annotate expose run autoscale rollout scale cordon uncordon taint replace "
    "certificate adm new-app "
    "new-project process start-build policy tag import-image cancel-build idle secrets".split()
)


# What a command in a container of its own does to things that outlive the container.
_REACHES = frozenset(
    {
        EffectKind.DB_DROP,
        EffectKind.DB_DELETE_UNSCOPED,
        EffectKind.DB_WRITE,
        EffectKind.INFRA_DESTROY,
        EffectKind.INFRA_APPLY,
        EffectKind.NET_UPLOAD,
    }
)


def kubectl(call: Call, scene: Scene) -> Iterator[Effect]:
    """kubectl VERB [TYPE] [NAME]."""
    words = split(call.argv, _VALUES)
    verb = words.verb()
    if words.has("-h", "--help") or not verb or verb in _NOTHING:
        return
    context = "/".join(filter(None, (shown(words.value("--context")), shown(words.value("-n", "--namespace")))))
    operands = words.words[1:]
    named = " ".join(shown(word) for word in operands)
    if verb in ("exec", "rsh", "attach", "debug"):
        yield from _run_inside(call, scene, words, verb, context)
    elif verb == "cp" or verb == "rsync":
        yield from _copy(call, scene, operands, context)
    elif verb in ("port-forward", "proxy"):
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="kubectl", context=context)
    elif verb == "config":
        yield from _config(call, scene, words, context)
    elif verb in _READS:
        yield from _read(call, scene, verb, words, named, context)
    elif verb == "create" and words.verb(1) == "token":
        yield from _secret(call, scene, named)
    elif verb == "rollout" and words.verb(1) in ("status", "history"):
        yield infra(call, EffectKind.INFRA_READ, "kubectl", f"rollout {words.verb(1)}", named, context=context)
    else:
        yield from _change(call, scene, verb, words, named, context)


def _read(call: Call, scene: Scene, verb: str, words: Split, named: str, context: str) -> Iterator[Effect]:
    kinds = shown(words.words[1]).lower() if len(words.words) > 1 else ""
    output = shown(words.value("-o", "--output"))
    raw = shown(words.value("--raw"))
    names_secret = (
        any(one.split("/")[0].split(".")[0] in ("secret", "secrets", "sealedsecret") for one in kinds.split(",")) or "/secrets" in raw
    )
    if verb == "get" and names_secret and (raw or words.value("--template") is not None or (output and output not in ("name", "wide"))):
        if not output.startswith("custom-columns") or ".data" in output:
            yield from _secret(call, scene, named)
            return
    yield infra(call, EffectKind.INFRA_READ, "kubectl", verb, named, context=context)


def _secret(call: Call, scene: Scene, named: str) -> Iterator[Effect]:
    if reveals(call.invocation, scene):
        yield call.effect(EffectKind.SECRET_READ, thing(named), store="kubectl", prints="1")


def _change(call: Call, scene: Scene, verb: str, words: Split, named: str, context: str) -> Iterator[Effect]:
    for option in ("-f", "--filename", "-k", "--kustomize", "--from-file", "--from-env-file", "--patch-file"):
        for field in words.all(option):
            text = shown(field)
            if text.startswith(("http://", "https://")):
                yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, text), method="GET")
            elif text != "-":
                name = field if option != "--from-file" or "=" not in text else _after_equals(field)
                yield from file_effects(call, scene, EffectKind.FILE_READ, name, source_of_copy="1")
    if dry_run(words):
        return
    resource = named or shown(words.value("-f", "--filename", "-k", "--kustomize"))
    destroys = (
        verb in _DESTROYS
        or (verb == "replace" and words.has("--force"))
        or (verb == "apply" and words.has("--prune"))
        or (verb == "adm" and words.verb(1) == "drain")
    )
    if destroys:
        everything = "1" if words.has("--all", "-A", "--all-namespaces") else ""
        yield infra(call, EffectKind.INFRA_DESTROY, "kubectl", verb, resource, context=context, all=everything)
    elif verb in _APPLIES:
        if words.rest and (verb == "run" or (verb == "create" and words.verb(1) in ("job", "cronjob", "cj"))):
            yield from _run_fresh(call, scene, words, verb, context)
        yield infra(call, EffectKind.INFRA_APPLY, "kubectl", verb, resource, context=context, replicas=shown(words.value("--replicas")))
        if verb == "run" and re.search(r'"(?:privileged|hostPID|hostNetwork|hostIPC)"\s*:\s*true|"hostPath"', shown(words.value("--overrides"))):
            yield call.effect(EffectKind.SYSTEM_PRIVILEGE, thing(resource), tool="docker", action="a pod with the rights of its host")
        if verb == "run" and words.has("-i", "-t", "--stdin", "--command", "--rm"):
            yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, resource), via="kubectl", context=context)
    else:
        yield infra(call, EffectKind.INFRA_APPLY, "kubectl", verb, resource, context=context, plugin="1")


def _after_equals(field: Field) -> Field:
    from .verbs import part_of

    return part_of(field, shown(field).index("=") + 1)


def _run_inside(call: Call, scene: Scene, words: Split, verb: str, context: str) -> Iterator[Effect]:
    where = shown(words.words[1]) if len(words.words) > 1 else ""
    inner = words.rest or words.words[2:]
    privileged = "1" if verb == "debug" and where.startswith("node/") else ""
    yield call.effect(
        EffectKind.NET_REMOTE_EXEC,
        Target(TargetKind.HOST, where),
        via="kubectl",
        context=context,
        privileged=privileged,
        command=" ".join(shown(word) for word in inner)[:80],
    )
    if inner:
        for effect in scene.nested_argv(inner, call, cwd=REMOTE_CWD, via=f"kubectl {verb}"):
            yield with_attributes(effect, remote=where or "pod", context=context)


def _run_fresh(call: Call, scene: Scene, words: Split, verb: str, context: str) -> Iterator[Effect]:
    """The command of a pod that is made for it: its own files are scratch, what it reaches is not."""
    for effect in scene.nested_argv(words.rest, call, cwd=REMOTE_CWD, via=f"kubectl {verb}"):
        if effect.kind in _REACHES:
            yield with_attributes(effect, remote="pod", context=effect.get("context") or context)


def _copy(call: Call, scene: Scene, operands: tuple[Field, ...], context: str) -> Iterator[Effect]:
    if len(operands) < 2:
        return
    source, destination = operands[0], operands[1]
    place = remote_place(destination)
    if place is not None:
        yield from file_effects(call, scene, EffectKind.FILE_READ, source, source_of_copy="1", recursive="1")
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, place[0]), upload="file", via="kubectl", context=context)
    else:
        yield infra(call, EffectKind.INFRA_READ, "kubectl", "cp", source, context=context)
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, landing(destination, source))


def _config(call: Call, scene: Scene, words: Split, context: str) -> Iterator[Effect]:
    verb = words.verb(1)
    if verb == "view" and words.has("--raw"):
        yield from _secret(call, scene, "kubeconfig")
    elif verb.startswith(("set", "use", "unset", "delete", "rename")):
        yield infra(
            call, EffectKind.INFRA_APPLY, "kubectl", f"config {verb}", words.words[2] if len(words.words) > 2 else None, context=context
        )


# ---------------------------------------------------------------- helm and the rest

_HELM_VALUES = (
    "-n --namespace --kube-context --kubeconfig -f --values --set --set-string --set-file --set-json --version "
    "--timeout -o --output --repo "
    "--revision --username --password --registry-config --post-renderer --description --history-max -l --selector -d "
    "--destination --untardir"
)


def helm(call: Call, scene: Scene) -> Iterator[Effect]:
    """helm VERB RELEASE [CHART]."""
    words = split(call.argv, _HELM_VALUES)
    verb = words.verb()
    context = "/".join(filter(None, (shown(words.value("--kube-context")), shown(words.value("-n", "--namespace")))))
    if words.has("-h", "--help") or dry_run(words):
        return
    for field in words.all("-f", "--values", "--set-file"):
        if not shown(field).startswith("http"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    renderer = words.value("--post-renderer")
    if renderer is not None:
        yield from scene.nested_argv((renderer,), call, via="helm --post-renderer")
    name = words.words[1] if len(words.words) > 1 else None
    if verb in ("uninstall", "delete", "del", "un"):
        yield infra(call, EffectKind.INFRA_DESTROY, "helm", verb, name, context=context)
    elif verb in ("install", "upgrade", "rollback", "test"):
        yield infra(call, EffectKind.INFRA_APPLY, "helm", verb, name, context=context)
    elif verb == "push":
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(name), tool="helm")
    elif verb == "plugin" and words.verb(1) in ("install", "update"):
        yield call.effect(EffectKind.CODE_OPAQUE, thing(words.verb(2)), source="network", reason="installs a helm plugin")
    elif verb in ("list", "ls", "status", "get", "history"):
        yield infra(call, EffectKind.INFRA_READ, "helm", verb, name, context=context)
    elif verb in ("pull", "fetch", "repo", "search", "show", "dependency", "dep") and words.verb(1) not in ("list", "ls", "build"):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, "helm repository"), method="GET")


def helmfile(call: Call, scene: Scene) -> Iterator[Effect]:
    """helmfile, kustomize, argocd, flux, skaffold, velero, istioctl, kubeadm, k3s ...: one verb decides."""
    words = split(
        call.argv,
        "-f --file -e --environment -n --namespace -l --selector --kube-context --context --kubeconfig -p --profile --server -o --output",
    )
    texts = [word.text or "" for word in words.words]
    if words.has("-h", "--help") or dry_run(words) or not texts:
        return
    for text in texts[:3]:
        if text in (
            "build",
            "template",
            "diff",
            "lint",
            "render",
            "version",
            "completion",
            "help",
            "list",
            "get",
            "status",
            "logs",
            "check",
            "describe",
            "deps",
        ):
            if call.name in ("argocd", "flux", "velero") and text in ("get", "list", "logs", "describe", "diff"):
                yield infra(call, EffectKind.INFRA_READ, call.name, " ".join(texts[:2]))
            return
        kind = verb_class(text)
        if kind is EffectKind.INFRA_DESTROY or text in ("reset", "prune", "terminate-op", "cleanup"):
            yield infra(call, EffectKind.INFRA_DESTROY, call.name, " ".join(texts[:2]), words.words[-1])
            return
    yield infra(call, EffectKind.INFRA_APPLY, call.name, " ".join(texts[:2]), words.words[-1])


PROGRAMS: tuple[Program, ...] = (
    Program(("kubectl", "oc", "kubecolor", "k3s-kubectl", "microk8s.kubectl"), style="raw", describe=kubectl, summary="Kubernetes"),
    Program(("helm", "helm3"), style="raw", describe=helm, summary="Kubernetes releases"),
    Program(
        (
            "helmfile",
            "kustomize",
            "argocd",
            "flux",
            "skaffold",
            "velero",
            "istioctl",
            "linkerd",
            "kubeadm",
            "tilt",
            "devspace",
            "werf",
            "kubeseal",
            "kpt",
            "kapp",
            "rancher",
            "talosctl",
        ),
        style="raw",
        describe=helmfile,
        summary="Kubernetes deployment",
    ),
    Program(
        ("kubectx", "kubens", "stern", "kubetail", "k9s", "kubeval", "kubeconform", "kube-linter", "popeye"),
        style="raw",
        summary="looks at Kubernetes",
    ),
)
