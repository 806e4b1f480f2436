"""Code that a setting points to: variables that name a script or hold code, configuration files that name a command.

What a variable names is followed when the same text wrote it; a file that stood there before is the person's own.
"""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect
from ..shell.invocation import Field, literal
from .call import Call, Scene
from .followed import GIVEN
from .output import absolute
from .roles import weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Options of tar, and of go, that run a command, as TAR_OPTIONS and GOFLAGS may hold them.
_IN_OPTIONS = {
    "TAR_OPTIONS": r"(?:--checkpoint-action=exec=|--to-command=|--use-compress-program=|--rsh-command=|--info-script=|-I\s+|-F\s+)(\S+)",
    "GOFLAGS": r"-(?:toolexec|exec|vettool)[= ](\S+)",
    "RUSTFLAGS": r"-C\s*linker=(\S+)",
    "MAVEN_OPTS": r"-javaagent:(\S+)",
}
# Variables whose file is a program in the language of the tool that reads it.
_CODE = {"BUNDLE_GEMFILE": "ruby", "R_PROFILE_USER": "r", "R_PROFILE": "r", "PYTHONSTARTUP": "python", "OCTAVE_SITE_INITFILE": "octave"}
# Variables whose file is a configuration that names commands: what stands in front of one.
_CONFIGURED = {
    "AWS_CONFIG_FILE": r"(?m)^\s*credential_process\s*=\s*(.+)$",
    "AWS_SHARED_CREDENTIALS_FILE": r"(?m)^\s*credential_process\s*=\s*(.+)$",
    "NPM_CONFIG_USERCONFIG": r"(?m)^\s*(?:script-shell|shell|git|editor|viewer)\s*=\s*(.+)$",
    "npm_config_userconfig": r"(?m)^\s*(?:script-shell|shell|git|editor|viewer)\s*=\s*(.+)$",
    "RIPGREP_CONFIG_PATH": r"(?m)^\s*--(?:pre|hostname-bin)[= ](.+)$",
    "INPUTRC": r"(?!)",
    "SCREENRC": r"(?m)^\s*(?:exec|screen)\s+(.+)$",
    "TMUX_CONF": r"(?m)^\s*(?:run-shell|run|if-shell)\s+(.+)$",
    "PSQLRC": r"(?m)^\s*\\!\s*(.+)$",
    "MAILRC": r"(?m)^\s*shell\s+(.+)$",
}
_KUBE = r"command:\s*[\"']?([^\s,\"'}]+)[\"']?\s*,?\s*(?:\n\s*)?(?:args:\s*(?:\[([^\]]*)\]|((?:\n\s*-\s*\S+)+)))?"


def written(name: str, call: Call, scene: Scene) -> str | None:
    """The text of a file that the same text wrote, None for any other."""
    path = absolute(name, call.invocation)
    return scene.files.get(path) if path and scene.sources.get(path) != GIVEN else None


def pointed(variable: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """What a variable makes a program run: code in its value, a command in it, or a file that the same text wrote."""
    text = value.text or ""
    sure = call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
    if variable.startswith("LUA_INIT") and text:
        words = (literal("lua"), literal(text[1:])) if text.startswith("@") else (literal("lua"), literal("-e"), literal(text))
        yield from scene.nested_argv(words, call, via=variable)
    elif variable in _IN_OPTIONS:
        for match in re.finditer(_IN_OPTIONS[variable], text):
            yield from scene.nested_shell(match[1].strip("'\""), call, via=variable)
    elif variable in ("npm_config_script_shell", "npm_config_shell", "NPM_CONFIG_SCRIPT_SHELL") and "/" in text:
        yield from scene.nested_shell(text, call, via=variable)
    elif not scene.files or not text:
        return
    elif variable in _CODE and (code := written(text, call, scene)):
        from .program_text import read_code

        yield from read_code(code, sure, scene, _CODE[variable], (), absolute(text, call.invocation))
    elif variable in _CONFIGURED and (code := written(text, call, scene)):
        if variable in ("NPM_CONFIG_USERCONFIG", "npm_config_userconfig"):
            from .task_texts import text_effects

            yield from text_effects(code, sure, scene, "npmrc")
            return
        for match in re.finditer(_CONFIGURED[variable], code):
            yield from scene.nested_shell(match[1].strip().strip("\"'"), sure, via=variable)
    elif variable == "ZDOTDIR" and written(f"{text}/.zshenv", call, scene):
        yield from scene.nested_argv((literal("sh"), literal(f"{text}/.zshenv")), sure, via=variable)
    elif variable == "KUBECONFIG":
        for name in text.split(":"):
            yield from kube_login(written(name, call, scene) or "", sure, scene)
    else:
        for name in re.findall(r"/[\w./-]+", text):
            code = written(name, call, scene)
            if code and code.startswith("#!"):  # whoever reads the variable may run it
                yield from scene.nested_argv((literal(name),), sure, via=variable)


def kube_login(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """The login plugin of a kubeconfig: `exec: {command: x, args: [..]}`."""
    for match in re.finditer(_KUBE, text) if "exec" in text else ():
        words = [word.strip().strip("\"'") for word in (match[2] or "").split(",")] if match[2] is not None else re.findall(r"-\s*(\S+)", match[3] or "")
        yield from scene.nested_argv((literal(match[1]), *(literal(word) for word in words if word)), call, via="kubeconfig")


def ssh_settings(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Commands of an ssh configuration that the same text wrote: ProxyCommand, LocalCommand, `Match exec`."""
    from .remote import ssh_option

    for line in text.split("\n"):
        match = re.match(r"\s*(ProxyCommand|LocalCommand|KnownHostsCommand)[\s=]+(.+)", line, re.IGNORECASE)
        if match:
            yield from ssh_option(literal(f"{match[1]} {match[2]}"), call, scene)
        elif match := re.match(r"\s*Match\s+.*\bexec\s+(\"[^\"]*\"|\S+)", line, re.IGNORECASE):
            yield from scene.nested_shell(match[1].strip('"'), call, via="ssh Match exec")


__all__ = ["kube_login", "pointed", "ssh_settings", "written"]
