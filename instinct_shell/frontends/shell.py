"""The drop-in shell: called as bash or sh by an agent, it judges what it is given, runs it in the jail with the pinned bash, and records it.

    <data>/shell/bash -c TEXT [NAME [ARG]...]        every order of options that bash takes (shell_args.py)
    <data>/shell/bash SCRIPT [ARG]...                read once; the bytes that were judged are the bytes that run
    <data>/shell/bash [-s]                           a session: each complete command is judged before it runs (shell_session.py)

Inside our own jail there is nothing left to judge, and the pinned bash takes over at once.
"""

from __future__ import annotations

import os
import sys

from ..errors import Exit, InstinctError, UsageError
from ..execution.jail.inside import inside
from .failure import die_of_signal, guarded, tell
from .shell_args import ShellCall, read_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..engine.judgement import Outcome
    from ..model.jailspec import JailSpec
    from ..wiring import Guard

MOST_SCRIPT = 1 << 20  # far above the parsing limit, which refuses with its own words
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as bash says it


def main(arguments: list[str]) -> int:
    """The program `bash`; arguments[0] is how it was called. Returns the exit status, or ends by the signal that ended the command."""
    return guarded(lambda: _run(arguments[0] if arguments else "bash", arguments[1:]))


def _run(argv0: str, rest: list[str]) -> int:
    from ..execution.host import pinned_bash

    if inside():
        _become(pinned_bash(), rest)
    call = read_call(argv0, rest)
    if call.mode in {"version", "help"}:
        _become(pinned_bash(), [f"--{call.mode}"])
    program = own_program(call, os.path.dirname(os.path.dirname(os.path.abspath(argv0))))
    if program:
        os.execve(program[0], program, os.environ)  # noqa: S606  # our own hook, as the agent's configuration names it: it judges, it is not judged
    if call.mode == "stdin":
        from .shell_session import run_session

        return run_session(call)
    from ..resident.start import start_if_missed

    outcome = _one_command(call)
    start_if_missed()
    return outcome if isinstance(outcome, int) else told(outcome)


def serve(call: ShellCall, made: type[Guard]) -> int:
    """The engine's side: the exit status of a text. Raises LongWay for everything else, which is the caller's own business."""
    from ..resident.worker import LongWay

    if call.mode != "text" or own_program(call, os.path.dirname(os.path.dirname(os.path.abspath(call.argv0)))):
        raise LongWay("no text to judge")
    outcome = _one_command(call, made)
    if isinstance(outcome, int):
        return outcome
    _tell_about(outcome)
    return outcome.result.status if outcome.result is not None else Exit.DENIED


def _become(shell: str, rest: list[str]) -> NoReturn:
    os.execv(shell, [shell, *rest])  # noqa: S606  # the pinned shell, with the caller's own words


def own_program(call: ShellCall, data: str) -> list[str]:
    """The words of our own hook program when the text is exactly its call, as hook configurations start it; [] for anything else.

    Agents start their hooks through the shell. The hook must reach the state directory, which no jail shows; it runs nothing that it is given.
    """
    words = call.text.split(" ")
    hook = os.path.join(data, "bin", "instinct-hook")
    known = call.mode == "text" and not call.name and words[0] == hook and all(_plain(word) for word in words)
    return words if known and os.access(hook, os.X_OK) else []


def _plain(word: str) -> bool:
    from .instinct_exec import SAFE

    return bool(word) and SAFE.issuperset(word)


def _one_command(call: ShellCall, made: type[Guard] | None = None) -> Outcome | int:
    """A text or a script: one intent, one run. The status alone for an agent's start-up call. made: another class of guard (resident/worker.py)."""
    from ..execution.agents import identify
    from ..execution.host import Person
    from .shell_templates import probe, unwrap

    if call.mode == "script":
        text = _script(call)
        call = call.replace(text=text)
    agent, session = identify(os.environ)
    home = Person(os.environ).home
    start_up = probe(call, agent, session, home)
    if start_up is not None:
        from .shell_probe import run_probe

        return run_probe(call, start_up, made)
    from ..wiring import open_guard
    from .present import plain_denial

    wrapped = unwrap(call.text, home, call.argv0) if call.mode == "text" and not call.name else None
    judged = call.prelude + (wrapped.inner if wrapped else call.text)
    session = os.environ.get("INSTINCT_SESSION") or session
    guard = open_guard(session=session, one_shot=False, dedicated=True, upcoming=judged, made=made)
    use_pinned_shell(guard, call.argv0)
    guard.announce, guard.denial = tell, plain_denial
    intent = guard.shell_intent(judged, door="shell", argv0=call.name or "bash", positional=call.positional, stdin=guard.callers_stdin())
    tracker = Tracker(wrapped.tracker if wrapped else "")

    def adapt(spec: JailSpec) -> JailSpec:
        asks_for_path = call.script and "BASH_SOURCE" in call.text
        return tracker.open_in(by_name(call, spec) if asks_for_path else spec.replace(argv=command_line(call, spec.argv[0])))

    guard.adapt = adapt
    try:
        outcome = guard.run(intent.replace(agent=agent or (wrapped.agent if wrapped else "")))
    except BaseException as why:
        if not (made and _goes_on(why)):
            tracker.close()
        raise
    tracker.close()
    return outcome


def _goes_on(why: BaseException) -> bool:
    """Whether the run outlives the engine's worker: then the tracker is still the command's."""
    from ..resident.worker import Left

    return isinstance(why, Left)


def command_line(call: ShellCall, shell: str) -> tuple[str, ...]:
    """The pinned shell's argument vector: the caller's options, the caller's bytes, `$0` as the caller would see it."""
    return (*start_words(call, shell), "-c", call.text, call.name or call.argv0, *call.positional)


def by_name(call: ShellCall, spec: JailSpec) -> JailSpec:
    """A script that asks for its own path is run from its file: read-only inside, and looked at again now, after it was judged."""
    if _script(call) != call.text:
        raise UsageError(f"`{call.script}` changed while it was judged; nothing ran", hint="run it again")
    argv = (*start_words(call, spec.argv[0]), "--", call.script, *call.positional)
    return spec.replace(argv=argv, protected=(*spec.protected, os.path.realpath(call.script)))


def start_words(call: ShellCall, shell: str) -> tuple[str, ...]:
    """The pinned shell and its options. `sh` is bash in its POSIX mode: what runs is what was read."""
    words = [shell, "--login"] if call.login else [shell, "--norc", "--noprofile"]
    if os.path.basename(call.argv0) == "sh":
        words.append("--posix")
    if call.interactive and call.mode == "text":
        words += ["-O", "expand_aliases"]  # what -i means for a text; its job control needs a terminal of its own
    return (*words, *call.words)


def use_pinned_shell(guard: Guard, argv0: str) -> None:
    """Inside, the real bash stands where our shims stood: the shim's folder leaves PATH, and SHELL names the pinned one."""
    from ..execution.host import pinned_bash

    shims = {os.path.dirname(argv0), os.path.realpath(os.path.dirname(argv0))} - {""} if "/" in argv0 else set()
    path = guard.environ.get("PATH", "")
    guard.environ["PATH"] = ":".join(folder for folder in path.split(":") if folder.rstrip("/") not in shims)
    if os.path.dirname(guard.environ.get("SHELL", "")) in shims:
        guard.environ["SHELL"] = pinned_bash()


def told(outcome: Outcome) -> int:
    """Say why nothing ran, when nothing ran; the exit status, or the end by the signal that ended the command."""
    _tell_about(outcome)
    result = outcome.result
    if result is None:
        return Exit.DENIED
    return die_of_signal(result.signal) if result.signal else result.status


def _tell_about(outcome: Outcome) -> None:
    for words in (outcome.note, outcome.cause):
        if words:
            tell(words)
    if outcome.result is None:
        tell_denial(outcome)
    elif outcome.result.failure:
        tell(outcome.result.failure)


def tell_denial(outcome: Outcome) -> None:
    """The denial on stderr: reason, alternative, how to approve."""
    from .present import apart_lines, denial, style_of

    style = style_of(sys.stderr, os.environ)
    try:
        if outcome.apart is not None:
            sys.stderr.write(apart_lines(outcome.apart, style, asked=True))
        sys.stderr.write(denial(outcome.judgement, style, request=outcome.request, kept=outcome.apart is not None and outcome.apart.fate == "kept"))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nobody is listening: the exit status still says it


def _script(call: ShellCall) -> str:
    """The script's text, read once. Fails as bash fails."""
    path = call.script
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_SCRIPT)
    except OSError as error:
        raise ScriptError(f"{call.argv0}: {path}: {error.strerror}", NOT_FOUND if error.errno == 2 else NOT_EXECUTABLE) from error
    if b"\0" in data[:80].partition(b"\n")[0]:
        raise ScriptError(f"{call.argv0}: {path}: cannot execute binary file", NOT_EXECUTABLE)
    return data.decode("utf-8", "surrogateescape")


class ScriptError(InstinctError):
    """The script cannot be read; the status is bash's."""

    code = "E602"

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.exit_status = status


class Tracker:
    """The file by which an agent follows the folder or the jobs of its commands: the only thing of the agent's that a command may write."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made = False

    def open_in(self, spec: JailSpec) -> JailSpec:
        """The spec in which the file can be written; unchanged when it can be anyway, or when something strange stands in its place."""
        if not self._path or (not spec.private_tmp and not spec.read_only and "/tmp" in spec.writable):  # noqa: S108  # the agent's choice of place
            return spec
        try:
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            self._made = True
        except FileExistsError:
            found = os.lstat(self._path)
            if found.st_uid != os.getuid() or (found.st_mode & 0o170000) != 0o100000:
                return spec
        except OSError:
            return spec
        # A command that only reads keeps having no other right to write.
        return spec.replace(read_only=False, writable=(self._path,) if spec.read_only else (*spec.writable, self._path))

    def close(self) -> None:
        """Remove a folder's file when we made it and nothing was written: its agent takes the absence for "unchanged"."""
        if self._made and self._path.endswith("-cwd"):
            try:
                if os.lstat(self._path).st_size == 0:
                    os.unlink(self._path)
            except OSError:
                pass  # the agent was quicker
