"""What all hook dialects share: the call an agent tells us about, the answer it gets, and the promises a dialect makes.

A dialect reads one agent's JSON and writes exactly that agent's answer. Never a field that the agent does not know: two of them run the command
when they meet one (docs/integrations.md).
"""

from __future__ import annotations

import json
from enum import StrEnum

from ...errors import IntentError
from ...model.value import Value
from ...resident.front import BLOCKED as BLOCKED  # noqa: PLC0414  # the exit status that most agents read as "do not run it"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Line = dict[str, object]  # an intent as `check --batch` takes it



class Moment(StrEnum):
    BEFORE = "before"  # a tool is about to run: the only moment that can stop it
    AFTER = "after"  # it has run
    START = "start"  # a session begins: its workspace is fixed here
    OTHER = "other"  # nothing to judge


MOMENTS = {
    "pre": Moment.BEFORE,
    "post": Moment.AFTER,
    "start": Moment.START,
    "prompt": Moment.OTHER,
    "stop": Moment.OTHER,
    "end": Moment.OTHER,
}


class Answer(Value):
    """What the hook prints and how it exits."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0


QUIET = Answer()


class Call(Value):
    """One call of a hook, in our words.

    lines: the intents, as JSON-able objects; () when the tool touches nothing. command: the shell text when it is one shell call that the agent
    lets us rewrite, else "". result: what the agent said about the outcome, for moment AFTER.
    """

    moment: Moment
    tool: str = ""
    session: str = ""
    cwd: str = ""
    call_id: str = ""
    lines: tuple[Line, ...] = ()
    command: str = ""
    result: tuple[tuple[str, object], ...] = ()


class Dialect:
    """One agent's side of the contract. Subclasses stand one in a file.

    timeout: seconds after which this agent goes on without an answer, as `instinct install` sets it; the watchdog speaks at half of it.
    can_ask: the agent shows an "ask" to a person. rewrites: it runs the command that we hand back instead of its own.
    replaces: after a tool has run, the model reads the output that we hand back instead of the tool's.
    """

    name = ""
    timeout = 10.0
    can_ask = False
    rewrites = False
    replaces = False

    def read(self, moment: Moment, data: Mapping[str, object]) -> Call:
        """The call that this input describes. Raises IntentError for missing or strange fields."""
        raise NotImplementedError

    def deny(self, data: Mapping[str, object] | None, reason: str) -> Answer:
        """The tool must not run, and the model must see `reason`. `data` is None when the input could not be read."""
        return Answer(stderr=reason, status=BLOCKED)

    def ask(self, data: Mapping[str, object], reason: str) -> Answer:
        """A person decides in the agent's own dialogue. Only called where `can_ask`."""
        return self.deny(data, reason)

    def allow(self, data: Mapping[str, object]) -> Answer:
        """Nothing against it. Silence where silence leaves the person's own permission rules in force."""
        return QUIET

    def rewrite(self, data: Mapping[str, object], command: str) -> Answer:
        """Run `command` instead. Only called where `rewrites`."""
        return self.allow(data)

    def output(self, data: Mapping[str, object]) -> object:
        """What the tool gave, as the agent tells it after the run; None when it does not. Only asked where `replaces`."""
        return None

    def replace(self, data: Mapping[str, object], output: object) -> Answer:
        """The model reads `output`, of the same shape as `output(data)`, instead. Only called where `replaces`."""
        return self.allow(data)

    def failed(self, moment: Moment, data: Mapping[str, object] | None, reason: str) -> Answer:
        """We failed. Before a tool that is a denial; afterwards there is nothing left to stop, so it is only said."""
        return self.deny(data, reason) if moment is Moment.BEFORE else Answer(stderr=reason, status=1)


def json_answer(body: Mapping[str, object]) -> Answer:
    """Exit 0 with exactly this object on stdout."""
    return Answer(stdout=json.dumps(body) + "\n")


def plain(output: object) -> str:
    """A tool's output as text: itself, or the texts in it one below the other."""
    if isinstance(output, str):
        return output
    if isinstance(output, dict):
        return "\n".join(filter(None, map(plain, output.values())))
    if isinstance(output, list):
        return "\n".join(filter(None, map(plain, output)))
    return ""


# ---------------------------------------------------------------- reading fields


def text(data: Mapping[str, object], *names: str, needed: bool = True) -> str:
    """The first of these fields that is there. Raises IntentError when none is, or when it is no string."""
    for name in names:
        if name in data and data[name] is not None:
            value = data[name]
            if not isinstance(value, str):
                raise IntentError(f"the hook's `{name}` is not a string")
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise IntentError(f"the hook's `{name}` holds half a character, which no file and no command can hold")
            return value
    if needed:
        raise IntentError(f"the hook's input has no `{names[0]}`")
    return ""


def mapping(data: Mapping[str, object], name: str) -> dict[str, object]:
    """An object field. Some agents send it as JSON text. Raises IntentError when it is missing or something else."""
    value = data.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise IntentError(f"the hook's `{name}` is neither an object nor JSON text") from None
    if not isinstance(value, dict):
        raise IntentError(f"the hook's `{name}` is not an object" if name in data else f"the hook's input has no `{name}`")
    return value


def first_root(data: Mapping[str, object], name: str) -> str:
    """The first entry of a list of workspace folders, or "" when there is none."""
    roots = data.get(name)
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        return roots[0]
    return ""


def check_event(moment: Moment, told: str, known: Mapping[str, Moment]) -> None:
    """Raise IntentError when the agent's own event name is unknown or says something else than the command line of the hook."""
    if told not in known:
        raise IntentError(f"event `{told}` is unknown", hint="update instinct-shell, or run `instinct install` again")
    if known[told] is not moment:
        raise IntentError(f"the hook is registered for `{moment}`, but the event is `{told}`", hint="run `instinct install` again")
