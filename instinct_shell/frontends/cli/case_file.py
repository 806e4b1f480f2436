"""`instinct check --explain-misses FILE`: a file of labelled commands against the verdicts, each miss with what was understood.

The file has tab-separated columns with a header line; `command` (or `minimal_input`) and `expect` (or `expected`) are needed, `id`, `class` and
`why` are shown when they are there. `#` starts a comment line, U+2424 stands for a newline and U+2409 for a tab, as in the project's own cases.
Judged where the caller stands; nothing runs and nothing is recorded.
"""

from __future__ import annotations

import json
import sys

from ...errors import UsageError
from ...model.value import Value
from ...model.verdict import DECISIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...engine.judgement import Judgement
    from ...wiring import Guard

COMMAND = ("command", "minimal_input")
EXPECT = ("expect", "expected")
# Other words for an answer that the project's own files use.
SAME_AS = {"passthrough": "allow", "contain": ""}


class Case(Value):
    """One labelled command. expect: allow, ask, deny, or "" when any answer is right."""

    id: str
    text: str
    expect: str
    kind: str = ""
    why: str = ""


def read_cases(text: str, name: str) -> tuple[Case, ...]:
    """The cases of a file's text. Raises UsageError that names the line."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise UsageError(f"`{name}` holds no cases", hint="a header line with the columns command and expect, then one case a line")
    head = lines[0][1].split("\t")
    command = next((column for column in COMMAND if column in head), "")
    expect = next((column for column in EXPECT if column in head), "")
    if not command or not expect:
        raise UsageError(f"`{name}` line {lines[0][0]}: the header lacks command and expect", hint="columns are separated by tabs")
    cases = []
    for number, line in lines[1:]:
        row = dict(zip(head, line.split("\t"), strict=False))
        wanted = SAME_AS.get(row.get(expect, ""), row.get(expect, ""))
        if row.get(command) is None or (wanted and wanted not in DECISIONS):
            raise UsageError(
                f"`{name}` line {number}: `{row.get(expect, '')}` is not allow, ask or deny", hint="columns are separated by tabs"
            )
        text = row[command].replace("\u2424", "\n").replace("\u2409", "\t")
        cases.append(Case(row.get("id") or f"line {number}", text, wanted, row.get("class", ""), row.get("why", "")))
    return tuple(cases)


def explain_misses(guard: Guard, cases: tuple[Case, ...], *, as_json: bool) -> int:
    """Judge all cases, print the misses and the tally; 0 when there is no miss, else 1."""
    missed = 0
    tally: dict[str, list[int]] = {}
    for case in cases:
        judgement = guard.judge(guard.shell_intent(case.text, door="check"))
        got = judgement.verdict.decision.word
        row = tally.setdefault(case.expect or "any", [0, 0])
        row[1] += 1
        if case.expect in ("", got):
            row[0] += 1
            continue
        missed += 1
        if as_json:
            sys.stdout.write(json.dumps(_object(case, judgement)) + "\n")
        else:
            sys.stdout.write("\n".join(_lines(case, judgement)) + "\n")
        sys.stdout.flush()
    met = {wanted: f"{right} of {count}" for wanted, (right, count) in sorted(tally.items())}
    if as_json:
        sys.stdout.write(json.dumps({"cases": len(cases), "misses": missed, "met": dict(sorted(tally.items()))}) + "\n")
    else:
        sys.stdout.write(f"{len(cases)} cases, {missed} missed; " + ", ".join(f"{wanted} {count}" for wanted, count in met.items()) + "\n")
    return 1 if missed else 0


def _lines(case: Case, judgement: Judgement) -> Iterator[str]:
    import os

    from ..present import clip, style_of

    style, verdict = style_of(sys.stdout, os.environ), judgement.verdict
    yield style.paint(f"{case.id}: wanted {case.expect}, got {verdict.decision.word}", "1") + (f"  ({case.kind})" if case.kind else "")
    yield f"  {clip(style.clean(case.text), 300)}"
    if case.why:
        yield f"  why: {clip(style.clean(case.why), 300)}"
    said = [f"{finding.decision.word} by {finding.instinct}: {finding.reason}" for finding in verdict.findings]
    for line in said or ["no instinct said anything"]:
        yield f"  {clip(style.clean(line), 300)}"
    for effect in judgement.effects:
        extra = " ".join(f"{name}={value}" for name, value in effect.attributes)
        yield clip(style.clean(f"  effect {effect.kind} {effect.target.text or '-'} {effect.certainty} {extra}".rstrip()), 300)
    if not judgement.effects:
        yield "  no effects"


def _object(case: Case, judgement: Judgement) -> dict[str, object]:
    from ..present import judgement_object

    return {**judgement_object(judgement, case.id), "wanted": case.expect, "class": case.kind, "why": case.why, "command": case.text}
