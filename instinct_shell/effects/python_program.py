"""The command line of Python: -c, -m, files, stdin; manage.py."""

from __future__ import annotations

import posixpath

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import scripts
from .call import Call, Scene
from .program_text import code_word, run_script, run_stdin
from .roles import file_effects
from .verbs import head_of, shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_PYTHON_LISTENS = frozenset("http.server SimpleHTTPServer xmlrpc.server smtpd aiosmtpd uvicorn gunicorn hypercorn http.server.test".split())


_PYTHON_RUNS_FILE = frozenset("pdb cProfile profile trace runpy timeit_file kernprof pyinstrument scalene viztracer debugpy".split())


_PYTHON_QUIET = frozenset(
    "json.tool compileall py_compile this antigravity calendar ast tokenize dis sysconfig site platform zipapp "
    "ensurepip unittest doctest pydoc "
    "venv virtualenv build base64 gzip zipfile tarfile inspect symtable tabnanny textwrap webbrowser turtle idlelib "
    "test pickletools difflib".split()
)


def python(call: Call, scene: Scene) -> Iterator[Effect]:
    """python [options] [-c CODE | -m MODULE | FILE | -] [arguments]."""
    words = call.argv
    at = 0
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text == "-":
            break
        at += 1
        if text.startswith("--"):
            if text in ("--version", "--help", "--help-all", "--help-env", "--help-xoptions"):
                return
            at += text == "--check-hash-based-pycs"
            continue
        for position, letter in enumerate(text[1:], 1):
            if letter in "cmWX":
                rest = text[position + 1 :]
                value = words[at - 1].replace(values=(rest,)) if rest else words[at] if at < len(words) else literal("")
                at += not rest
                if letter == "c":
                    if call.name.startswith("ipython") and (value.text or "").lstrip().startswith("!"):
                        yield from scene.nested_shell((value.text or "").lstrip()[1:], call, via=call.name)
                        return
                    yield from code_word(call, scene, value, "python", (literal("-c"), *words[at:]))
                    return
                if letter == "m":
                    yield from _python_module(call, scene, value, words[at:])
                    return
                break
            if letter in "Vh?":
                return
    rest_words = words[at:]
    if not rest_words or rest_words[0].text == "-":
        yield from run_stdin(call, scene, "python", rest_words or (literal(""),))
        return
    script = rest_words[0]
    name = posixpath.basename(shown(script))
    if name == "manage.py":
        yield from django(call, scene, rest_words[1:])
    elif name == "setup.py" and any(word.text in ("upload", "register") for word in rest_words[1:]):
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing("setup.py upload"), tool="setup.py")
    yield from run_script(call, scene, script, "python", rest_words[1:])


def django(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """manage.py VERB: database verbs, `shell -c CODE`, runserver."""
    from .orms import apply_tool

    yield from apply_tool(call, scene, "django", argv)
    verb = shown(argv[0]) if argv else ""
    if verb in ("shell", "shell_plus"):
        for index, word in enumerate(argv):
            if word.text in ("-c", "--command") and index + 1 < len(argv):
                yield from code_word(call, scene, argv[index + 1], "python")
    elif verb == "runserver":
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="django")


def _python_module(call: Call, scene: Scene, module: Field, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """python -m MODULE."""
    name = module.text
    if name is None:
        yield scripts.opaque(call, "variable", "the module name is not known", language="python")
        return
    if name in _PYTHON_LISTENS:
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
        if name == "http.server":
            words = split(argv, "-b --bind -d --directory -p --protocol")
            folder = words.value("-d", "--directory") or literal(".")
            for effect in file_effects(call, scene, EffectKind.FILE_READ, folder, recursive="1", source_of_copy="1"):
                if (scene.home + "/").startswith(effect.target.text.rstrip("/") + "/"):  # a home handed out, with its keys
                    yield effect
    elif name == "timeit":
        code = [word for word in argv if not shown(word).startswith("-")]
        if all(word.text is not None for word in code):
            yield from code_word(call, scene, literal("\n".join(word.text or "" for word in code)), "python")
        else:
            for word in code:
                yield from code_word(call, scene, word, "python")
    elif name == "pdb" and argv and argv[0].text == "-c" and len(argv) > 1:
        yield from code_word(call, scene, literal((argv[1].text or "").lstrip("!")) if argv[1].text else argv[1], "python")
        for word in argv[2:3]:
            yield from run_script(call, scene, word, "python", argv[3:])
    elif name in _PYTHON_RUNS_FILE or (name == "coverage" and argv and argv[0].text == "run"):
        files = [word for word in argv[name == "coverage" :] if not shown(word).startswith("-")]
        if files:
            yield from run_script(call, scene, files[0], "python", tuple(files[1:]))
    elif name in ("venv", "virtualenv"):
        for word in argv:
            if not shown(word).startswith("-"):
                yield from file_effects(call, scene, EffectKind.FILE_CREATE, word, recursive="1")
    elif name in ("json.tool", "base64", "gzip", "ast", "tokenize", "dis"):
        files = [word for word in argv if not shown(word).startswith("-")]
        for word in files[:1]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, word)
        if name == "json.tool":
            for word in files[1:2]:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, word)
    elif name in ("zipfile", "tarfile"):
        yield from _python_archive(call, scene, argv)
    elif name in _PYTHON_QUIET:
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, name))
    elif name == "dotenv":
        yield from scene.nested_argv((literal("dotenv"), *argv), call, via="python -m")
    elif _local_module(call, scene, name) is not None:
        yield from run_script(call, scene, literal(_local_module(call, scene, name) or ""), "python", argv)
    else:
        yield from scene.nested_argv((literal(name.replace("_", "-")), *argv), call, via="python -m")


def _local_module(call: Call, scene: Scene, name: str) -> str | None:
    """The file of a module that the same line wrote."""
    base = (call.invocation.cwd.text or "").rstrip("/")
    path = name.replace(".", "/")
    return next((one for one in (f"{base}/{path}.py", f"{base}/{path}/__main__.py") if one in scene.files), None)


def _python_archive(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    verb, files = shown(argv[0]) if argv else "", argv[1:]
    if verb in ("-c", "--create") and files:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, files[0])
        for word in files[1:]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, word, source_of_copy="1", recursive="1")
    elif verb in ("-e", "--extract") and files:
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, files[1] if len(files) > 1 else literal("."), recursive="1")
