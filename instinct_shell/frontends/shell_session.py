"""A session: commands come one after the other on stdin, and folder, variables and functions live on between them.

Read as bash reads: a line at a time, never ahead, so that a command finds its own input where bash would leave it. A line that ends inside a
quote, a heredoc or a compound command waits for the next one. Each complete command is judged with what the session has defined so far.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from ..errors import Exit, InstinctError, IntentError
from .failure import die_of_signal, tell
from .shell import start_words, tell_denial, use_pinned_shell
from .shell_jail import CALLERS_STDERR, CALLERS_STDIN, DRIVER, SessionJail
from .shell_memory import Memory, defined_functions, known_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..execution.parsers import WorkerParser
    from ..model.jailspec import JailSpec
    from ..wiring import Guard
    from .shell_args import ShellCall

UNFINISHED = ("unexpected end of file", "unexpected EOF while looking for matching", "delimited by end-of-file")
MOST_LINE = 1 << 17


def run_session(call: ShellCall) -> int:
    """Serve commands from stdin until it ends or the shell exits; the shell's exit status."""
    from ..execution.agents import identify
    from ..execution.host import pinned_bash
    from ..wiring import open_guard
    from .present import plain_denial

    agent, session = identify(os.environ)
    guard = open_guard(session=os.environ.get("INSTINCT_SESSION") or session)
    use_pinned_shell(guard, call.argv0)
    guard.announce, guard.denial = tell, plain_denial
    interactive = call.interactive or (sys.stdin is not None and os.isatty(0) and os.isatty(2))
    served = Session(guard, call, agent, interactive=interactive, shell=pinned_bash())
    return served.serve()


class Session:
    """One session with one bash."""

    def __init__(self, guard: Guard, call: ShellCall, agent: str, *, interactive: bool, shell: str) -> None:
        from ..execution.parsers import WorkerParser

        self._guard = guard
        self._call = call
        self._agent = agent
        self._interactive = interactive
        self._memory = Memory()
        self._parser = WorkerParser()
        self._lines = Lines()
        self._shell = shell
        self._jail = SessionJail(self._jail_spec(), interactive=interactive, execs=guard.share_execs())
        guard.held = self._jail

    def _jail_spec(self) -> JailSpec:
        """The jail of the whole session: what the profile gives to a command of which nothing is known yet."""
        guard = self._guard
        spec = guard.confine(guard.judge(guard.shell_intent(":", door="shell")))
        words = start_words(self._call, self._shell)
        if self._interactive:
            words = (words[0], "--noediting", *words[1:], "-i", "+H")  # `!` would put text in place that nobody has judged
        argv = (*words, "-s", *(("--", *self._call.positional) if self._call.positional else ()))
        passed = (CALLERS_STDIN, *((CALLERS_STDERR,) if self._interactive else ()))
        return spec.replace(argv=argv, read_only=False, descriptors=passed)

    def serve(self) -> int:
        """The loop. Returns the exit status."""
        jail = self._jail
        jail.start(self._call.argv0)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: jail.pass_on(number))
        signal.signal(signal.SIGINT, lambda *_: None)  # the launcher passes it on to bash, which knows what to do
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        while jail.ready():
            jail.take_terminal()
            unit = self._next_unit()
            jail.give_terminal()
            if unit is None:
                break
            if unit.strip():
                self._serve_one(unit)
            else:
                jail.feed_nothing()
        status = jail.close()
        jail.take_terminal()
        return die_of_signal(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)

    def _serve_one(self, unit: str) -> None:
        """Judge one complete command and run it when it is allowed."""
        jail, guard = self._jail, self._guard
        try:
            guard.cwd = jail.folder()
            script = self._parser.parse(unit).script
            if DRIVER in defined_functions(script):
                raise IntentError(f"a session may not define a function `{DRIVER}`: its commands are handed over by that name", hint="choose another name")
            text = self._call.prelude + self._memory.prelude() + unit
            jail.prepare(unit)
            intent = guard.shell_intent(text, door="shell", positional=self._call.positional, stdin="" if self._interactive else guard.callers_stdin())
            outcome = guard.run(intent.replace(agent=self._agent))
            for words in (outcome.note, outcome.cause):
                if words:
                    tell(words)
            if outcome.result is None:
                tell_denial(outcome)
                jail.set_status(Exit.DENIED)
                return
            if jail.alone_status is not None:
                jail.set_status(jail.alone_status)
            self._memory.remember(unit, script, known_values(outcome.judgement.evaluation))
        except InstinctError as error:
            tell(error.message, error.hint)
            jail.set_status(error.exit_status)

    # ------------------------------------------------------------ reading commands

    def _next_unit(self) -> str | None:
        """The next complete command with its newline; None at the end of the input."""
        unit = ""
        while True:
            if not self._jail.watch(0):
                return None
            line = self._lines.next()
            if not line:
                return unit or None
            unit += line
            if len(unit) > MOST_LINE or complete(unit, self._parser, self._shell):
                return unit
            if self._interactive:
                sys.stderr.write("> ")
                sys.stderr.flush()


class Lines:
    """Lines of stdin, each read without touching a byte behind it: what follows may be a command's own input."""

    def __init__(self) -> None:
        import stat

        self._seekable = stat.S_ISREG(os.fstat(0).st_mode)
        self._terminal = os.isatty(0)

    def next(self) -> str:
        """The next line with its newline; "" at the end."""
        found = b""
        while not found.endswith(b"\n"):
            if self._terminal:
                part = os.read(0, MOST_LINE)  # a terminal gives one line
            elif self._seekable:
                part = os.read(0, 4096)
                head, newline, rest = part.partition(b"\n")
                if newline and rest:
                    os.lseek(0, -len(rest), os.SEEK_CUR)
                part = head + newline
            else:
                part = os.read(0, 1)
            if not part or len(found) > MOST_LINE:
                break
            found += part
        return found.decode("utf-8", "surrogateescape")


def complete(unit: str, parser: WorkerParser, shell: str) -> bool:
    """Whether bash would run this now. Asked of our parser; where that is not sure, of bash itself, which only reads (`-n`)."""
    body = unit.rstrip("\n")
    if (len(body) - len(body.rstrip("\\"))) % 2:
        return False
    if "<<" not in unit and not parser.parse(unit).syntax_error:
        return True
    said = subprocess.run(
        [shell, "--norc", "--noprofile", "-n"], input=unit.encode("utf-8", "surrogateescape"), capture_output=True, check=False, env={"LC_ALL": "C"}
    )
    return not any(words in said.stderr.decode("utf-8", "replace") for words in UNFINISHED)
