"""What runs later: crontab, run-parts and their kin."""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from . import output, scripts
from .call import Call, Program, Scene
from .hijack import EDITED
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_ENTRY = r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.+)"


def crontab(call: Call, scene: Scene) -> Iterator[Effect]:
    """crontab: -l lists, -r removes everything, a file or stdin replaces everything; its commands run later."""
    if call.has("-l", "--list", "-T"):
        return
    user = call.value("-u")
    name = user.text or user.prefix if user is not None else ""
    if call.has("-r", "--remove"):
        yield call.effect(EffectKind.SYSTEM_SCHEDULE, Target(TargetKind.OBJECT, name), action="remove", all="1", tool="crontab")
        return
    if call.has("-e", "--edit"):
        yield call.effect(EffectKind.SYSTEM_SCHEDULE, Target(TargetKind.OBJECT, name), action="edit", tool="crontab")
        yield from entries(scene.files.get(EDITED) or "", call, scene)  # what an editor given by EDITOR has put there
        return
    yield call.effect(EffectKind.SYSTEM_SCHEDULE, Target(TargetKind.OBJECT, name), action="replace", tool="crontab")
    texts = output.stdin_pieces(call.invocation, scene)
    for field in call.operands[:1]:
        if field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
            texts = [scene.files.get(output.absolute(field.text, call.invocation)) or ""]
    for text in texts:
        yield from entries(text, call, scene)


def entries(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of the commands of a crontab's lines: they run later, perhaps."""
    later = call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
    for line in text.split("\n"):
        match = re.fullmatch(_ENTRY, line)
        if match and not line.lstrip().startswith("#"):
            yield from scene.nested_shell(match.group(1), later, via="crontab")


def parts(call: Call, scene: Scene) -> Iterator[Effect]:
    """run-parts, anacron, logrotate: run what a folder or a file names."""
    for field in call.operands[:1]:
        yield from scripts.script_file(call, scene, field)


PROGRAMS: tuple[Program, ...] = (
    Program(("crontab", "fcrontab"), options="-u -s= -c", describe=crontab, summary="lists, replaces or removes the user's schedule"),
    Program(
        ("run-parts", "anacron", "logrotate", "savelog"),
        options="-t -S -s -l --regex --arg --state --log",
        harmless="--test --list -d --debug -T",
        describe=parts,
        summary="runs what a folder or a file names",
    ),
)
