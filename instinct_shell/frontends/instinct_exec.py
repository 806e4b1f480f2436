"""`instinct-exec`: one shell command, judged, run in the jail and recorded. Imports as little as it can; click never.

    instinct-exec [--profile P] [--workspace DIR] [--session ID] [--dry-run] [--one-shot] [--overlay[=FATE]] [--json] [--report-fd N] [--] CMD
    instinct-exec ... -c TEXT [ARGV0 [ARG]...]

One argument is shell text; several are an argument vector and are quoted word by word. The child's output and exit status pass through
untouched; our own words go to stderr, machine output to `--report-fd` (or, with --json and --dry-run, to stdout).
"""

from __future__ import annotations

import os
import sys

from ..errors import Exit, OverlayError, UsageError
from ..model.value import Value
from .failure import die_of_signal, guarded, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.judgement import Outcome
    from ..wiring import Guard

HELP = """\
Usage: instinct-exec [options] [--] CMD            run CMD under guard: one argument is shell text, several are words
       instinct-exec [options] -c TEXT [NAME [ARG]...]   as in bash

Options:
  --profile P       dev, staging, prod; stricter than your own setting, never looser
  --workspace DIR   the folder the command may write in (default: the git top level)
  --session ID      the agent's session: its budget, its workspace
  --dry-run         judge only; exit status as for a run that ended well (0) or was denied (126)
  --one-shot        do not join a jail session
  --overlay[=FATE]  run on a copy of the workspace and show what changed; FATE: keep (for a day, as `instinct overlay` shows it; the default),
                    commit (at once, when the command ended well and nothing about the change is asked) or discard
  --json            our own words as one JSON object (to stderr, or to stdout with --dry-run)
  --report-fd N     write the outcome as one JSON object to descriptor N
  -h, --help        this text

Exit status: the command's own; 126 denied; 125 we failed and nothing ran; 124 wall-clock limit; 128+N signal.
Example: instinct-exec -- 'pytest -q && git commit -am "fix"'
"""

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


class ExecOptions(Value):
    """What was asked on the command line. `words` hold `$0` and the positional parameters of `-c`."""

    text: str
    profile: str = ""
    workspace: str = ""
    session: str = ""
    dry_run: bool = False
    one_shot: bool = False
    json: bool = False
    report_fd: int = -1
    overlay: str = ""
    argv0: str = "bash"
    positional: tuple[str, ...] = ()


def main(arguments: list[str] | None = None) -> int:
    """The program `instinct-exec`; returns its exit status, or ends by the signal that ended the command."""
    given = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: _main(given), usage_status=Exit.FAILED)


def _main(given: list[str]) -> int:
    if given and given[0] in {"-h", "--help"}:
        sys.stdout.write(HELP)
        return Exit.OK
    if given == ["--version"]:
        from ..model.version import VERSION

        sys.stdout.write(f"instinct-exec, version {VERSION}\n")
        return Exit.OK
    return _run(options_from(given))


def options_from(arguments: list[str]) -> ExecOptions:
    """Read the command line. Raises UsageError, which runs nothing."""
    found: dict[str, str] = {}
    flags: set[str] = set()
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word == "-c":
            if not rest:
                raise UsageError("`-c` needs shell text after it", hint="for example: instinct-exec -c 'git status'")
            text, *names = rest
            return _options(found, flags, text, names[0] if names else "bash", tuple(names[1:]))
        name, equals, value = word.partition("=")
        if name in {"--profile", "--workspace", "--session", "--report-fd"}:
            if not equals:
                if not rest:
                    raise UsageError(f"`{name}` needs a value", hint="see `instinct-exec --help`")
                value = rest.pop(0)
            found[name[2:].replace("-", "_")] = value
        elif name == "--overlay":
            found["overlay"] = _fate(value if equals else "keep")
        elif word in {"--dry-run", "--one-shot", "--json"}:
            flags.add(word[2:].replace("-", "_"))
        else:
            raise UsageError(
                f"unknown option `{word}`", hint="see `instinct-exec --help`; a command that starts with a dash comes after `--`"
            )
    if not rest:
        raise UsageError("no command given", hint="for example: instinct-exec -- 'git status'")
    return _options(found, flags, rest[0] if len(rest) == 1 else " ".join(map(quote, rest)), "bash", ())


def _options(found: dict[str, str], flags: set[str], text: str, argv0: str, positional: tuple[str, ...]) -> ExecOptions:
    number = found.pop("report_fd", "-1")
    if not number.removeprefix("-").isdecimal() or (number != "-1" and int(number) < 3):
        raise UsageError(
            f"`--report-fd {number}` is not a descriptor of ours: 0, 1 and 2 are the command's",
            hint="for example: --report-fd 3 3>report.json",
        )
    switches = dict.fromkeys(flags, True)
    return ExecOptions(text, **found, **switches, report_fd=int(number), argv0=argv0, positional=positional)  # type: ignore[arg-type]  # the names come from the tables above


def _fate(word: str) -> str:
    from ..engine.apart_run import FATES

    if word not in FATES:
        raise UsageError(f"`--overlay={word}` is none of {', '.join(FATES)}", hint="for example: instinct-exec --overlay=discard -- 'rm -r old'")
    return word


def quote(word: str) -> str:
    """One word, quoted so that bash reads exactly it."""
    return word if word and SAFE.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def _run(options: ExecOptions) -> int:
    from ..execution.jail.inside import inside
    from ..resident.start import start_if_missed

    if inside() and options.overlay:
        raise OverlayError("an overlay is not made from inside a jail", hint="give the command to `instinct-exec --overlay` outside")
    if inside() and not options.dry_run:
        # Held already, and the books are out of reach: what was judged outside goes on here, as in the drop-in shell.
        from ..execution.host import pinned_bash

        shell = pinned_bash()
        os.execv(shell, [shell, "--norc", "--noprofile", "-c", options.text, options.argv0, *options.positional])  # noqa: S606  # the pinned shell
    outcome = perform(options)
    start_if_missed()
    return conclude(outcome)


def perform(options: ExecOptions, made: type[Guard] | None = None) -> Outcome:
    """Judge, run and say what is to be said. made: another class of guard (resident/worker.py)."""
    from ..wiring import open_guard
    from .present import plain_denial

    if options.report_fd >= 0:
        _keep_for_ourselves(options.report_fd)
    guard = open_guard(
        profile=options.profile,
        workspace=options.workspace,
        session=options.session,
        one_shot=options.one_shot,
        dedicated=True,
        upcoming=options.text,
        made=made,
    )
    guard.announce, guard.denial = tell, plain_denial
    intent = guard.shell_intent(options.text, door="instinct-exec", argv0=options.argv0, positional=options.positional, stdin=guard.callers_stdin())
    outcome = guard.preview(intent) if options.dry_run else guard.run(intent, apart=options.overlay)
    _report(outcome, options)
    if outcome.result is not None and outcome.result.failure:
        tell(outcome.result.failure)
    for words in (outcome.note, "" if options.json else outcome.cause):
        if words:
            tell(words)
    return outcome


def conclude(outcome: Outcome) -> int:
    """The exit status, or the end by the signal that ended the command."""
    result = outcome.result
    if result is None:
        return Exit.OK if outcome.judgement.verdict.allow and outcome.apart is None else Exit.DENIED
    if outcome.apart is not None and outcome.apart.why and not result.status:
        return Exit.DENIED  # it was to be committed, and was not
    return die_of_signal(result.signal) if result.signal else result.status


def _keep_for_ourselves(descriptor: int) -> None:
    """The report descriptor is ours alone: the command must not be able to write its own report."""
    try:
        os.set_inheritable(descriptor, False)
    except OSError as error:
        raise UsageError(
            f"descriptor {descriptor} of `--report-fd` is not open", hint="open it in the call: --report-fd 3 3>report.json"
        ) from error


def _report(outcome: Outcome, options: ExecOptions) -> None:
    """Say what has to be said: the report, and on a denial why. Nothing at all when the command ran and all was well."""
    from .present import apart_lines, denial, style_of

    if options.report_fd >= 0 or options.json:
        import json

        from .present import outcome_object

        line = json.dumps(outcome_object(outcome)) + "\n"
        if options.report_fd >= 0:
            with open(options.report_fd, "w", encoding="utf-8") as report:
                report.write(line)
        if options.json:
            stream = sys.stdout if options.dry_run else sys.stderr
            stream.write(line)
            stream.flush()
            return
    style = style_of(sys.stderr, os.environ)
    if outcome.apart is not None:
        sys.stderr.write(apart_lines(outcome.apart, style, asked=outcome.result is None))
    if outcome.result is None and not outcome.judgement.verdict.allow:
        sys.stderr.write(denial(outcome.judgement, style, request=outcome.request, kept=outcome.apart is not None and outcome.apart.fate == "kept"))
    sys.stderr.flush()
