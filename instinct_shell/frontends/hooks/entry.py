"""The program behind `instinct hook`: reads the input, has it judged in time, prints the answer. Imports as little as it can.

    instinct hook --agent NAME [--exec PATH] [--shell-held] [--timeout SECONDS] [--profile P] pre|post|start|prompt|stop|end
"""

from __future__ import annotations

from ...errors import InstinctError, UsageError
from ...resident import front
from .judging import HookOptions, answer, parse
from .protocol import BLOCKED, MOMENTS, Answer, Moment
from .watchdog import Deadline, in_time, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...wiring import Guard
    from .protocol import Dialect

WATCHED = 0.4  # of the agent's time-out; our interpreter's start and the answer's way out fit into the rest of the half that is promised
VALUES = {"--agent": "agent", "--exec": "exec_path", "--timeout": "timeout", "--profile": "profile"}


def main(arguments: list[str], begun: bytes | None = None) -> int:
    """Run one hook; returns its exit status. Whatever goes wrong before a tool runs is a denial in the agent's own dialect.

    begun: what has been read of the input by somebody who asked the engine in vain.
    """
    try:
        options = options_from(arguments)
        from .registry import dialect

        spoken = dialect(options.agent)
    except InstinctError as error:
        return emit(_unspoken(arguments, _failure(error.message, error.hint)))
    except Exception as error:  # noqa: BLE001  # a hook that crashes lets the tool run: say no instead
        return emit(_unspoken(arguments, _failure(f"internal fault ({type(error).__name__})", "")))
    from ...resident.start import start_if_missed

    status = emit(_answer(spoken, options, arguments, begun))
    start_if_missed()
    return status


def serve(arguments: list[str], raw: bytes, made: type[Guard]) -> int:
    """The engine's side of one hook before a tool; the exit status. Raises LongWay for what is the caller's own business."""
    import sys

    from ...resident.worker import LongWay
    from .registry import dialect

    options = options_from(arguments)
    if options.moment is not Moment.BEFORE:
        raise LongWay("a hook that stops nothing")
    said = _judged(dialect(options.agent), parse(raw), options, made)
    sys.stdout.write(said.stdout)
    sys.stderr.write(said.stderr)
    return said.status


def _unspoken(arguments: list[str], reason: str) -> Answer:
    """A denial without a dialect: exit 2 blocks everywhere but in Cline, which reads JSON only."""
    import json

    return Answer(json.dumps({"cancel": True, "errorMessage": reason}) if "cline" in arguments else "", reason, BLOCKED)


def options_from(arguments: list[str]) -> HookOptions:
    """Read the command line. Raises UsageError."""
    found: dict[str, str] = {}
    events: list[str] = []
    held = False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in VALUES:
            if not equals:
                if not rest:
                    raise UsageError(f"`{name}` needs a value", hint="see `instinct hook --help`")
                value = rest.pop(0)
            found[VALUES[name]] = value
        elif word == "--shell-held":
            held = True
        elif word.startswith("-"):
            raise UsageError(f"unknown option `{word}`", hint="see `instinct hook --help`")
        else:
            events.append(word)
    if "agent" not in found:
        raise UsageError("the hook needs --agent NAME", hint="for example: instinct hook --agent claude pre")
    if len(events) != 1 or events[0] not in MOMENTS:
        raise UsageError(f"the hook needs one event of: {', '.join(MOMENTS)}", hint="run `instinct install` again to register it anew")
    timeout = found.pop("timeout", "0")
    try:
        seconds = float(timeout)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86400:
        raise UsageError(f"`--timeout {timeout}` is not a number of seconds", hint="the agent's own time-out, for example 10")
    return HookOptions(found.pop("agent"), MOMENTS[events[0]], shell_held=held, timeout=seconds, **found)


def _answer(dialect: Dialect, options: HookOptions, arguments: list[str], begun: bytes | None) -> Answer:
    """The answer, at half the agent's time-out at the latest: of the engine when one is there, else of a process of our own."""
    deadline = Deadline((options.timeout or dialect.timeout) * WATCHED)
    data: dict[str, object] | None = None

    def refuse(why: str) -> Answer:
        return dialect.failed(options.moment, data, _failure(why, "try again; when it happens again, run `instinct doctor`"))

    try:
        raw = read_all(0, deadline, begun or b"")
        if raw is None:
            return refuse("the hook's input did not arrive whole and in time")
        try:
            data = parse(raw)
        except InstinctError as error:
            return dialect.failed(options.moment, None, _failure(error.message, error.hint))
        if begun is None and options.moment is Moment.BEFORE and len(raw) < front.MOST_ASKED:
            found = _of_engine([*arguments, raw.decode("utf-8", "surrogateescape")])
            if found is not None:
                return found
        said = data
        return in_time(lambda: _judged(dialect, said, options), refuse, deadline)
    except Exception as error:  # noqa: BLE001  # the last line of defence: a fault of ours is a denial
        return refuse(f"internal fault ({type(error).__name__})")


def _of_engine(words: list[str]) -> Answer | None:
    """The engine's answer; None when it has none. It is shorter-lived than our deadline, and the kernel vouches for it (resident/client.py)."""
    from ...resident import protocol

    found = front.asked("hook", words)
    if found is None or protocol.STATUS not in found:
        return None
    stdout, stderr = (found.get(tag, b"").decode("utf-8", "surrogateescape") for tag in (protocol.TO_STDOUT, protocol.TO_STDERR))
    return Answer(stdout, stderr, int(found[protocol.STATUS]))


def _judged(dialect: Dialect, data: dict[str, object], options: HookOptions, made: type[Guard] | None = None) -> Answer:
    """In a child of ours, or in the engine: judge, and turn our failures into the agent's denial with their own words."""
    try:
        return answer(dialect, data, options, made)
    except InstinctError as error:
        return dialect.failed(options.moment, data, _failure(error.message, error.hint))
    except OSError as error:
        where = f" (`{error.filename}`)" if error.filename else ""
        return dialect.failed(options.moment, data, _failure(f"{(error.strerror or str(error)).lower()}{where}", "run `instinct doctor`"))
    except Exception as error:  # noqa: BLE001  # a bug of ours is a denial, never a pass
        return dialect.failed(options.moment, data, _failure(f"internal fault ({type(error).__name__})", "run `instinct doctor`"))


def _failure(message: str, hint: str) -> str:
    from ..present import Style, failure

    return failure(f"denied, because it could not be judged: {message}", hint, Style()).rstrip("\n")


def emit(said: Answer) -> int:
    """Print the answer; the exit status."""
    return front.emit(said.stdout.encode("utf-8", "backslashreplace"), said.stderr.encode("utf-8", "backslashreplace"), said.status)


__all__ = ["Moment", "emit", "main", "options_from"]
