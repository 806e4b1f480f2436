"""What a jail can be on each kind of host: the table that SECURITY.md shows and that `instinct doctor` looks its own machine up in."""

from __future__ import annotations

from ...model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .probe import Reach


class HostKind(Value):
    """One kind. maker: what makes the jail; features in the order of FEATURES; advice: what lifts it to the next kind, "" for the best one."""

    kind: str
    maker: str
    level: str
    features: tuple[str, ...]
    advice: str = ""


ALLOW_LISTS = "network by allow-list, published ports"
FEATURES = (
    "writes held to the scope",
    "metadata (chmod, xattr) held",
    "protected files inside the workspace",
    "secrets masked",
    "own processes, ipc, /proc",
    "no network on demand",
    ALLOW_LISTS,
    "unix sockets told apart",
    "jail sessions",
)
_YES, _NO = "yes", "no"
BEST = HostKind("user namespaces, Landlock ABI 6 or later", "namespaces", "full", (_YES,) * len(FEATURES))
KINDS = (
    BEST,
    HostKind(
        "user namespaces, Landlock ABI 2 to 5",
        "namespaces",
        "full",
        (*(_YES,) * 7, "only without network", _YES),
        "a kernel from 6.12 on has ABI 6: until then unix sockets are closed unless the command has no network",
    ),
    HostKind(
        "only bubblewrap may make namespaces (Ubuntu 24.04 and later: AppArmor)",
        "bubblewrap",
        "full",
        (*(_YES,) * 2, "yes, but a protected symbolic link can be replaced", *(_YES,) * 5, "no, each command has a jail of its own"),
        "for sessions give the interpreter an AppArmor profile with `userns,`; do not switch the restriction off for everybody",
    ),
    HostKind(
        "containers, or user namespaces switched off; Landlock",
        "landlock",
        "partial",
        (_YES, _NO, _NO, "content, not names", "signals and tracing only", "sockets closed", "no: refused", "closed below ABI 9", _NO),
        "in a container allow `unshare` and an unmasked /proc (Docker: `--security-opt seccomp=... --security-opt systempaths=unconfined`); "
        "on a host `sysctl -w user.max_user_namespaces=15000`",
    ),
    HostKind(
        "user namespaces, no Landlock (an ordinary user)",
        "namespaces",
        "partial",
        (*(_YES,) * 7, "closed", _NO),
        "boot with `lsm=landlock,...`, or a kernel from 5.19 on",
    ),
    HostKind(
        "neither, or another processor",
        "none",
        "none",
        (_NO,) * len(FEATURES),
        "judging, hooks and file tools work; nothing is run until one of the above is there",
    ),
)


def kind_of(reach: Reach) -> HostKind:
    """The row of this machine."""
    if reach.maker == "namespaces":
        return KINDS[4] if reach.landlock_abi < 2 else KINDS[0] if reach.landlock_abi >= 6 else KINDS[1]
    return {"bubblewrap": KINDS[2], "landlock": KINDS[3]}.get(reach.maker, KINDS[5])


def table() -> str:
    """The table in Markdown: a row for each feature, a column for each kind."""
    heads = "".join(f"{kind.kind} | " for kind in KINDS)
    rows = [f"| | {heads}".rstrip(), "|---|" + "---|" * len(KINDS)]
    for name, values in (
        ("level", [kind.level for kind in KINDS]),
        ("made by", [kind.maker for kind in KINDS]),
        *((feature, [kind.features[i] for kind in KINDS]) for i, feature in enumerate(FEATURES)),
        ("to get further", [kind.advice or "-" for kind in KINDS]),
    ):
        rows.append(f"| {name} | " + " | ".join(values) + " |")
    return "\n".join(rows) + "\n"
