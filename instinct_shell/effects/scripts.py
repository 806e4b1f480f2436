"""Code that a command runs: text given as a word, text on stdin, script files; also files that the same line wrote before.

Known text is followed by the evaluator. Unknown text is `code.opaque` with where it comes from (network, file, variable ...); a script
file that this line did not write is `code.script`, whose content a gate looks at.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, Stdin, literal
from . import flow, output
from .call import Call, Scene, inside, path_targets
from .followed import GIVEN, followed
from .holes import Hole, Holes
from .roles import file_effects, listed_files, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Programs that print shell settings meant for `eval "$(..)"`; their output is trusted as much as the program itself.
SETTERS = frozenset(
    (
        "ssh-agent gpg-agent keychain direnv pyenv rbenv nodenv goenv jenv brew starship conda mamba micromamba fnm dircolors "
        "zoxide opam mise rtx asdf lesspipe lesspipe.sh register-python-argcomplete luarocks minikube docker-machine thefuck "
        "atuin fzf navi resize locale kubectl helm gh poetry pip pipx uv npm pnpm yarn rustup cargo volta oh-my-posh getopt "
        "stty tset"
    ).split()
)


def run_text(
    call: Call, scene: Scene, field: Field, *, positional: tuple[Field, ...] = (), via: str = "", cwd: Field | None = None
) -> Iterator[Effect]:
    """Effects of shell text given as one word."""
    if field.known is not Known.DYNAMIC:
        sure = call if len(field.values) == 1 else call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
        for value in field.values:
            yield from scene.nested_shell(value, sure, positional=positional, cwd=cwd, via=via)
        return
    text = printed(field, scene)
    if text is not None:
        yield from scene.nested_shell(text, call, positional=positional, cwd=cwd, via=via)
        return
    if _only_setters(field, scene):
        return
    yield opaque(call, flow.source_of_field(field, scene), field.reason)
    if field.prefix.strip() or field.suffix.strip():
        # What stands around the unknown piece is code all the same: `bash -c "rm -rf $d/build"`.
        holes = Holes("t")
        mark = holes.new(Hole(reason=field.reason or "dynamic word"))
        for effect in scene.nested_shell(field.prefix + mark + field.suffix, call, positional=positional, cwd=cwd, via=via):
            if effect.kind is not EffectKind.CODE_OPAQUE:
                yield from holes.fill(effect.replace(certainty=weakest(effect.certainty, Certainty.POSSIBLE)))


def printed(field: Field, scene: Scene) -> str | None:
    """The text of a word that is wholly the output of known printers (or names a pipe from them)."""
    if len(field.origins) != 1 or not field.origins[0].producers or ((field.prefix or field.suffix) and field.origins[0].kind != "process"):
        return None
    pieces = [output.stdout_of(index, scene) for index in field.origins[0].producers]
    return None if None in pieces else "".join(piece or "" for piece in pieces).rstrip("\n")


def _only_setters(field: Field, scene: Scene) -> bool:
    """Whether a word is made of the output of programs that print settings for eval, and of nothing else."""
    if not field.origins:
        return False
    for origin in field.origins:
        if not origin.producers:
            return False
        for index in flow.upstream(origin.producers, scene):
            words = scene.invocations[index].words
            name = posixpath.basename(words[0].text or "") if words else ""
            if name not in SETTERS or any(effect.kind in flow.NETWORK for effect in scene.effects_of.get(index, ())):
                return False
    return True


def opaque(call: Call, source: str, reason: str = "", *, language: str = "shell", target: Target | None = None) -> Effect:
    """Code that runs and that nobody here can read."""
    return call.effect(
        EffectKind.CODE_OPAQUE,
        target,
        language=language,
        source=source,
        dynamic="interpreter",
        reason=reason or f"the code comes from {source}",
    )


UNREAD_INPUT = "the code comes from the caller's input"


def run_stdin(call: Call, scene: Scene, *, positional: tuple[Field, ...] = (), via: str = "", named: bool = False) -> Iterator[Effect]:
    """Effects of a shell that reads its program on fd 0. named: it is told to (`-s`, `/dev/stdin`), so that this is no dialogue at a terminal."""
    call = output.as_program(call)
    stdin = call.invocation.stdin
    text = output.stdin_text(call.invocation, scene)
    if text is not None:
        if text.strip():
            path = output.absolute(stdin.field.text, call.invocation) if stdin.kind == "file" and stdin.field is not None else ""
            inner = scene.nested_shell(text, call, positional=positional, via=via or f"{call.name} stdin", line=1 if path else 0)
            yield from followed(inner, path, scene)
        return
    if stdin.kind == "text" and stdin.field is not None:
        yield from run_text(call, scene, stdin.field, positional=positional, via=via or f"{call.name} stdin")
    elif stdin.kind == "file" and stdin.field is not None:
        yield from script_file(call, scene, stdin.field, positional)
    elif stdin.kind == "pipe" and (files := piped_files(call, scene)):
        for field in files:
            yield from script_file(call, scene, field, (literal(call.name), *positional[1:]), via=via)
    elif stdin.kind == "pipe":
        yield opaque(call, flow.source_of(stdin.producers, scene), "the code comes through a pipe")
    elif stdin.kind == "inherit" and named:
        yield opaque(call, "stdin", UNREAD_INPUT)


def piped_files(call: Call, scene: Scene) -> tuple[Field, ...]:
    """The files that `cat x | sh` runs, when a pipe brings nothing but them and nothing of theirs comes from elsewhere."""
    found: list[Field] = []
    for index in call.invocation.stdin.producers:
        one = scene.invocations[index] if index < len(scene.invocations) else None
        words = one.words if one is not None else ()
        if one is None or len(words) < 2 or words[0].text != "cat" or one.cwd != call.invocation.cwd:
            return ()
        if any((word.text or "-").startswith(("-", "/dev/", "/proc/")) or word.glob for word in words[1:]):
            return ()
        found += words[1:]
    return tuple(found)


def script_file(
    call: Call, scene: Scene, field: Field, positional: tuple[Field, ...] = (), *, via: str = "", read: bool = False
) -> Iterator[Effect]:
    """A shell runs (or sources: read=True) the file that this word names."""
    if field.known is Known.DYNAMIC and any(origin.kind == "process" for origin in field.origins):
        text = printed(field, scene)
        if text is not None:
            yield from scene.nested_shell(text, call, positional=positional, via=via or call.name)
        elif not _only_setters(field, scene):
            yield opaque(call, flow.source_of_field(field, scene), field.reason)
        return
    if read or any(flow.looks_secret("/" + value) for value in field.values):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    if listed := listed_files(call, EffectKind.CODE_SCRIPT, field, scene, language="shell"):
        yield from listed
        if is_chosen(field, scene):
            yield opaque(call, "file", "which of the files that are listed runs is only known then")
        return
    for target, sure in path_targets(field, call.invocation.cwd):
        path = scene.links.get(target.text, target.text)
        if target.kind is TargetKind.PATH and not target.dynamic and path in scene.files:
            yield from _written(call, scene, path, positional, via)
            continue
        if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            yield from run_stdin(call, scene, positional=positional[1:], via=via, named=True)
            continue
        other = descriptor(path, call)
        if other is not None:
            yield from run_stdin(call.replace(invocation=call.invocation.replace(stdin=other)), scene, positional=positional[1:], via=via)
            continue
        if path.startswith(("/dev/tcp/", "/dev/udp/")):  # `bash -i >& /dev/tcp/HOST/PORT 0>&1`
            host, _, port = path.removeprefix("/dev/").partition("/")[2].partition("/")
            yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, host), reverse="1", via="bash", port=port)
            continue
        extra = {"dynamic": "interpreter" if target.dynamic else "", "unset": ",".join(field.unset), "source": brought(path, scene)}
        yield call.effect(EffectKind.CODE_SCRIPT, target, extra, certainty=weakest(call.certainty, sure), language="shell")


def is_chosen(field: Field, scene: Scene) -> bool:
    """Whether a word is one out of a listing: its newest, its first, any."""
    producers = [index for origin in field.origins for index in origin.producers]
    return any(scene.invocations[index].words[:1] and scene.invocations[index].words[0].text in ("head", "tail", "shuf") for index in producers)


def descriptor(path: str, call: Call) -> Stdin | None:
    """What `/dev/fd/3` is open on, for descriptors that the same text opened."""
    folder, _, number = path.rpartition("/")
    if folder not in ("/dev/fd", "/proc/self/fd") or not number.isdigit():
        return None
    return dict(call.invocation.fds).get(int(number))


def brought(path: str, scene: Scene) -> str:
    """ "network" for a script in a folder that the same text fetched (`git clone URL x && x/install.sh`)."""
    return "network" if any(source == "network" and inside(path, folder) for folder, source in scene.sources.items()) else ""


def _written(call: Call, scene: Scene, path: str, positional: tuple[Field, ...], via: str) -> Iterator[Effect]:
    target = Target(TargetKind.PATH, path)
    text = output.fifo_text(path, scene) if scene.sources.get(path) == output.FIFO else scene.files[path]
    written = "" if scene.sources.get(path) == GIVEN else "1"
    yield call.effect(EffectKind.CODE_SCRIPT, target, language="shell", written=written, readable="1" if text is not None else "")
    if text is None:
        yield opaque(
            call, scene.sources.get(path, "generated"), "the script is written by the same line and its text is not known", target=target
        )
    elif text.strip():
        inner = scene.nested_shell(
            text, call, positional=(literal(path), *positional[1:]), via=via or f"{call.name} {posixpath.basename(path)}", line=1
        )
        yield from followed(inner, path, scene)


@cache
def _shebang() -> re.Pattern[str]:
    return re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?(?:[A-Z_]+=\S*\s+)*)?(?:\S*/)?([\w.+-]+)")


def run_file(call: Call, scene: Scene, path: str, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """A file that the same line wrote is run by its name: by its `#!` line, else by the shell."""
    text = scene.files.get(path)
    match = _shebang().match(text) if text else None
    name = match.group(1) if match else "sh"
    if text is None or name in ("sh", "bash", "dash", "zsh", "ksh", "ash"):
        yield from _written(call, scene, path, (literal(path), *argv), "")
        return
    yield call.effect(
        EffectKind.CODE_SCRIPT,
        Target(TargetKind.PATH, path),
        language=name,
        written="" if scene.sources.get(path) == GIVEN else "1",
        readable="1",
    )
    yield from scene.nested_argv((literal(name), literal(path), *argv), call, via=posixpath.basename(path))


__all__ = ["GIVEN", "SETTERS", "brought", "opaque", "printed", "run_file", "run_stdin", "run_text", "script_file"]
