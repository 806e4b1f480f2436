"""The keys of a profile: their types, and the direction in which each may be tightened.

One table. Everything that reads profiles (loading, comparing, the command line, the docs) goes through it, so a key cannot exist without
saying which way is tighter.
"""

from __future__ import annotations

from ..errors import ProfileError
from ..model.effect import EffectKind
from ..model.value import Value

DECISION_WORDS = ("allow", "ask", "deny")
TIERS = ("reflex", "gate")
SHIPPED = ("base", "dev", "staging", "prod")
MICROS = 1_000_000


class Key(Value):
    """One key. kind: word | list | hosts | ports | words | count | seconds | money | flag | text. order: what tighter means, see `tighter`.

    ranks: the words of a `word` key from loosest to tightest, or those that a `words` key may hold.
    """

    kind: str
    order: str
    ranks: tuple[str, ...] = ()


def _word(*ranks: str) -> Key:
    return Key("word", "rank", ranks)


_GROWS = Key("list", "grows")
_SHRINKS = Key("list", "shrinks")
_NARROWS = Key("list", "narrows")
_LIMIT = Key("count", "limit")
_CEILING = Key("money", "limit")
_AMOUNT = Key("money", "down")
_FLAG = Key("flag", "true")
_DECISION = _word(*DECISION_WORDS)

LISTS = ("list", "hosts", "ports", "words")  # kinds whose value is a list

DYNAMIC = ("reader", "write", "delete", "command", "interpreter")

KEYS: dict[str, Key] = {
    "version": Key("count", "free"),
    "description": Key("text", "free"),
    "jail.level": _word("none", "partial", "full"),
    "jail.full_required": _FLAG,
    "jail.private_tmp": _FLAG,
    "jail.one_shot": _FLAG,
    "jail.mask_env_files": _FLAG,
    "jail.supervise_execs": _FLAG,
    "jail.sockets": _SHRINKS,
    "jail.limits.wall_seconds": Key("seconds", "limit"),
    "jail.limits.cpu_seconds": _LIMIT,
    "jail.limits.memory_bytes": _LIMIT,
    "jail.limits.processes": _LIMIT,
    "jail.limits.open_files": _LIMIT,
    "jail.limits.file_bytes": _LIMIT,
    "jail.limits.output_bytes": _LIMIT,
    "paths.writable": _SHRINKS,
    "paths.readable": _SHRINKS,
    "paths.secrets": _GROWS,
    "paths.protected": _GROWS,
    "paths.write_protected": _GROWS,
    "paths.protected_exceptions": _SHRINKS,
    "paths.host_executed": _GROWS,
    "paths.host_executed_decision": _DECISION,
    "paths.never_write": _GROWS,
    "paths.sole_copies": _GROWS,
    "paths.build_output": _SHRINKS,
    "effects.default": _DECISION,
    **{f"effects.{kind.value}": _DECISION for kind in EffectKind},
    **{f"dynamic.{name}": _DECISION for name in DYNAMIC},
    **{f"dynamic_partial.{name}": _DECISION for name in DYNAMIC},
    "git.protected_refs": _GROWS,
    "git.risky_config": _GROWS,
    "network.mode": _word("open", "allowlist", "none"),
    "network.allow": Key("hosts", "shrinks"),
    "network.publish": Key("ports", "shrinks"),
    "network.credentials": Key("words", "shrinks", ("git",)),
    "network.local_containers": _DECISION,
    "database.migrations": _DECISION,
    "packages.unknown": _DECISION,
    "packages.lookalike": _DECISION,
    "packages.foreign": _DECISION,
    "packages.global": _DECISION,
    "files.syntax": _DECISION,
    "files.linter": _DECISION,
    "files.secrets": _DECISION,
    "files.leases": _DECISION,
    "files.binary": _DECISION,
    "files.most_bytes": _LIMIT,
    "names.production": _GROWS,
    "names.development": _SHRINKS,
    "spend.session_ceiling": _AMOUNT,
    "spend.day_ceiling": _CEILING,
    "spend.month_ceiling": _CEILING,
    "spend.commitment_ceiling": _AMOUNT,
    "records.durability": _word("relaxed", "risky_first", "always"),
    "ask.becomes": _word("overlay", "deny"),
    "environment.allow": _SHRINKS,
    "environment.deny": _GROWS,
    "environment.dump": _DECISION,
    "scope.paths": _NARROWS,
    "scope.operations": _NARROWS,
    "programs.allow": _NARROWS,
}
# `[caches]` maps variables to folders; it is the person's alone and never tightened.
MAPS = ("caches",)
RULE_KEYS = ("id", "decision", "reason", "alternative", "tier", "effects", "programs", "arguments", "paths", "costs")


def nearest(name: str, known: object) -> str:
    """`` (did you mean `x`?)`` for a mistyped name, or the empty string."""
    from difflib import get_close_matches

    found = get_close_matches(name, [str(k) for k in known], 1, 0.6)  # type: ignore[attr-defined]  # any iterable of names
    return f" (did you mean `{found[0]}`?)" if found else ""


def check(path: str, value: object, source: str) -> str | int | float | bool | tuple[str, ...]:
    """The value of one key, checked and made plain. Raises ProfileError that names key, file and what was wanted."""
    key = KEYS[path]
    match key.kind:
        case "word":
            if isinstance(value, str) and value in key.ranks:
                return value
            wanted = "one of " + ", ".join(f'"{rank}"' for rank in key.ranks)
        case "list":
            if isinstance(value, list | tuple) and all(isinstance(entry, str) and entry for entry in value):
                return tuple(dict.fromkeys(value))
            wanted = "a list of non-empty strings"
        case "hosts":
            if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
                return _hosts(path, tuple(dict.fromkeys(value)), source)
            wanted = "a list of hosts"
        case "ports":
            if isinstance(value, list | tuple) and all(type(entry) is int and 1 <= entry <= 65535 for entry in value):
                return tuple(dict.fromkeys(value))
            wanted = "a list of port numbers, 1 to 65535"
        case "words":
            if isinstance(value, list | tuple) and all(entry in key.ranks for entry in value):
                return tuple(dict.fromkeys(value))
            wanted = "a list of " + ", ".join(f'"{rank}"' for rank in key.ranks)
        case "count":
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return value
            wanted = "a whole number, 0 or more"
        case "seconds":
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                return float(value)
            wanted = "a number of seconds, 0 or more"
        case "money":
            micros = money(value)
            if micros is not None:
                return micros
            wanted = 'an amount as a decimal string with at most six decimals, such as "10.00"'
        case "flag":
            if isinstance(value, bool):
                return value
            wanted = "true or false"
        case _:
            if isinstance(value, str):
                return value
            wanted = "a string"
    raise ProfileError(f"{source}: {path}: `{_short(value)}` is not {wanted}", hint=f"give {wanted}")


def _hosts(path: str, entries: tuple[str, ...], source: str) -> tuple[str, ...]:
    from ..model.hosts import REGISTRIES, parse_rule

    for entry in entries:
        if entry != REGISTRIES:
            try:
                parse_rule(entry)
            except ValueError as error:
                hint = f'write "example.com", "*.example.com:8443", "10.0.0.5:5432" or "{REGISTRIES}"'
                raise ProfileError(f"{source}: {path}: `{_short(entry)}`: {error}", hint=hint) from None
    return entries


def money(value: object) -> int | None:
    """Micro-units of a decimal string, or None when it is none. Exact: no floating point is involved."""
    if not isinstance(value, str):
        return None
    whole, _, decimals = value.strip().partition(".")
    if (
        not whole.isascii()
        or not whole.isdigit()
        or len(whole) > 12
        or len(decimals) > 6
        or (decimals and not (decimals.isascii() and decimals.isdigit()))
    ):
        return None
    return int(whole) * MICROS + int(decimals.ljust(6, "0") or "0")


def as_money(micros: int) -> str:
    """The decimal string that `money` reads as this amount."""
    whole, rest = divmod(micros, MICROS)
    return f"{whole}." + (f"{rest:06d}".rstrip("0").ljust(2, "0"))


def tighter(path: str, before: object, after: object) -> bool:
    """Whether `after` is as tight as `before`, or tighter, for this key."""
    if before == after:
        return True
    key = KEYS[path]
    match key.order:
        case "rank":
            return key.ranks.index(str(after)) >= key.ranks.index(str(before))
        case "grows":
            return set(_entries(after)) >= set(_entries(before))
        case "shrinks":
            return set(_entries(after)) <= set(_entries(before))
        case "narrows":  # an empty list is no restriction
            return bool(_entries(after)) and (not _entries(before) or set(_entries(after)) <= set(_entries(before)))
        case "limit":  # 0 is no limit
            return _number(after) != 0 and (_number(before) == 0 or _number(after) <= _number(before))
        case "down":
            return _number(after) <= _number(before)
        case "true":
            return bool(after)
        case _:
            return True


def direction(path: str) -> str:
    """The tightening order of a key in words, for messages."""
    key = KEYS[path]
    return {
        "rank": "only upwards: " + " < ".join(key.ranks),
        "grows": "entries may only be added",
        "shrinks": "entries may only be removed",
        "narrows": "it may only narrow, and not to the empty list",
        "limit": "only downwards, where 0 means no limit",
        "down": "only downwards",
        "true": "only from false to true",
    }.get(key.order, "freely")


def _entries(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
