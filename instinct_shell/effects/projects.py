"""What a project's own files run: task files by target, lifecycle scripts of an install, git hooks.

The text of these files comes from the caller (`Scene.code_of` notes the ones it lacks); a command that would run them names them as
`code.script` all the same.
"""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, Origin, literal
from . import recipes
from .call import Call, Scene, inside
from .followed import GIVEN, followed
from .roles import path_effects
from .scripts import brought, opaque
from .verbs import environment_text, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Names under which a tool looks for its file, in its order.
CANDIDATES = {
    "Makefile": ("GNUmakefile", "makefile", "Makefile"),
    "justfile": ("justfile", "Justfile", ".justfile"),
    "Taskfile.yml": ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"),
}
# Programs that only put a project's own hooks in place.
HOOK_INSTALLERS = frozenset(("husky", "lefthook", "simple-git-hooks"))
_MOST_INCLUDES = 8


def task_file(
    call: Call,
    scene: Scene,
    file: str,
    language: str,
    entry: str = "",
    cwd: Field | None = None,
    given: tuple[tuple[str, str], ...] = (),
    **attributes: str,
) -> Iterator[Effect]:
    """The task file runs these entries: followed when its text is known, else it is wanted. given: variables of the command line."""
    if f"{call.name} {entry}".strip() in call.origin:  # `"test": "npm test"`
        return
    folder = cwd or call.invocation.cwd
    for effect in path_effects(call, EffectKind.CODE_SCRIPT, literal(file), folder, scene, language=language, entry=entry[:120], **attributes):
        if effect.target.dynamic and folder.known is Known.DYNAMIC:
            # A project's own tasks in a folder that is only known later are a script that nobody has read, as `./run.sh` there is.
            yield with_attributes(effect.replace(attributes=tuple(pair for pair in effect.attributes if pair[0] != "dynamic")), unread="1")
            continue
        path, text = _find(effect.target.text, file, scene)
        if text is None and (fetched := _fetched(effect.target.text, file, scene)):
            yield opaque(call, "network", "the task file is fetched by the same line", language=language, target=Target(TargetKind.PATH, fetched))
            continue
        if text is None:
            # `git clone URL x && cd x && make`: the file came in the same line, as `./configure` there did.
            yield with_attributes(effect, target_env=environment_text(call, scene), source="" if attributes.get("dry") else brought(effect.target.text, scene))
            continue
        if path != effect.target.text:
            effect = effect.replace(target=effect.target.replace(text=path))
        yield with_attributes(effect, readable="1", written="" if scene.sources.get(path) == GIVEN else "1")
        yield from run_tasks(call, scene, language, text, entry, path, given, dry=attributes.get("dry", ""))


def run_tasks(
    call: Call, scene: Scene, language: str, text: str, entry: str, path: str, given: tuple[tuple[str, str], ...] = (), *, dry: str = ""
) -> Iterator[Effect]:
    """The shell lines that the entries of a task file run; `path` says where the file stands. dry: only those that run in a dry run all the same."""
    folder = literal(posixpath.dirname(path)) if path else call.invocation.cwd
    includes = _includes(language, text, given, folder.text or "", scene)
    unknown = Field(Known.DYNAMIC, reason=f"computed by {language}", origins=(Origin("variable", language),), many=True)
    via = f"{call.name} {entry}".strip()
    for line in recipes.lines_of(language, text, tuple(entry.split()), given, includes, dry=bool(dry)):
        inner = scene.nested_shell(line.text, call, positional=(literal("sh"), unknown), cwd=folder, via=via, line=line.number if path else 0)
        yield from followed(inner, path, scene)


def _find(path: str, file: str, scene: Scene) -> tuple[str, str | None]:
    """The first file of the tool's names whose text is known, and its text."""
    for name in CANDIDATES.get(file, (file,)):
        one = posixpath.join(posixpath.dirname(path), posixpath.basename(name)) if file in CANDIDATES else path
        text = scene.code_of(one)
        if text is not None:
            return one, text
    return path, None


def _fetched(path: str, file: str, scene: Scene) -> str:
    """The task file that the same text brings from the network, or ""."""
    folder = posixpath.dirname(path)
    names = [posixpath.join(folder, posixpath.basename(name)) for name in CANDIDATES.get(file, (file,))]
    return next((name for name in names if name in scene.files and scene.sources.get(name) == "network"), "")


def _includes(language: str, text: str, given: tuple[tuple[str, str], ...], folder: str, scene: Scene) -> tuple[tuple[str, str], ...]:
    """The texts of files that a makefile includes, as far as they are known."""
    if language != "make" or "include" not in text or not folder:
        return ()
    found: dict[str, str] = {}
    for name in recipes.Makefile(text, given).included[:_MOST_INCLUDES]:
        known = scene.code_of(posixpath.normpath(posixpath.join(folder, name))) if not re.search(r"[*$?\[]", name) else None
        if known is not None:
            found[name] = known
    return tuple(found.items())


def lifecycle(call: Call, scene: Scene, cwd: Field | None = None) -> Iterator[Effect]:
    """The scripts of the project's own package.json that an install runs."""
    folder = (cwd or call.invocation.cwd).text
    path = posixpath.join(folder, "package.json") if folder else ""
    text = scene.code_of(path) if path else None
    for effect in run_tasks(call, scene, "npm", text, "install prepare", path) if text is not None else ():
        if effect.kind is EffectKind.GIT_HOOK and effect.program in HOOK_INSTALLERS:
            # `"prepare": "husky"` stands in half of all projects; the hooks themselves are looked at when git runs them
            yield call.effect(EffectKind.GIT_CONFIG, Target(TargetKind.NAME, "husky.installed"), key="husky.installed", value="(by install)", scope="local")
        else:
            yield effect


def build_script(call: Call, scene: Scene, manager: str, folder: str) -> Iterator[Effect]:
    """What installing a local folder runs: setup.py for pip and its kin, the lifecycle scripts of package.json for npm and its kin."""
    base = call.invocation.cwd.text
    if base is None:
        return
    place = posixpath.normpath(posixpath.join(base, folder.removeprefix("file:").removeprefix("link:")))
    if manager in ("npm", "pnpm", "yarn", "bun"):
        yield from lifecycle(call, scene, literal(place))
    elif scene.code_of(f"{place}/setup.py") is not None:
        yield from scene.nested_argv((literal("python3"), literal(f"{place}/setup.py")), call, via=f"{manager} install", cwd=literal(place))


def set_scripts(call: Call, scene: Scene, words: tuple[Field, ...], cwd: Field | None = None) -> None:
    """`npm pkg set scripts.x='..'`: a later `npm run x` of the same text runs it."""
    import json

    folder = (cwd or call.invocation.cwd).text
    if folder is None:
        return
    path = posixpath.join(folder, "package.json")
    try:
        data = json.loads(scene.code_of(path) or "{}")
        for word in words:
            name, equals, value = (word.text or "").partition("=")
            if equals and name.startswith("scripts."):
                data.setdefault("scripts", {})[name.removeprefix("scripts.").strip("[]")] = value
    except (ValueError, AttributeError, TypeError, RecursionError):
        return
    scene.leaves[path] = json.dumps(data, indent=2)


# ---------------------------------------------------------------- git hooks


def hooks(call: Call, scene: Scene, *names: str) -> Iterator[Effect]:
    """The hooks that git would run now, out of `.git/hooks` and `.husky`, and the local commands of a pre-commit configuration."""
    cwd = call.invocation.cwd.text
    if cwd is None:
        return
    tops = dict.fromkeys((scene.workspace, cwd) if inside(cwd, scene.workspace) else (cwd,))
    for top in tops:
        for name in names:
            for folder in (".git/hooks", ".husky"):
                yield from _hook(call, scene, f"{top.rstrip('/')}/{folder}/{name}", literal(top))
        if "pre-commit" in names and scene.code_of(f"{top.rstrip('/')}/.git/hooks/pre-commit") is not None:
            yield from pre_commit(call, scene, top)


def _hook(call: Call, scene: Scene, path: str, top: Field) -> Iterator[Effect]:
    from .scripts import run_file

    text = scene.code_of(path)
    if text is None or f"hook {path}" in call.origin:
        return
    inner = call.replace(invocation=call.invocation.replace(cwd=top), origin=(*call.origin, f"hook {path}"))
    for effect in run_file(inner, scene, path, ()):
        # That a hook stands there is no news; what it does is.
        if effect.kind is not EffectKind.CODE_SCRIPT or effect.target.text != path:
            yield effect


def pre_commit(call: Call, scene: Scene, top: str) -> Iterator[Effect]:
    """The commands of the `repo: local` hooks in .pre-commit-config.yaml."""
    path = f"{top.rstrip('/')}/.pre-commit-config.yaml"
    text = scene.code_of(path)
    if text is None:
        return
    local = False
    for number, line in enumerate(text.split("\n"), 1):
        body = line.strip().removeprefix("- ")
        if body.startswith("repo:"):
            local = body.removeprefix("repo:").strip(" '\"") == "local"
        elif local and body.startswith("entry:"):
            command = body.removeprefix("entry:").strip()
            command = command[1:-1] if len(command) > 1 and command[0] == command[-1] and command[0] in "'\"" else command
            yield from followed(scene.nested_shell(command, call, cwd=literal(top), via="pre-commit", line=number), path, scene)


# ---------------------------------------------------------------- images


def dockerfile(call: Call, scene: Scene, path: str, context: str, given: str | None = None) -> Iterator[Effect]:
    """A Dockerfile that is built: its commands run in a container, so what counts is what leaves: secrets copied in or sent.

    given: its text, when it comes in on stdin rather than from the path.
    """
    text = scene.code_of(path) if given is None else given
    path = path if given is None else ""
    if text is None:
        return
    unknown = Field(Known.DYNAMIC, reason="set while the image is built", origins=(Origin("variable", "docker"),))
    for match in re.finditer(r"--mount=\S*?\b(?:source|src)=([^,\s]+)", text) if context and "--from" not in text else ():
        yield from path_effects(call, EffectKind.FILE_READ, literal(match[1]), literal(context), scene, source_of_copy="1")
    for line in recipes.docker_lines(text):
        word, _, rest = line.text.partition(" ")
        if word == "RUN":
            inner = scene.nested_shell(rest, call, positional=(literal("sh"), unknown), cwd=literal("/"), via="docker build", line=line.number)
            yield from followed((effect for effect in inner if effect.kind is EffectKind.NET_UPLOAD and effect.get("secret")), path, scene)
        elif context:
            names = [name for name in rest.split() if not name.startswith("-")][:-1]
            for name in names if not any("--from" in part for part in rest.split()) else ():
                if not re.search(r"[*$?\[\]{}'\"]", name) and name not in (".", "./"):
                    copied = path_effects(call, EffectKind.FILE_READ, literal(name), literal(context), scene, source_of_copy="1", line=str(line.number))
                    yield from followed(copied, path, scene)

