"""git: what each verb does to the work tree, to refs, to other machines, and what code it runs.

What git can give back (a tracked file, a commit in the reflog) is told apart from what it cannot: `git.discard` is loss of work that no
commit holds. Reading a file out of history is a `file.read` of its path.
"""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import scripts
from .call import Call, Program, Scene, path_targets
from .git_config import command_line_config, settings_around
from .git_table import VERBS, Verb
from .options import make_call
from .roles import below_scratch, file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GLOBAL = Program(
    ("git",),
    options="-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path= --attr-source --list-cmds=",
    longs="--paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs "
    "--no-optional-locks --no-lazy-fetch --html-path --man-path --info-path --version --help",
    style="stop",
    summary="version control",
)


def git(call: Call, scene: Scene) -> Iterator[Effect]:
    """git with its global options, then the verb."""
    call = _in_folder(call)
    if call.has("--exec-path") and call.value("--exec-path") is not None:
        yield call.effect(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, "GIT_EXEC_PATH"), variable="GIT_EXEC_PATH")
    aliases: dict[str, Field] = dict(scene.aliases)
    settings = [_pair(field) for option, field in call.values if option in ("-c", "--config-env")]
    held = dict(scene.settings)
    for name, value in (*settings_around(call, scene), *settings):
        if name.startswith("alias."):
            aliases[name[6:]] = value
        scene.settings[name] = value
        yield from command_line_config(name, value, call, scene)
    yield from _verb(call, scene, aliases)
    if settings:
        scene.settings.clear()
        scene.settings.update(held)


def _verb(call: Call, scene: Scene, aliases: dict[str, Field]) -> Iterator[Effect]:
    """The verb of a call whose settings are known."""
    if not call.operands or "--version" in call.flags or "--help" in call.flags:
        return
    verb, rest = call.operands[0], call.operands[1:]
    if verb.known is Known.DYNAMIC:
        yield scripts.opaque(call, "variable", verb.reason, language="git")
        return
    for name in verb.values:
        sure = call.certainty if len(verb.values) == 1 else weakest(call.certainty, Certainty.POSSIBLE)
        if name in aliases:
            yield from _alias(aliases[name], rest, call, scene)
            continue
        row = VERBS.get(name)
        if row is None:
            if name not in _QUIET:
                yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"git-{name}"), known="0")
            continue
        yield from run_verb(row, name, rest, call.replace(certainty=sure), scene)


def run_verb(row: Verb, name: str, words: tuple[Field, ...], call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of one verb with its own options."""
    program = Program(("git",), options=row.options, longs=row.longs, style="stop" if row.stop else "")
    inner = make_call(program, "git", words, call.invocation, certainty=call.certainty, origin=call.origin)
    if "--help" in inner.flags or _asks_for_help(name, words, inner):
        return
    for option in _TAKEN if name not in _OWN_FILES else ():
        file = inner.value(option)
        if file is not None and file.text != "-":
            yield from file_effects(inner, scene, EffectKind.FILE_READ, file)
    yield from row.describe(inner, scene)


# Options whose file's content goes into a message, the index or the output; and verbs whose --file is their own store.
_TAKEN = ("-F", "--file", "--pathspec-from-file", "--contents", "--add-file")
_OWN_FILES = frozenset(("config", "credential-store"))
# Verbs for which -h means something else than help.
_OTHER_H = frozenset(("grep", "ls-remote", "show-ref", "cat-file", "hash-object"))


def _asks_for_help(name: str, words: tuple[Field, ...], call: Call) -> bool:
    """Whether `-h` stands among the options: git then prints its usage and does nothing."""
    if len(words) == 1:
        return words[0].text == "-h"
    given = words[: next((at for at, word in enumerate(words) if word.text == "--"), len(words))]
    return name not in _OTHER_H and "-h" in call.flags and any(word.text == "-h" for word in given)


def _pair(field: Field) -> tuple[str, Field]:
    """`key=value` of -c: the key in lower case, `true` when there is no value."""
    text = field.text if field.text is not None else field.prefix
    name, equals, value = text.partition("=")
    if field.text is None:
        return name.lower(), field.replace(prefix=value)
    return name.lower(), literal(value if equals else "true", field.span)


def _alias(value: Field, rest: tuple[Field, ...], call: Call, scene: Scene) -> Iterator[Effect]:
    """An alias given on the command line: `!text` is shell text, anything else git words."""
    text = value.text
    if text is None:
        yield scripts.opaque(call, "variable", value.reason, language="git")
    elif text.startswith("!"):
        yield from scene.nested_shell(text[1:], call, via="git alias")
    else:
        yield from scene.nested_argv((literal("git"), *(literal(word) for word in text.split()), *rest), call, via="git alias")


def _in_folder(call: Call) -> Call:
    """The call in the folder that -C, --work-tree and GIT_WORK_TREE name."""
    cwd = call.invocation.cwd
    given = [("--work-tree", field) for name, field in (*call.invocation.env, *call.invocation.assignments) if name == "GIT_WORK_TREE"]
    for option, field in (*given, *call.values):
        if option not in ("-C", "--work-tree"):
            continue
        targets = path_targets(field, cwd)
        target = targets[0][0] if targets else None
        if target is not None and target.kind is TargetKind.PATH and not target.dynamic and len(targets) == 1:
            cwd = literal(target.text, field.span)
        elif field.text is not None and below_scratch(field, cwd):
            cwd = cwd.replace(suffix=f"{cwd.suffix}/{field.text}")
        elif target is not None:
            cwd = Field(Known.DYNAMIC, prefix=target.text, suffix=field.suffix, reason=target.dynamic or "one of several folders", origins=field.origins)
    return call if cwd is call.invocation.cwd else call.replace(invocation=call.invocation.replace(cwd=cwd))


# Verbs without effects worth naming: they look, or they change only the index or the commit graph in ways git can undo.
_QUIET = frozenset(
    (
        "status log shortlog describe rev-parse rev-list ls-files ls-tree name-rev merge-base cherry whatchanged count-objects "
        "fsck verify-commit verify-tag verify-pack var version help bugreport diagnose check-attr check-ignore check-mailmap "
        "check-ref-format column for-each-ref for-each-repo get-tar-commit-id show-branch show-ref show-index stripspace "
        "patch-id range-diff request-pull interpret-trailers mailinfo mailsplit merge-tree merge-one-file diff-tree "
        "diff-index diff-files rerere revert cherry-pick merge init-db notes mktag mktree write-tree commit-tree pack-refs "
        "repack unpack-objects unpack-file index-pack pack-objects update-index multi-pack-index commit-graph prune-packed "
        "sparse-checkout reset-index citool gui gitk lfs flow absorb standup summary effort gitweb web--browse sh-setup blame "
        "annotate stage"
    ).split()
)

PROGRAMS: tuple[Program, ...] = (_GLOBAL.replace(names=("git", "hub", "yadm"), describe=git, style="stop nohelp"),)
