"""What a command surely prints or reads, when all of it stands in the text, including files that the same text wrote before.

The evaluator works out echo, printf, heredocs and decoders; what it cannot know are the files written earlier (`Scene.files`), so pipes
that begin with such a file are followed here.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Invocation
from .call import Call, Scene, fold

LONGEST = 65536
FIFO = "fifo"  # the source of a named pipe that the same text made
DEEPEST = 12  # stages of a pipeline that are computed
ENOUGH = 200  # lines of `yes` that are computed
_CUTTERS = frozenset(("head", "sed"))  # what may end a stream that has no end


def stdout_of(index: int, scene: Scene, depth: int = 0) -> str | None:
    """The exact text an invocation prints on stdout, or None."""
    if depth > DEEPEST or not 0 <= index < len(scene.invocations):
        return None
    invocation = scene.invocations[index]
    if invocation.output is not None:
        return invocation.output.text
    if not scene.files and not any(_is_yes(one) for one in scene.invocations):
        return None
    words = [word.text for word in invocation.words]
    known = [word for word in words if word is not None]
    if not known or len(known) < len(words):
        return None
    name = known[0].rsplit("/", 1)[-1]
    if name == "cat":
        return _cat(known[1:], invocation, scene, depth)
    from ..shell.decoders import FILTERS

    endless = _endless(invocation, scene) if name in _CUTTERS else None
    text = stdin_text(invocation, scene, depth + 1) if endless is None else endless
    if endless is not None and name == "sed":
        return _first_lines(known[1:], endless)
    change = FILTERS.get(name)
    if change is None or text is None or len(text) > LONGEST:
        return None
    try:
        made = change(known[1:], text)
    except (ValueError, IndexError, OverflowError):
        return None
    return made if endless is None or (made is not None and made.count("\n") < ENOUGH) else None


def _is_yes(invocation: Invocation) -> bool:
    return bool(invocation.words) and (invocation.words[0].text or "").rpartition("/")[2] == "yes"


def _endless(invocation: Invocation, scene: Scene) -> str | None:
    """The first lines of what `yes WORDS` prints without end into this command, None when something else feeds it."""
    producers = invocation.stdin.producers if invocation.stdin.kind == "pipe" else ()
    fed = [scene.invocations[index] for index in producers if 0 <= index < len(scene.invocations)]
    if len(fed) != 1 or not _is_yes(fed[0]):
        return None
    words = [word.text for word in fed[0].words[1:]]
    line = " ".join(word or "" for word in words if word != "--") or "y"
    return None if None in words else f"{line}\n" * ENOUGH


def _first_lines(words: list[str], text: str) -> str | None:
    """`sed 5q`, `sed -n '1p;1q'`: the lines after which sed stops; None for any other script."""
    found = re.fullmatch(r"(?:(?:-n\s+)?(?:1p|p)\s*;\s*)?(\d+)q", " ".join(words))
    return "".join(text.splitlines(keepends=True)[: int(found[1])]) if found else None


def yes_line(invocation: Invocation, scene: Scene) -> str | None:
    """One line of what `yes WORDS` prints without end, for a reader that does the same with each (`yes DIR | xargs rm`)."""
    text = _endless(invocation, scene)
    return text[: text.index("\n") + 1] if text else None


def stdin_text(invocation: Invocation, scene: Scene, depth: int = 0) -> str | None:
    """The exact text that comes in on fd 0, or None: a heredoc, a here-string, known output by pipe, a file written earlier."""
    stdin = invocation.stdin
    if stdin.kind in ("null", "closed"):
        return ""
    if stdin.kind == "text" and stdin.field is not None:
        return stdin.field.text
    if stdin.kind == "file" and stdin.field is not None:
        path = absolute(stdin.field.text, invocation)
        if scene.sources.get(path) == FIFO:
            return fifo_text(path, scene)
        return scene.files.get(path) if path else None
    if stdin.kind == "pipe" and stdin.producers:
        pieces = [stdout_of(producer, scene, depth + 1) for producer in stdin.producers]
        return None if None in pieces else "".join(piece or "" for piece in pieces)
    return None


def as_program(call: Call) -> Call:
    """The call of a command that takes its program from fd 0: what the door found there is that program."""
    stdin = call.invocation.stdin.program
    return call if stdin is call.invocation.stdin else call.replace(invocation=call.invocation.replace(stdin=stdin))


def stdin_pieces(invocation: Invocation, scene: Scene) -> list[str]:
    """The parts of the input that are known, for readers that take it line by line (`(crontab -l; echo ..) | crontab -`)."""
    if invocation.stdin.kind == "pipe":
        return [text for text in (stdout_of(producer, scene) for producer in invocation.stdin.producers) if text]
    text = stdin_text(invocation, scene)
    return [text] if text else []


def absolute(name: str | None, invocation: Invocation) -> str:
    """The absolute path of a name in the invocation's directory, "" when it is not known."""
    if name is None:
        return ""
    if name.startswith("/"):
        return fold(name)
    return fold(f"{invocation.cwd.text}/{name}") if invocation.cwd.text is not None else ""


def fifo_text(path: str, scene: Scene) -> str | None:
    """What the commands of the text write into a named pipe, those after its reader included."""
    pieces = [
        stdout_of(index, scene)
        for index, one in enumerate(scene.invocations)
        if any(stream.op in (">", ">>", "&>", "<>", ">|") and absolute(stream.target.text, one) == path for stream in one.streams)
    ]
    return None if not pieces or None in pieces else "".join(piece or "" for piece in pieces)


def written_text(index: int, invocation: Invocation, effect: Effect, scene: Scene) -> str | None:
    """The text that an invocation puts into a file it writes: by redirect what it prints, by tee what it reads."""
    if effect.target.text in scene.leaves:
        return scene.leaves.pop(effect.target.text)
    if effect.program in ("cp", "install", "dd") and any((word.text or "").endswith("/dev/stdin") for word in invocation.words):
        return stdin_text(invocation, scene)
    if effect.program in ("tee", "sponge") or (effect.program == "dd" and effect.kind is EffectKind.FILE_WRITE):
        return stdin_text(invocation, scene)
    if not effect.get("stream"):
        return None
    if not invocation.words:
        return ""  # `> file` alone empties it
    return stdout_of(index, scene)


def _cat(words: list[str], invocation: Invocation, scene: Scene, depth: int) -> str | None:
    out: list[str] = []
    for name in [word for word in words if word == "-" or not word.startswith("-")] or ["-"]:
        text = stdin_text(invocation, scene, depth + 1) if name in ("-", "/dev/stdin") else scene.files.get(absolute(name, invocation))
        if text is None:
            return None
        out.append(text)
    return "".join(out)
