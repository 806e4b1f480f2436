"""Cloud providers' tools: aws, gcloud, gsutil, az and the smaller ones. Verb classes decide (see infra.py), exceptions stand here.

Exceptions: secret managers and credential printers (`secret.read`), reserved capacity (`spend.commit`), remote shells
(`net.remote_exec`), object storage (files go in and out), settings of the tool itself.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import literal
from . import spend
from .buckets import object_storage
from .call import Call, Program, Scene
from .cloud_extras import and_more
from .database_apis import or_served
from .expiry import or_expired
from .hosts import host_of, is_local
from .infra import dry_run, file_words, first_verb, infra, skipped, verb_class
from .remote import nested_remote
from .roles import file_effects
from .secrets import is_secret_name, reveals
from .verbs import Split, shown, split, thing, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _secret(call: Call, scene: Scene, store: str, what: str) -> Iterator[Effect]:
    """A credential printed, unless it goes straight into a registry login."""
    if reveals(call.invocation, scene):
        yield call.effect(EffectKind.SECRET_READ, thing(what), store=store, prints="1")


# ---------------------------------------------------------------- aws

_AWS_VALUES = (
    "--profile --region --output --query --endpoint-url --color --ca-bundle --cli-read-timeout --cli-connect-timeout "
    "--cli-binary-format "
    "--instance-ids --db-instance-identifier --stack-name --bucket --key --name --names --function-name --secret-id "
    "--exclude --include --acl "
    "--filters --filter --body --cluster --service --table-name --expires-in --storage-class --parameters --command "
    "--commands --target "
    "--document-name --group-name --role-name --user-name --policy-arn --image-id --instance-type --count "
    "--template-body --template-file"
)
_AWS_SECRETS = frozenset(
    {
        ("secretsmanager", "get-secret-value"),
        ("secretsmanager", "batch-get-secret-value"),
        ("kms", "decrypt"),
        ("sts", "get-session-token"),
        ("sts", "get-federation-token"),
        ("sts", "assume-role"),
        ("sts", "assume-role-with-saml"),
        ("sts", "assume-role-with-web-identity"),
        ("iam", "create-access-key"),
        ("ecr", "get-login-password"),
        ("ecr", "get-authorization-token"),
        ("ecr-public", "get-login-password"),
        ("configure", "export-credentials"),
        ("rds", "generate-db-auth-token"),
        ("ec2", "get-password-data"),
        ("sso", "get-role-credentials"),
        ("redshift", "get-cluster-credentials"),
        ("codeartifact", "get-authorization-token"),
        ("lightsail", "get-instance-access-details"),
        ("eks", "get-token"),
        ("cognito-identity", "get-credentials-for-identity"),
    }
)
_AWS_SPEND = (
    "purchase-",
    "create-savings-plan",
    "create-capacity-reservation",
    "register-domain",
    "transfer-domain",
    "renew-domain",
    "accept-reserved",
)


def aws(call: Call, scene: Scene) -> Iterator[Effect]:
    """aws SERVICE OPERATION; an endpoint on this machine (localstack, a local DynamoDB) is a stand-in for the cloud."""
    words = split(call.argv, _AWS_VALUES)
    endpoint = words.value("--endpoint-url")
    local = call.name == "awslocal" or (endpoint is not None and is_local(host_of(shown(endpoint))))
    for effect in _aws(call, scene, words):
        yield with_attributes(effect, local="1", private="1") if local and not effect.kind.value.startswith("file.") else effect


def _aws(call: Call, scene: Scene, words: Split) -> Iterator[Effect]:
    service, operation = words.verb(), words.verb(1)
    context = shown(words.value("--profile"))
    if service == "help" or operation in ("help", "wait", "") or words.verb(2) == "help" or skipped(words):
        return
    if service == "s3":
        yield from object_storage(call, scene, words, operation, words.words[2:], "s3://", "aws", context)
        return
    if service == "configure":
        yield from _aws_configure(call, scene, words, operation)
        return
    if (service, operation) in _AWS_SECRETS or (
        service == "ssm" and operation.startswith("get-parameter") and words.has("--with-decryption")
    ):
        yield from _secret(call, scene, "aws", shown(words.value("--secret-id", "--name", "--names")) or operation)
    if operation.startswith(_AWS_SPEND):
        yield spend.reserved(call, "aws", f"{service} {operation}")
        return
    if (service, operation) in (
        ("ssm", "start-session"),
        ("ssm", "send-command"),
        ("ecs", "execute-command"),
        ("ec2-instance-connect", "ssh"),
    ):
        yield call.effect(
            EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, shown(words.value("--target", "--instance-ids", "--cluster"))), via="aws"
        )
        return
    for field in file_words(words, "--body"):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
    kind = verb_class(operation)
    if operation in ("get-object", "invoke") and len(words.words) > 2:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, words.words[2])
    if kind is not None:
        one = "1" if operation in ("delete-object", "delete-item", "delete-message") else ""
        resource = next(
            (f for o, f in words.values if o.endswith(("-identifier", "-name", "-id", "-ids", "-arn", "--bucket", "--name"))), None
        )
        yield infra(call, kind, "aws", f"{service} {operation}", resource, context=context, one=one)


def _aws_configure(call: Call, scene: Scene, words: Split, operation: str) -> Iterator[Effect]:
    if operation == "export-credentials" or (operation == "get" and is_secret_name(words.verb(2).rsplit(".", 1)[-1])):
        yield from _secret(call, scene, "aws", words.verb(2) or operation)
    elif operation in ("set", "import", "sso") or not operation:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(f"{scene.home}/.aws/config"))


# ---------------------------------------------------------------- google

_GCLOUD_VALUES = (
    "--project --account --configuration --region --zone --format --filter --impersonate-service-account "
    "--billing-project --verbosity --limit "
    "--sort-by --flags-file --access-token-file --command --image --source --secret --version --data-file "
    "--machine-type --instance --cluster "
    "--location --network --member --role --plan --out-file --key-file --plaintext-file --ciphertext-file"
)


def gcloud(call: Call, scene: Scene) -> Iterator[Effect]:
    """gcloud [alpha|beta] GROUP... VERB."""
    words = split(call.argv, _GCLOUD_VALUES)
    if words.verb() in ("alpha", "beta", "preview"):
        words = words.replace(words=words.words[1:])
    group = words.verb()
    context = shown(words.value("--project", "--configuration"))
    line = " ".join(word.text or "" for word in words.words)
    if skipped(words) or group in ("help", "topic", "info", "version", "components", ""):
        return
    if group == "storage":
        yield from object_storage(call, scene, words, words.verb(1), words.words[2:], "gs://", "gcloud", context)
        return
    if group == "auth":
        if words.verb(1) in ("print-access-token", "print-identity-token") or line.startswith(
            "auth application-default print-access-token"
        ):
            yield from _secret(call, scene, "gcloud", line)
        return
    if line.startswith(("secrets versions access", "kms decrypt", "iam service-accounts keys create", "sql generate-login-token")):
        yield from _secret(call, scene, "gcloud", shown(words.value("--secret")) or line)
        if "keys create" not in line:
            return
    if line.startswith(("compute ssh", "compute tpus tpu-vm ssh", "cloud-shell ssh", "app instances ssh")):
        host = shown(words.words[2]) if len(words.words) > 2 else ""
        command = words.value("--command")
        yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, host), via="gcloud", command=shown(command)[:80])
        if command is not None and command.text is not None:
            yield from nested_remote(command.text, call, scene, host, f"gcloud ssh {host}")
        return
    if line.startswith(("compute scp", "cloud-shell scp")):
        from .remote import transfer

        if len(words.words) > 3:
            yield from transfer(call, scene, words.words[2:-1], words.words[-1])
        return
    if (("commitments" in line or "reservations" in line) and "create" in line) or line.startswith("domains registrations register"):
        yield spend.reserved(call, "gcloud", line[:80])
        return
    index, verb = first_verb(words.words)
    if not verb:
        verb, index = words.verb(len(words.words) - 1), len(words.words) - 1
    kind = verb_class(verb)
    if kind is not None and not (group == "config" and kind is EffectKind.INFRA_READ):
        resource = words.words[index + 1] if index + 1 < len(words.words) else None
        yield infra(call, kind, "gcloud", line[:60], resource, context=context)


def gsutil(call: Call, scene: Scene) -> Iterator[Effect]:
    """gsutil and s3cmd-like tools: one verb, then places."""
    tool = call.name
    words = split(
        call.argv, "-h -o -u -i -c --config --host --access_key --secret_key --endpoint-url --profile -p --numworkers --credentials-file"
    )
    verb = words.verb()
    if skipped(words) or (words.has("-n", "--dry-run") and tool != "gsutil"):
        return
    if verb == "rsync" and "-n" in words.flags:
        return
    scheme = "gs://" if tool == "gsutil" else "s3://"
    yield from object_storage(call, scene, words, {"put": "cp", "get": "cp"}.get(verb, verb), words.words[1:], scheme, tool, "")


# ---------------------------------------------------------------- azure and the rest

_AZ_VALUES = (
    "-g --resource-group -n --name -o --output --subscription --query -l --location --ids --vault-name "
    "--account-name --file -f -d --destination "
    "-s --source --container-name -c --method --uri --url --body --template-file --parameters --command-id --scripts "
    "--tenant --registry --username --password"
)
_AZ_SECRETS = (
    "keyvault secret show",
    "keyvault secret download",
    "account get-access-token",
    "storage account keys list",
    "acr credential show",
    "cosmosdb keys list",
    "ad sp create-for-rbac",
    "webapp config connection-string list",
    "redis list-keys",
    "servicebus namespace authorization-rule keys",
    "eventhubs namespace authorization-rule keys",
    "keyvault key download",
    "storage account show-connection-string",
    "aks get-credentials",
    "functionapp keys list",
    "cognitiveservices account keys list",
    "ad app credential reset",
    "ad sp credential reset",
    "webapp deployment list-publishing",
)


def az(call: Call, scene: Scene) -> Iterator[Effect]:
    """az GROUP... VERB."""
    words = split(call.argv, _AZ_VALUES)
    line = " ".join(word.text or "" for word in words.words)
    if (
        skipped(words)
        or words.has("-h")
        or "what-if" in line
        or words.verb() in ("login", "logout", "version", "upgrade", "find", "interactive", "extension", "configure", "")
    ):
        return
    if line.startswith(_AZ_SECRETS):
        yield from _secret(call, scene, "az", line)
        if "create" not in line and "reset" not in line:
            return
    if (line.startswith("reservations") and ("purchase" in line or "exchange" in line)) or line.startswith(
        ("capacity reservation create", "billing-benefits")
    ):
        yield spend.reserved(call, "az", line[:80])
        return
    if line.startswith(("vm run-command invoke", "ssh vm", "container exec", "webapp ssh")):
        yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, shown(words.value("-n", "--name"))), via="az")
        return
    if line.startswith("storage blob upload"):
        for field in file_words(words, "-f", "--file", "-s", "--source"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, shown(words.value("--account-name"))), upload="file", via="az")
        return
    _, verb = first_verb(words.words)
    kind = verb_class(verb or words.verb(len(words.words) - 1))
    if words.verb() == "rest":
        method = shown(words.value("--method")).upper() or "GET"
        kind = {"GET": EffectKind.INFRA_READ, "HEAD": EffectKind.INFRA_READ, "DELETE": EffectKind.INFRA_DESTROY}.get(
            method, EffectKind.INFRA_APPLY
        )
    if kind is not None:
        yield infra(
            call,
            kind,
            "az",
            line[:60],
            words.value("-n", "--name", "--ids"),
            context=shown(words.value("--subscription", "-g", "--resource-group")),
        )


_OTHER_VALUES = (
    "-t --access-token -c --context --config --profile -p --project --project-id -o --output --format -r --region "
    "--org --org-id --cluster "
    "--environment -e --env --api-url --token --compartment-id --zone --size --image -n --name --namespace --type"
)
_SETTINGS = frozenset("auth context config profile completion login logout version help account configure init".split())


def other_cloud(call: Call, scene: Scene) -> Iterator[Effect]:
    """Smaller providers: `<noun...> <verb>`, the same verb classes."""
    words = split(call.argv, _OTHER_VALUES)
    if skipped(words) or dry_run(words) or words.has("-h") or words.verb() in _SETTINGS or not words.words:
        return
    line = " ".join(word.text or "" for word in words.words)
    if any(
        part in line
        for part in (
            "secret get",
            "secrets get",
            "connection-string",
            "kubeconfig show",
            "kubeconfig save",
            "password show",
            "roles password",
        )
    ):
        if "save" not in line:
            yield from _secret(call, scene, call.name, line)
        return
    if "reserved" in line and ("create" in line or "purchase" in line):
        yield spend.reserved(call, call.name, line[:80])
        return
    index, verb = first_verb(words.words, 0 if call.name in ("eksctl", "kops", "kind", "minikube", "k3d", "multipass", "vastai", "runpodctl") else 1)
    if not verb:
        verb, index = words.verb(len(words.words) - 1), len(words.words) - 1
    kind = verb_class(verb)
    if kind is not None:
        local = "1" if call.name in ("kind", "minikube", "k3d", "multipass", "colima", "lima", "limactl") else ""
        yield infra(call, kind, call.name, line[:60], words.words[index + 1] if index + 1 < len(words.words) else None, local=local)


PROGRAMS: tuple[Program, ...] = (
    Program(("aws", "awslocal"), style="raw", describe=or_served(and_more(or_expired(aws))), summary="Amazon web services"),
    Program(("gcloud",), style="raw", describe=or_served(and_more(or_expired(gcloud))), summary="Google cloud"),
    Program(("gsutil", "s3cmd", "s5cmd"), style="raw", describe=and_more(or_expired(gsutil)), summary="object storage"),
    Program(("az",), style="raw", describe=or_served(and_more(or_expired(az))), summary="Azure"),
    Program(
        (
            "doctl",
            "hcloud",
            "linode-cli",
            "scw",
            "oci",
            "ibmcloud",
            "aliyun",
            "tccli",
            "vultr-cli",
            "exo",
            "upctl",
            "civo",
            "ovh",
            "openstack",
            "confluent",
            "atlas",
            "mongocli",
            "neonctl",
            "neon",
            "pscale",
            "turso",
            "eksctl",
            "kops",
            "kind",
            "minikube",
            "k3d",
            "multipass",
            "oscli",
            "databricks",
            "cbt",
            "yc",
            "gdcloud",
            "cf",
            "okta",
            "auth0",
            "algolia",
            "stripe",
            "twilio",
            "datadog",
            "sentry-cli",
            "newrelic",
            "pagerduty",
            "cloudflare",
            "flarectl",
            "nsc",
            "astro",
            "prefect",
            "dagster-cloud",
            "modal",
            "runpodctl",
            "vastai",
            "colima",
            "limactl",
        ),
        style="raw",
        describe=or_served(and_more(other_cloud)),
        summary="cloud service client",
    ),
)
