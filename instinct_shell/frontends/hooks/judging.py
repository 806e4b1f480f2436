"""From a hook's input to its answer: judge what the tool would do, or write down what it did.

A hook never uses a grant up while the run behind it can: the same text, folder and profile give the same intent digest in the hook and in the
shell, so one approval serves both, and the run consumes it. Where nothing of ours runs the tool, the hook takes the grant for this one call, so that no
other call passes by it meanwhile, and the event after it consumes it.
"""

from __future__ import annotations

import json
import os

from ...errors import IntentError
from ...model.value import Value
from ...model.verdict import Decision
from .protocol import Answer, Moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...engine.judgement import Judgement
    from ...model.intent import Intent
    from ...model.situation import Grant
    from ...wiring import Guard
    from .protocol import Call, Dialect, Line

class HookOptions(Value):
    """What stands on the hook's command line, as `instinct install` writes it.

    exec_path: the `instinct-exec` that allowed shell calls are rewritten to, "" for none. shell_held: the agent's shell is ours, so shell calls
    are judged again and run jailed; a dialogue in the agent could not make that run pass. timeout: the agent's, in seconds; 0 for the usual one.
    """

    agent: str
    moment: Moment
    exec_path: str = ""
    shell_held: bool = False
    timeout: float = 0.0
    profile: str = ""


def parse(raw: bytes) -> dict[str, object]:
    """The input as an object. Raises IntentError."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise IntentError("the hook's input is not JSON") from None
    if not isinstance(data, dict):
        raise IntentError("the hook's input is not a JSON object")
    return data


def answer(dialect: Dialect, data: dict[str, object], options: HookOptions, made: type[Guard] | None = None) -> Answer:
    """What to print for this input. Raises InstinctError for what cannot be judged; the caller turns that into a denial.

    made: another class of guard (resident/worker.py).
    """
    call = dialect.read(options.moment, data)
    if call.moment is Moment.OTHER or (call.moment is Moment.START and not os.path.isdir(call.cwd)):
        return dialect.allow(data)
    if call.moment is not Moment.START and not call.lines:
        return dialect.allow(data)
    if made is not None and len(call.lines) > 1:
        from ...resident.worker import LongWay

        raise LongWay("more than one intent: nothing may be written down when a later one cannot be judged here")
    from ...wiring import open_guard

    # Opening it fixes the session's workspace, which is all that the start of a session is for.
    guard = open_guard(profile=options.profile, session=call.session, cwd=call.cwd, made=made)
    if call.moment is Moment.START:
        return dialect.allow(data)
    intents = [_intent(guard, line, call, options) for line in call.lines]
    if call.moment is Moment.AFTER:
        return _after(dialect, data, guard, intents, call, options)
    return _before(dialect, data, guard, intents, call, options)


def _intent(guard: Guard, line: Line, call: Call, options: HookOptions) -> Intent:
    metadata = line.get("metadata")
    kept = {**(metadata if isinstance(metadata, dict) else {}), "tool": call.tool}
    if call.call_id:
        kept["call_id"] = call.call_id
    content = line.get("content")
    if line["type"] == "shell_command" and isinstance(content, str):
        from ..rewriting import original

        line = {**line, "content": original(content, options.exec_path)}
    return guard.intent_from({**line, "metadata": kept, "agent": options.agent}, door="hook")


def _before(dialect: Dialect, data: dict[str, object], guard: Guard, intents: list[Intent], call: Call, options: HookOptions) -> Answer:
    asked: tuple[Judgement, str] | None = None
    ours = options.shell_held or bool(options.exec_path and dialect.rewrites)
    judgements = []
    for intent in intents:
        judgement = guard.check(intent)
        judgements.append(judgement)
        if judgement.verdict.decision is Decision.DENY:
            return dialect.deny(data, _words(judgement, ""))
        if judgement.verdict.decision is Decision.ASK and asked is None:
            if _granted(guard, judgement, "" if ours and str(intent.type) == "shell_command" else _named(data, call), again=bool(call.call_id)):
                continue
            asked = (judgement, _request(guard, judgement))
    if asked is not None:
        judgement, request = asked
        reason = _words(judgement, request)
        held = options.shell_held and str(judgement.intent.type) == "shell_command"
        return dialect.ask(data, reason) if dialect.can_ask and not held else dialect.deny(data, reason)
    from ...wiring.files import lease

    for judgement in judgements:
        lease(guard, judgement)
    if call.command and options.exec_path and dialect.rewrites:
        from ..rewriting import rewritten

        return dialect.rewrite(data, rewritten(call.command, options.exec_path, call.session))
    return dialect.allow(data)


def _words(judgement: Judgement, request: str) -> str:
    """Reason, alternative and the way to an approval, as the model will read them."""
    from ..present import Style, denial

    return denial(judgement, Style(), request=request).rstrip("\n")


def _named(data: dict[str, object], call: Call) -> str:
    """What tells this call of a tool from others: its id, else the session and the event."""
    return f"{call.session}\0{call.call_id or data.get('hook_event_name') or data.get('event') or ''}"


def _granted(guard: Guard, judgement: Judgement, taker: str, *, again: bool) -> bool:
    """Whether a person has approved exactly this, and nobody has used it yet. It is not used up here, but taken for `taker` when there is one."""
    from ...engine.records import grant_digest
    from ...storage.grants import GrantBook

    digest = grant_digest(judgement, guard.profile)
    found = [grant.id for grant in _live(guard) if grant.intent_digest == digest]
    return any(not taker or GrantBook(guard.state).reserve(grant, taker, again=again) for grant in found)


def _grant_of(guard: Guard, intent: Intent, taker: str) -> str:
    """The grant that a tool call which has run was allowed by; the scripts it ran may be others by now."""
    from ...engine.records import intent_digest
    from ...storage.grants import GrantBook

    digest = intent_digest(intent, guard.profile)
    found = [grant.id for grant in _live(guard) if grant.intent_digest.partition("+")[0] == digest]
    taken = GrantBook(guard.state).reserved_by(taker) if found else ()
    return next((grant for grant in found if grant in taken), found[0] if found else "")


def _live(guard: Guard) -> tuple[Grant, ...]:
    import time

    from ...storage.grants import GrantBook

    return GrantBook(guard.state).live(time.time())


def _request(guard: Guard, judgement: Judgement) -> str:
    """The id under which a person may approve it, "" when nobody can."""
    import time

    from ...engine.records import grant_digest
    from ...storage.grants import GrantBook

    return GrantBook(guard.state).request(grant_digest(judgement, guard.profile), judgement.verdict.reason, time.time())


def _after(dialect: Dialect, data: dict[str, object], guard: Guard, intents: list[Intent], call: Call, options: HookOptions) -> Answer:
    """Write down that the tool has run. A grant that no run of ours consumed is used up now."""
    import time

    from ...engine.records import SHAPE, intent_digest
    from ...model.record import AuditRecord, RecordKind
    from ...storage.audit import AuditTrail, new_run
    from ...storage.grants import GrantBook

    ours = options.shell_held or bool(options.exec_path and dialect.rewrites)
    trail, digests = AuditTrail(guard.state), []
    held = [ours and str(intent.type) == "shell_command" for intent in intents]
    for intent, by_us in zip(intents, held, strict=True):
        digests.append(intent_digest(intent, guard.profile))
        if not by_us:
            grant = _grant_of(guard, intent, _named(data, call))
            if grant:
                GrantBook(guard.state).consume(grant)
    body: tuple[tuple[str, object], ...] = (
        ("v", SHAPE),
        ("door", "hook"),
        ("agent", options.agent),
        ("session", call.session),
        ("tool", call.tool),
        ("call_id", call.call_id),
        ("intent_digests", digests),
        ("level", "held" if all(held) else "none"),
        ("outcome", dict(call.result)),
    )
    secrets: list[str] = []
    output = _without_secrets(dialect.output(data), guard, secrets) if dialect.replaces else None
    if secrets:
        body = (*body, ("redacted", sorted(set(secrets))))
    trail.append(AuditRecord(RecordKind.REPORTED, new_run(), time.time(), body), durable=False)
    return dialect.replace(data, output) if secrets else dialect.allow(data)


def _without_secrets(output: object, guard: Guard, secrets: list[str]) -> object:
    """The same output, with each text in it redacted; what was found is added to `secrets`."""
    if isinstance(output, str):
        from ...wiring.files import redacted

        text, found = redacted(guard, output)
        secrets += found
        return text
    if isinstance(output, dict):
        return {name: _without_secrets(value, guard, secrets) for name, value in output.items()}
    if isinstance(output, list):
        return [_without_secrets(value, guard, secrets) for value in output]
    return output
