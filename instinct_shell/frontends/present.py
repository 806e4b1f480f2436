"""Verdicts as people and programs read them: denial text on stderr, JSON for `check` and `--report-fd`.

The texts are contracts (design section 10): at most five lines and 400 characters a finding, plain ASCII when not on a terminal, colours
only on a terminal and never with NO_COLOR. Text that came from a command is shown with its control characters escaped, always.
"""

from __future__ import annotations

from ..model.verdict import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from ..engine.judgement import Judgement, Outcome
    from ..model.effect import Effect, Span
    from ..model.overlay import Apart
    from ..model.verdict import Finding

FINDING_CHARACTERS = 400
NO_APPROVAL = "nobody can yet: no passphrase is set (`instinct install` asks for one); a person can run it in their own terminal"


class Style:
    """How words may look on one stream: `colour` and `ascii_only` follow the terminal and NO_COLOR."""

    __slots__ = ("ascii_only", "colour")

    def __init__(self, *, colour: bool = False, ascii_only: bool = True) -> None:
        self.colour = colour
        self.ascii_only = ascii_only

    def clean(self, text: str) -> str:
        """The text on one line, without anything that a terminal would obey; beyond ASCII only where that can be shown."""
        shown = []
        for character in text:
            if character in "\n\t":
                shown.append({"\n": "\\n", "\t": "\\t"}[character])
            elif character.isprintable() and (character.isascii() or not self.ascii_only):
                shown.append(character)
            else:
                shown.append(character.encode("unicode_escape", "surrogatepass").decode("ascii"))
        return "".join(shown)

    def paint(self, text: str, code: str) -> str:
        """The text in a colour, where there are colours."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def style_of(stream: TextIO, environ: Mapping[str, str]) -> Style:
    """The style that this stream can show."""
    tty = stream.isatty()
    encoding = (stream.encoding or "").lower().replace("-", "")
    return Style(colour=tty and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb", ascii_only=not (tty and encoding == "utf8"))


def clip(text: str, characters: int) -> str:
    """At most this many characters, with `...` where something is left out."""
    return text if len(text) <= characters else text[: max(0, characters - 3)].rstrip() + "..."


def denial(judgement: Judgement, style: Style, *, request: str = "", kept: bool = False) -> str:
    """The lines that tell an agent or a person why a command did not run, what to do instead and how to get it approved.

    kept: it did run, on a copy of the workspace; what is to be approved is its change.
    """
    verdict = judgement.verdict
    finding = verdict.finding
    if finding is None:
        return ""
    asked = verdict.decision is Decision.ASK
    head = (
        f"asked by {finding.instinct} ({verdict.tier}), and nobody approved:"
        if asked
        else f"denied by {finding.instinct} ({verdict.tier}):"
    )
    approve = ""
    if asked:
        approve = f"a person can allow exactly this once: instinct approve {request} (15 minutes)" if request else NO_APPROVAL
        if kept and request:
            approve = f"a person can commit what it changed: instinct approve {request} (24 hours); look: instinct overlay show {request}"
    # Reason and alternative share what the fixed words leave; an endless path in one must not push out the other.
    room = FINDING_CHARACTERS - len(f"instinct: {head} \n  instead: \n  approve: {approve}\n")
    reason, alternative = style.clean(finding.reason), style.clean(finding.alternative)
    reason = clip(reason, max(room - len(alternative), room * 3 // 5))
    lines = [f"{style.paint('instinct:', '1;33' if asked else '1;31')} {head} {reason}"]
    if alternative:
        lines.append(f"  {style.paint('instead:', '1')} {clip(alternative, room - len(reason))}")
    if approve:
        lines.append(f"  {style.paint('approve:', '1')} {approve}")
    return "\n".join(lines) + "\n"


def plain_denial(judgement: Judgement) -> str:
    """The same lines for a stream of which nothing is known."""
    return denial(judgement, Style())


def apart_lines(apart: Apart, style: Style, *, asked: bool) -> str:
    """What a command changed on a copy of the workspace, and what becomes of it."""
    number = f"{apart.changes} change{'' if apart.changes == 1 else 's'}"
    run = apart.run
    ends = {
        "kept": f"{number}, kept for a day; nothing has changed here",
        "committed": f"{number}, committed" + (f"; take them back: instinct undo restore {run}" if apart.replaces else ""),
        "discarded": f"{number}, thrown away",
        "refused": "its change is thrown away",
    }
    lines = [f"{style.paint('instinct:', '1;33')} overlay: {ends[apart.fate]}"]
    lines += [f"  {style.clean(line)}" for line in apart.lines]
    lines += [f"  | {style.clean(line)}" for line in apart.diff]
    if apart.why:
        lines.append(f"  {style.paint('not committed:', '1')} {clip(style.clean(apart.why), FINDING_CHARACTERS)}")
    if apart.fate == "kept" and not asked:
        name = apart.request or run
        verb = f"a person can: instinct approve {name}" if apart.request else f"instinct overlay commit {name}"
        lines.append(f"  {style.paint('commit:', '1')} {verb}   discard: instinct overlay discard {name}")
    return "\n".join(lines) + "\n"


def failure(message: str, hint: str, style: Style) -> str:
    """What went wrong on our side and how to mend it: one message, no traceback."""
    lines = [f"{style.paint('instinct:', '1;31')} {clip(style.clean(message), FINDING_CHARACTERS)}"]
    if hint:
        lines.append(f"  {style.paint('mend:', '1')} {clip(style.clean(hint), FINDING_CHARACTERS)}")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- JSON shapes (docs/protocol/)


def span_pair(span: Span) -> list[int] | None:
    """[start, end) in characters of the intent's text; None where an effect has no place in it."""
    return [span.start, span.end] if span.end > span.start else None


def effect_object(effect: Effect) -> dict[str, object]:
    """One effect as `check` reports it."""
    shown: dict[str, object] = {
        "kind": str(effect.kind),
        "target": effect.target.text,
        "certainty": str(effect.certainty),
        "span": span_pair(effect.span),
    }
    if effect.program:
        shown["program"] = effect.program
    if effect.target.dynamic:
        shown["dynamic"] = effect.target.dynamic
    if effect.attributes:
        shown["attributes"] = dict(effect.attributes)
    if effect.origin:
        shown["origin"] = list(effect.origin)
    return shown


def finding_object(finding: Finding) -> dict[str, object]:
    """One finding as `check` reports it."""
    return {
        "instinct": finding.instinct,
        "decision": finding.decision.word,
        "reason": finding.reason,
        "alternative": finding.alternative,
        "span": span_pair(finding.span),
        "effect": str(finding.effect.kind) if finding.effect is not None else None,
    }


def judgement_object(judgement: Judgement, identity: object = None) -> dict[str, object]:
    """A judgement as one JSON-able object: the answer line of `check --batch`."""
    verdict = judgement.verdict
    finding = verdict.finding
    return {
        "id": identity,
        "decision": verdict.decision.word,
        "tier": str(verdict.tier),
        "instinct": finding.instinct if finding else None,
        "reason": verdict.reason,
        "alternative": verdict.alternative,
        "findings": [finding_object(each) for each in verdict.findings],
        "effects": [effect_object(each) for each in judgement.effects],
        "parser": judgement.parser,
        "elapsed_us": judgement.elapsed_us,
    }


def outcome_object(outcome: Outcome) -> dict[str, object]:
    """A run as one JSON-able object: what `--report-fd` and `--json` of `instinct-exec` carry."""
    from ..model.codec import encode

    shown = judgement_object(outcome.judgement, outcome.judgement.run)
    result = outcome.result
    shown["request"] = outcome.request or None
    if outcome.apart is not None:
        shown["overlay"] = encode(outcome.apart, full=True)
    shown["run"] = (
        None
        if result is None
        else {
            "status": result.status,
            "signal": result.signal,
            "level": str(result.level),
            "layers": list(result.layers),
            "landlock_abi": result.landlock_abi,
            "wall_us": result.wall_us,
            "user_us": result.user_us,
            "system_us": result.system_us,
            "max_rss_bytes": result.max_rss_bytes,
            "limit": result.limit or None,
            "cause": outcome.cause or None,
            "execs_denied": result.execs_denied,
            "connections": encode(result.connections, full=True),
        }
    )
    return shown
