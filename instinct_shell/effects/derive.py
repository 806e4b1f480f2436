"""From shell text to effects: evaluates the text, describes each invocation by the catalog, follows nested code, links what flows.

Pure. The order of work for one invocation: assignments, redirections, the command word, the program's row, its describer; afterwards what
it wrote, linked or copied is remembered for the commands that follow in the same text.
"""

from __future__ import annotations

from ..errors import InstinctError
from ..model.effect import NOWHERE, Certainty, Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Evaluation, Field, Invocation, Known, Surroundings
from . import flow, follow, followed, hijack
from .call import Call, Scene
from .catalog import Catalog
from .command import Describe
from .given import git_places, given, shadows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..shell.syntax import Parsed
    from .call import Program

DEEPEST = 8  # nested texts (bash -c in bash -c ...) that are followed
MOST = 3000  # invocations described for one intent, nested ones included


class Derivation(Value):
    """The effects in the order in which they would happen, and the evaluation of the outer text.

    wanted: absolute paths of files that would run, or be read, as code and whose text was not given; to be asked for and given as `files`.
    """

    effects: tuple[Effect, ...]
    evaluation: Evaluation
    wanted: tuple[str, ...] = ()


def derive(
    parsed: Parsed,
    surroundings: Surroundings,
    parse: Callable[[str], Parsed],
    *,
    workspace: str,
    profile_programs: tuple[Program, ...] = (),
    files: tuple[tuple[str, str], ...] = (),
) -> Derivation:
    """What running the text would do. Text that cannot be followed is a `code.opaque` effect, never silence.

    files: (absolute path, content) of scripts that were read before, so that a command that runs one is followed into it. Effects that come
    out of such a file bear `script` (its path) and, where it can be told, `line`.
    """
    from ..shell.evaluate import evaluate

    evaluation = evaluate(parsed.script, surroundings, parse)
    return derive_evaluation(evaluation, surroundings, parse, workspace=workspace, profile_programs=profile_programs, files=files)


def derive_evaluation(
    evaluation: Evaluation,
    surroundings: Surroundings,
    parse: Callable[[str], Parsed],
    *,
    workspace: str,
    profile_programs: tuple[Program, ...] = (),
    files: tuple[tuple[str, str], ...] = (),
) -> Derivation:
    """`derive` for a text that was evaluated already."""
    work = _Work(parse, Catalog(profile_programs), surroundings)
    scene = Scene(
        workspace=workspace,
        home=surroundings.home,
        user=surroundings.user,
        derive_text=None,
    )
    scene.files.update(files)
    scene.sources.update((path, followed.GIVEN) for path, _ in files)
    level = _Level(work, scene, 0, (), Certainty.CERTAIN)
    if surroundings.env and evaluation.invocations:
        scene.shadowing = shadows(surroundings, scene)
        scene.given = git_places(surroundings)
    own = level.run(evaluation)
    if surroundings.env and evaluation.invocations:
        own += given(surroundings, scene)
    effects = tuple(dict.fromkeys(own))
    return Derivation(effects, evaluation, followed.wanted(effects, scene))


class _Work:
    """What all levels of one derivation share: the parser, the catalog and how much may still be described."""

    __slots__ = ("catalog", "left", "parse", "surroundings")

    def __init__(self, parse: Callable[[str], Parsed], catalog: Catalog, surroundings: Surroundings) -> None:
        self.parse = parse
        self.catalog = catalog
        self.surroundings = surroundings
        self.left = MOST


class _Level:
    """One text: the outer one, or one nested in a command."""

    def __init__(
        self, work: _Work, scene: Scene, depth: int, origin: tuple[str, ...], certainty: Certainty, in_file: bool = False
    ) -> None:
        self.work = work
        self.depth = depth
        self.origin = origin
        self.certainty = certainty
        self.scene = scene
        self.in_file = in_file
        scene._derive_text = self.nested if depth < DEEPEST else None
        self.describe = Describe(work.catalog, scene)

    def run(self, evaluation: Evaluation) -> list[Effect]:
        """Effects of all invocations in order."""
        scene = self.scene
        scene.invocations = evaluation.invocations
        found: list[Effect] = []
        for piece in evaluation.opaque:
            found.append(
                Effect(
                    EffectKind.CODE_OPAQUE,
                    certainty=self.certainty,
                    span=piece.span,
                    attributes=_pairs(reason=piece.reason, source="text"),
                    origin=self.origin,
                )
            )
        found += follow.noted(evaluation, self.certainty, self.origin)
        called = follow.calls_unknown_function(evaluation)
        for index, invocation in enumerate(evaluation.invocations):
            self.work.left -= 1
            if self.work.left < 0:
                found.append(
                    Effect(
                        EffectKind.CODE_OPAQUE, span=invocation.span, attributes=_pairs(reason="too many commands to follow", source="text")
                    )
                )
                break
            if invocation.defined and not called:
                continue
            effects = [follow.annotated(self.through_links(effect), scene) for effect in self.invocation(invocation)]
            effects += flow.uploads(index, invocation, effects, scene)
            if self.in_file and any(effect.kind is EffectKind.FILE_READ for effect in effects) and followed.loads_settings(index, scene):
                effects = [followed.loaded(effect) for effect in effects]
            scene.effects_of[index] = tuple(effects)
            follow.remember(index, invocation, scene)
            found += effects
        return found

    def invocation(self, invocation: Invocation) -> Iterator[Effect]:
        """Effects of one invocation, before links are followed."""
        sure = self.certainty if invocation.certain else follow.weakest(self.certainty, Certainty.POSSIBLE)
        yield from hijack.assignments(invocation, self.describe, sure, self.origin)
        yield from follow.streams(invocation, self.scene, sure, self.origin)
        if invocation.words:
            yield from self.describe.command(invocation, invocation.words, sure, self.origin)
        if "background" in invocation.context and invocation.words:
            yield Effect(EffectKind.PROCESS_BACKGROUND, certainty=sure, span=invocation.span, origin=self.origin)

    def through_links(self, effect: Effect) -> Effect:
        """The effect on what a link made earlier in the same text points to."""
        return follow.resolve_links(effect, self.scene.links) if self.scene.links else effect

    def nested(
        self, kind: str, payload: object, call: Call, positional: tuple[Field, ...], cwd: Field | None, via: str, line: int = 0
    ) -> tuple[Effect, ...]:
        """Effects of code inside a command: shell text, or an argument vector. Spans are the call's own."""
        origin = (*call.origin, via or call.name)
        if kind == "argv":
            words = payload if isinstance(payload, tuple) else ()
            if not words or len(origin) > 2 * DEEPEST:
                return () if not words else (call.effect(EffectKind.CODE_OPAQUE, reason="nested too deeply to follow", source="text"),)
            given = (*call.invocation.env, *call.invocation.assignments)  # `A=1 bundle exec x`: x sees A
            invocation = call.invocation.replace(words=words, env=given, assignments=(), streams=())
            if cwd is not None:
                invocation = invocation.replace(cwd=cwd)
            return tuple(self.describe.command(invocation, words, call.certainty, origin))
        return tuple(self.text(str(payload), call, positional, cwd or call.invocation.cwd, origin, line))

    def text(
        self, text: str, call: Call, positional: tuple[Field, ...], cwd: Field, origin: tuple[str, ...], line: int = 0
    ) -> Iterator[Effect]:
        """Effects of nested shell text; `line` is where it begins in its file, 0 when it stands in no file."""
        from ..shell.evaluate import evaluate

        try:
            parsed = self.work.parse(text.replace("\0", ""))  # which a shell leaves out of what it reads
        except InstinctError as error:
            yield call.effect(EffectKind.CODE_OPAQUE, reason=f"nested text cannot be read: {error.message}", source="text")
            return
        around = follow.surroundings(self.work.surroundings, call, positional, cwd, self.scene)
        evaluation = evaluate(parsed.script, around, self.work.parse)
        level = _Level(self.work, self.scene.inner(None, around.variables), self.depth + 1, origin, call.certainty, bool(line) or self.in_file)
        for effect in level.run(evaluation):
            if line and not effect.get("line") and not effect.get("script"):
                effect = followed.at_line(effect, line + text.count("\n", 0, effect.span.start))
            yield effect.replace(span=call.span) if call.span != NOWHERE else effect


def _pairs(**attributes: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in attributes.items() if value))


__all__ = ["Derivation", "Known", "Target", "TargetKind", "derive", "derive_evaluation"]
