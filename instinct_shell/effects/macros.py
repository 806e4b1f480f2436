"""m4: text in, text out, unless a macro runs a command (`syscmd`, `esyscmd`) or reads a file (`include`)."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from . import output, scripts
from .call import Call, Program, Scene
from .followed import followed
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = r"\b(e?syscmd|s?include|s?paste|undivert)\(\s*(?:`([^']*)'|([^`()',]*))"


def m4(call: Call, scene: Scene) -> Iterator[Effect]:
    """m4 [options] [FILE...]: files that are known, and text on stdin, are read for the macros that reach out."""
    for field in call.operands:
        if field.text == "-":
            continue
        for effect in file_effects(call, scene, EffectKind.FILE_READ, field):
            yield effect
            text = scene.code_of(effect.target.text)
            if text is not None:
                yield from followed(_macros(text, call, scene), effect.target.text, scene)
    if not call.operands or any(field.text == "-" for field in call.operands):
        text = output.stdin_text(call.invocation, scene)
        if text is not None:
            yield from _macros(text, call, scene)
        elif call.invocation.stdin.kind == "pipe":
            yield scripts.opaque(call, "stdin", "m4 text comes through a pipe", language="m4")


def _macros(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    for match in re.finditer(_CALL, text):
        value = match[2] if match[2] is not None else match[3]
        if match[1].endswith("syscmd"):
            yield from scene.nested_shell(value, call, via="m4 syscmd")
        elif value.strip():
            yield from file_effects(call, scene, EffectKind.FILE_READ, literal(value.strip()))


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("m4", "gm4"),
        options="-D -I -U -B -d= -F -H -L -N -R -S -T -l -o -t --define --include --undefine --freeze-state --reload-state --debugfile= --nesting-limit",
        option_roles=(("-F", "write"), ("--freeze-state", "write"), ("-R", "read"), ("--reload-state", "read")),
        describe=m4,
        summary="expands macros; syscmd runs a command",
    ),
)
