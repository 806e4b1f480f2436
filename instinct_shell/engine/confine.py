"""Confine: from what was judged to the jail that holds it. A plan as a plain value; carrying it out is execution's business.

Least privilege: what the profile lets a command write, less what it was not predicted to write. A protected file that this very command was
allowed to write (a lockfile by its own manager, a hook after a grant) is left open for this one command; a command that surely only reads gets
no write rights at all.
"""

from __future__ import annotations

from ..instincts.ground import CHANGES, RUN_ELSEWHERE, ground_of, inside, path_of
from ..instincts.reflex.protected_files import MANAGERS
from ..model import hosts
from ..model.effect import Effect, EffectKind
from ..model.jailspec import JailLevel, JailSpec
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..instincts.ground import Ground
    from ..model.intent import Intent
    from ..model.profile import Profile
    from ..model.situation import Situation
    from .judgement import Judgement

SHELL = "/bin/bash"
# Programs that read and print, whatever their arguments (those with a writing form are judged by their effects as well). `sort` and `tac` are
# not among them: they write temporary files.
READERS = frozenset(
    "[ [[ : awk basename cat cmp comm cut date df diff dirname du echo egrep expr false fgrep file find fold grep head hexdump id join jq less "
    "locale ls md5sum nl od paste printf ps pwd readlink realpath rev rg sed seq sha1sum sha256sum stat strings tail test tr tree true tty "
    "type uname uniq wc which whoami xxd cd command export set shift read return exit local declare".split()
)
_READING = frozenset((EffectKind.FILE_READ, EffectKind.CODE_INLINE))


class OnDisk(Value):
    """What the host found for this profile: existing paths to keep read-only below a writable one, and existing secrets to mask.

    cache: the cache folder of this workspace, "" for none. shared: folders outside the workspace that hold its repository, writable too.
    registries: the hosts of the package indexes that this machine is configured for, as entries of an allow-list.
    readable_caches: variables by which tools read the person's own caches. guarded: of the protected what the host runs or trusts.
    """

    protected: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    cache: str = ""
    shared: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    readable_caches: tuple[tuple[str, str], ...] = ()
    guarded: tuple[str, ...] = ()


def confine(
    intent: Intent,
    effects: tuple[Effect, ...],
    profile: Profile,
    situation: Situation,
    *,
    disk: OnDisk = OnDisk(),  # noqa: B008  # a frozen value
    programs: tuple[str, ...] | None = None,
    shell: str = SHELL,
    moves: bool = False,
) -> JailSpec:
    """The jail for one allowed command. programs: the names of all commands it runs, when all of them are known; None when not.

    moves: git takes the working tree from one state to another (`moves_tree`).
    """
    ground = ground_of(intent, profile, situation)
    shared = disk.shared if ground.workspace in ground.writable else ()
    writable = tuple(dict.fromkeys((*ground.writable, *shared, *((disk.cache,) if disk.cache else ()))))
    opened = opened_paths(effects, disk.protected)
    if moves:
        opened |= moved_by_git(ground, disk.protected, alone=programs is not None and READERS.issuperset({*programs} - {"git"}))
    settings = tuple(effect for effect in effects if effect.kind is EffectKind.GIT_CONFIG)
    protected = [path for path in disk.protected if path not in opened]
    protected += [path for path in ground.guard_paths if any(inside(path, folder) for folder in writable)]
    allow = allowed_hosts(profile, disk.registries)
    network = network_of(profile, allow, effects, situation.jail_level)
    return JailSpec(
        workspace=ground.workspace,
        cwd=intent.cwd,
        writable=writable,
        protected=tuple(dict.fromkeys(protected)),
        masked=disk.masked,
        network=network,
        network_allow=allow if network == hosts.ALLOWLIST else (),
        publish=profile.publish if network != hosts.OPEN else (),
        private_tmp=profile.private_tmp,
        read_only=only_reads(effects, programs),
        least_level=JailLevel.FULL if profile.full_jail_required else profile.level,
        limits=profile.limits,
        supervise_execs=profile.supervise_execs,
        env=jail_environment(intent, profile, disk, writable, proxied=network == hosts.ALLOWLIST),
        argv=(shell, "--norc", "--noprofile", "-c", intent.content, intent.argv0, *intent.positional),
        vetted=tuple(path for path in disk.protected if path in opened and _is_git_config(path, disk.protected)),
        vetted_keys=tuple(dict.fromkeys("*" if effect.get("edit") else effect.get("key") for effect in settings)),
    )


def program_names(judgement: Judgement) -> tuple[str, ...] | None:
    """The names of all commands that the text runs; None when one of them is not known, or something could not be read."""
    evaluation = judgement.evaluation
    if evaluation is None or evaluation.opaque or evaluation.notes:
        return None
    names = []
    for invocation in evaluation.invocations:
        if not invocation.words:
            continue
        name = invocation.words[0].text
        if name is None or "/" in name or name in evaluation.functions or invocation.env or invocation.assignments:
            return None
        names.append(name)
    return tuple(names)


def opened_paths(effects: tuple[Effect, ...], protected: tuple[str, ...]) -> frozenset[str]:
    """The protected paths that this command was judged, and allowed, to write."""
    named = {path for effect in effects if effect.kind in CHANGES and (path := path_of(effect))}
    opened = {path for path in protected if path in named}
    # What stays in the background would keep the file open after it was compared.
    by_git = [effect for effect in effects if effect.kind is EffectKind.GIT_CONFIG]
    if by_git and not any(effect.kind is EffectKind.PROCESS_BACKGROUND for effect in effects):
        worktrees = {bool(effect.get("worktrees")) for effect in by_git}
        opened |= {path for path in protected if True in worktrees and "/.git/worktrees/" in path}
        opened |= {path for path in protected if False in worktrees and _is_git_config(path, protected)}
    managers = {effect.get("manager") or effect.program for effect in effects if effect.kind is EffectKind.PACKAGE_INSTALL}
    for name, command in MANAGERS.items():
        if command.partition(" ")[0] in managers:
            opened |= {path for path in protected if path.endswith("/" + name)}
    # A folder of protected things (hooks, workflows) is opened by a write below it.
    opened |= {path for path in protected if any(inside(one, path) for one in named)}
    return frozenset(opened)


# With these git writes files of the working tree as some commit has them. Half of that, with what is held left as it was, is worse than all of it.
_MOVES = frozenset("checkout switch pull merge rebase reset restore stash cherry-pick revert am bisect read-tree checkout-index".split())


def moves_tree(judgement: Judgement) -> bool:
    """Whether git itself takes the working tree from one state to another."""
    if judgement.evaluation is None:
        return False
    for invocation in judgement.evaluation.invocations:
        words = [word.text or "" for word in invocation.words]
        if words[:1] == ["git"] and any(word in _MOVES for word in words[1:6]):
            return True
    return False


def moved_by_git(ground: Ground, protected: tuple[str, ...], *, alone: bool) -> frozenset[str]:
    """What such a command may write though it is protected: lockfiles and what other machines run; where git is alone, all content that is only kept
    from being edited. What this machine runs or trusts stays held: a commit is no judgement."""
    inner = [path for path in protected if inside(path, ground.workspace) and ".git" not in path.split("/")]
    return frozenset(
        path
        for path in inner
        if ground.lockfile(path)
        or path[len(ground.workspace) + 1 :] in RUN_ELSEWHERE
        or (alone and ground.protected(path) and not ground.never_write(path) and not ground.host_executed(path))
    )


def _is_git_config(path: str, protected: tuple[str, ...]) -> bool:
    """Of a repository; of a bare one, whose path has no `.git`, the hooks beside it are protected too."""
    return path.endswith("/config") and ("/.git/" in path or f"{path.removesuffix('config')}hooks" in protected)


def only_reads(effects: tuple[Effect, ...], programs: tuple[str, ...] | None) -> bool:
    """Whether the command surely changes nothing: every program is a plain reader and every effect a known read."""
    if not programs or any(program not in READERS for program in programs):
        return False
    return all(effect.kind in _READING and not effect.target.dynamic for effect in effects)


def allowed_hosts(profile: Profile, registries: tuple[str, ...]) -> tuple[str, ...]:
    """The allow-list with what `@package-registries` means on this machine."""
    entries = [each for entry in profile.network_allow for each in (registries if entry == hosts.REGISTRIES else (entry,))]
    return tuple(dict.fromkeys(entries)) if profile.network == "allowlist" else ()


def network_of(profile: Profile, allow: tuple[str, ...], effects: tuple[Effect, ...], jail_level: str) -> str:
    """The network a command gets. An empty list is none; so is one that cannot be held, for a command that was not judged to need it: where it
    was, the jail refuses (execution/launcher.py)."""
    if profile.network == "open":
        return hosts.OPEN
    if profile.network != "allowlist" or not allow:
        return hosts.NONE
    needed = jail_level == JailLevel.FULL or any(str(effect.kind).startswith(("net.", "package.", "unknown")) for effect in effects)
    return hosts.ALLOWLIST if needed else hosts.NONE


# What programs read to find the proxy: curl, wget, git, pip, npm, go, cargo, Node from 24 on; yarn; Maven and Gradle, whose Java reads none of these.
_PROXY = f"http://127.0.0.1:{hosts.PROXY_PORT}"
_PROXY_VARIABLES = {
    **{name: _PROXY for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY") for name in (upper, upper.lower())},
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
    "NODE_USE_ENV_PROXY": "1",
    "YARN_HTTP_PROXY": _PROXY,
    "YARN_HTTPS_PROXY": _PROXY,
}
# Tools' own settings, which would count before those: only where the caller has them.
_OWN_PROXY = frozenset("PIP_PROXY CARGO_HTTP_PROXY npm_config_proxy npm_config_https_proxy NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY".split())
_JAVA_PROXY = " ".join(f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={hosts.PROXY_PORT}" for scheme in ("http", "https"))


def jail_environment(
    intent: Intent, profile: Profile, disk: OnDisk, writable: tuple[str, ...], *, proxied: bool = False
) -> tuple[tuple[str, str], ...]:
    """The variables inside: those the intent carries (already the profile's allow-list), the tools' caches of this workspace, and where the proxy
    is, which takes the place of one that the caller uses and that cannot be reached inside."""
    pairs = dict(intent.env)
    if proxied:
        pairs |= _PROXY_VARIABLES | dict.fromkeys(_OWN_PROXY & pairs.keys(), _PROXY)
        for name in ("MAVEN_OPTS", "GRADLE_OPTS"):
            pairs[name] = f"{pairs.get(name, '')} {_JAVA_PROXY}".strip()
    if disk.cache:
        pairs |= cache_variables(pairs, profile.caches, disk.cache, writable)
        for variable, place in disk.readable_caches:
            pairs.setdefault(variable, place)
    return tuple(sorted(pairs.items()))


def cache_variables(given: Mapping[str, str], caches: tuple[tuple[str, str], ...], cache: str, writable: tuple[str, ...]) -> dict[str, str]:
    """What a profile's `[caches]` sets for a workspace's cache folder.

    A cache that the caller has put where the command may write is left there; one that it could not write is replaced.
    """
    found = {}
    for variable, folder in caches:
        value = given.get(variable, "")
        if "{cache}" in folder:  # an option among others
            option = folder.replace("{cache}", cache)
            if option.partition("=")[0] not in value:
                found[variable] = f"{value} {option}".lstrip()
        elif not any(inside(value, place) for place in (*writable, cache)):
            found[variable] = f"{cache}/{folder}"
    return found
