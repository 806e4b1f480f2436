"""Losses in databases, clusters, clouds and the system itself: the part of destructive-operation that is one table of kinds."""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.profile import Profile
from ...model.verdict import Decision
from ..base import shown
from ..ground import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[Decision, str, str]

# Kind -> (what it does, what to do instead). Commands in backticks are allowed by every profile that knows the tool.
_KINDS: dict[EffectKind, tuple[str, str]] = {
    EffectKind.DB_DROP: ("drops or empties", "look first, and let a person drop it after a dump"),
    EffectKind.DB_DELETE_UNSCOPED: ("changes or deletes every row of", "name the rows with a WHERE clause, and count them first"),
    EffectKind.INFRA_DESTROY: ("destroys", "show what would go before anything goes"),
    EffectKind.SYSTEM_POWER: ("turns the machine off or restarts it:", "leave that to a person"),
    EffectKind.SYSTEM_MOUNT: ("changes disks or mounts:", "look at them: `lsblk`"),
    EffectKind.SYSTEM_USER: ("changes users or groups:", "look at them: `id`"),
    EffectKind.SYSTEM_FIREWALL: ("changes the firewall:", "leave that to a person"),
}
_INSTEAD = {
    "terraform": "`terraform plan -destroy`",
    "tofu": "`tofu plan -destroy`",
    "pulumi": "`pulumi preview`",
    "kubectl": "`kubectl get all`",
    "helm": "`helm list`",
    "docker": "`docker ps -a`",
    "aws": "`aws sts get-caller-identity`",
    "restic": "`restic snapshots`",
}
# Tool -> (how its stores begin, how one is listed).
_LISTED = {"aws": ("s3://", "aws s3 ls"), "gsutil": ("gs://", "gsutil ls")}
# Engine -> (what an unscoped delete does there, what to do instead): no rows and no WHERE.
_STORES = {
    "redis": ("deletes every key of", "name the keys that should go, and count them first"),
    "mongo": ("changes or deletes every document of", "name the documents by a filter, and count them first"),
}
# What takes a service away, against what only starts it again.
_STOPPING = frozenset(
    (
        "stop",
        "disable",
        "mask",
        "kill",
        "isolate",
        "halt",
        "poweroff",
        "reboot",
        "emergency",
        "rescue",
        "remove",
        "unload",
        "bootout",
        "delete",
    )
)
_REMOVING = frozenset(("remove", "clear", "delete", "r"))
THROWAWAY = (":memory:", "/tmp/", "/dev/shm/")  # noqa: S108  # databases in memory or scratch


def judge_system(effect: Effect, profile: Profile) -> Said | None:
    """What an effect outside files and git would lose."""
    kind = effect.kind
    if kind is EffectKind.SYSTEM_SERVICE and effect.get("action") in _STOPPING:
        return Decision.DENY, f"stops or disables the service {_name(effect)}", "look at it: `systemctl status`"
    if kind is EffectKind.SYSTEM_SCHEDULE and effect.get("action") in _REMOVING:
        return Decision.DENY, "removes a whole table of scheduled jobs", "see what is in it: `crontab -l`"
    if kind is EffectKind.PROCESS_BACKGROUND and effect.has("endless"):
        return Decision.DENY, f"{_name(effect)} starts itself without end, until the machine stands still", "bound it by a counter"
    known = _KINDS.get(kind)
    if known is None:
        return None
    if (
        kind in (EffectKind.DB_DROP, EffectKind.DB_DELETE_UNSCOPED)
        and effect.get("engine") == "sqlite"
        and effect.get("database").startswith(THROWAWAY)
    ):
        return None
    decision = profile.effect_decision(kind)
    if kind is EffectKind.INFRA_DESTROY and effect.has("own") and profile.remote_exec_local is Decision.ALLOW:
        return None  # one row by its key in the service that is being built here
    if kind is EffectKind.INFRA_DESTROY and effect.get("tool") == "http" and effect.has("private") and decision is Decision.DENY:
        decision = profile.effect_decision(EffectKind.INFRA_APPLY)  # a service of this machine or network: its rows, not the cloud's
    if kind is EffectKind.INFRA_DESTROY and effect.has("local") and decision is Decision.DENY:
        decision = profile.effect_decision(EffectKind.INFRA_APPLY)  # a toy cluster or a machine inside this one, made again by its file
    if decision is Decision.ALLOW:
        return None
    words, instead = known
    tool = effect.get("tool") or effect.program
    if kind is EffectKind.DB_DELETE_UNSCOPED:
        words, instead = _STORES.get(effect.get("engine"), known)
    if kind is EffectKind.INFRA_DESTROY and tool in _INSTEAD:
        instead = f"show what is there: {_INSTEAD[tool]}"
    scheme, lists = _LISTED.get(tool, ("", ""))
    if kind is EffectKind.INFRA_DESTROY and lists and effect.target.text.startswith(scheme) and not effect.target.dynamic:
        instead = f"show what is there: `{lists} {quoted(effect.target.text)}`"
    statement = effect.get("statement")
    detail = (
        f" ({shown(statement)})"
        if statement
        else f" ({shown(effect.get('action'))})"
        if effect.has("action") and effect.get("action") not in _name(effect)
        else ""
    )
    return decision, f"{words} {_name(effect)}{detail}", instead


def _name(effect: Effect) -> str:
    name = (
        effect.target.text
        or effect.get("object")
        or effect.get("resource")
        or effect.get("database")
        or effect.get("action")
    )
    tool = effect.get("tool") or effect.program
    if not name and effect.kind in (EffectKind.DB_DROP, EffectKind.DB_DELETE_UNSCOPED):
        return f"a database of {shown(effect.get('engine') or tool or 'some kind')}"
    if not name and effect.kind is EffectKind.INFRA_DESTROY:
        return f"whatever {shown(' '.join(filter(None, (tool, effect.get('verb')))) or 'it')} reaches"
    return shown(name or tool) if name or tool else "something"
