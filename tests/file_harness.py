"""File tools in tests: a judgement as the judge would make it when nothing is in the way, and the tool that acts on it."""

from __future__ import annotations

from instinct_shell.effects.writes import effects_of_intent
from instinct_shell.engine.judgement import Judgement
from instinct_shell.execution.filetools import Done, FileTool
from instinct_shell.model.fact import Facts
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.jailspec import JailSpec
from instinct_shell.model.situation import Situation
from instinct_shell.model.verdict import Decision, Verdict


def judged(kind: str, workspace: str, target: str, content: str = "", *, facts: Facts | None = None, **metadata: object) -> Judgement:
    """An allowed file intent below this workspace."""
    intent = Intent(IntentType(f"file_{kind}"), content, target, workspace, metadata=tuple(sorted(metadata.items())))
    situation = Situation(workspace=workspace)
    return Judgement(intent, "run", Verdict(Decision.ALLOW), situation, effects_of_intent(intent), facts or Facts())


def act(judgement: Judgement, *, durable: bool = False, writable: tuple[str, ...] = ()) -> Done:
    """What the tool did. Raises FileToolError."""
    workspace = judgement.situation.workspace
    tool = FileTool(judgement, writable or (workspace,), lambda _: False, durable=durable)
    tool.run(JailSpec(workspace, workspace))
    assert tool.done is not None
    return tool.done


def do(kind: str, workspace: object, target: str, content: str = "", **metadata: object) -> Done:
    """Both."""
    return act(judged(kind, str(workspace), target, content, **metadata))
