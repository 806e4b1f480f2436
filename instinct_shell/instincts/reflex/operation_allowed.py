"""Operation allowed: the profile's table of effects, with a reason for each kind.

*Stops or asks* what `[effects]` of the profile says, kind by kind: uploads and remote commands, database writes, apply, publish, services,
schedules, kills, hooks and risky git configuration, files that the host runs later, addresses of cloud metadata, hosts that an allow-list
lacks. Also the seeds' `scope.operations`: an intent type or effect kind that is not in a non-empty list is denied.

*Lets pass* what the table allows; one row in a named development database, a migration of one; one's own child and signal 0; harmless git keys (`user.name`); a
container on this machine; the loopback address.

*How it was fooled before*: `git -c core.hooksPath=... commit`, `--no-verify`, `docker exec db psql -c ...`, a hook written with `printf >`, an
upload by `curl -T`, `scp`, `rclone`, `git push https://token@elsewhere`. Tools made to attack other machines ask, floods and miners are denied.

*To adjust*: `[effects]`, `[network]`, `[names]`, `[database]`, `[git]`, `host_executed` in `[paths]`, `operations` in `[scope]`.
"""

from __future__ import annotations

import re

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import CHANGES, Ground, folder_of, ground_of, is_pattern, path_of
from ..patterns import any_matches
from ..places import development_name, production_name
from .destructive_systems import THROWAWAY
from .env_hijack import HARMLESS_COMMANDS
from .operations_network import judge_network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

    Said = tuple[Decision, str, str]

_NETWORK = frozenset((EffectKind.NET_CONNECT, EffectKind.NET_LISTEN, EffectKind.NET_UPLOAD, EffectKind.NET_REMOTE_EXEC))
# Judged with their own reasons by another reflex.
_ELSEWHERE = frozenset(
    (
        EffectKind.GIT_DISCARD,
        EffectKind.GIT_REWRITE,
        EffectKind.GIT_FORCE_PUSH,
        EffectKind.GIT_DELETE_REF,
        EffectKind.DB_DROP,
        EffectKind.DB_DELETE_UNSCOPED,
        EffectKind.INFRA_DESTROY,
        EffectKind.SYSTEM_POWER,
        EffectKind.SYSTEM_MOUNT,
        EffectKind.SYSTEM_USER,
        EffectKind.SYSTEM_FIREWALL,
        EffectKind.SYSTEM_PRIVILEGE,
        EffectKind.SECRET_READ,
        EffectKind.SPEND_COMMIT,
        EffectKind.CODE_OPAQUE,
        EffectKind.ENV_HIJACK,
    )
)
# Kind -> (words before the target, what to do instead).
_WORDS: dict[EffectKind, tuple[str, str]] = {
    EffectKind.FILE_READ: ("reads", "ask for exactly what is needed"),
    EffectKind.FILE_WRITE: ("overwrites", "show the change first, such as with `git diff`"),
    EffectKind.FILE_CREATE: ("creates", "show what would be written first"),
    EffectKind.FILE_APPEND: ("appends to", "show the change first, such as with `git diff`"),
    EffectKind.FILE_DELETE: ("deletes", "look first: `ls -la`"),
    EffectKind.FILE_MOVE: ("moves", "look first: `ls -la`"),
    EffectKind.FILE_METADATA: ("changes permissions of", "look first: `ls -la`"),
    EffectKind.FILE_LINK: ("makes a link at", "look first: `ls -la`"),
    EffectKind.FILE_EXECUTE: ("runs", "read it first"),
    EffectKind.PROCESS_SPAWN: ("runs the program", "use a program that the profile knows"),
    EffectKind.PROCESS_BACKGROUND: ("leaves a process running:", "run it in the foreground"),
    EffectKind.DB_READ: ("reads from the database", "ask for exactly what is needed"),
    EffectKind.DB_WRITE: ("writes to the database", "show the rows that it would change, with a SELECT"),
    EffectKind.INFRA_READ: ("reads infrastructure", "ask for exactly what is needed"),
    EffectKind.INFRA_APPLY: ("changes infrastructure:", "show the plan first, or ask for a dry run"),
    EffectKind.PACKAGE_INSTALL: ("installs", "use what the lockfile holds"),
    EffectKind.PACKAGE_PUBLISH: ("publishes", "build it and look at it first; publishing cannot be taken back"),
    EffectKind.SYSTEM_SERVICE: ("changes a service:", "look at it: `systemctl status`"),
    EffectKind.SYSTEM_SCHEDULE: ("changes scheduled jobs:", "see what is in it: `crontab -l`"),
    EffectKind.API_CALL: ("makes a paid call:", "ask the person"),
    EffectKind.CODE_INLINE: ("runs inline code:", "ask the person"),
    EffectKind.CODE_SCRIPT: ("runs the script", "read it first"),
    EffectKind.UNKNOWN: ("does something that the catalog does not know:", "use a program that the profile knows"),
}
_TOOL_LOOKS = {
    "terraform": "`terraform plan`",
    "tofu": "`tofu plan`",
    "pulumi": "`pulumi preview`",
    "kubectl": "`kubectl get all`",
    "helm": "`helm list`",
    "npm": "`npm pack --dry-run`",
    "docker": "`docker images`",
    "cargo": "`cargo publish --dry-run`",
}


class OperationAllowed(BuiltIn):
    id = "operation-allowed"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        if profile.scope_operations:
            found += self._scope(intent, effects, profile)
        for effect in effects:
            ground = ground_of(intent, profile, situation)
            said = self._host_file(effect, ground)
            if said is None and effect.kind not in _ELSEWHERE and not _within_session(effect, profile, situation):
                said = _operation(effect, profile, ground)
            if said is not None and said[0] is not Decision.ALLOW:
                found.append(self.finding(said[0], said[1], said[2], effect=effect))
        return tuple(found)

    def _scope(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile) -> list[Finding]:
        """The seeds' `allowed_operations`: the intent's type, or each of its effects, must be named."""
        allowed = profile.scope_operations
        if any_matches(allowed, str(intent.type)):
            return []
        outside = [effect for effect in effects if not any_matches(allowed, effect.kind.value)]
        if effects and not outside:
            return []
        what = outside[0].kind.value if outside else str(intent.type)
        return [
            self.finding(
                Decision.DENY,
                f"operation {shown(what)} is not in the allowed set",
                "stay with: " + ", ".join(allowed),
                effect=outside[0] if outside else None,
            )
        ]

    def _host_file(self, effect: Effect, ground: Ground) -> Said | None:
        """Writing a file that the host runs later. Deleting one runs nothing, and restores by git are git's matter."""
        if effect.kind not in CHANGES or effect.kind in (EffectKind.FILE_DELETE, EffectKind.FILE_MOVE):
            return None
        path = path_of(effect)
        if (path and ground.host_executed(path) and not path.endswith(".sample")) or (
            is_pattern(effect) and (ground.glob_reaches(effect.target.text, "host") or ground.host_executed(folder_of(effect)))
        ):
            if effect.has("by_manager") or (effect.kind is EffectKind.FILE_CREATE and effect.has("directory")):
                return None
            name = ground.shown(path or effect.target.text)
            return (
                ground.profile.host_executed_decision,
                f"writes {name}, which the host runs later outside the jail",
                "write the text to another name and let a person put it in place",
            )
        return None


def _operation(effect: Effect, profile: Profile, ground: Ground) -> Said | None:
    kind = effect.kind
    if kind in _NETWORK:
        return judge_network(effect, profile)
    if kind is EffectKind.GIT_CONFIG:
        return _git_config(effect, profile)
    if kind is EffectKind.GIT_HOOK:
        decision = max(profile.effect_decision(kind), profile.host_executed_decision)
        if effect.has("skip"):
            return (
                max(profile.effect_decision(kind), Decision.ASK),
                "skips the repository's hooks",
                "commit with the hooks: `git commit -m wip`",
            )
        return (
            decision,
            f"installs a git hook {ground.shown(effect.target.text)}, which the host runs later",
            "write the text to another name and let a person put it in place",
        )
    if kind is EffectKind.PROCESS_KILL:
        return _kill(effect, profile)
    if effect.has("attack"):
        least = Decision.DENY if effect.has("never") else max(Decision.ASK, profile.effect_decision(EffectKind.NET_REMOTE_EXEC))
        return least, f"runs {shown(effect.target.text)}, which {effect.get('attack')}", "leave that to a person"
    decision = profile.effect_decision(kind)
    if kind is EffectKind.DB_WRITE and _throwaway_row(effect, profile):
        return None
    if kind is EffectKind.INFRA_APPLY and effect.has("local") and not effect.has("context"):
        decision = profile.remote_exec_local  # a container or a toy cluster of this machine
    if decision is Decision.ALLOW:
        return None
    path = path_of(effect)
    if path and ground.is_sink(path):
        return None
    if path and kind in CHANGES and not ground.in_workspace(path) and ground.in_scope(path) and profile.private_tmp:
        return None  # a private /tmp is gone when the command ends
    words, instead = _WORDS.get(kind, (f"does {kind.value}", "ask the person"))
    tool = effect.get("tool") or effect.get("manager") or effect.program
    if tool in _TOOL_LOOKS and kind in (EffectKind.INFRA_APPLY, EffectKind.PACKAGE_PUBLISH):
        instead = f"look first: {_TOOL_LOOKS[tool]}"
    if kind is EffectKind.PACKAGE_PUBLISH and not effect.target.text:
        words = "publishes with"  # what, a manifest says
    name = (
        ground.shown(path)
        if path
        else shown(effect.target.text or effect.get("statement") or effect.get("resource") or effect.get("action") or tool)
    )
    return decision, f"{words} {name}", instead


def _git_config(effect: Effect, profile: Profile) -> Said | None:
    key, value, scope = effect.get("key").lower(), effect.get("value"), effect.get("scope")
    risky = any_matches(profile.git_config_risky, key)
    if re.fullmatch(r"remote\..+\.push", key) and value.lstrip().startswith(("+", ":")):
        risky = "remote.*.push"  # a later plain `git push` overwrites or deletes
    if (
        risky
        and value.strip() in HARMLESS_COMMANDS
        and not key.startswith(("alias.", "include", "url.", "http", "commit.gpgsign", "tag.gpgsign", "clean.", "remote."))
        and (value or key.endswith(("pager", "editor", "fsmonitor")))
    ):
        risky = ""
    if key.startswith("alias.") and not value.startswith("!"):
        risky = ""
    if key.endswith(".mirror") and value.lower() in ("false", "0", "no", "off"):
        risky = ""
    if key == "clean.requireforce" and value.lower() in ("true", "1", "yes", "on"):
        risky = ""
    if key.endswith("gpgsign") and value.lower() in ("true", "1", "yes", "on"):
        risky = ""
    if risky:
        decision = (
            Decision.DENY
            if scope in ("global", "system")
            else max(profile.effect_decision(EffectKind.GIT_CONFIG), profile.host_executed_decision)
        )
        return (
            decision,
            f"sets git's {shown(key)} to {shown(value)}, which makes git run something or check less",
            f"see what is set: `git config --get {key}`",
        )
    if scope in ("global", "system"):
        return (
            max(profile.effect_decision(EffectKind.GIT_CONFIG), Decision.ASK),
            f"sets git's {shown(key)} for every repository",
            f"set it for this repository: `git config {key} VALUE`"
            if profile.effect_decision(EffectKind.GIT_CONFIG) is Decision.ALLOW
            else f"see what is set: `git config --get {key}`",
        )
    decision = profile.effect_decision(EffectKind.GIT_CONFIG)
    return (decision, f"sets git's {shown(key)}", f"see what is set: `git config --get {key}`") if decision is not Decision.ALLOW else None


def _within_session(effect: Effect, profile: Profile, situation: Situation) -> bool:
    """A process is ended that the kernel lets the command see: one that the same agent's commands have started. What a profile denies stays denied."""
    if effect.kind is not EffectKind.PROCESS_KILL or not situation.own_processes or effect.get("by") not in ("pid", "name"):
        return False
    return profile.effect_decision(effect.kind) is not Decision.DENY and not any(effect.get(name) for name in ("remote", "container"))


def _kill(effect: Effect, profile: Profile) -> Said | None:
    by = effect.get("by")
    name = shown(effect.target.text) if effect.target.text else "a process that is only known when it runs"
    if by in ("child", "signal0"):
        return None
    if by == "all":
        return Decision.DENY, "kills every process of the user", "stop one child of your own by its pid"
    words = f"kills every process {_chosen(effect.target.text)}" if by == "name" else f"kills {name}"
    return max(profile.effect_decision(EffectKind.PROCESS_KILL), Decision.ASK), words, "see what runs: `ps -ef`"


def _chosen(text: str) -> str:
    """How processes are chosen: by name, by the port that they use (`:3000`, `tcp:3000`, `3000/tcp`) or by a path."""
    port = re.fullmatch(r"(?:(?:tcp|udp)?:)?(\d+)(?:/(?:tcp|udp))?", text, re.IGNORECASE)
    if port and not text.isdigit():
        return f"that uses port `{port[1]}`"
    return f"that uses {shown(text)}" if text.startswith("/") else f"named {shown(text)}"


def _throwaway_row(effect: Effect, profile: Profile) -> bool:
    """One row in a database that is named as a development one and nothing that points elsewhere; a migration of such a database; a database that
    is a file of this machine, whose own effect (an append) is judged by where it lies."""
    name = effect.get("database")
    if name.startswith(THROWAWAY) or (effect.get("engine") == "sqlite" and profile.effect_decision(EffectKind.DB_WRITE) is Decision.ASK):
        return True
    where = effect.get("target_env")
    if effect.get("engine") == "orm":
        # With no place named it is the project's own database; where that points to production the environment assessment says so.
        return bool(development_name(profile, where)) or (
            effect.has("forward") and not where and profile.migrations is Decision.ALLOW and profile.effect_decision(EffectKind.DB_WRITE) is not Decision.DENY
        )
    if production_name(profile, where):
        return False
    return effect.get("rows") == "one" and bool(name) and bool(any_matches(profile.development_patterns, name.lower()))
