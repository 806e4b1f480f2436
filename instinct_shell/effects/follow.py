"""What commands leave for the ones that follow in the same text: redirections, files written, links and copies, nested surroundings."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Evaluation, Field, Invocation, Known, Stream, Surroundings
from . import flow, output
from .call import Call, Program, Scene, inside
from .catalog import MODULES, canonical
from .options import make_call
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WRITES = frozenset({EffectKind.FILE_WRITE, EffectKind.FILE_CREATE, EffectKind.FILE_APPEND})
COMPILERS = frozenset(
    "gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac tsc swiftc ghc nvcc tcc zig gfortran ld as nasm dmd ldc2 nim crystal v go cargo".split()
)
_STREAM = Program((), style="raw")


# ---------------------------------------------------------------- redirections


def noted(evaluation: Evaluation, sure: Certainty, origin: tuple[str, ...]) -> Iterator[Effect]:
    """Effects of what the evaluator noticed on its way: a function that starts itself without end, a secret variable that is shown."""
    if not evaluation.notes:
        return
    from .secrets import is_secret_name

    for kind, detail, span in evaluation.notes:
        if kind == "fork-bomb":
            yield Effect(EffectKind.PROCESS_BACKGROUND, Target(TargetKind.NAME, detail), sure, span, "", (("endless", "1"),), origin)
        elif kind == "printed" and is_secret_name(detail):
            pairs = (("prints", "1"), ("store", "env"))
            yield Effect(EffectKind.SECRET_READ, Target(TargetKind.NAME, detail), sure, span, "", pairs, origin)


def streams(invocation: Invocation, scene: Scene, sure: Certainty, origin: tuple[str, ...]) -> Iterator[Effect]:
    """File (and bash's /dev/tcp) effects of the redirections of one command."""
    if not invocation.streams:
        return
    name = invocation.words[0].text if invocation.words else None
    call = make_call(_STREAM, posixpath.basename(name or ""), (), invocation, certainty=sure, origin=origin)
    for stream in invocation.streams:
        text = stream.target.text or stream.target.prefix
        if text.startswith(("/dev/tcp/", "/dev/udp/")):
            host, _, port = text[9:].partition("/")
            sent = "" if stream.op == "<" else "1"
            yield call.effect(
                EffectKind.NET_CONNECT, Target(TargetKind.HOST, host), span=stream.span, port=port, stream="1", sent=sent, tool="bash"
            )
            if sent and invocation.output is not None:
                from .database_apis import wire_effects

                yield from wire_effects(call, scene, invocation.output.text, host, port)
            continue
        told = ""
        if invocation.output is not None and stream.fd == 1 and stream.op != "<":
            told = "secret" if any(flow.holds_secret(text) for text in invocation.output.values) else ""
        for kind in stream_kinds(stream):
            yield from file_effects(call, scene, kind, stream.target, stream="1", content=told)


def stream_kinds(stream: Stream) -> tuple[EffectKind, ...]:
    """What a redirection does to its file."""
    if stream.op == "<":
        return (EffectKind.FILE_READ,)
    if stream.op == "<>":
        return (EffectKind.FILE_READ, EffectKind.FILE_APPEND)
    if stream.op in (">>", "&>>"):
        return (EffectKind.FILE_APPEND,)
    return (EffectKind.FILE_WRITE,)


# ---------------------------------------------------------------- what is remembered


def remember(index: int, invocation: Invocation, scene: Scene) -> None:
    """Notes what this command wrote, linked, copied or removed."""
    if invocation.words and invocation.words[0].text == "git":
        _notes_kept_work(invocation, scene)
    # A move takes its source away after the destination got its content.
    for effect in sorted(scene.effects_of[index], key=lambda effect: effect.kind is EffectKind.FILE_MOVE):
        path = effect.target.text
        if effect.get("moved") and path:
            scene.moved.append(path)
        if effect.target.kind is not TargetKind.PATH or effect.target.dynamic:
            continue
        if effect.kind is EffectKind.FILE_LINK:
            to = effect.get("to")
            if to and to != path:
                scene.links[path] = to
                _copy(to, path, scene)
        elif effect.kind in WRITES:
            _wrote(index, invocation, effect, scene)
        elif effect.kind in (EffectKind.FILE_DELETE, EffectKind.FILE_MOVE):
            for known in (scene.files, scene.links, scene.copies):
                known.pop(path, None)


def _notes_kept_work(invocation: Invocation, scene: Scene) -> None:
    """Notes what git put away, for a discard that follows."""
    words = [word.text or "" for word in invocation.words if not (word.text or "").startswith("-")]
    if words[:1] != ["git"] or len(words) < 2:
        return
    verb, rest = words[1], words[2:]
    if (
        verb == "commit"
        or (verb == "bundle" and rest[:1] == ["create"])
        or (verb in ("branch", "tag") and rest)
        or (verb == "stash" and rest[:1] in ([], ["push"], ["save"]))
    ):
        scene.saved.append(verb)


def annotated(effect: Effect, scene: Scene) -> Effect:
    """The effect with what came before it in the same text: a delete of where files were just moved to (`moved_into`), a discard after git
    kept the work (`saved`)."""
    extra = ""
    if (
        effect.kind is EffectKind.FILE_DELETE
        and scene.moved
        and any(inside(path.partition("*")[0], effect.target.text) for path in scene.moved)
    ):
        extra, value = "moved_into", "1"
    elif effect.kind is EffectKind.GIT_DISCARD and scene.saved and not effect.get("untracked"):
        extra, value = "saved", scene.saved[-1]
    if not extra:
        return effect
    return effect.replace(attributes=tuple(sorted((*effect.attributes, (extra, value)))))


def _wrote(index: int, invocation: Invocation, effect: Effect, scene: Scene) -> None:
    path, origin = effect.target.text, effect.get("from")
    scene.copies.pop(path, None)
    if effect.get("folder"):
        if any(other.kind in flow.NETWORK for other in scene.effects_of[index]):
            scene.sources[path] = "network"  # git clone
        return
    if effect.kind is EffectKind.FILE_CREATE and path in scene.files:
        return  # touch: what stands there stays
    if origin:
        scene.files[path] = scene.files.get(origin)
        scene.sources[path] = scene.sources.get(origin, "file")
        _copy(origin, path, scene)
        return
    if effect.program in COMPILERS and "network" not in scene.sources.values():
        # What a compiler makes of the project's sources is a program of the project, as if it had been built a line earlier.
        scene.files.pop(path, None)
        scene.sources.pop(path, None)
        return
    if effect.program == "mkfifo":
        scene.files[path], scene.sources[path] = None, output.FIFO
        return
    if scene.sources.get(path) == output.FIFO:
        return
    if effect.has("plan"):
        scene.files[path], scene.sources[path] = None, effect.get("plan")
        return
    if effect.has("in_place") and scene.sources.get(path) != "network" and not _adds_commands(invocation):
        return  # `sed -i s/old/new/ x.py; python3 x.py`: what stands there is judged as it stands, as in two lines
    text = output.written_text(index, invocation, effect, scene)
    before = scene.files.get(path, "") if effect.kind is EffectKind.FILE_APPEND else ""
    scene.files[path] = None if text is None or before is None else before + text
    kinds = {other.kind for other in scene.effects_of[index]}
    scene.sources[path] = "network" if kinds & flow.NETWORK else flow.source_of((index,), scene)


def _adds_commands(invocation: Invocation) -> bool:
    """Whether an edit in place may put a command of the catalog into the file: a known program with arguments in the edit's own words, or
    words that are not known."""
    for word in invocation.words[1:]:
        if word.known is Known.DYNAMIC:
            return True
        for text in word.values:
            for piece in re.split(r"[/|,#@;&\\\n(){}`'\"]", text):
                words = piece.split()
                if words and re.fullmatch(r"[\d$]*[aic]", words[0]):  # sed's append, insert and change
                    words = words[1:]
                if len(words) > 1 and canonical(words[0]) in MODULES:
                    return True
    return False


def _copy(origin: str, path: str, scene: Scene) -> None:
    """A program copied or linked to another name stays that program."""
    name = scene.copies.get(origin) or (posixpath.basename(origin) if "/" not in origin or _is_program(origin) else "")
    if name:
        scene.copies[path] = canonical(name)
        scene.files.pop(path, None)


def _is_program(path: str) -> bool:
    return posixpath.basename(posixpath.dirname(path)) in ("bin", "sbin", ".bin")


# ---------------------------------------------------------------- links


def resolve_links(effect: Effect, links: dict[str, str]) -> Effect:
    """The effect on what a link of the same text points to; deleting or moving a link itself stays on the link."""
    target = effect.target
    if target.kind not in (TargetKind.PATH, TargetKind.PATTERN) or not target.text or effect.kind is EffectKind.FILE_LINK:
        return effect
    text, through = target.text, ""
    follows = effect.kind not in (EffectKind.FILE_DELETE, EffectKind.FILE_MOVE)
    for _ in range(8):
        for link, to in links.items():
            if (text == link and follows) or (text != link and inside(text, link)):
                text, through = to.rstrip("/") + text[len(link) :] or "/", link
                break
        else:
            break
    if not through:
        return effect
    pairs = {**dict(effect.attributes), "through": through, "via_symlink": "1"}
    return effect.replace(target=target.replace(text=text), attributes=tuple(sorted(pairs.items())))


# ---------------------------------------------------------------- nested text


def surroundings(base: Surroundings, call: Call, positional: tuple[Field, ...], cwd: Field, scene: Scene) -> Surroundings:
    """What a nested shell starts with: the call's directory, environment, stdin and positional parameters, as far as they are known."""
    changed = dict((*scene.variables, *call.invocation.env, *call.invocation.assignments))
    if positional and "/" in (positional[0].text or ""):
        changed["BASH_SOURCE"] = positional[0]  # `cd "$(dirname "${BASH_SOURCE[0]}")"`
    stdin = call.invocation.stdin
    return Surroundings(
        cwd=cwd.text or "/",
        home=base.home,
        env=base.env,
        argv0=call.name,
        user=base.user,
        cwd_field=cwd,
        argv0_field=positional[0] if positional else None,
        positional_fields=positional[1:],
        variables=tuple(changed.items()),
        workspace=base.workspace,
        # Indexes of producers belong to the outer text, so a pipe whose text is not known is an input of unknown kind in there.
        stdin=stdin.replace(producers=()) if stdin.kind in ("text", "null", "file", "closed") or stdin.outer else None,
    )


def calls_unknown_function(evaluation: Evaluation) -> bool:
    """Whether a function that no command of the text calls may run all the same: by a computed name, or in a child shell."""
    for invocation in evaluation.invocations:
        if invocation.words and invocation.words[0].known is Known.DYNAMIC:
            return True
        if (
            len(invocation.words) > 1
            and invocation.words[0].text in ("export", "declare", "typeset")
            and invocation.words[1].text in ("-f", "-fx", "-xf")
        ):
            return True
    return False


__all__ = ["calls_unknown_function", "remember", "resolve_links", "streams", "surroundings", "weakest"]
