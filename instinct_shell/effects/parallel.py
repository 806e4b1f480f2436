"""GNU parallel and its like: shell text, run once for each argument."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, Known, Origin, literal
from . import output
from .call import Call, Program, Scene
from .holes import Hole, Holes
from .listing import Found, listing_of
from .roles import file_effects
from .scripts import run_text
from .search import on_found, replaced, spliced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def parallel(call: Call, scene: Scene) -> Iterator[Effect]:
    """GNU parallel: a shell command per argument of `:::`, of a file, or of stdin."""
    command: list[Field] = []
    groups: list[tuple[str, list[Field]]] = []
    for word in call.operands:
        if word.text in (":::", "::::", ":::+", "::::+"):
            groups.append((word.text[:4].rstrip("+"), []))
        elif groups:
            groups[-1][1].append(word)
        else:
            command.append(word)
    arguments = [word for kind, words in groups for word in words if kind == ":::"]
    for file in [word for kind, words in groups for word in words if kind == "::::"]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    if call.has("-S", "--sshlogin", "--slf", "--sshloginfile"):
        yield call.effect(EffectKind.NET_REMOTE_EXEC, via="ssh", tool="parallel")
    if not arguments:
        text = output.stdin_text(call.invocation, scene)
        if text is not None and not groups:
            arguments = [literal(line) for line in text.split("\n") if line.strip()][:64]
        else:
            found = listing_of(call.invocation.stdin.producers, scene) if not groups else None
            if found is not None and command:
                yield from _parallel_found(call, scene, tuple(command), found)
                return
            arguments = [
                Field(
                    Known.DYNAMIC,
                    reason="arguments that come in on stdin",
                    origins=(Origin("command", "", call.invocation.stdin.producers),),
                    many=True,
                )
            ]
    for argument in arguments:
        yield from _parallel_once(call, scene, tuple(command), argument)


# Replacement strings that stand for the argument or a part of it.
_PARTS = r"\{(?:[./%#]|//|/\.|\d+(?:[./]|//|/\.)?)\}"


def _as_text(command: tuple[Field, ...]) -> str:
    """The words of a parallel command as the shell text that parallel makes of them, when they are more than plain words; else ""."""
    texts = [word.text for word in command]
    if None in texts or not any(re.search(r"[\s;&|<>()`$'\"\\]", text or "") for text in texts):
        return ""
    return re.sub(_PARTS, "{}", " ".join(text or "" for text in texts))


def _parallel_found(call: Call, scene: Scene, command: tuple[Field, ...], found: tuple[Found, ...]) -> Iterator[Effect]:
    """parallel on every name of a listing: shell text, or plain words."""
    text = _as_text(command)
    if not text:
        words = command if any("{" in (word.text or "") for word in command) else (*command, literal("{}"))
        yield from on_found(call, scene, words, found, via="parallel")
        return
    for one in found:
        holes = Holes(f"p{len(call.origin)}_")
        mark = holes.new(one.hole())
        for effect in scene.nested_shell(text.replace("{}", mark) if "{}" in text else f"{text} {mark}", call, via="parallel"):
            yield from holes.fill(effect)


def _parallel_once(call: Call, scene: Scene, command: tuple[Field, ...], argument: Field) -> Iterator[Effect]:
    if not command:
        yield from run_text(call, scene, argument, via="parallel")
        return
    if text := _as_text(command):  # shell text: the argument stands in it, quoted
        holes = Holes("p")
        mark = holes.of(argument) if argument.text is not None else holes.new(Hole(reason=argument.reason or "dynamic word"))
        mark = "'" + mark.replace("'", "'\\''") + "'" if re.search(r"[^\w./~\x1a-]", mark) else mark
        for effect in scene.nested_shell(text.replace("{}", mark) if "{}" in text else f"{text} {mark}", call, via="parallel"):
            yield from holes.fill(effect)
        return
    marked = any("{}" in (word.text or "") for word in command)
    words = tuple(spliced(word, "{}", argument) if argument.text is None else replaced(word, "{}", argument.text) for word in command)
    yield from scene.nested_argv(words if marked else (*words, argument), call, via="parallel")


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("parallel", "env_parallel", "sem", "rush"),
        options="-a -I -j -P -L -n -N -S -d -C -l -s -X= --jobs --max-procs --arg-file --colsep --delay --joblog "
        "--retries --results --timeout --tmpdir --workdir --wd "
        "--sshlogin --slf --sshloginfile --load --memfree --nice --tagstring --env --halt --progress= --rpl "
        "--id --basefile --return --max-args --max-replace-args",
        style="stop",
        describe=parallel,
        summary="runs shell commands in parallel",
    ),
)
