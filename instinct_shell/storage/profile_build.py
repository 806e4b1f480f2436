"""From resolved plain tables to a `Profile` value, its digest, and the `[[rule]]` tables."""

from __future__ import annotations

from ..errors import ProfileError
from ..model.effect import EffectKind
from ..model.jailspec import JailLevel, Limits
from ..model.profile import Plugged, Profile, ProgramRow, Rule
from ..model.verdict import DECISIONS
from ..model.version import VERSION
from .profile_schema import DECISION_WORDS, DYNAMIC, RULE_KEYS, TIERS, money, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Profile field <- flattened key, where nothing else is to be done.
_FIELDS = {
    "description": "description", "private_tmp": "jail.private_tmp", "one_shot": "jail.one_shot", "mask_env_files": "jail.mask_env_files",
    "supervise_execs": "jail.supervise_execs", "sockets": "jail.sockets",
    "full_jail_required": "jail.full_required", "writable": "paths.writable", "readable": "paths.readable", "secrets": "paths.secrets",
    "protected": "paths.protected", "write_protected": "paths.write_protected", "protected_exceptions": "paths.protected_exceptions",
    "host_executed": "paths.host_executed", "never_write": "paths.never_write", "sole_copies": "paths.sole_copies",
    "build_output": "paths.build_output", "scope_paths": "scope.paths", "scope_operations": "scope.operations",
    "allow_programs": "programs.allow", "network": "network.mode", "network_allow": "network.allow", "publish": "network.publish",
    "network_credentials": "network.credentials",
    "production_patterns": "names.production", "development_patterns": "names.development", "protected_refs": "git.protected_refs",
    "git_config_risky": "git.risky_config", "session_ceiling_micros": "spend.session_ceiling", "day_ceiling_micros": "spend.day_ceiling",
    "month_ceiling_micros": "spend.month_ceiling", "spend_ceiling_micros": "spend.commitment_ceiling", "ask_becomes": "ask.becomes",
    "durability": "records.durability", "env_allow": "environment.allow", "env_deny": "environment.deny",
    "file_most_bytes": "files.most_bytes",
}  # fmt: skip
_DECISIONS = {
    "default_effect": "effects.default", "host_executed_decision": "paths.host_executed_decision", "environment_dump": "environment.dump",
    "package_unknown": "packages.unknown", "package_lookalike": "packages.lookalike", "package_foreign": "packages.foreign",
    "package_global": "packages.global", "remote_exec_local": "network.local_containers", "file_syntax": "files.syntax",
    "file_linter": "files.linter", "file_secrets": "files.secrets", "file_leases": "files.leases", "file_binary": "files.binary",
    "migrations": "database.migrations",
}  # fmt: skip


def stamp() -> tuple[object, ...]:
    """What a cached profile depends on besides its files: the product version and the instincts with their versions."""
    from ..instincts.registry import BUILTIN

    return (VERSION, tuple(f"{instinct.id}@{instinct.version}" for instinct in BUILTIN))


def digest_of(
    values: Mapping[str, object],
    caches: object,
    rules: tuple[tuple[object, ...], ...],
    programs: tuple[tuple[object, ...], ...] = (),
    plugged: tuple[tuple[str, str], ...] = (),
) -> str:
    """sha256 over everything that decides a verdict. The file that a rule came from is left out."""
    import hashlib
    import json

    body: dict[str, object] = {"values": dict(values), "caches": caches, "rules": [rule[:-1] for rule in rules], "stamp": stamp()}
    body |= {"programs": programs, "plugged": plugged}
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def build_profile(
    name: str,
    digest: str,
    values: Mapping[str, Any],
    caches: tuple[tuple[str, str], ...],
    rules: tuple[tuple[Any, ...], ...],
    extends: tuple[str, ...],
    programs: tuple[tuple[Any, ...], ...] = (),
    plugged: tuple[tuple[str, str], ...] = (),
) -> Profile:
    """The value that everything else works with. The tables were checked when they were read."""
    decisions: dict[str, Any] = {field: DECISIONS[values[key]] for field, key in _DECISIONS.items()}
    limits = {key.rpartition(".")[2]: value for key, value in values.items() if key.startswith("jail.limits.")}
    return Profile(
        name=name,
        digest=digest,
        level=JailLevel(values["jail.level"]),
        effects=tuple((kind, DECISIONS[values[f"effects.{kind.value}"]]) for kind in EffectKind if f"effects.{kind.value}" in values),
        dynamic=tuple((kind, DECISIONS[values[f"dynamic.{kind}"]]) for kind in DYNAMIC),
        dynamic_partial=tuple((kind, DECISIONS[values[f"dynamic_partial.{kind}"]]) for kind in DYNAMIC),
        limits=Limits(**limits),
        rules=tuple(Rule(rule[0], DECISIONS[rule[1]], *rule[2:]) for rule in rules),
        caches=caches,
        extends=extends,
        programs=tuple(ProgramRow(*row) for row in programs),
        plugged=tuple(Plugged(*entry) for entry in plugged),
        **{field: values[key] for field, key in _FIELDS.items()},
        **decisions,
    )


def read_rules(value: object, source: str) -> tuple[tuple[object, ...], ...]:
    """`[[rule]]` tables as tuples in the order of `Rule`'s fields, the decision as a word."""
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ProfileError(f"{source}: rule: must be an array of tables", hint="write [[rule]]")
    rules = []
    for number, table in enumerate(value, 1):
        where = f"{source}: rule {number}"
        for key in table:
            if key not in RULE_KEYS:
                raise ProfileError(f"{where}: {key}: unknown key{nearest(key, RULE_KEYS)}", hint="base.toml shows a rule with every key")
        for key in ("id", "decision", "reason"):
            if not isinstance(table.get(key), str) or not table[key]:
                raise ProfileError(f"{where}: {key}: missing or not a string", hint="a rule needs id, decision and reason")
        if table["decision"] not in DECISION_WORDS:
            raise ProfileError(f"{where}: decision: `{table['decision']}` is not one of allow, ask, deny", hint='write decision = "deny"')
        tier = table.get("tier", "reflex")
        if tier not in TIERS:
            raise ProfileError(f"{where}: tier: `{tier}` is not one of reflex, gate", hint='write tier = "reflex"')
        lists = [_rule_list(table.get(key, []), where, key) for key in ("effects", "programs", "arguments", "paths")]
        if not any(lists):
            raise ProfileError(f"{where}: no condition: it would hold for everything", hint="give effects, programs, arguments or paths")
        costs = money(table.get("costs", "0"))
        if costs is None:
            raise ProfileError(f"{where}: costs: `{table['costs']}` is not an amount", hint='write costs = "0.40"')
        alternative = table.get("alternative", "")
        if not isinstance(alternative, str):
            raise ProfileError(f"{where}: alternative: not a string", hint="give one line of text")
        _compile(lists[3], where)
        rules.append((table["id"], table["decision"], table["reason"], alternative, tier, *lists, costs, source))
    return tuple(rules)


def _rule_list(value: object, where: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
        raise ProfileError(f"{where}: {key}: not a list of non-empty strings", hint=f'write {key} = ["..."]')
    return tuple(value)


def _compile(paths: tuple[str, ...], where: str) -> None:
    """Regular expressions are checked when the file is read, not when a command is judged."""
    import re

    for path in paths:
        if path.startswith("re:"):
            try:
                re.compile(path[3:])
            except re.error as error:
                raise ProfileError(
                    f"{where}: paths: `{path}` is not a regular expression: {error}", hint="mend it or use a path pattern"
                ) from error


def tables_of(
    values: Mapping[str, Any],
    caches: tuple[tuple[str, str], ...],
    rules: tuple[tuple[Any, ...], ...],
    programs: tuple[tuple[Any, ...], ...] = (),
    plugged: tuple[tuple[str, str], ...] = (),
) -> list[str]:
    """The resolved profile as TOML lines that read back to the same values."""
    from .profile_schema import KEYS, as_money

    lines, table = [], None
    for path in (path for path in KEYS if path in values):
        group, _, name = (
            ("", "", path) if "." not in path else ("effects", ".", path[8:]) if path.startswith("effects.") else path.rpartition(".")
        )
        if group != table:
            lines += ["", f"[{group}]"] if group else []
            table = group
        value = f'"{as_money(values[path])}"' if KEYS[path].kind == "money" else _toml(values[path])
        lines.append(f"{quote(name) if '.' in name else name} = {value}")
    lines += ["", "[caches]", *(f"{variable} = {quote(folder)}" for variable, folder in caches)]
    names = ("id", "decision", "reason", "alternative", "tier", "effects", "programs", "arguments", "paths")
    for rule in rules:
        lines += _table("rule", tuple(zip(names, rule, strict=False)))
        if rule[9]:
            lines.append(f'costs = "{as_money(rule[9])}"')
    for row in programs:
        lines += _table("program", tuple((field, value) for field, value in zip(ProgramRow._fields, row, strict=True) if field != "adds"))
    for entry in plugged:
        lines += _table("instinct", tuple(zip(("entry", "sha256"), entry, strict=True)))
    return lines


def _table(name: str, pairs: tuple[tuple[str, Any], ...]) -> list[str]:
    return ["", f"[[{name}]]", *(f"{key} = {_toml(value)}" for key, value in pairs if value)]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    return quote(value) if isinstance(value, str) else str(value)


def quote(text: str) -> str:
    """A TOML basic string."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
