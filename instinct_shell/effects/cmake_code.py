"""CMake's language: the commands that act while a project is configured or `cmake -P` runs a script; what is built later is not followed."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Scene
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = r'"((?:\\.|[^"\\])*)"|\[\[(.*?)\]\]|([^\s()"#]+)'
_CALL = r'(?im)^[ \t]*(file|execute_process|exec_program|configure_file|include|set|find_program)\s*\(((?:"(?:\\.|[^"\\])*"|\[\[.*?\]\]|[^()"]|\([^()]*\))*)\)'
# Verb of file(..) -> what happens to its operands.
_FILES = {
    "REMOVE": EffectKind.FILE_DELETE,
    "REMOVE_RECURSE": EffectKind.FILE_DELETE,
    "WRITE": EffectKind.FILE_WRITE,
    "APPEND": EffectKind.FILE_APPEND,
    "TOUCH": EffectKind.FILE_CREATE,
    "READ": EffectKind.FILE_READ,
    "STRINGS": EffectKind.FILE_READ,
    "MAKE_DIRECTORY": EffectKind.FILE_CREATE,
    "CHMOD": EffectKind.FILE_METADATA,
    "CHMOD_RECURSE": EffectKind.FILE_METADATA,
}
_MANY = frozenset(("REMOVE", "REMOVE_RECURSE", "TOUCH", "MAKE_DIRECTORY"))
_OPTIONS = frozenset(
    "WORKING_DIRECTORY TIMEOUT RESULT_VARIABLE RESULTS_VARIABLE OUTPUT_VARIABLE ERROR_VARIABLE INPUT_FILE OUTPUT_FILE ERROR_FILE OUTPUT_QUIET "
    "ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE COMMAND_ECHO ENCODING "
    "ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE COMMAND_ERROR_IS_FATAL".split()
)


def cmake_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of a CMake text: file(..) and execute_process(..) with words that are known; variables that are not set here stay unknown."""
    yield call.effect(EffectKind.CODE_INLINE, language="cmake")
    here = call.invocation.cwd.text or ""
    names = {"ENV{HOME}": scene.home, "CMAKE_COMMAND": "cmake", "CMAKE_CURRENT_LIST_DIR": here, "CMAKE_SOURCE_DIR": here, "CMAKE_CURRENT_SOURCE_DIR": here}
    names |= {"PROJECT_SOURCE_DIR": here, "CMAKE_BINARY_DIR": f"{here}/build", "CMAKE_CURRENT_BINARY_DIR": f"{here}/build"}
    for match in re.finditer(_CALL, re.sub(r"(?m)^\s*#.*$", "", text)):
        words = [_word(one, names) for one in re.finditer(_WORD, match[2])]
        name = match[1].lower()
        if name == "set" and len(words) == 2 and words[0].text and words[1].text is not None:
            names[words[0].text] = words[1].text
        elif name == "file" and words:
            yield from _file(words, call, scene)
        elif name == "execute_process":
            yield from _process(words, call, scene)
        elif name == "exec_program" and words:
            yield from scene.nested_shell(" ".join(word.text or "" for word in words if word.text != "ARGS"), call, via="cmake")
        elif name == "configure_file" and len(words) > 1:
            yield from file_effects(call, scene, EffectKind.FILE_READ, words[0], source_of_copy="1")
            if words[1].text is not None:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, words[1])
        elif name == "include" and words and (words[0].text or "").endswith(".cmake"):
            from .program_text import run_script

            yield from run_script(call, scene, words[0], "cmake", ())


def _word(match: re.Match[str], names: dict[str, str]) -> Field:
    text = next(group for group in match.groups() if group is not None)
    if match[2] is not None:
        return literal(text)
    text = re.sub(r"\$(?:\{([\w.+-]+)\}|(ENV\{\w+\}))", lambda found: names.get(found[1] or found[2], found[0]), re.sub(r'\\(["$\\;])', r"\1", text))
    head, unknown, tail = text.partition("${")
    if not unknown and "$<" not in text and "$ENV{" not in text:
        return literal(text)
    return Field(Known.DYNAMIC, prefix=head.partition("$")[0], suffix=tail.rpartition("}")[2], reason="a variable of cmake")


def _file(words: list[Field], call: Call, scene: Scene) -> Iterator[Effect]:
    verb, rest = (words[0].text or "").upper(), [word for word in words[1:] if word.text is not None]
    if verb in _FILES:
        kind = _FILES[verb]
        for word in rest if verb in _MANY else rest[:1]:
            yield from file_effects(call, scene, kind, word, recursive="1" if verb.endswith("_RECURSE") else "")
    elif verb == "RENAME" and len(rest) > 1:
        yield from file_effects(call, scene, EffectKind.FILE_MOVE, rest[0])
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, rest[1])
    elif verb in ("COPY", "INSTALL", "COPY_FILE", "CREATE_LINK") and rest:
        at = next((index for index, word in enumerate(rest) if word.text in ("DESTINATION", "TYPE")), 1)
        for word in rest[:at]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, word, source_of_copy="1")
        for word in rest[at + (verb in ("COPY", "INSTALL")) :][:1]:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, word)
    elif verb == "DOWNLOAD" and len(rest) > 1:
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, rest[0].text or ""), method="GET")
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, rest[1])
    elif verb == "UPLOAD" and len(rest) > 1:
        yield from file_effects(call, scene, EffectKind.FILE_READ, rest[0], source_of_copy="1")
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.URL, rest[1].text or ""), upload="file")


def _process(words: list[Field], call: Call, scene: Scene) -> Iterator[Effect]:
    """execute_process(COMMAND a b COMMAND c ..): each command as it stands."""
    command: list[Field] = []
    inside = skip = False
    for word in (*words, literal("COMMAND")):
        if word.text == "COMMAND":
            if command:
                yield from scene.nested_argv(tuple(command), call, via="cmake")
            command, inside, skip = [], True, False
        elif word.text in _OPTIONS:
            inside = False
        elif inside and not skip:
            command.append(word)


__all__ = ["cmake_effects"]
