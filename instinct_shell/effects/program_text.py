"""Code from anywhere: a file, stdin, a process substitution. Known text is read; the rest is a script or opaque."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known
from . import flow, output, scripts
from .call import Call, Scene, path_targets
from .followed import followed
from .roles import listed_files, weakest
from .verbs import environment_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def run_script(call: Call, scene: Scene, field: Field, language: str, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """A file of code runs with these arguments."""
    if field.known is Known.DYNAMIC and any(origin.kind == "process" for origin in field.origins):
        text = scripts.printed(field, scene)
        if text is not None:
            yield from read_code(text, call, scene, language, argv)
        else:
            yield scripts.opaque(call, flow.source_of_field(field, scene), field.reason, language=language)
        return
    yield from flow.named_secrets(call.replace(argv=argv), scene)
    if listed := listed_files(call, EffectKind.CODE_SCRIPT, field, scene, language=language):
        yield from listed
        return
    for target, sure in path_targets(field, call.invocation.cwd):
        path = scene.links.get(target.text, target.text)
        if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            yield from run_stdin(call, scene, language, argv, named=True)
            continue
        other = scripts.descriptor(path, call)
        if other is not None:
            yield from run_stdin(call.replace(invocation=call.invocation.replace(stdin=other)), scene, language, argv)
            continue
        if target.kind is TargetKind.PATH and not target.dynamic and path in scene.files:
            text = scene.files[path]
            written = "" if scene.sources.get(path) == scripts.GIVEN else "1"
            yield call.effect(
                EffectKind.CODE_SCRIPT,
                Target(TargetKind.PATH, path),
                language=language,
                written=written,
                readable="1" if text is not None else "",
            )
            if text is None:
                yield scripts.opaque(
                    call,
                    scene.sources.get(path, "generated"),
                    "the script is written by the same line and its text is not known",
                    language=language,
                    target=target,
                )
            else:
                yield from followed(read_code(text, call, scene, language, (field, *argv), path), path, scene)
            continue
        extra = {"dynamic": "interpreter" if target.dynamic else "", "unset": ",".join(field.unset), "source": scripts.brought(path, scene)}
        extra["target_env"] = environment_text(call, scene)
        yield call.effect(EffectKind.CODE_SCRIPT, target, extra, certainty=weakest(call.certainty, sure), language=language)


def run_stdin(call: Call, scene: Scene, language: str, argv: tuple[Field, ...], *, named: bool = False) -> Iterator[Effect]:
    """The program stands on fd 0; without one there it is a dialogue, unless fd 0 is named (`-`, `/dev/stdin`)."""
    call = output.as_program(call)
    stdin = call.invocation.stdin
    text = output.stdin_text(call.invocation, scene)
    if text is not None and stdin.kind in ("text", "pipe", "file"):
        yield from read_code(text, call, scene, language, argv)
    elif stdin.kind == "text" and stdin.field is not None:
        yield from code_word(call, scene, stdin.field, language, argv)
    elif stdin.kind == "file" and stdin.field is not None:
        yield from run_script(call, scene, stdin.field, language, argv)
    elif stdin.kind == "pipe" and (files := scripts.piped_files(call, scene)):
        for field in files:
            yield from run_script(call, scene, field, language, argv)
    elif stdin.kind == "pipe":
        yield scripts.opaque(call, flow.source_of(stdin.producers, scene), "the code comes through a pipe", language=language)
    elif stdin.kind == "inherit" and (named or any(word.text == "-" for word in call.argv)):
        yield scripts.opaque(call, "stdin", scripts.UNREAD_INPUT, language=language)


def code_word(call: Call, scene: Scene, field: Field, language: str, argv: tuple[Field, ...] = ()) -> tuple[Effect, ...]:
    """Effects of code given as a word: each value of a set; a dynamic word is opaque, and its literal ends are read all the same."""
    if field.known is not Known.DYNAMIC:
        sure = call if len(field.values) == 1 else call.replace(certainty=Certainty.POSSIBLE)
        return tuple(effect for value in field.values for effect in read_code(value, sure, scene, language, argv))
    found = [scripts.opaque(call, flow.source_of_field(field, scene), field.reason, language=language)]
    if field.prefix.strip():
        known = read_code(field.prefix + field.suffix, call.replace(certainty=Certainty.POSSIBLE), scene, language, argv)
        found += [effect for effect in known if effect.kind not in (EffectKind.CODE_INLINE, EffectKind.CODE_OPAQUE)]
    return tuple(found)


# Languages of one tool: the module and the function (text, call, scene) -> effects that read them; imported when one is met.
READERS = {"elisp": ("lisp", "elisp_effects"), "vim": ("editors", "vim_effects"), "cmake": ("cmake_code", "cmake_effects"), "gdb": ("sessions", "gdb_effects")}
READERS |= {"tox": ("loaded", "tox_effects"), "msbuild": ("loaded", "msbuild_effects"), "ninja": ("loaded", "ninja_effects")}
TASK_TEXTS = frozenset("procfile yaml-run toml-run cargo-config npmrc tiltfile json-run envrc ant".split())
READ_BY_TOKENS = frozenset(("javascript", "perl", "ruby", "php", "lua"))


def read_code(text: str, call: Call, scene: Scene, language: str, argv: tuple[Field, ...] = (), path: str = "") -> tuple[Effect, ...]:
    """Effects of a program text: Python by its syntax tree, five languages by their tokens, the others by their spelling."""
    more: tuple[Effect, ...] = ()
    if not path and ("fork" in text or "http" in text or language in READ_BY_TOKENS):
        from .code_rows import endless_forks, fetched_code, whole_tables

        more = (*endless_forks(text, call), *fetched_code(text, call, language), *(whole_tables(text, call, scene) if language != "perl" else ()))
    if language == "python":
        from .python_code import python_effects

        return (*python_effects(text, call, scene, argv, path), *more)
    if language in READ_BY_TOKENS:
        from .other_code import code_effects

        return (*code_effects(text, call, scene, language, argv, path), *more)
    if language in READERS:
        from importlib import import_module

        module, function = READERS[language]
        return (*getattr(import_module(f".{module}", __package__), function)(text, call, scene), *more)
    if language in TASK_TEXTS:
        from .task_texts import text_effects

        return (*text_effects(text, call, scene, language), *more)
    from .plain_code import plain_effects

    return (*plain_effects(text, call, scene, language), *more)
