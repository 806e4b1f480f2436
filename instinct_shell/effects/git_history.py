"""The verbs of git that read history or named files, pack them, and the small ones around the repository itself."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import flow
from .call import Call, Scene
from .git_paths import after_dashes, here
from .roles import file_effects
from .scripts import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _pathspecs(call: Call) -> tuple[Field, ...]:
    paths = after_dashes(call)
    return paths if paths is not None else ()


def show(call: Call, scene: Scene) -> Iterator[Effect]:
    """show, cat-file, diff, log -p ...: content of files out of history (`REV:path`) or of named paths."""
    for field in call.operands:
        text = field.text if field.text is not None else field.prefix + field.suffix
        revision, colon, path = text.partition(":")
        if not revision and path[1:2] == ":" and path[:1].isdigit():
            path = path[2:]  # `:0:file`, a stage of the index
        if colon and path and not text.startswith(":(") and "/" not in revision[:1]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, literal(path, field.span), **{"from": "git"})
    for field in _pathspecs(call):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, **{"from": "git"})
    out = call.value("--output")
    if out is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)


def log(call: Call, scene: Scene) -> Iterator[Effect]:
    """log: content only with -p and its like."""
    if call.has("-p", "-u", "--patch", "-L", "-G", "-S", "--full-diff", "-c", "--cc"):
        yield from show(call, scene)
        yield from _secret_operands(call, scene)
    elif (out := call.value("--output")) is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)


def _secret_operands(call: Call, scene: Scene) -> Iterator[Effect]:
    """Operands without `--` in front that bear a secret's name: git takes them for paths."""
    if after_dashes(call) is None:
        for field in call.operands:
            if flow.looks_secret("/" + (field.text or "")):
                yield from file_effects(call, scene, EffectKind.FILE_READ, field, **{"from": "git"})


def diff(call: Call, scene: Scene) -> Iterator[Effect]:
    """diff: content of the named paths; names and counts alone are none."""
    if call.has("--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--quiet", "--summary", "--check"):
        out = call.value("--output")
        if out is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)
        return
    yield from show(call, scene)
    if call.has("--no-index"):
        for field in call.operands:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    else:
        yield from _secret_operands(call, scene)


def read_paths(call: Call, scene: Scene) -> Iterator[Effect]:
    """blame, hash-object: read the named files."""
    for field in call.operands if after_dashes(call) is None else _pathspecs(call):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1" if call.has("-w") else "")


def nothing(call: Call, scene: Scene) -> Iterator[Effect]:
    """notes, commit-tree: they add to history, which can be taken back; the file of -F is read for every verb."""
    return iter(())


def into_index(call: Call, scene: Scene) -> Iterator[Effect]:
    """update-index --add: a copy of each named file goes into the index; without it only what is tracked is looked at again."""
    if call.has("--add") and not call.has("--cacheinfo", "--info-only"):
        for field in call.operands:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", staged="1")


def grep(call: Call, scene: Scene) -> Iterator[Effect]:
    """grep: searches tracked files; -O runs a pager."""
    pager = call.value("-O", "--open-files-in-pager")
    if pager is not None:
        yield from run_text(call, scene, pager, via="git grep -O")
    if call.has("--no-index", "--untracked"):
        yield call.effect(EffectKind.FILE_READ, here(call), recursive="1", search="1")
    for field in call.operands[0 if call.has("-e", "-f") else 1 :]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, search="1", recursive="1", **{"from": "git"})


def archive(call: Call, scene: Scene) -> Iterator[Effect]:
    """archive: packs a tree, or named paths of it, out of history."""
    for field in call.operands[1:]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive="1", **{"from": "git"})
    program = call.value("--exec")
    if program is not None:
        yield from run_text(call, scene, program, via="git archive --exec")
    out = call.value("-o", "--output")
    if out is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)


def bundle(call: Call, scene: Scene) -> Iterator[Effect]:
    """bundle create: writes a file with commits."""
    if len(call.operands) > 1 and call.operands[0].text == "create":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, call.operands[1])


def format_patch(call: Call, scene: Scene) -> Iterator[Effect]:
    """format-patch: makes files in a folder."""
    folder = call.value("-o", "--output-directory")
    if not call.has("--stdout"):
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, folder or literal("."), below="1")


def credential(call: Call, scene: Scene) -> Iterator[Effect]:
    """credential fill: prints a password."""
    if call.operands and call.operands[0].text in ("fill", "get"):
        yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.NAME, "git credential"), store="git-credential", prints="1")


def tool(call: Call, scene: Scene) -> Iterator[Effect]:
    """difftool, mergetool: -x runs a command."""
    command = call.value("-x", "--extcmd")
    if command is not None:
        yield from run_text(call, scene, command, via="git difftool -x")


def init(call: Call, scene: Scene) -> Iterator[Effect]:
    """init: makes a repository; a template may bring hooks."""
    folder = call.operands[0] if call.operands else literal(".")
    yield from file_effects(call, scene, EffectKind.FILE_CREATE, folder, folder="1")
    template = call.value("--template")
    if template is not None and template.text:
        yield call.effect(EffectKind.GIT_HOOK, Target(TargetKind.PATH, template.text), key="init.templatedir")


def maintenance(call: Call, scene: Scene) -> Iterator[Effect]:
    """maintenance start: schedules jobs of the host."""
    if call.operands and call.operands[0].text in ("start", "register"):
        yield call.effect(EffectKind.SYSTEM_SCHEDULE, action="add", tool="git maintenance", detached="1")


def daemon(call: Call, scene: Scene) -> Iterator[Effect]:
    """daemon, instaweb: serve the repository."""
    yield call.effect(EffectKind.NET_LISTEN, tool="git")
