"""The network part of operation-allowed: where a command connects, what it sends, what it runs elsewhere."""

from __future__ import annotations

from ...effects.hosts import LOCAL, METADATA, host_of
from ...model.effect import Effect, EffectKind, TargetKind
from ...model.hosts import REGISTRIES, parse_address, parse_rule
from ...model.profile import Profile
from ...model.verdict import Decision
from ..base import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[Decision, str, str]

_CONTAINERS = ("docker", "podman", "nerdctl", "compose", "docker-compose", "lxc", "distrobox", "toolbox", "vagrant")


def judge_network(effect: Effect, profile: Profile) -> Said | None:
    """What a network effect means."""
    # A remote or an index by its name says no host: the jail's network holds those.
    host = host_of(effect.target.text) if effect.target.kind in (TargetKind.URL, TargetKind.HOST) else ""
    place = shown(effect.target.text) if effect.target.text else "a host that is only known when it runs"
    if effect.has("metadata") or host in METADATA:
        return (
            Decision.DENY,
            f"asks the cloud's metadata service ({place}), which hands out credentials",
            "let the person hand over what is needed",
        )
    if effect.has("reverse"):
        return Decision.DENY, f"hands a shell to {place}", "leave that to a person"
    local = host in LOCAL or host.endswith(".localhost") or host.startswith("127.")
    match effect.kind:
        case EffectKind.NET_REMOTE_EXEC:
            via = effect.get("via") or effect.program
            decision = profile.remote_exec_local if via in _CONTAINERS else profile.effect_decision(effect.kind)
            return (
                (decision, f"runs a command on another machine by {via} ({place})", "run it here, or show the person the command")
                if decision is not Decision.ALLOW
                else None
            )
        case EffectKind.NET_LISTEN:
            decision = profile.effect_decision(effect.kind)
            if effect.has("public"):
                decision = max(decision, profile.effect_decision(EffectKind.NET_UPLOAD))
                return (decision, "opens a port of this machine to the whole internet", "serve it on localhost") if decision is not Decision.ALLOW else None
            return (decision, f"listens on {place}", "use a file or a pipe") if decision is not Decision.ALLOW else None
        case EffectKind.NET_UPLOAD:
            said = _upload(effect, profile, place, local)
        case _:
            said = None
            if effect.get("method") == "DELETE":
                said = Decision.ASK, f"sends a DELETE request to {place}", "look first, with a GET request"
            decision = profile.effect_decision(effect.kind)
            if decision is not Decision.ALLOW and not local:
                said = decision, f"connects to {place}", "use what is on this machine"
    outside = _allowlist(profile, host, place, local)
    return max((each for each in (said, outside) if each is not None), key=lambda each: each[0], default=None)


def _upload(effect: Effect, profile: Profile, place: str, local: bool) -> Said | None:
    url = effect.target.text
    if effect.program == "git":
        authority = url.partition("://")[2].partition("/")[0]
        if ":" in authority.partition("@")[0] and "@" in authority:
            return (
                Decision.DENY,
                f"pushes to {shown(url.replace(authority.rpartition('@')[0], '...'))}, an unknown remote with a password in its address",
                "push to a named remote: `git push origin HEAD`",
            )
        if "://" not in url and "@" not in url and not url.startswith(("/", ".")):
            return None  # a named remote
    if local or effect.has("private"):
        return None
    decision = profile.effect_decision(EffectKind.NET_UPLOAD)
    if decision is Decision.ALLOW or effect.get("upload") in ("", "text", "inline", "data"):
        return None if decision is not Decision.DENY else (decision, f"sends data to {place}", "keep it on this machine")
    what = {"file": "a file", "stdin": "what it is fed", "env": "the environment"}.get(effect.get("upload"), "data")
    return decision, f"sends {what} to {place}", "keep it on this machine, or tell the person what would be sent"


def _allowlist(profile: Profile, host: str, place: str, local: bool) -> Said | None:
    if profile.network == "open" or local:
        return None
    if profile.network == "allowlist" and not host:
        return None  # a package index or a named remote: the jail's proxy holds the list
    if profile.network == "allowlist" and _is_listed(profile.network_allow, host):
        return None
    return (
        Decision.DENY,
        f"connects to {place}, which the profile's network rules do not allow",
        "use what is on this machine; a person can add the host to `[network] allow` of their own profile",
    )


def _is_listed(entries: tuple[str, ...], host: str) -> bool:
    """Whether an entry names this host at some port: the port, and what the name resolves to, are looked at when it connects."""
    address = parse_address(host)
    for entry in entries:
        if entry == REGISTRIES:
            continue
        rule = parse_rule(entry)
        if rule.host == "*" or (rule.names(host) if address is None else rule.covers(address)):
            return True
    return False
