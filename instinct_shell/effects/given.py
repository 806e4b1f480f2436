"""The environment that a command starts in, as far as it makes programs run something: `EDITOR`, `PAGER`, `NODE_OPTIONS`, `MAKEFLAGS`, `PATH` ...

The person's own settings stand in it (`EDITOR='code --wait'`, a wrapper of the compiler, `node_modules/.bin` in front of PATH), so it is judged by
what it can reach: a program where no judged command can write is trusted, one in the workspace or in /tmp is a script like any other and is
followed, and a value that is shell text is read as such. The profile's allow-list has taken out most variables before (`visible_environment`).
"""

from __future__ import annotations

import posixpath
import re

from ..model.effect import NOWHERE, Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Invocation, literal
from .call import Call, Program, Scene, fold
from .hijack import COMMANDS, LOADERS, SYSTEM_FOLDERS, is_make_text, is_plain
from .options import make_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.invocation import Field, Surroundings

# Beside the variables that hijack.py knows: programs that builds start in place of their own.
_TOOLS = frozenset(
    "CC CXX CPP LD AR AS SHELL CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC RUSTC npm_config_script_shell npm_config_shell npm_config_editor".split()
)
_TOOL_ENDINGS = ("_RUNNER", "_LINKER", "_LAUNCHER", "_WRAPPER")
_SIMPLE = r"[\w./@%+,:=~ -]*"
# Families whose programs show, edit or compile what they are given, whatever their plain options.
_QUIET = frozenset("editors viewers readers builds".split())
_SHELLS = frozenset("sh bash dash zsh ksh fish ash pwsh".split())
# What of a value's effects is news: that some program starts or reads is what a setting is for.
_SILENT = frozenset(
    {EffectKind.PROCESS_SPAWN, EffectKind.PROCESS_BACKGROUND, EffectKind.CODE_INLINE, EffectKind.FILE_READ, EffectKind.DB_READ, EffectKind.INFRA_READ}
)
# Loaders of the project's own modules (`--require ./.pnp.cjs`): such a file is a script of the project, run by this program.
_LANGUAGES = {"NODE_OPTIONS": "node", "RUBYOPT": "ruby"}
_GIT_PLACES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME")
# Variables that one kind of interpreter alone reads; what starts none of them is not reached.
_OF_INTERPRETERS = ("PYTHON", "NODE_", "RUBY", "PERL5", "JAVA_", "_JAVA", "JDK_")
_PLAIN_FAMILIES = frozenset("readers viewers searchers files copies".split())
_BUILTINS = frozenset("echo cd pwd printf true test [ : exit".split())
_GIVEN = Program((), style="raw")


def git_places(surroundings: Surroundings) -> tuple[tuple[str, Field], ...]:
    """The caller's variables that name files of git settings."""
    return tuple((name, literal(value)) for name, value in surroundings.env if name in _GIT_PLACES and value)


def _starts_nothing(scene: Scene) -> bool:
    """Whether every command of the text is one that starts no interpreter: it reads, searches, copies or removes files."""
    from .catalog import MODULES

    for index, invocation in enumerate(scene.invocations):
        name = (invocation.words[0].text or "/") if invocation.words else ""
        if name and name not in _BUILTINS and MODULES.get(name) not in _PLAIN_FAMILIES:
            return False
        if any(not effect.kind.value.startswith("file.") for effect in scene.effects_of.get(index, ())):
            return False
    return True


def given(surroundings: Surroundings, scene: Scene) -> Iterator[Effect]:
    """What the variables that the command starts with would make programs run."""
    call = None
    for variable, value in surroundings.env:
        tool = variable in COMMANDS or variable in _TOOLS or variable.endswith(_TOOL_ENDINGS)
        if not value or not (tool or variable in LOADERS or variable == "MAKEFLAGS"):
            continue
        call = call or make_call(_GIVEN, "", (), Invocation((), literal(surroundings.cwd), NOWHERE), certainty=Certainty.POSSIBLE, origin=())
        if tool:
            yield from _command(variable, value, call, scene)
        elif variable == "MAKEFLAGS":
            if is_make_text(value):
                yield _hijack(call, variable, value)
        elif not (variable.startswith(_OF_INTERPRETERS) and _starts_nothing(scene)):
            yield from _loader(variable, value, call, scene)


def _command(variable: str, value: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """A variable whose value is a command line."""
    from .catalog import MODULES, canonical
    from .scripts import run_file

    value = value.strip().lstrip("|-").replace("%s", "").strip()  # LESSOPEN
    head = value.split()[0] if value else ""
    if re.fullmatch(_SIMPLE, value):
        path = _place(head, call) if "/" in head else ""
        if path and scene.is_writable(path):
            if path in scene.files:
                yield from run_file(call, scene, path, ())
            else:
                yield call.effect(EffectKind.CODE_SCRIPT, Target(TargetKind.PATH, path), variable=variable, language="shell")
            return
        name = posixpath.basename(head)
        if name in _SHELLS and head == value:
            return
        if canonical(name) not in MODULES or MODULES[canonical(name)] in _QUIET:
            return
    for effect in scene.nested_shell(value, call, via=variable):
        if effect.kind not in _SILENT or (effect.kind is EffectKind.FILE_READ and effect.get("dynamic")):
            yield effect


def _loader(variable: str, value: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """A variable that loads code: what it loads from where the agent may write is the agent's code."""
    if is_plain(variable, value):
        return
    reached = False
    inline = re.search(r"(?:^|[\s=])(?:data|https?):", value)  # `--import data:text/javascript,...`
    for word in () if inline else re.split(r"[\s:;,=]+", value.replace("-r/", "-r /").replace("-r./", "-r ./")):
        if "/" not in word:
            continue
        path = _place(word, call)
        if not path or not scene.is_writable(path):
            reached = True
        elif variable in _LANGUAGES:
            reached = True
            yield from scene.nested_argv((literal(_LANGUAGES[variable]), literal(path)), call, via=variable)
        else:
            break  # what it loads is the agent's
    else:
        if not inline and (reached or variable in ("NODE_OPTIONS", "RUBYOPT", "PERL5OPT", "OPENSSL_ENGINES")):
            return  # the name of a module is looked up among the project's own
    yield _hijack(call, variable, value)


def _place(word: str, call: Call) -> str:
    if word.startswith("~"):
        return ""
    return fold(word if word.startswith("/") else f"{call.invocation.cwd.text}/{word}")


def _hijack(call: Call, variable: str, value: str) -> Effect:
    return call.effect(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, variable), variable=variable, value=value[:200], given="1")


# ---------------------------------------------------------------- PATH


def shadows(surroundings: Surroundings, scene: Scene) -> tuple[str, ...]:
    """The folders in front of the system's in PATH where a judged command may have put a program of its own."""
    path = next((value for name, value in surroundings.env if name == "PATH"), "")
    if not any(folder in path for folder in (scene.workspace, "/tmp", "/dev/shm")) and not path.startswith((".", ":")) and ":." not in path:
        return ()
    found = []
    for folder in path.split(":"):
        place = fold(folder if folder.startswith("/") else f"{surroundings.cwd}/{folder or '.'}")
        if place in SYSTEM_FOLDERS:
            break
        if scene.is_writable(place):
            found.append(place)
    return tuple(dict.fromkeys(found))


__all__ = ["git_places", "given", "shadows"]
