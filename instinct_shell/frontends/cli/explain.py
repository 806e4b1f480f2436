"""`instinct explain`: how a command was read, word by word and effect by effect, and what each instinct said about it in how much time."""

from __future__ import annotations

import json
import os
import sys

import click

from ...errors import UsageError
from ...model.effect import Span
from ...model.value import Value
from ..present import effect_object, finding_object, judgement_object, span_pair, style_of
from .explain_programs import program, programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...engine.judgement import Judgement
    from ...shell.invocation import Evaluation, Field, Invocation
    from ..present import Style

DEEPEST = 40  # levels of the tree that are drawn; far above what people write


@click.group(
    "explain",
    invoke_without_command=True,
    epilog="\b\nExamples:\n  instinct explain -c 'cd /tmp && rm -rf \"$DIR\"/*'\n  instinct explain program git\n  instinct explain programs",
)
@click.option("-c", "text", metavar="TEXT", help="Shell text to explain.")
@click.option("--profile", default="", metavar="NAME", help="dev, staging, prod, or stricter than yours.")
@click.option("--workspace", default="", metavar="DIR", help="The folder the agent works in (default: the git top level).")
@click.option("--cwd", default="", metavar="DIR", help="Where the command would run (default: here).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, text: str | None, profile: str, workspace: str, cwd: str, *, as_json: bool) -> None:
    """Show the tree, the words, the effects, and each instinct's finding with its time. Nothing runs."""
    from ...wiring import open_guard

    if ctx.invoked_subcommand is not None:
        if text is not None:
            raise UsageError(f"-c and `{ctx.invoked_subcommand}` do not go together", hint="explain a text, or a program")
        return
    if text is None:
        raise UsageError(
            "explain needs -c TEXT, or a program", hint="for example: instinct explain -c 'git push -f', instinct explain program git"
        )

    guard = open_guard(profile=profile, workspace=workspace, cwd=os.path.abspath(cwd) if cwd else "")
    judgement = guard.check(guard.shell_intent(text, door="explain"))
    if as_json:
        click.echo(json.dumps(explanation(judgement)))
        return
    style = style_of(sys.stdout, os.environ)
    for line in _lines(judgement, style):
        click.echo(line)


command.add_command(program)
command.add_command(programs)


def explanation(judgement: Judgement) -> dict[str, object]:
    """The whole explanation as JSON-able data: the answer of `check` plus tree, commands, notes, facts and times."""
    shown = judgement_object(judgement, judgement.run)
    parsed, evaluation = judgement.parsed, judgement.evaluation
    shown["tree"] = tree_object(parsed.script) if parsed else None
    shown["syntax_error"] = parsed.syntax_error if parsed else ""
    shown["commands"] = [_command_object(each) for each in evaluation.invocations] if evaluation else []
    shown["opaque"] = (
        [{"reason": each.reason, "text": each.text, "span": span_pair(each.span)} for each in evaluation.opaque] if evaluation else []
    )
    shown["notes"] = (
        [{"kind": kind, "detail": detail, "span": span_pair(span)} for kind, detail, span in evaluation.notes] if evaluation else []
    )
    shown["facts"] = [
        {"question": str(question.kind), "subject": question.subject, "known": answer.known, "answer": dict(answer.value) or answer.why}
        for question, answer in judgement.facts.items()
    ]
    shown["instincts"] = [
        {
            "instinct": timing.instinct,
            "tier": str(timing.tier),
            "elapsed_us": timing.elapsed_us,
            "findings": [finding_object(each) for each in judgement.verdict.findings if each.instinct == timing.instinct],
        }
        for timing in judgement.verdict.ran
    ]
    return shown


def tree_object(node: object) -> object:
    """A syntax tree as JSON-able data: each node an object with its kind and the fields that say something."""
    if isinstance(node, Span):
        return [node.start, node.end]
    if isinstance(node, Value):
        fields = {name: getattr(node, name) for name in node._fields}
        return {
            "node": type(node).__name__,
            **{name: tree_object(value) for name, value in fields.items() if value not in (None, (), "", False)},
        }
    if isinstance(node, tuple):
        return [tree_object(each) for each in node]
    return node


def _command_object(invocation: Invocation) -> dict[str, object]:
    return {
        "words": [_field_object(word) for word in invocation.words],
        "assignments": {name: _field_object(value) for name, value in invocation.assignments},
        "cwd": _field_object(invocation.cwd),
        "certain": invocation.certain,
        "context": list(invocation.context),
        "span": span_pair(invocation.span),
    }


def _field_object(field: Field) -> dict[str, object]:
    shown: dict[str, object] = {"known": str(field.known), "values": list(field.values)}
    if field.reason:
        shown |= {"reason": field.reason, "prefix": field.prefix}
    if field.glob:
        shown["glob"] = True
    return shown


# ---------------------------------------------------------------- for people


def _lines(judgement: Judgement, style: Style) -> Iterator[str]:
    verdict = judgement.verdict
    text = judgement.intent.content
    yield style.paint("tree", "1") + f" (read by {judgement.parser})"
    if judgement.parsed is not None:
        yield from _tree(judgement.parsed.script, text, style, 1)
    yield style.paint("commands", "1")
    yield from _commands(judgement.evaluation, style)
    yield style.paint("effects", "1")
    for effect in judgement.effects:
        shown = effect_object(effect)
        place = f"  at {shown['span']}" if shown["span"] else ""
        extra = " ".join(f"{name}={value}" for name, value in effect.attributes)
        dynamic = f" ({effect.target.dynamic})" if effect.target.dynamic else ""
        yield style.clean(f"  {effect.kind} {effect.target.text or '-'}{dynamic}  {effect.certainty}{'  ' + extra if extra else ''}{place}")
    if not judgement.effects:
        yield "  none"
    yield style.paint("instincts", "1")
    for timing in verdict.ran:
        said = [each for each in verdict.findings if each.instinct == timing.instinct]
        word = max((each.decision for each in said), default=None)
        yield f"  {timing.tier:<10} {timing.instinct:<24} {word.word if word is not None else '-':<6} {timing.elapsed_us:>6} us"
        for each in said:
            yield style.clean(f"    {each.decision.word}: {each.reason}")
            if each.alternative:
                yield style.clean(f"    instead: {each.alternative}")
    colour = {0: "1;32", 1: "1;33", 2: "1;31"}[verdict.decision]
    yield f"{style.paint('verdict', '1')} {style.paint(verdict.decision.word, colour)} in {judgement.elapsed_us} us {style.clean(verdict.reason)}".rstrip()


def _tree(node: object, text: str, style: Style, depth: int) -> Iterator[str]:
    """One line a node that has a span, children below it; words end the descent unless commands hide in them."""
    if depth > DEEPEST:
        yield "  " * depth + "..."
        return
    if isinstance(node, tuple):
        for each in node:
            yield from _tree(each, text, style, depth)
        return
    if not isinstance(node, Value) or isinstance(node, Span):
        return
    span = getattr(node, "span", None)
    if isinstance(span, Span):
        source = style.clean(text[span.start : span.end])
        yield f"{'  ' * depth}{type(node).__name__:<12} {source if len(source) <= 100 else source[:97] + '...'}"
        depth += 1
    for name in node._fields:
        if name != "span":
            yield from _tree(getattr(node, name), text, style, depth)


def _commands(evaluation: Evaluation | None, style: Style) -> Iterator[str]:
    if evaluation is None or not (evaluation.invocations or evaluation.opaque):
        yield "  none"
        return
    for invocation in evaluation.invocations:
        words = " ".join(_shown(word) for word in invocation.words) or "(no command word)"
        sure = "" if invocation.certain else "  maybe"
        yield style.clean(f"  {words}   in {_shown(invocation.cwd)}{sure}")
    for opaque in evaluation.opaque:
        yield style.clean(f"  opaque ({opaque.reason}): {opaque.text}")


def _shown(field: Field) -> str:
    if field.text is not None:
        return repr(field.text) if not field.text or " " in field.text else field.text
    if field.values:
        return (
            "{" + ",".join(field.values[:4]) + (",..." if len(field.values) > 4 else "") + "}" if len(field.values) > 1 else field.values[0]
        )
    return f"{field.prefix}<{field.reason or 'unknown'}>{field.suffix}"
