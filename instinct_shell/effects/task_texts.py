"""Files of tools that hold commands as text: Procfile, lefthook.yml, mise.toml, nodemon.json, .npmrc, .cargo/config.toml, Tiltfile, build.xml.

Each language here is one pattern that gives the commands; what a tool fills in is left as it stands.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Scene
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = {
    "procfile": r"(?m)^[\w-]+:\s*(.+)$",
    "yaml-run": r"(?m)^\s*-?\s*(?:run|exec|cmd|command|entry):\s*[\"']?(.+?)[\"']?\s*$",
    "toml-run": r"(?m)^\s*(?:run|cmd|shell)\s*=\s*[\"'](.+?)[\"']\s*$",
    "cargo-config": r"(?m)^\s*(?:rustc-wrapper|rustc-workspace-wrapper|rustc|rustdoc|runner|linker)\s*=\s*\[?\s*[\"'](.+?)[\"']",
    "npmrc": r"(?m)^\s*(?:script-shell|shell|git|editor|viewer)\s*=\s*(.+)$",
    "tiltfile": r"\b(?:local|local_resource|custom_build|run)\(\s*(?:[\"'][^\"']*[\"']\s*,\s*)?[\"'](.+?)[\"']",
    "json-run": r"\"[^\"]*\"\s*:\s*(?:\[\s*)?\"((?:\\.|[^\"\\])+)\"",
    "envrc": r"(?s)\A(.+)\Z",
}


def text_effects(text: str, call: Call, scene: Scene, language: str) -> Iterator[Effect]:
    """Effects of the commands in such a file."""
    if language == "ant":
        yield from _ant(text, call, scene)
        return
    if language == "npmrc":
        from .hijack import loader_effects

        for match in re.finditer(r"(?m)^\s*node-options\s*=\s*(.+)$", text):
            yield from loader_effects("NODE_OPTIONS", literal(match[1].strip().strip("\"'")), call, scene)
    for match in re.finditer(COMMANDS[language], text):
        command = match[1].replace('\\"', '"') if language == "json-run" else match[1]
        if language != "json-run" or " " in command:
            yield from scene.nested_shell(command, call, via=call.name)


def _ant(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """`<exec executable="rm"><arg value="-rf"/>..`, `<delete dir="x"/>`."""
    for match in re.finditer(r"<exec\b[^>]*\bexecutable\s*=\s*\"([^\"]+)\"[^>]*>(.*?)</exec>", text, re.DOTALL):
        words = [match[1]]
        for value, line in re.findall(r"<arg\b[^>]*\b(?:value\s*=\s*\"([^\"]*)\"|line\s*=\s*\"([^\"]*)\")", match[2]):
            words += [value] if value else line.split()
        yield from scene.nested_argv(tuple(literal(word) for word in words), call, via="ant exec")
    for match in re.finditer(r"<delete\b[^>]*\b(dir|file)\s*=\s*\"([^\"$]+)\"", text):
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, literal(match[2]), recursive="1" if match[1] == "dir" else "")


__all__ = ["COMMANDS", "text_effects"]
