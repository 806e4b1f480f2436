"""The resolved profile as a value. TOML in, this out (storage/profiles); everything unknown is an error there."""

from __future__ import annotations

from .effect import EffectKind
from .jailspec import JailLevel, Limits
from .value import Value
from .verdict import Decision


class Rule(Value):
    """A `[[rule]]` table: all given conditions must hold. A project file's rules may only ask or deny.

    effects, programs, arguments: globs where `*` matches any run of characters. paths: path patterns as everywhere in a profile, or `re:`
    and a regular expression that must match from the start. costs_micros: what one run costs; reserved from the session ceiling.
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


class ProgramRow(Value):
    """A `[[program]]` table, the keys of the catalog's rows (effects/call.Program). adds: from a project file, so it only adds effects."""

    names: tuple[str, ...]
    summary: str = ""
    options: str = ""
    longs: str = ""
    style: str = ""
    roles: str = ""
    option_roles: tuple[tuple[str, str], ...] = ()
    when: tuple[tuple[str, str], ...] = ()
    harmless: str = ""
    reads_stdin: bool = False
    adds: bool = False


class Plugged(Value):
    """An `[[instinct]]` table of a person's profile: `package.module:name`, and the sha256 of that module's file."""

    entry: str
    sha256: str


class Profile(Value):
    """Everything judging and jailing need, resolved.

    Path patterns may hold `{workspace}`, `{home}` and `{tmp}`, filled in when a judgement starts (instincts/ground.py), so that the digest
    does not depend on where a workspace lies. In a path pattern `*` matches any run of characters, `/` included; a pattern that does not
    start with `/` or a brace matches at any depth; a folder that matches covers what is below it.
    """

    name: str
    digest: str  # sha256 of the resolved tables, the instinct ids and versions, and the product version
    level: JailLevel  # the least jail level accepted
    # decision per effect kind where no instinct says more; missing = `default_effect`
    effects: tuple[tuple[EffectKind, Decision], ...] = ()
    default_effect: Decision = Decision.ALLOW
    allow_programs: tuple[str, ...] = ()  # allow-list profiles: program globs ("git status" style prefixes); empty = deny-list profile
    dynamic: tuple[
        tuple[str, Decision], ...
    ] = ()  # dynamic kind ("reader" "write" "delete" "command" "interpreter") -> decision at level full
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
    network: str = "open"  # open | allowlist | none
    network_allow: tuple[str, ...] = ()  # entries as model/hosts.py reads them, and `@package-registries`
    network_credentials: tuple[str, ...] = ()  # "git": lent to commands that are git and nothing else (engine/lending.py)
    publish: tuple[int, ...] = ()  # loopback ports of a jail's own network that the host reaches
    production_patterns: tuple[str, ...] = ()  # names that mean production: hosts, databases, contexts
    protected_refs: tuple[str, ...] = ()  # branches whose loss is denied
    session_ceiling_micros: int = 10_000_000
    day_ceiling_micros: int = 0
    month_ceiling_micros: int = 0
    spend_ceiling_micros: int = 10_000_000  # a standing commitment (ad budget, bid), account currency in micros
    ask_becomes: str = "deny"  # what an ask without a grant becomes when run
    durability: str = "relaxed"  # relaxed (synced within 100 ms) | risky_first | always
    private_tmp: bool = False
    one_shot: bool = False  # each command has a jail of its own; nothing is left running for the next
    mask_env_files: bool = False
    sockets: tuple[str, ...] = ()  # of programs outside, that every command may connect to: "docker", or a path
    supervise_execs: bool = False  # every program that a command starts is judged when it starts
    full_jail_required: bool = False
    limits: Limits = Limits()
    env_allow: tuple[str, ...] = ()  # names or globs of variables that enter the jail
    env_deny: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    caches: tuple[tuple[str, str], ...] = ()  # variable -> folder below the per-workspace cache directory
    description: str = ""
    extends: tuple[str, ...] = ()  # the shipped profiles it was resolved from, nearest first
    host_executed_decision: Decision = Decision.ASK
    development_patterns: tuple[str, ...] = ()  # names that mean a throw-away database or service of this machine
    git_config_risky: tuple[str, ...] = ()  # git configuration keys that make git run something or check less
    environment_dump: Decision = Decision.ALLOW  # `env`, `printenv`: the jail's environment holds no secrets in dev
    package_unknown: Decision = Decision.ASK  # a package that is neither well known nor in the lockfile
    package_lookalike: Decision = Decision.ASK
    package_foreign: Decision = Decision.ASK  # foreign index, URL, git source
    package_global: Decision = Decision.ASK
    file_syntax: Decision = Decision.DENY  # a file tool's write brings a syntax error that was not there
    file_linter: Decision = Decision.ASK  # the project's own linter finds something new; ALLOW only says so
    file_secrets: Decision = Decision.DENY  # a file tool's write brings a secret into a file
    file_leases: Decision = Decision.ASK  # another session wrote this path a short while ago
    file_binary: Decision = Decision.ASK  # text would take the place of a binary file
    file_most_bytes: int = 10 * 1024 * 1024  # the largest file that a file tool writes; 0: no limit
    programs: tuple[ProgramRow, ...] = ()  # programs that the person, or the project, described
    plugged: tuple[Plugged, ...] = ()  # instincts of installed packages, named by the person with their digest
    migrations: Decision = Decision.ASK  # the project's own migrations and seeds, forward, where the command names no database
    remote_exec_local: Decision = Decision.ALLOW  # `docker exec` on this machine; `ssh` and `kubectl exec` follow net.remote_exec

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
