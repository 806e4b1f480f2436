"""The verbs of git that have effects: a row each, and the describers for the work tree and for reading history."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import git_config, git_refs
from .call import Call, Scene
from .git_paths import after_dashes, here, looks_like_file, whole_tree
from .roles import file_effects, is_scratch, weakest
from .scripts import run_text
from .shells import joined_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator



def discard_all(call: Call, **attributes: str) -> Effect:
    """Everything in the work tree that no commit holds is lost."""
    bound = "1" if is_scratch(call.invocation.cwd) else ""
    return call.effect(EffectKind.GIT_DISCARD, here(call), attributes, sweep="1", bound=bound)


def discard_paths(
    call: Call, scene: Scene, paths: tuple[Field, ...], certainty: Certainty | None = None, /, **attributes: str
) -> Iterator[Effect]:
    """Named paths get git's version: the whole tree when a path means it, else each path is overwritten with what git holds."""
    if any(whole_tree(field, call) for field in paths):
        yield discard_all(call, **attributes)
        return
    given = call if certainty is None else call.replace(certainty=weakest(call.certainty, certainty))
    for field in paths:
        text = field.text or ""
        if text.startswith((":!", ":^", ":(exclude)")):
            continue
        folder = "1" if text.endswith("/") or field.glob else ""
        yield from file_effects(given, scene, EffectKind.GIT_DISCARD, field, named="1", folder=folder, **attributes)
        yield from file_effects(given, scene, EffectKind.FILE_WRITE, field, **{"from": "git"}, recursive=folder)


# ---------------------------------------------------------------- work tree


def reset(call: Call, scene: Scene) -> Iterator[Effect]:
    """reset: --hard and --merge lose work; --keep refuses to; the rest keeps the work tree."""
    if call.has("--hard", "--merge"):
        commit = call.operands[0].text if call.operands else ""
        yield discard_all(call, mode="hard" if call.has("--hard") else "merge", commit=commit or "")


def checkout(call: Call, scene: Scene) -> Iterator[Effect]:
    """checkout: of paths it overwrites them; with -f it throws local changes away; else it refuses when work would be lost."""
    from .projects import hooks

    yield from hooks(call, scene, "post-checkout")
    paths = after_dashes(call)
    operands = call.operands
    if call.has("-f", "--force"):
        yield discard_all(call, force="1")
    created = call.value("-b", "-B")
    if (created is not None and operands) or call.has("-t", "--track"):
        yield git_config.kept_by_git(call, (created.text or "") if created is not None else "")
    if call.has("-p", "--patch") or call.has("-b", "-B", "--orphan"):
        return
    if paths is None and call.has("--pathspec-from-file"):
        yield discard_all(call)
    elif paths is not None:
        yield from discard_paths(call, scene, paths)
    elif any(whole_tree(field, call) for field in operands):
        yield discard_all(call)
    elif len(operands) > 1 and not call.has("--detach", "-t", "--track"):
        yield from discard_paths(call, scene, operands[1:])
    elif len(operands) == 1 and (operands[0].glob or looks_like_file(operands[0].text or operands[0].prefix)):
        yield from discard_paths(call, scene, operands, Certainty.POSSIBLE)
    elif len(operands) == 1 and not call.has("--detach", "--no-guess"):
        yield git_config.kept_by_git(call, operands[0].text or "")  # a branch of the remote is tracked from now on


def restore(call: Call, scene: Scene) -> Iterator[Effect]:
    """restore: overwrites the named paths; --staged alone only touches the index."""
    if (call.has("-S", "--staged") and not call.has("-W", "--worktree")) or call.has("-p", "--patch"):
        return
    if call.has("--pathspec-from-file"):
        yield discard_all(call)
    yield from discard_paths(call, scene, call.operands)


def switch(call: Call, scene: Scene) -> Iterator[Effect]:
    """switch: refuses when work would be lost, unless told to discard it."""
    from .projects import hooks

    yield from hooks(call, scene, "post-checkout")
    if call.has("-f", "--force", "--discard-changes"):
        yield discard_all(call, force="1")
    created = call.value("-c", "-C", "--create", "--force-create")
    if call.operands if created is not None else (call.has("-t", "--track") or (call.operands and not call.has("--detach", "-d", "--no-guess"))):
        yield git_config.kept_by_git(call, (created or call.operands[0]).text or "")


def clean(call: Call, scene: Scene) -> Iterator[Effect]:
    """clean: deletes untracked files; any -n makes it a dry run, without -f (or -i) git refuses."""
    forced = call.has("-f", "--force", "-i", "--interactive") or not git_config.is_on(scene, "clean.requireforce", True)
    if call.has("-n", "--dry-run") or not forced:
        return
    ignored = "all" if call.has("-x") else "only" if call.has("-X") else ""
    folders = "1" if call.has("-d") else ""
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.GIT_DISCARD, field, sweep="1", untracked="1", ignored=ignored, folders=folders)
    if not call.operands:
        yield discard_all(call, untracked="1", ignored=ignored, folders=folders)


def stash(call: Call, scene: Scene) -> Iterator[Effect]:
    """stash: drop and clear lose what was put away; the rest keeps it."""
    verb = call.operands[0].text if call.operands else ""
    if verb == "show" and (paths := after_dashes(call)):
        for field in paths:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, **{"from": "git"})
    if verb in ("drop", "clear"):
        name = call.operands[1].text or "" if len(call.operands) > 1 else "stash@{0}"
        yield call.effect(EffectKind.GIT_DISCARD, Target(TargetKind.REF, name if verb == "drop" else "stash"), stash=verb)


def worktree(call: Call, scene: Scene) -> Iterator[Effect]:
    """worktree: remove --force drops unsaved work; add makes a folder; what changes or drops the data of one is git's own note."""
    verb = call.operands[0].text if call.operands else ""
    if verb in ("remove", "prune", "move", "repair"):
        yield git_config.setting(call, f"worktrees.{verb}", literal("(by git)"), "local", worktrees="1")
    if verb == "remove" and call.has("-f", "--force"):
        for field in call.operands[1:]:
            yield from file_effects(call, scene, EffectKind.GIT_DISCARD, field, force="1", worktree="1", sweep="1")
    elif verb == "add":
        for field in call.operands[1:2]:
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, field, folder="1", worktree="1")


def checkout_index(call: Call, scene: Scene) -> Iterator[Effect]:
    """checkout-index -f: overwrites from the index, everything with -a."""
    if call.has("--prefix"):
        prefix = call.value("--prefix")
        if prefix is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, prefix, below="1")
    elif call.has("-f", "--force"):
        if call.has("-a", "--all", "--stdin"):
            yield discard_all(call, force="1")
        yield from discard_paths(call, scene, call.operands)


def read_tree(call: Call, scene: Scene) -> Iterator[Effect]:
    """read-tree --reset -u: the work tree becomes the tree."""
    if call.has("-u") and call.has("--reset"):
        yield discard_all(call, force="1")


def remove(call: Call, scene: Scene) -> Iterator[Effect]:
    """rm: deletes tracked files, which HEAD gives back; --cached keeps them."""
    if call.has("--cached", "-n", "--dry-run"):
        return
    for field in call.operands:
        yield from file_effects(
            call,
            scene,
            EffectKind.FILE_DELETE,
            field,
            recursive="1" if call.has("-r") else "",
            force="1" if call.has("-f", "--force") else "",
            tracked="1",
        )


def move(call: Call, scene: Scene) -> Iterator[Effect]:
    """mv: renames tracked files."""
    if call.has("-n", "--dry-run") or len(call.operands) < 2:
        return
    for field in call.operands[:-1]:
        yield from file_effects(call, scene, EffectKind.FILE_MOVE, field, tracked="1")
    from .copies import _Ends, put

    yield from put(call, scene, _Ends(call.replace(values=())), moved="1")


def apply(call: Call, scene: Scene) -> Iterator[Effect]:
    """apply, am: rewrite the files that a patch names."""
    from .editors import patched

    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    looks = call.has("--check", "--stat", "--numstat", "--summary") and not call.has("--apply")
    if not looks and not call.has("--cached", "--abort", "--quit", "--skip", "--continue", "--show-current-patch"):
        strip = (call.value("-p") or literal("")).text or ""
        sources = tuple(field for field in call.operands if field.text != "-")
        yield from patched(call, scene, sources, call.value("--directory"), int(strip) if strip.isdigit() else 1, call.has("-R", "--reverse"))
    yield from skipped_hooks(call, ("--no-verify",))


def merge_file(call: Call, scene: Scene) -> Iterator[Effect]:
    """merge-file CURRENT BASE OTHER: the first one is rewritten, unless the result is printed."""
    for field in call.operands[1:]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    for field in call.operands[:1]:
        prints = call.has("-p", "--stdout")
        yield from file_effects(call, scene, EffectKind.FILE_READ if prints else EffectKind.FILE_WRITE, field, in_place="" if prints else "1")


def submodule(call: Call, scene: Scene) -> Iterator[Effect]:
    """submodule: foreach runs shell text, deinit and update with --force drop work, add and update fetch."""
    verb = call.operands[0].text if call.operands else ""
    rest = call.operands[1:]
    flags = {word.text for word in rest}
    if verb == "foreach":
        words = tuple(word for word in rest if word.text not in ("--recursive", "--quiet", "-q"))
        yield from joined_text(call, scene, words, via="git submodule foreach")
    elif verb in ("deinit", "update") and (flags & {"-f", "--force"} or call.has("-f", "--force")):
        yield discard_all(call, force="1", submodules="1")
    if verb in ("add", "update", "sync", "init", "deinit", "set-url", "set-branch", "absorbgitdirs"):
        yield git_config.setting(call, "submodule.active", literal("(by git)"), "local")
    if verb in ("add", "update", "sync"):
        url = next((word for word in rest if verb == "add" and (word.text or "-")[0] != "-"), literal(""))
        yield git_refs.connects(call, url)


# ---------------------------------------------------------------- commits, hooks, code


def skipped_hooks(call: Call, names: tuple[str, ...]) -> Iterator[Effect]:
    """`--no-verify` leaves the hooks out."""
    if call.has(*names):
        yield call.effect(EffectKind.GIT_HOOK, here(call), skip="1")


def commit(call: Call, scene: Scene) -> Iterator[Effect]:
    """commit: keeps everything; -n leaves hooks out, --no-gpg-sign leaves the signature out; files of -F and -t are read."""
    for option in ("-t", "--template"):
        file = call.value(option)
        if file is not None:
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    yield from skipped_hooks(call, ("-n", "--no-verify"))
    from .projects import hooks

    checks = () if call.has("-n", "--no-verify") else ("pre-commit", "commit-msg")
    if not call.has("--dry-run", "--short", "--porcelain", "--long"):
        yield from hooks(call, scene, *checks, "prepare-commit-msg", "post-commit")
    if call.has("--no-gpg-sign"):
        yield git_config.setting(call, "commit.gpgsign", literal("false"), "command")


def verified(call: Call, scene: Scene) -> Iterator[Effect]:
    """merge, pull, revert ...: the work tree is kept or git refuses; --no-verify leaves hooks out."""
    yield from skipped_hooks(call, ("--no-verify",))


def pull(call: Call, scene: Scene) -> Iterator[Effect]:
    """pull: fetch and merge."""
    from .projects import hooks

    yield from git_refs.fetch(call, scene)
    yield from skipped_hooks(call, ("--no-verify",))
    yield from hooks(call, scene, "post-merge")


def rebase(call: Call, scene: Scene) -> Iterator[Effect]:
    """rebase: --exec runs shell text after each commit."""
    for option, field in call.values:
        if option in ("-x", "--exec"):
            yield from run_text(call, scene, field, via="git rebase --exec")
    yield from skipped_hooks(call, ("--no-verify",))
    from .projects import hooks

    yield from hooks(call, scene, "pre-rebase", "post-rewrite")


def bisect(call: Call, scene: Scene) -> Iterator[Effect]:
    """bisect run: a command for each step."""
    if call.operands and call.operands[0].text == "run" and len(call.operands) > 1:
        yield from scene.nested_argv(call.operands[1:], call, via="git bisect run")


def filter_branch(call: Call, scene: Scene) -> Iterator[Effect]:
    """filter-branch, filter-repo: rewrites history; filters are shell text."""
    yield call.effect(EffectKind.GIT_REWRITE, here(call), how="filter-branch")
    for option, field in call.values:
        if option.endswith("-filter") and not option.startswith("--msg"):
            yield from run_text(call, scene, field, via=f"git filter-branch {option}")


def add(call: Call, scene: Scene) -> Iterator[Effect]:
    """add: a copy of each named file goes into the index; with -f ignored ones too."""
    if call.has("-n", "--dry-run", "-u", "--update", "--refresh", "--renormalize", "--chmod"):
        return
    forced = call.has("-f", "--force")
    for field in call.operands:
        if forced or not whole_tree(field, call):
            yield from file_effects(
                call,
                scene,
                EffectKind.FILE_READ,
                field,
                source_of_copy="1",
                staged="1",
                recursive="1" if whole_tree(field, call) else "",
                force="1" if forced else "",
            )
