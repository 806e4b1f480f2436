"""Version control other than git: svn, hg, jj, bzr, fossil, cvs, p4, darcs. What throws local work or history away is told apart."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from .call import Call, Program, Scene
from .git_paths import here, whole_tree
from .git_verbs import discard_all, discard_paths
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class System(Value):
    """What the verbs of one system do; words are space separated.

    discards: overwrite local changes in the named paths (without paths: in all). sweeps: delete untracked files. rewrites: change history.
    forced: discard only with a force option. talks: use the network; sends: publish, where a force option rewrites the other side.
    dry: options that make any verb harmless. force: options that mean force.
    """

    discards: str = ""
    sweeps: str = ""
    rewrites: str = ""
    forced: str = ""
    talks: str = ""
    sends: str = ""
    force: str = "-f --force"
    dry: str = "-n --dry-run"


SYSTEMS = {
    "svn": System(discards="revert", sweeps="cleanup", talks="checkout co update up export switch", sends="commit ci copy move delete import", dry="--dry-run"),
    "hg": System(
        discards="revert", sweeps="purge clean", rewrites="strip histedit rollback", forced="update up checkout co merge", talks="pull clone incoming",
        sends="push", force="-f --force -C --clean --all",
    ),
    "jj": System(discards="restore", rewrites="", talks="git", sends=""),
    "bzr": System(discards="revert", sweeps="clean-tree", rewrites="uncommit", talks="pull branch update", sends="push", force="--overwrite --force"),
    "brz": System(discards="revert", sweeps="clean-tree", rewrites="uncommit", talks="pull branch update", sends="push", force="--overwrite --force"),
    "fossil": System(discards="revert", sweeps="clean extras", rewrites="purge", talks="pull clone sync update", sends="push"),
    "cvs": System(forced="update", talks="checkout update co", sends="commit import", force="-C"),
    "p4": System(discards="revert", sweeps="clean", rewrites="obliterate", talks="sync", sends="submit", force="-y -f"),
    "darcs": System(discards="revert", rewrites="obliterate unpull unrecord", talks="pull clone get", sends="push"),
}  # fmt: skip


def describe(call: Call, scene: Scene) -> Iterator[Effect]:
    """One verb of one system."""
    system = SYSTEMS[call.name]
    verb = call.operands[0].text or "" if call.operands else ""
    paths = call.operands[1:]
    if not verb or call.has(*system.dry.split()):
        return
    forced = call.has(*system.force.split())
    if verb in system.discards.split():
        if not paths or any(whole_tree(field, call) for field in paths) or call.has("-R", "--recursive", "-a", "--all"):
            yield discard_all(call)
        else:
            yield from discard_paths(call, scene, paths)
    elif verb in system.sweeps.split() and (call.name != "svn" or call.has("--remove-unversioned", "--remove-ignored")):
        yield discard_all(call, untracked="1")
    elif verb in system.rewrites.split():
        yield call.effect(EffectKind.GIT_REWRITE, here(call), how=verb)
    elif verb in system.forced.split() and forced:
        yield discard_all(call, force="1")
    if verb in system.sends.split():
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.NAME, ""), tool=call.name)
        if forced:
            yield call.effect(EffectKind.GIT_FORCE_PUSH, Target(TargetKind.REF, ""))
    elif verb in system.talks.split():
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.NAME, ""), tool=call.name)
    if verb in ("cat", "annotate", "blame", "log", "diff", "praise") and (verb == "cat" or call.has("-p", "--patch", "--diff")):
        for field in paths:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)


PROGRAMS: tuple[Program, ...] = (
    Program(
        tuple(SYSTEMS),
        options="-m -r -F -u -U --message --revision --file --username --password --config --cwd -R= --depth --changelist --user --date",
        longs="--force --clean --all --recursive --dry-run --remove-unversioned --remove-ignored --overwrite --quiet --verbose",
        describe=describe,
        summary="version control",
    ),
)
