"""Infrastructure as code: terraform and its kin, pulumi, cdk, ansible, vagrant, nomad. Plans change nothing."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import infra, verb_class
from .output import absolute
from .remote import REMOTE_CWD, nested_remote
from .roles import file_effects
from .verbs import shown, split, thing, variables_of, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DESTROY_PLAN = "destroy-plan"  # the source of a file that `plan -destroy -out=` wrote
_TERRAFORM_VALUES = "-chdir -var -var-file -target -state -state-out -backup -out -parallelism -lock-timeout -replace -backend-config -plugin-dir -from-module"


def terraform(call: Call, scene: Scene) -> Iterator[Effect]:
    """terraform [-chdir=DIR] VERB; terragrunt's run-all and *-all forms."""
    words = split((*call.argv, *_from_environment(call, scene)), _TERRAFORM_VALUES, long_single=True)
    if words.has("-help", "--help", "-h") or not words.words:
        return
    texts = [word.text or "" for word in words.words]
    if texts[0] in ("run-all", "run", "stack") and len(texts) > 1:
        texts = texts[1:]
    verb = texts[0].removesuffix("-all")
    where = shown(words.value("-chdir")) or shown(words.value("-state"))
    destroy = words.has("-destroy", "--destroy")
    two = " ".join(texts[:2])
    if verb == "apply" and len(words.words) > 1:
        destroy = destroy or scene.sources.get(absolute(words.words[-1].text, call.invocation)) == _DESTROY_PLAN
    if verb == "destroy" or (verb == "apply" and destroy):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, "destroy", shown(words.value("-target")) or where, context=where)
    elif two in ("state rm", "state push", "workspace delete", "state replace-provider"):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, two, words.words[-1], context=where)
    elif verb in ("apply", "import", "taint", "untaint", "refresh", "force-unlock", "test") or two == "state mv":
        if verb != "test":
            auto = "1" if words.has("-auto-approve", "--auto-approve", "--terragrunt-non-interactive") else ""
            yield infra(call, EffectKind.INFRA_APPLY, call.name, verb, where, context=where, auto_approve=auto)
    elif verb in ("plan", "show", "output", "state", "workspace"):
        chosen = shown(words.words[-1]) if two in ("workspace select", "workspace new") and len(words.words) > 2 else ""
        # Sensitive values stand among the outputs and in the state: nothing to hide from who works here, a secret where they leave the machine.
        holds = "1" if (verb == "output" and words.has("-json", "-raw")) or two == "state pull" else ""
        yield infra(call, EffectKind.INFRA_READ, call.name, two if chosen else verb, chosen or where, context=where, holds_secrets=holds)
        out = words.value("-out")
        if out is not None:
            plan = {"plan": _DESTROY_PLAN} if destroy else {}
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, out, **plan)
    elif verb == "init" and words.has("-force-copy", "-migrate-state", "-reconfigure"):
        yield infra(call, EffectKind.INFRA_APPLY, call.name, "init -migrate-state", where, context=where)


def _from_environment(call: Call, scene: Scene) -> tuple[Field, ...]:
    """The words that TF_CLI_ARGS and TF_CLI_ARGS_apply add to the command line."""
    variables = variables_of(call, scene)
    verb = next((word.text or "" for word in call.argv if not (word.text or "-").startswith("-")), "")
    texts = [variables[name].text or "" for name in ("TF_CLI_ARGS", f"TF_CLI_ARGS_{verb}") if name in variables]
    return tuple(literal(word) for text in texts for word in text.split())


def pulumi(call: Call, scene: Scene) -> Iterator[Effect]:
    """pulumi VERB."""
    words = split(call.argv, "-s --stack -C --cwd -m --message -c --config --config-file -t --target --color -p --parallel -e")
    stack = shown(words.value("-s", "--stack"))
    verb, two = words.verb(), f"{words.verb()} {words.verb(1)}"
    if words.has("-h", "--help", "--preview-only"):
        return
    if words.has("--show-secrets") or two == "config get" or (verb == "env" and words.verb(1) in ("open", "get")):
        yield call.effect(EffectKind.SECRET_READ, thing(words.verb(2) or stack), store="pulumi", prints="1")
    if verb in ("destroy", "down", "dn") or two in ("stack rm", "state delete", "stack import", "env rm"):
        yield infra(call, EffectKind.INFRA_DESTROY, "pulumi", two.strip() if verb in ("stack", "state") else verb, stack, context=stack)
    elif verb in ("up", "update", "refresh", "import", "cancel", "watch", "deployment") or two in (
        "stack init",
        "state move",
        "state rename",
    ):
        yield infra(call, EffectKind.INFRA_APPLY, "pulumi", verb, stack, context=stack)
    elif verb in ("preview", "stack", "logs", "history"):
        yield infra(call, EffectKind.INFRA_READ, "pulumi", verb, stack, context=stack)


_ANSIBLE_VALUES = (
    "-i --inventory -l --limit -e --extra-vars -t --tags --skip-tags -f --forks -u --user -m --module-name -a --args "
    "-M -c --connection -T --timeout "
    "--vault-password-file --vault-id --private-key --key-file --become-user --become-method --start-at-task -p "
    "--roles-path -r --role-file"
)


def ansible(call: Call, scene: Scene) -> Iterator[Effect]:
    """ansible, ansible-playbook, ansible-pull: what they change is on the hosts of the inventory."""
    words = split(call.argv, _ANSIBLE_VALUES)
    inventory = shown(words.value("-i", "--inventory"))
    if words.has("--check", "-C", "--syntax-check", "--list-hosts", "--list-tasks", "--list-tags", "-h", "--help"):
        return
    if call.name == "ansible":
        module, arguments = shown(words.value("-m", "--module-name")) or "command", words.value("-a", "--args")
        hosts = words.verb()
        if module in ("ping", "setup", "debug", "gather_facts", "stat"):
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, hosts), via="ansible")
            return
        yield call.effect(
            EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, hosts), via="ansible", command=shown(arguments)[:80], module=module
        )
        taken = re.search(r"\bsrc=(\S+)", shown(arguments)) if module.rpartition(".")[2] in ("slurp", "fetch", "copy", "template", "unarchive") else None
        if taken and (hosts in ("localhost", "127.0.0.1") or module.rpartition(".")[2] in ("copy", "template")):
            yield from file_effects(call, scene, EffectKind.FILE_READ, literal(taken[1].strip("'\"")), source_of_copy="1")
        gone = re.search(r"\b(?:path|dest|name)=(\S+)", shown(arguments)) if "state=absent" in shown(arguments) and module.endswith("file") else None
        if gone:
            here = hosts in ("localhost", "127.0.0.1")
            yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, gone[1].strip("'\"")), recursive="1", remote="" if here else hosts)
        if module in ("shell", "command", "raw") and arguments is not None and arguments.text is not None:
            nested = scene.nested_shell(arguments.text, call, cwd=REMOTE_CWD, via="ansible -a")
            remote = "" if hosts in ("localhost", "127.0.0.1") else hosts
            for effect in nested:
                yield with_attributes(effect, remote=remote)
        return
    yield infra(call, EffectKind.INFRA_APPLY, call.name, "run", words.words[0] if words.words else None, context=inventory)


def galaxy(call: Call, scene: Scene) -> Iterator[Effect]:
    """ansible-galaxy [role|collection] install NAME."""
    words = split(call.argv, "-p --roles-path -r --role-file -s --server --token --api-key")
    texts = [word.text or "" for word in words.words]
    if "install" in texts:
        for field in words.words[texts.index("install") + 1 :]:
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(field), manager="ansible-galaxy", name=shown(field), source="registry")
    elif "publish" in texts or "import" in texts:
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(texts[-1]), tool="ansible-galaxy")


_ONE_VERB_VALUES = (
    "-s --stage -c --config -a --app -p --profile --region --stack-name -f --file -t --template --context --env -e "
    "-o --output --var-file "
    "-var -address -namespace --timeout --parameter-overrides --require-approval"
)
_LOOKS = frozenset(
    "diff synth synthesize ls list metadata doctor docs validate build package init print info logs status inspect "
    "fmt plan version help "
    "invoke-local offline global-status ssh-config box members node lint show templates context ack notices".split()
)


def one_verb(call: Call, scene: Scene) -> Iterator[Effect]:
    """cdk, serverless, sam, packer, vagrant, nomad ...: the first verb that is no look decides."""
    words = split(call.argv, _ONE_VERB_VALUES)
    texts = [word.text or "" for word in words.words]
    if words.has("-h", "--help", "--dry-run", "--noDeploy", "--no-execute", "-check") or not texts or texts[0] in _LOOKS:
        return
    line = " ".join(texts[:3])
    if (call.name == "sam" and texts[0] == "local") or texts[:2] == ["invoke", "local"]:
        return  # the project's own function, run here
    if call.name == "nomad" and any(word.text in ("-purge", "--purge") for word in call.argv):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, line, words.words[-1])
        return
    if call.name == "vagrant" and texts[0] in ("ssh", "winrm"):
        command = words.value("-c")
        yield call.effect(
            EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, "vagrant"), via="vagrant", command=shown(command)[:80], local="1"
        )
        if command is not None and command.text is not None:
            yield from nested_remote(command.text, call, scene, "vagrant", "vagrant ssh")
        return
    local = "1" if call.name == "vagrant" else ""
    for text in texts[:2]:
        if (
            text in ("stop", "purge", "remove", "undeploy", "teardown")
            or verb_class(text) is EffectKind.INFRA_DESTROY
            or words.has("-purge")
        ):
            if not (call.name in ("vagrant", "nomad") and text == "stop" and not words.has("-purge")):
                yield infra(call, EffectKind.INFRA_DESTROY, call.name, line, words.words[-1], local=local)
                return
        if text in _LOOKS or verb_class(text) is EffectKind.INFRA_READ:
            return
    yield infra(call, EffectKind.INFRA_APPLY, call.name, line, words.words[-1], local=local)


PROGRAMS: tuple[Program, ...] = (
    Program(("terraform", "tofu", "terragrunt", "opentofu", "cdktf"), style="raw", describe=terraform, summary="infrastructure as code"),
    Program(("pulumi",), style="raw", describe=pulumi, summary="infrastructure as code"),
    Program(
        (
            "ansible",
            "ansible-playbook",
            "ansible-pull",
            "ansible-console",
            "chef-client",
            "puppet",
            "salt",
            "salt-call",
            "fab",
            "pyinfra",
            "capistrano",
        ),
        style="raw",
        describe=ansible,
        summary="changes hosts of an inventory",
    ),
    Program(
        ("sky", "skypilot"),
        "-c --cluster --gpus --cloud --region --zone --num-nodes --env --name -n",
        when=(
            ("launch exec start spot+launch jobs+launch serve+up", "infra.apply tool=sky verb=launch target=1"),
            ("down stop jobs+cancel serve+down", "infra.destroy tool=sky verb=down target=1"),
        ),
        harmless="--dryrun --help status queue logs check show-gpus cost-report",
        summary="jobs on rented accelerators",
    ),
    Program(("ansible-galaxy",), style="raw", describe=galaxy, summary="ansible roles and collections"),
    Program(
        (
            "cdk",
            "serverless",
            "sls",
            "sam",
            "packer",
            "vagrant",
            "nomad",
            "amplify",
            "copilot",
            "eb",
            "chalice",
            "zappa",
            "sst",
            "waypoint",
            "consul",
            "boundary",
            "crossplane",
            "juju",
            "cf-deploy",
            "nixops",
            "colmena",
            "deploy-rs",
            "kamal",
            "dokku",
            "caprover",
        ),
        style="raw",
        describe=one_verb,
        summary="deploys infrastructure",
    ),
    Program(
        (
            "tflint",
            "tfsec",
            "checkov",
            "terrascan",
            "infracost",
            "ansible-lint",
            "ansible-doc",
            "ansible-inventory",
            "ansible-config",
            "cfn-lint",
            "terraform-docs",
        ),
        style="raw",
        summary="checks infrastructure code",
    ),
)
