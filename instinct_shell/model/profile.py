"""The resolved profile as a value. TOML in, this out (storage/profiles); everything unknown is an error there."""

from __future__ import annotations

from .effect import EffectKind
from .jailspec import JailLevel, Limits
from .value import Value
from .verdict import Decision


class Rule(Value):
    """A `[[rule]]` table: all given conditions must hold. A project file's rules may only ask or deny.

    paths: globs (or `re:`) over effect targets; arguments: globs over the command's words; costs_micros: what one run costs (an api.call).
    """

    id: str
    decision: Decision
    reason: str
    alternative: str = ""
    tier: str = "reflex"
    effects: tuple[str, ...] = ()  # kinds, globs allowed: "git.*"
    programs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    costs_micros: int = 0
    source: str = ""  # file it came from


class Profile(Value):
    """Everything judging and jailing need, resolved. Paths may hold `{workspace}`, `{home}`, `{tmp}`; they are filled in by `with_paths`."""

    name: str
    digest: str  # sha256 of the resolved tables, the instinct ids and versions, and the product version
    level: JailLevel  # the least jail level accepted
    # decision per effect kind where no instinct says more; missing = `default_effect`
    effects: tuple[tuple[EffectKind, Decision], ...] = ()
    default_effect: Decision = Decision.ALLOW
    allow_programs: tuple[str, ...] = ()  # allow-list profiles: program globs ("git status" style prefixes); empty = deny-list profile
    dynamic: tuple[tuple[str, Decision], ...] = ()  # dynamic kind ("reader" "write" "delete" "command" "interpreter") -> decision at level full
    dynamic_partial: tuple[tuple[str, Decision], ...] = ()  # the same at level partial
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ("/",)
    secrets: tuple[str, ...] = ()  # home secrets, masked by the kernel
    protected: tuple[str, ...] = ()  # name patterns of the seeds: content neither read nor written
    write_protected: tuple[str, ...] = ()  # lockfiles: read by anyone, written by their manager only
    protected_exceptions: tuple[str, ...] = ()
    host_executed: tuple[str, ...] = ()  # files the host runs later
    never_write: tuple[str, ...] = ()  # agent configuration, the guard's own files
    sole_copies: tuple[str, ...] = ()  # databases, backups ...: deleting one asks
    build_output: tuple[str, ...] = ()  # names of folders that can be rebuilt
    scope_paths: tuple[str, ...] = ()  # seeds' scope.paths: globs or re:
    scope_operations: tuple[str, ...] = ()  # seeds' scope.operations: intent types or effect kinds
    network: str = "open"  # open | none (allowlist: issue 4)
    network_allow: tuple[str, ...] = ()
    production_patterns: tuple[str, ...] = ()  # names that mean production: hosts, databases, contexts
    protected_refs: tuple[str, ...] = ()  # branches whose loss is denied
    session_ceiling_micros: int = 10_000_000
    day_ceiling_micros: int = 0
    month_ceiling_micros: int = 0
    spend_ceiling_micros: int = 10_000_000  # a standing commitment (ad budget, bid), account currency in micros
    ask_becomes: str = "deny"  # what an ask without a grant becomes when run
    durability: str = "relaxed"  # relaxed (synced within 100 ms) | risky_first | always
    private_tmp: bool = False
    mask_env_files: bool = False
    full_jail_required: bool = False
    limits: Limits = Limits()
    env_allow: tuple[str, ...] = ()  # names or globs of variables that enter the jail
    env_deny: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    caches: tuple[tuple[str, str], ...] = ()  # variable -> folder below the per-workspace cache directory

    def effect_decision(self, kind: EffectKind) -> Decision:
        """The table's decision for an effect kind."""
        for known, decision in self.effects:
            if known is kind:
                return decision
        return self.default_effect

    def dynamic_decision(self, kind: str, jail_level: str) -> Decision:
        """What a dynamic word of this kind means at this jail level; a kind that the table lacks is denied."""
        for known, decision in self.dynamic if jail_level == JailLevel.FULL else self.dynamic_partial:
            if known == kind:
                return decision
        return Decision.DENY
