"""What front doors do with file intents and with texts that pass by: carried out here, by our own code, with the records and grants of a command."""

from __future__ import annotations

import os
import time

from ..model.intent import Intent, IntentType
from ..model.jailspec import JailLevel, JailSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.judgement import Judgement, Outcome
    from ..execution.contents import Contents
    from ..execution.filetools import Done
    from ..model.situation import Situation
    from .guard import Guard

CONTENT_INTENTS = (IntentType.FILE_WRITE, IntentType.FILE_EDIT, IntentType.FILE_DELETE, IntentType.FILE_MOVE, IntentType.OUTPUT)


def act(guard: Guard, judgement: Judgement) -> tuple[Outcome, Done | None]:
    """The second half for a file intent: what a file tool of ours does when it is allowed. Like `Guard.run`, but no program starts.

    Raises FileToolError when it was allowed and could not be done; then nothing has changed.
    """
    from ..execution.filetools import FileTool, RealUndo
    from ..instincts.ground import ground_of

    ground = ground_of(judgement.intent, guard.profile, judgement.situation)

    def hidden(path: str) -> bool:
        return bool(ground.secret(path) or ground.protected(path))

    tool = FileTool(judgement, ground.writable, hidden, durable=guard.profile.durability != "relaxed")
    reads = judgement.intent.type is IntentType.FILE_READ
    steps = guard.steps(confine=_spec, jail=lambda: tool, undo=None if reads else lambda: RealUndo(guard.undo()))
    outcome = steps.act_on(judgement)
    if tool.done is not None and not reads:
        lease(guard, judgement)
    return outcome, tool.done


def _spec(judgement: Judgement) -> JailSpec:
    """What a record says of a file tool's surroundings: no jail, since it is our own code that acts."""
    intent = judgement.intent
    return JailSpec(judgement.situation.workspace, intent.cwd, least_level=JailLevel.NONE, argv=(str(intent.type), intent.target))


def lease(guard: Guard, judgement: Judgement) -> None:
    """This session writes the paths of a file intent from now on. Raises StorageError."""
    from ..storage.leases import Leases

    intent, now = judgement.intent, time.time()
    if str(intent.type).startswith("file_") and intent.type is not IntentType.FILE_READ:
        for effect in judgement.effects:
            Leases(guard.state).take(os.path.realpath(effect.target.text), intent.session, intent.agent, now)


def redacted(guard: Guard, text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what is secret in it, and what that was."""
    from ..storage.secrets import find, redacted

    found = find(text, guard.workspace)
    return (redacted(text, found), tuple(each.what for each in found)) if found else (text, ())


def contents(guard: Guard, situation: Situation, intent: Intent) -> Contents | None:
    """What answers questions about a text that is written or passed on, and about leases; None where nothing asks them."""
    from ..storage.leases import Leases

    leases = Leases(guard.state)
    if intent.type not in CONTENT_INTENTS and not (intent.session and leases.any()):
        return None
    from ..execution.contents import Contents
    from ..execution.protect import on_disk
    from ..instincts.ground import ground_for, homes_of

    def find_secrets(text: str) -> list[tuple[int, str, str]]:
        from ..storage.secrets import find

        return [(found.line, found.what, found.text) for found in find(text, guard.workspace)]

    return Contents(
        intent,
        ground_for(guard.profile, situation.workspace, homes_of(situation), situation.guard_paths),
        find_secrets=find_secrets,
        other_session=lambda path: leases.other(path, intent.session, situation.now),
        masked=lambda: (*on_disk(guard.profile.replace(mask_env_files=True), situation).masked, guard.state),
    )
