"""`instinct check`: judge a command, a file of shell text or a stream of intents; run nothing.

Agents and hooks call it cold for each command, so the usual forms of its command line are read here by hand (`options_from`) and click is
loaded only for help and for what is unusual or wrong. Both ways end in `run`.
"""

from __future__ import annotations

import sys

from ...errors import Exit, InstinctError, IntentError, UsageError
from ...model.value import Value
from ...model.verdict import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

    from ...engine.judgement import Judgement
    from ...wiring import Guard

STATUS = {Decision.ALLOW: Exit.OK, Decision.ASK: Exit.ASK, Decision.DENY: Exit.DENIED}


class CheckOptions(Value):
    """What was asked on the command line. Exactly one of text, file, batch and cases is given; None for `text` means the file's content."""

    profile: str = ""
    workspace: str = ""
    cwd: str = ""
    session: str = ""
    env: tuple[str, ...] = ()
    json: bool = False
    batch: bool = False
    text: str | None = None
    file: str = ""
    cases: str = ""


VALUES = {"--profile": "profile", "--workspace": "workspace", "--cwd": "cwd", "--session": "session", "-c": "text"}


def options_from(arguments: list[str]) -> CheckOptions | None:
    """The options when the command line is in its usual form; None when click should look at it (help, abbreviations, mistakes)."""
    found: dict[str, object] = {}
    env: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, attached, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in VALUES or name == "--env":
            if not attached:
                if not rest:
                    return None
                value = rest.pop(0)
            if name == "--env":
                env.append(value)
            else:
                found[VALUES[name]] = value
        elif word in {"--json", "--batch"}:
            found[word[2:]] = True
        elif not word.startswith("-") and "file" not in found:
            found["file"] = word
        else:
            return None
    if ("text" in found) + ("file" in found) + ("batch" in found) != 1:
        return None
    return CheckOptions(env=tuple(env), **found)  # type: ignore[arg-type]  # the names come from the tables above


def run(options: CheckOptions, made: type[Guard] | None = None) -> int:
    """Judge what the options name; returns the exit status (batch: 0 when every line was answered; else 0 allow, 3 ask, 126 deny).

    made: another class of guard (resident/worker.py).
    """
    import os

    from ...wiring import open_guard

    cwd = os.path.abspath(options.cwd) if options.cwd else ""
    env = _environment(options.env)
    text = "" if options.batch or options.cases else options.text if options.text is not None else _read(options.file)
    guard = open_guard(profile=options.profile, workspace=options.workspace, session=options.session, cwd=cwd, overlay=env, upcoming=text, made=made)
    if options.batch:
        return _batch(guard, sys.stdin.buffer)
    if options.cases:
        from .case_file import explain_misses, read_cases

        return explain_misses(guard, read_cases(_read(options.cases), options.cases), as_json=options.json)
    judgement = guard.check(guard.shell_intent(text, door="check"))
    _show(judgement, as_json=options.json)
    return STATUS[judgement.verdict.decision]


def _environment(pairs: tuple[str, ...]) -> dict[str, str]:
    env = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"`--env {pair}` is not NAME=VALUE", hint="for example: --env HOME=/home/dev")
        env[name] = value
    return env


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 20)  # far above the parsing limit, which refuses with its own words
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {(error.strerror or str(error)).lower()}", hint="name a readable file, or use -c TEXT") from error
    return data.decode("utf-8", "surrogateescape")


def _show(judgement: Judgement, *, as_json: bool) -> None:
    import os

    from ..present import clip, judgement_object, style_of

    if as_json:
        import json

        sys.stdout.write(json.dumps(judgement_object(judgement, judgement.run)) + "\n")
        return
    style = style_of(sys.stdout, os.environ)
    verdict = judgement.verdict
    colour = {Decision.ALLOW: "1;32", Decision.ASK: "1;33", Decision.DENY: "1;31"}[verdict.decision]
    line = style.paint(verdict.decision.word, colour)
    if verdict.reason:
        line += f" {clip(style.clean(verdict.reason), 400)}"
    sys.stdout.write(line + "\n")
    if verdict.alternative:
        sys.stdout.write(f"  instead: {clip(style.clean(verdict.alternative), 400)}\n")
    for note in verdict.notes:
        sys.stdout.write(f"  note: {clip(style.clean(note), 400)}\n")


# ---------------------------------------------------------------- batch


def _batch(guard: Guard, lines: Iterable[bytes]) -> int:
    """Answer each JSON line in order, flushed line by line; a bad line gets an `error` and the batch goes on."""
    import gc
    import json

    gc.enable()  # this one may live long; bin/launch.py starts without
    for raw in lines:
        if raw.strip():
            sys.stdout.write(json.dumps(_answer(guard, raw, json.loads)) + "\n")
            sys.stdout.flush()
    return Exit.OK


def _answer(guard: Guard, raw: bytes, loads: Callable[[str], object]) -> dict[str, object]:
    from ..present import judgement_object

    identity: object = None
    try:
        try:
            line = loads(raw.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            raise IntentError("the line is not JSON") from None
        if not isinstance(line, dict):
            raise IntentError("the line is not a JSON object")
        identity = line.get("id")
        intent = guard.intent_from(line, door="check")
        answer = judgement_object(guard.check(intent), identity)
        if intent.type == "output":
            from ...wiring.files import redacted

            answer["redacted"], _ = redacted(guard, intent.content)
        return answer
    except InstinctError as error:
        return {"id": identity, "error": error.message + (f"; {error.hint}" if error.hint else "")}


# ---------------------------------------------------------------- click, for help and mistakes


def command() -> click.Command:
    """The same options for click."""
    import click

    @click.command("check", epilog="\b\nExample:\n  instinct check -c 'git push --force'\nStatus: 0 allow, 3 ask, 126 deny, 125 failure.")
    @click.option("-c", "text", metavar="TEXT", help="Shell text to judge.")
    @click.option("--profile", default="", metavar="NAME", help="dev, staging, prod, or stricter than yours.")
    @click.option("--workspace", default="", metavar="DIR", help="The folder the agent works in (default: the git top level).")
    @click.option("--cwd", default="", metavar="DIR", help="Where the command would run (default: here).")
    @click.option("--session", default="", metavar="ID", help="The agent's session, for its budget.")
    @click.option("--env", multiple=True, metavar="K=V", help="A variable the command would see; repeat for more.")
    @click.option("--batch", is_flag=True, help="Read intents as JSON lines on stdin, answer each with a JSON line.")
    @click.option("--explain-misses", "cases", default="", metavar="CASES", help="Compare a file of labelled commands with the verdicts; status 1 for a miss.")
    @click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
    @click.argument("file", required=False, default="")
    def check(
        *,
        text: str | None,
        profile: str,
        workspace: str,
        cwd: str,
        session: str,
        env: tuple[str, ...],
        batch: bool,
        cases: str,
        as_json: bool,
        file: str,
    ) -> int:
        """Judge shell text (-c), a FILE of it, or a stream of intents (--batch). Nothing runs."""
        if (text is not None) + bool(file) + batch + bool(cases) != 1:
            raise UsageError("exactly one of -c TEXT, FILE, --batch and --explain-misses is needed", hint="for example: instinct check -c 'git status'")
        return run(CheckOptions(profile, workspace, cwd, session, env, as_json, batch, text, file, cases))

    return check
