"""Variables that make other programs run code or skip the guard: `LD_PRELOAD`, `BASH_ENV`, `PROMPT_COMMAND`, `GIT_SSH_COMMAND`, `INSTINCT_*` ...

A variable whose value is a command is followed like a nested shell text, so `GIT_EDITOR=true` and `PAGER=cat` stay silent.
"""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Invocation, Known, literal
from .call import Call, Program, Scene, fold, inside
from .handed import handed
from .options import make_call
from .pointed import pointed, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .command import Describe

EDITED = "/tmp/message-to-edit"  # stands for the file that a program hands to an editor
# Loads or runs what it names, whatever the program.
LOADERS = frozenset(
    (
        "LD_PRELOAD LD_AUDIT LD_PROFILE GCONV_PATH BASH_ENV ENV PYTHONSTARTUP PYTHONBREAKPOINT PERL5DB PERL5OPT RUBYOPT "
        "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS NODE_OPTIONS SHELLOPTS BASHOPTS PS4 PS0 SUDO_ASKPASS SSH_ASKPASS "
        "GIT_ASKPASS GIT_PROXY_COMMAND GIT_TEMPLATE_DIR GIT_EXEC_PATH DYLD_INSERT_LIBRARIES OPENSSL_CONF OPENSSL_ENGINES "
        "TAR_OPTIONS RIPGREP_CONFIG_PATH npm_config_script_shell npm_config_shell PYTHONHOME PIP_CONFIG_FILE LESSKEY LESSKEYIN "
        "VIMINIT EXINIT"
    ).split()
)
# Their value is a command that some program runs through a shell.
COMMANDS = frozenset(
    (
        "PROMPT_COMMAND GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER EDITOR VISUAL PAGER "
        "MANPAGER FCEDIT LESSOPEN LESSCLOSE BROWSER RSYNC_RSH CVS_RSH SVN_SSH SVN_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER HGEDITOR "
        "KUBE_EDITOR RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER BAT_PAGER DELTA_PAGER AWS_PAGER GH_PAGER GH_EDITOR PSQL_PAGER "
        "PSQL_EDITOR EXEC_WRAPPER"
    ).split()
)
# Ordinary values of loaders.
_PLAIN: dict[str, Callable[[str], bool]] = {
    "NODE_OPTIONS": lambda value: (
        not any(flag in value for flag in ("--require", "-r ", "--import", "--loader", "--experimental-loader", "-r="))
    ),
    "JAVA_TOOL_OPTIONS": lambda value: "-javaagent" not in value and "-agent" not in value,
    "_JAVA_OPTIONS": lambda value: "-javaagent" not in value and "-agent" not in value,
    "JDK_JAVA_OPTIONS": lambda value: "-javaagent" not in value and "-agent" not in value,
    "RUBYOPT": lambda value: "-r" not in value and "-e" not in value,
    "PERL5OPT": lambda value: "-M" not in value and "-e" not in value and "-d" not in value,
    "PS4": lambda _: True,  # what it runs stands there and is judged
    "PS0": lambda _: True,
    "ENV": lambda value: "/" not in value,  # `ENV=production` is an application's setting; sh would need a path
    "PYTHONBREAKPOINT": lambda value: value in ("0", "ipdb.set_trace", "pdb.set_trace", "pudb.set_trace"),
    "BASH_ENV": lambda value: value == "/dev/null",
}
_DECLARERS = frozenset(["export", "declare", "typeset", "readonly", "local"])
_ASSIGN = Program((), style="raw")
SYSTEM_FOLDERS = frozenset("/usr/local/bin /usr/bin /bin /usr/local/sbin /usr/sbin /sbin".split())
CONVENTIONAL = frozenset(["bin", ".bin", "sbin", "shims", "Scripts"])


def assignments(invocation: Invocation, describe: Describe, sure: Certainty, origin: tuple[str, ...]) -> Iterator[Effect]:
    """`env.hijack` effects of the assignments in front of a command, and of export and its like."""
    pairs = list(invocation.assignments)
    name = invocation.words[0].text if invocation.words else None
    if name in _DECLARERS or name == "env":
        pairs += _declared(invocation.words[1:])
    unset = [word.text or "" for word in invocation.words[1:]] if name == "unset" else []
    if not pairs and not unset:
        return
    call = make_call(_ASSIGN, name or "", (), invocation, certainty=sure, origin=origin)
    for variable, value in pairs:
        yield from hijacks(variable, value, call, describe.scene)
    for variable in unset:
        if variable.startswith("INSTINCT_"):
            yield _hijack(call, variable, "")


def _declared(words: tuple[Field, ...]) -> list[tuple[str, Field]]:
    found = []
    for word in words:
        text = word.text
        name, equals, value = (text if text is not None else word.prefix).partition("=")
        if not equals:
            continue
        found.append((name.rstrip("+"), word.replace(values=(value,)) if text is not None else word.replace(prefix=value)))
    return found


def hijacks(variable: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """What setting one variable to this value may make other programs do."""
    text = value.text
    if variable.startswith("INSTINCT_"):
        yield _hijack(call, variable, text or value.prefix)
    elif variable in LOADERS:
        yield from loader_effects(variable, value, call, scene)
        yield from pointed(variable, value, call, scene)
        if text is None or not (is_plain(variable, text) or _is_read(variable, text, call, scene)):
            yield _hijack(call, variable, text if text is not None else value.prefix)
    elif variable == "MAKEFLAGS":
        if text is None or is_make_text(text):
            yield _hijack(call, variable, text if text is not None else value.prefix)
    elif variable in COMMANDS:
        yield from _command(variable, value, call, scene)
    elif variable == "PATH":
        yield from _path(value, call, scene)
    elif variable == "LESS" and "!" in (text or ""):
        for match in re.finditer(r"\+\+?!([^\n]*)", text or ""):  # `+!CMD`: less runs it as it starts
            yield from scene.nested_shell(match[1], call, via=variable)
    elif variable == "PYTHONPATH":
        yield from _site(value, call, scene)
    elif variable == "LD_LIBRARY_PATH" and text != "" and call.invocation.words and _is_system_tool(call):
        yield _hijack(call, variable, text if text is not None else value.prefix)
    elif variable.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS", "BASH_FUNC_")):
        yield from _git_config(variable, value, call, scene)
    elif "/" in (text or "") or variable.startswith(("LUA_INIT", "npm_config_", "NPM_CONFIG_")) or variable == "GOFLAGS":
        yield from pointed(variable, value, call, scene)
    yield from handed(variable, value, call)


def _is_read(variable: str, text: str, call: Call, scene: Scene) -> bool:
    """Whether a shell's start-up file was written by the same text, so that what it does is known and judged."""
    return variable in ("BASH_ENV", "ENV") and bool(written(text, call, scene)) and scene.sources.get(fold(text), "") != "network"


# Loader variables whose value is a file of code, and the program that reads it.
_CODE_FILES = {"BASH_ENV": "bash", "ENV": "sh", "PYTHONSTARTUP": "python3"}


def loader_effects(variable: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """The code that a loader variable names, where it is a file of a language that can be read, or holds a substitution."""
    text = value.text or ""
    if variable in ("PS4", "PS0", "BASH_ENV") and ("$(" in text or "`" in text):
        yield from scene.nested_shell(f": <<PROMPT\n{text}\nPROMPT\n", call, via=variable)  # expanded as between double quotes
    elif variable in _CODE_FILES and "/" in text:
        yield from scene.nested_argv((literal(_CODE_FILES[variable]), literal(text)), call, via=variable)
    elif variable in ("EXINIT", "VIMINIT"):
        from .editors import vim_effects

        yield from vim_effects(text, call, scene)
    elif variable == "RUBYOPT":
        for match in re.finditer(r"(?:^|\s)-r\s*([./]\S+)", text):
            yield from scene.nested_argv((literal("ruby"), literal(match[1])), call, via=variable)
    elif variable == "PERL5OPT":
        for match in re.finditer(r"(?:^|\s)-[mM]-?[\w:]*;(.*)", text, re.DOTALL):  # `-Mstrict;CODE`: perl puts the text behind `use`
            yield from scene.nested_argv((literal("perl"), literal("-e"), literal(match[1])), call, via=variable)
    elif variable == "NODE_OPTIONS":
        words = text.replace("=", " ").split()
        for option, file in pairwise(words):
            if option in ("--require", "-r", "--import", "--loader", "--experimental-loader") and file.startswith((".", "/")):
                yield from scene.nested_argv((literal("node"), literal(file)), call, via=variable)


def is_plain(variable: str, value: str) -> bool:
    """Whether this is an ordinary value of a loader, which loads nothing."""
    plain = _PLAIN.get(variable)
    return not value or (plain is not None and plain(value))


def is_make_text(value: str) -> bool:
    """Whether MAKEFLAGS holds more than flags and plain settings: text that make evaluates, another shell."""
    return re.search(r"--eval\b|\bSHELL\s*[:+?]?=|\.SHELLFLAGS|\$[({]|`", value) is not None


def _hijack(call: Call, variable: str, value: str) -> Effect:
    return call.effect(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, variable), variable=variable, value=value[:200])


def _command(variable: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    text = value.text
    if text is None:
        # "$EDITOR" kept from the surroundings is no new code; a value out of a file or the network is.
        if value.known is Known.DYNAMIC and any(origin.kind in ("command", "file", "opaque") for origin in value.origins):
            yield _hijack(call, variable, value.prefix)
        return
    text = text.lstrip("|-").replace("%s", "").strip()
    if not text:
        return
    if variable.endswith("EDITOR") or variable == "VISUAL":
        text += f" {EDITED}"  # an editor is given the file; `printf x >` is one too
    yield from scene.nested_shell(text, call, via=variable)


def _site(value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """Modules that each python loads as it starts, where the same text wrote them into a folder of PYTHONPATH."""
    for folder in (value.text or "").split(":"):
        if not scene.files or (not folder.startswith("/") and call.invocation.cwd.text is None):
            continue
        path = fold(folder if folder.startswith("/") else f"{call.invocation.cwd.text}/{folder}")
        for name in ("sitecustomize.py", "usercustomize.py"):
            if f"{path}/{name}" in scene.files:
                yield from scene.nested_argv((literal("python3"), literal(f"{path}/{name}")), call, via="PYTHONPATH")


def _path(value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """A folder put into PATH whose programs anybody may have written: relative, in /tmp, or of the workspace and no conventional bin folder."""
    for text in value.values or ((value.prefix,) if value.prefix else ()):
        for folder in text.split(":"):
            cwd = call.invocation.cwd.text
            if not folder or (not folder.startswith("/") and cwd is None):
                continue
            path = fold(folder if folder.startswith("/") else f"{cwd}/{folder}")
            if path in SYSTEM_FOLDERS:
                break  # what stands behind the system's own folders shadows nothing
            shadowing = any(posixpath.dirname(known) == path for known in (*scene.files, *scene.copies, *scene.links))
            writable = inside(path, scene.workspace) or inside(path, "/tmp") or inside(path, "/dev/shm")
            if shadowing or (writable and posixpath.basename(path) not in CONVENTIONAL):
                yield call.effect(
                    EffectKind.ENV_HIJACK, Target(TargetKind.NAME, "PATH"), variable="PATH", value=path, shadowing="1" if shadowing else ""
                )


def _is_system_tool(call: Call) -> bool:
    return is_system_name(call.invocation.words[0].text or "")


def is_system_name(name: str) -> bool:
    """Whether this is the name of a program that the system brings."""
    from .catalog import MODULES

    return "/" not in name and MODULES.get(name) in ("files", "readers", "git", "system", "processes", "wrappers", "shells", "archives")


def _git_config(variable: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """Git configuration by variables: the key that runs code is what counts."""
    text = (value.text if value.text is not None else value.prefix).lower()
    if variable.startswith("BASH_FUNC_"):
        yield _hijack(call, variable, text)
    elif variable.startswith("GIT_CONFIG_VALUE_"):
        return
    elif any(
        key in text
        for key in (
            "command",
            "hookspath",
            "fsmonitor",
            "pager",
            "editor",
            "helper",
            "alias.",
            "program",
            "textconv",
            "filter.",
            "diff.",
            "merge.",
        )
    ):
        yield _hijack(call, variable, text)


__all__ = ["Scene", "assignments", "hijacks"]
