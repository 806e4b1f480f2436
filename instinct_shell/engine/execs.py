"""Execs inside a jail, judged one by one: which programs are worth a look, how an argument vector becomes a tree, and which findings act.

A guard for meaning, not the boundary: the jail holds whatever is said here. So it acts only where a judgement is sure. An ask is no reason to stop
a program in the middle of its work, what is only known at run time comes by again as an exec of its own, and what the command itself was judged and
allowed to do is not judged anew by those who do it.
"""

from __future__ import annotations

import posixpath

from ..effects.call import inside
from ..effects.catalog import Catalog
from ..effects.roles import ROLES
from ..instincts.ground import TMP
from ..instincts.registry import BUILTIN
from ..model.effect import Effect, EffectKind, Span, TargetKind
from ..model.verdict import Decision
from ..shell.syntax import Command, Literal, Parsed, Script, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..effects.call import Program
    from ..instincts.base import Instinct
    from ..model.execs import ExecRequest
    from ..model.profile import Profile
    from ..model.verdict import Finding, Verdict

ACTING = ("destructive-operation", "protected-files", "self-protection", "privilege")

# What those four judge. A program whose row can come to none of these is outside the watch set.
_KINDS = frozenset(EffectKind) - {
    EffectKind.PROCESS_SPAWN,
    EffectKind.NET_CONNECT,
    EffectKind.NET_LISTEN,
    EffectKind.NET_UPLOAD,
    EffectKind.DB_READ,
    EffectKind.DB_WRITE,
    EffectKind.INFRA_READ,
    EffectKind.INFRA_APPLY,
    EffectKind.PACKAGE_INSTALL,
    EffectKind.PACKAGE_PUBLISH,
    EffectKind.API_CALL,
    EffectKind.SPEND_COMMIT,
    EffectKind.UNKNOWN,
}
_LOCAL_GIT = (EffectKind.GIT_DISCARD, EffectKind.GIT_REWRITE, EffectKind.GIT_DELETE_REF)
# Programs whose files are what their name says; anything else by a path is a script of somebody's.
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")
# Programs that do their work by starting others of their own: those steps belong to the call that was judged (`git stash` runs `git reset --hard`).
_COMPILERS = frozenset(("cc", "c++", "gcc", "g++", "clang", "clang++"))
_TOOLS_OF_COMPILERS = frozenset(("as", "ld", "ld.bfd", "ld.gold", "ld.lld"))
# What the text in an argument may refer to; without such text an environment says only where git works and who calls.
_REFERS = frozenset("$~`")
_CONTEXT = ("HOME", "USER", "PATH")


def acting() -> tuple[Instinct, ...]:
    """The instincts whose denials count for an exec."""
    return tuple(each for each in BUILTIN if each.id in ACTING)


def without_rules(profile: Profile) -> Profile:
    """A profile's own rules and its allow-list are about commands; the programs that a command starts are not asked for."""
    return profile.replace(rules=(), allow_programs=())


def can_act(row: Program) -> bool:
    """Whether a row can come to an effect that those instincts judge. A describer can come to any."""
    if row.describe is not None:
        return True
    roles = {word.rstrip("*").removeprefix("r-") for word in (*row.roles.split(), *(role for _, role in row.option_roles))}
    kinds = {str(ROLES[role][0]) for role in roles if role in ROLES} | {effect.split()[0] for _, effect in row.when}
    return not kinds.isdisjoint(_KINDS)


class WatchSet:
    """The watched program names, out of the catalog's rows, each looked up when it is first met.

    Compilers of C are not among them. A build starts hundreds; what they write the jail holds like everything that is written, and what they start
    (`-wrapper`, a plug-in's programs) comes by as an exec of its own.
    """

    def __init__(self, own: tuple[Program, ...] = ()) -> None:
        self._catalog = Catalog(own)
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        found = self._known.get(name)
        if found is None:
            row = None if _is_compiler(name) else self._catalog.row(name)
            found = self._known[name] = (row is not None and can_act(row)) or any(map(can_act, self._catalog.added(name)))
        return found


def _is_compiler(name: str) -> bool:
    """`cc`, `gcc-12`, `clang++-19`."""
    base, _, version = name.rpartition("-")
    return name in _COMPILERS or (base in _COMPILERS and version.replace(".", "").isdigit())


def tree_of(request: ExecRequest) -> tuple[str, Parsed]:
    """The exec as a command of plain words, and its text as a shell would have to be told. Bytes that are no text are shown as such."""
    words: list[Word] = []
    text = ""
    for said in (_named(request), *request.argv[1:]):
        value = said if said.isascii() else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in said)
        raw = _quoted(value)
        span = Span(len(text) + bool(text), len(text) + bool(text) + len(raw))
        words.append(Word(span, raw, (Literal(span, value, True),)))
        text = f"{text} {raw}" if text else raw
    whole = Span(0, len(text))
    return text, Parsed(Script(whole, (Command(whole, tuple(words)),)), "none")


def _named(request: ExecRequest) -> str:
    """The command word: a program of the system by its name, all others by their path. A program of many names is what it is called as."""
    name = posixpath.basename(request.program)
    if name in ("busybox", "toybox") and request.argv and (called := posixpath.basename(request.argv[0])) not in ("", name):
        return called
    return name if request.program.startswith(_SYSTEM_FOLDERS) else request.program


def _quoted(word: str) -> str:
    return word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def own_step(program: str, caller: str) -> bool:
    """Whether a program, by these names, only goes on with its own work. The caller's may be long: `x86_64-linux-gnu-gcc-12`."""
    if program == "git":
        return caller == "git"
    return program in _TOOLS_OF_COMPILERS and not _COMPILERS.isdisjoint(caller.split("-"))


def environment_of(request: ExecRequest) -> tuple[tuple[str, str], ...]:
    """As much of the environment as bears on what the words mean."""
    if any(not _REFERS.isdisjoint(word) for word in request.argv):
        return request.env
    return tuple(pair for pair in request.env if pair[0] in _CONTEXT or pair[0].startswith("GIT_"))


def in_scratch(request: ExecRequest, workspace: str) -> bool:
    """Whether a git call is about a repository in scratch, as the tests of a project make them: nothing there is anybody's work."""
    if posixpath.basename(request.program) != "git" or not inside(request.cwd, TMP) or inside(request.cwd, workspace):
        return False
    elsewhere = any(word.startswith(("-C", "--git-dir", "--work-tree")) for word in request.argv[1:])
    return not elsewhere and not any(name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR") for name, _ in request.env)


def stopping(request: ExecRequest, verdict: Verdict, covering: Iterable[Effect], workspace: str) -> Finding | None:
    """The finding that stops the exec; None when it goes on. covering: the effects that the whole command was judged and allowed to have."""
    allowed = tuple(covering)
    scratch = in_scratch(request, workspace)
    for finding in verdict.findings:
        effect = finding.effect
        if finding.decision is not Decision.DENY or finding.instinct not in ACTING or effect is None:
            continue
        if scratch and effect.kind in _LOCAL_GIT:
            continue
        if not effect.target.dynamic and not any(covers(parent, effect) for parent in allowed):
            return finding
    return None


def faulted(verdict: Verdict) -> Finding | None:
    """A denial without an effect: something of ours failed, and the exec is not judged."""
    return next((each for each in verdict.findings if each.decision is Decision.DENY and each.effect is None), None)


def covers(parent: Effect, child: Effect) -> bool:
    """Whether an allowed effect of the command holds one of a program in it: the same kind, and for paths the same place or below it."""
    if parent.kind is not child.kind:
        return False
    if child.target.kind not in (TargetKind.PATH, TargetKind.PATTERN) or parent.target.kind not in (TargetKind.PATH, TargetKind.PATTERN):
        return True
    place = parent.target.text
    if parent.target.kind is TargetKind.PATTERN:
        place = place[: min((at for c in "*?[" if (at := place.find(c)) >= 0), default=len(place))]
        return bool(place.strip("/")) and child.target.text.startswith(place)
    if parent.target.dynamic:
        return bool(place.strip("/")) and child.target.text.startswith(place)
    return inside(child.target.text, place)

