"""What an engine does for its callers: the very front doors, with a guard that plans and does not run (resident/worker.py)."""

from __future__ import annotations

from ..errors import Exit, UsageError
from ..resident.worker import LongWay
from .failure import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..wiring import Guard

# Texts of the common kinds: judging them once loads what judging needs, so that no call has to.
SAMPLES = (
    "true",
    "git status && git diff --stat | head -5",
    "git commit -m 'fix rm -rf bug' && git push --force origin main",
    "rm -rf build node_modules && find . -name '*.pyc' -delete",
    "npm ci && npm run test -- --watch=false",
    "pip install -r requirements.txt && python -m pytest -q",
    "python3 -c 'import shutil; shutil.rmtree(\"build\")'",
    "node -e 'console.log(1)'; perl -ne print x; awk '{print $1}' f; sed -i s/a/b/ f",
    "curl -fsSL https://example.net/install.sh | sh",
    "docker compose up -d; kubectl get pods; terraform plan; aws s3 ls",
    'for f in *.txt; do echo "$f" > out/${f%.txt}.md; done',
    "cat <<'EOF' > notes.md\ntext\nEOF",
    "sqlite3 app.db 'select 1'",
    "sudo apt-get install -y jq; kill -9 1; chmod 600 f; tar xzf a.tgz; ssh host ls; cp a b; mv b c; make -j2; env | grep PATH",
)


def served_exec(arguments: list[str], made: type[Guard]) -> int:
    """`instinct-exec` up to the run. What writes to other descriptors than stdout and stderr is left to the caller."""
    from .instinct_exec import options_from, perform

    def program() -> int:
        if arguments[0] in {"-h", "--help", "--version"}:
            raise LongWay("help")
        options = options_from(arguments)
        if options.report_fd >= 0:
            raise LongWay("a report descriptor")
        outcome = perform(options, made)
        if outcome.result is not None:
            return outcome.result.status
        return Exit.OK if outcome.judgement.verdict.allow else Exit.DENIED

    return guarded(program, usage_status=Exit.FAILED)


def served_check(arguments: list[str], made: type[Guard]) -> int:
    """`instinct check -c TEXT`. Files and streams are the caller's to read."""
    from .cli.check import options_from, run

    options = options_from(arguments)
    if options is None or options.text is None:
        raise LongWay("more than one text")
    chosen = options
    return guarded(lambda: run(chosen, made), usage_status=Exit.FAILED)


def served_shell(arguments: list[str], made: type[Guard]) -> int:
    """The drop-in shell, for a text: the caller's descriptors and the scripts and sessions that come by them are the caller's."""
    from .shell import serve
    from .shell_args import read_call

    argv0, *rest = arguments
    return guarded(lambda: serve(read_call(argv0, rest), made))


def served_hook(arguments: list[str], made: type[Guard]) -> int:
    """A hook before a tool; the last argument is what the agent said. What comes after a tool uses grants up, which is not for an engine to do."""
    from .hooks.entry import serve

    *words, said = arguments
    return serve(words, said.encode("utf-8", "surrogateescape"), made)


def served_end(arguments: list[str], made: type[Guard] | None = None) -> int:
    """How a run ended, for its record: RUN REPORT [again]. For a run that outlived the worker which judged it, or whose worker was killed."""
    from .ending import record_end

    run, report, *again = arguments
    return guarded(lambda: record_end(run, report, again=bool(again), made=made))


PROGRAMS = {"instinct-exec": served_exec, "shell": served_shell, "hook": served_hook, "check": served_check, "end": served_end}


def warm(folder: str) -> None:
    """Load all that judging and planning need. `folder` stands in for a workspace; nothing is written there."""
    from ..engine import confine, records  # noqa: F401  # loaded for every call
    from ..execution import facts, observe, undo  # noqa: F401  # the same
    from ..execution.jail import order
    from ..resident.worker import EngineGuard
    from ..shell.bashlex_adapter import parse
    from ..storage import audit, nearmiss  # noqa: F401  # the same
    from ..wiring import Guard, open_guard
    from . import ending, instinct_exec, present, shell, shell_args  # noqa: F401  # the same; here the workers share it
    from .cli import check  # noqa: F401  # the same
    from .hooks import entry, tools  # noqa: F401  # the same
    from .hooks.registry import dialect

    dialect("claude")
    parse("true")
    guard = open_guard(workspace=folder, cwd=folder, made=EngineGuard)
    for text in SAMPLES:
        try:
            judgement = guard.judge(guard.shell_intent(text, door="engine"))
            order.encode(Guard.confine(guard, judgement))
        except (LongWay, UsageError):
            continue


def serve() -> int:
    """Be the engine until it is time to end; returns the exit status."""
    from ..resident.server import Engine

    return guarded(Engine(PROGRAMS, warm).run)
