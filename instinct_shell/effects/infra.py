"""Words that cloud tools share: a verb says whether a call looks, changes or destroys.

Cloud command lines are too many for rows; their grammar is not: `<service> <verb>-<noun>` (aws) or `<noun> <verb>` (gcloud, az, doctl ...).
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field
from .call import Call
from .verbs import Split, shown, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

READS = frozenset(
    "describe list get ls show head search lookup wait estimate validate test simulate filter preview view info "
    "status logs tail query read "
    "scan history diff export inspect explain check whoami version help browse cat du stat count lint plan size ping "
    "top monitor doctor "
    "select verify compare print locations regions sizes completion init login logout auth docs open detect "
    "calculate batch-get".split()
)
DESTROYS = frozenset(
    "delete terminate purge deregister destroy remove rm rb del erase wipe drop release truncate flush uninstall "
    "undeploy teardown reset "
    "delete-batch dissociate decommission abandon expunge nuke down unregister".split()
)


def verb_class(verb: str) -> EffectKind | None:
    """infra.read, infra.apply or infra.destroy for `delete-db-instance`, `list`, `batchDelete` ...; None when the word is empty."""
    if not verb:
        return None
    words = verb.replace("_", "-").lower().split("-")
    if words[0] in ("batch", "bulk", "admin", "force") and len(words) > 1:
        words = words[1:]
    if verb in DESTROYS or words[0] in DESTROYS or verb.startswith("schedule-key-deletion"):
        return EffectKind.INFRA_DESTROY
    if words[0] in READS or verb in READS:
        return EffectKind.INFRA_READ
    return EffectKind.INFRA_APPLY


def first_verb(words: Iterable[Field], start: int = 1) -> tuple[int, str]:
    """Index and text of the first word from `start` on that reads or destroys, else of the last lower-case word that may be a verb."""
    texts = [word.text or "" for word in words]
    for index, text in enumerate(texts[start:], start):
        if text in READS or text.startswith(("get-", "list-", "describe-")) or verb_class(text) is EffectKind.INFRA_DESTROY:
            return index, text
    for index, text in enumerate(texts[start:], start):
        if text in APPLIES:
            return index, text
    return -1, ""


APPLIES = frozenset(
    "create update set add put apply deploy start stop restart reboot enable disable attach detach resize scale "
    "patch edit replace import "
    "restore rollback promote upgrade submit run execute invoke publish cancel assign associate configure register "
    "bind sync copy cp mv move "
    "rsync mb tag untag rotate renew reset-password ssh call insert up resume suspend undelete clone fork failover "
    "switch move-project "
    "add-iam-policy-binding set-iam-policy remove-iam-policy-binding purchase release-address transfer activate "
    "deactivate lock unlock".split()
)


def skipped(words: Split) -> bool:
    """Whether an option says that nothing happens: help, a dry run, a skeleton."""
    if words.has("--help", "--dryrun", "--what-if", "--validate-only", "--validateonly", "--generate-cli-skeleton", "--simulate"):
        return True
    return dry_run(words)


def dry_run(words: Split) -> bool:
    """`--dry-run`, `--dry-run=client|server|true`; `--dry-run=none|false` and `--no-dry-run` do it in earnest."""
    value = words.value("--dry-run")
    if value is not None:
        return value.text not in ("none", "false", None)
    return "--dry-run" in words.flags and "--no-dry-run" not in words.flags


def infra(call: Call, kind: EffectKind, tool: str, verb: str, resource: Field | str | None = None, **attributes: str) -> Effect:
    """An infra.* effect."""
    named = shown(resource) if isinstance(resource, Field) else resource or ""
    return call.effect(kind, thing(resource), attributes, tool=tool, verb=verb, resource=named[:120])


def file_words(words: Split, *options: str) -> Iterator[Field]:
    """Arguments of options that name a file, `file://` and `fileb://` removed."""
    from .verbs import part_of

    for option, field in words.values:
        text = field.text if field.text is not None else field.prefix
        for scheme in ("fileb://", "file://"):
            if text.startswith(scheme):
                yield part_of(field, len(scheme))
                break
        else:
            if option in options:
                yield field
