"""One bash that lives as long as the session, in one jail, and is fed complete judged commands only.

Commands reach it by a pipe that is its stdin and of which nothing else has an end: `\\eval $'<the judged bytes>' <&200 200<&-`, one line each. So a
command is one unit for bash exactly as it was for the judge, and its own stdin is the caller's. The pipe holds a single page, and behind each
command stands one blank: the kernel reports room again when bash has come back to read it. That is the prompt, and no text of a command can fake it.
"""

from __future__ import annotations

import os
import select

from ..errors import JailError
from ..model.jailspec import JailLevel, RunResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.jailspec import Connection, JailSpec
    from ..model.ports import ExecJudge

CALLERS_STDIN, CALLERS_STDERR = 200, 201
NEWLINE = "\n"
DRIVER = "eval"  # the builtin that carries each command; a function of this name would stand before it
_F_SETPIPE_SZ, _FIONREAD, _PAGE = 1031, 0x541B, 4096


class SessionJail:
    """Implements the Jail port for the commands of one session; `start` makes the jail, `close` ends it."""

    def __init__(self, spec: JailSpec, *, interactive: bool, execs: ExecJudge | None = None) -> None:
        """execs: who judges what the session's commands start, where the spec wants that."""
        self._spec = spec
        self._execs = execs
        self._interactive = interactive
        self._pipe = -1
        self._inode = 0
        self._launcher = 0
        self._level = str(spec.least_level)
        self.ended: int | None = None  # the wait status, once the shell is gone
        self._unit = ""
        self._alone_status: int | None = None
        self._book = -1

    def start(self, argv0: str) -> None:
        """Start bash. Raises JailError when the jail cannot be made."""
        from ..execution.jail import network

        if network.is_served(self._spec) and self._spec.session is None:
            self._book = network.new_book()
        reader, self._pipe = os.pipe2(os.O_CLOEXEC)
        import fcntl

        fcntl.fcntl(self._pipe, _F_SETPIPE_SZ, _PAGE)
        self._inode = os.fstat(reader).st_ino
        front = os.getpid()
        self._launcher = os.fork()
        if self._launcher == 0:
            os.close(self._pipe)
            self._launch(reader, front)
        os.close(reader)
        if not self.ready():
            raise JailError("the session's jail could not be made, or ended at once; nothing ran", hint="run `instinct doctor`")
        opening = [f"BASH_ARGV0={_quoted(argv0)}"]
        if self._interactive:
            opening.append(f"exec 2>&{CALLERS_STDERR} {CALLERS_STDERR}>&-")  # what bash says about its missing job control stays unsaid
        self._write(("; ".join(opening) + "\n").encode("utf-8", "surrogateescape"))

    def _launch(self, reader: int, front: int) -> None:
        """In the forked child: becomes the launcher, and ends with the front door."""
        status = 125
        try:
            from ..execution import supervise
            from ..execution.jail.privileges import die_with_parent
            from ..execution.launcher import Launcher

            die_with_parent(supervise.PARENT_DIED)  # the run then ends as one whose time is up
            if os.getppid() != front:
                os._exit(status)
            self._hand_over(reader)
            result = Launcher(dedicated=True, execs=self._execs, book=self._book).run(self._spec)
            if result.failure:
                from .failure import tell

                tell(result.failure)
            status = result.status
        except JailError as error:
            from .failure import tell

            tell(error.message, error.hint)
        except BaseException as error:  # noqa: BLE001  # nothing of the front door's may run twice; the status says that we failed
            from .failure import tell

            tell(f"internal fault ({type(error).__name__}); refused")
        finally:
            os._exit(status)

    def _hand_over(self, reader: int) -> None:
        """The caller's stdin moves to 200 (an empty one when it is a file, which bash's commands must not share), the pipe becomes 0."""
        import stat

        mode = os.fstat(0).st_mode
        source = os.open("/dev/null", os.O_RDONLY) if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else 0
        if source:
            empty, end = os.pipe()
            os.close(end)
            os.close(source)
            source = empty
        os.dup2(source, CALLERS_STDIN)
        os.dup2(reader, 0)
        if self._interactive:
            os.dup2(2, CALLERS_STDERR)
            null = os.open("/dev/null", os.O_WRONLY)
            os.dup2(null, 2)

    def prepare(self, unit: str) -> None:
        """The judged bytes that the next `run` is for."""
        self._unit = unit
        self._alone_status = None

    @property
    def alone_status(self) -> int | None:
        """The status of the last run when it had a jail of its own, so that the session's bash does not know it."""
        return self._alone_status

    # ------------------------------------------------------------ the Jail port

    def level(self) -> str:
        """The level of the session's jail."""
        return self._level

    def run(self, spec: JailSpec) -> RunResult:
        """Run the judged unit in the session's bash; or in a jail of its own where it was allowed more than the session's jail gives."""
        if set(self._spec.protected) - set(spec.protected) or spec.credentials:
            return self._alone(spec)
        self.feed(self._unit)
        self.ready()
        status = os.waitstatus_to_exitcode(self.ended) if self.ended is not None else 0
        return RunResult(status=max(status, 0), started=True, level=JailLevel(self._level), layers=("session",), connections=self._connections())

    def _connections(self) -> tuple[Connection, ...]:
        """What was connected since the last command."""
        from ..execution.jail import network

        if not network.is_served(self._spec):
            return ()
        return network.collected(self._book) if self._book >= 0 else network.collected_of(self._spec)

    def _alone(self, spec: JailSpec) -> RunResult:
        from ..execution.launcher import Launcher

        result = Launcher(execs=self._execs).run(spec)
        self._alone_status = result.status
        return result

    # ------------------------------------------------------------ talking to bash

    def feed(self, text: str) -> None:
        """Hand over one complete command. `ready` must have said yes before."""
        line = f"\\{DRIVER} {_quoted(text.removesuffix(NEWLINE))} <&{CALLERS_STDIN} {CALLERS_STDIN}<&-\n"
        self._write(line.encode("utf-8", "surrogateescape"))

    def feed_nothing(self) -> None:
        """An empty line: an interactive shell prompts again."""
        self._write(b"\n")

    def set_status(self, status: int) -> None:
        """Make `$?` what it would be after a command that was refused."""
        self._write(b"\\eval '(exit %d)'\n" % (status & 0xFF))

    def ready(self) -> bool:
        """Wait until bash has done everything and reads again; False when it has ended."""
        # INVARIANT: the blank is written when the line before it is out of the pipe. An interactive bash reads all that is there, and a blank read
        # together with its command would say "done" before the command has begun.
        if not self._drained():
            return False
        self._write(b" ")
        return self._drained()

    def _drained(self) -> bool:
        """Wait until bash has read everything that is in the pipe; False when it has ended."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLOUT)
        while self.ended is None:
            for _, events in poll.poll():
                if events & (select.POLLERR | select.POLLHUP):
                    self._reap()
                elif self._unread() == 0:
                    return True
        return False

    def _unread(self) -> int:
        import fcntl
        import struct

        return int(struct.unpack("i", fcntl.ioctl(self._pipe, _FIONREAD, b"\0\0\0\0"))[0])

    def _write(self, data: bytes) -> None:
        while data and self.ended is None:
            try:
                data = data[os.write(self._pipe, data) :]
            except BrokenPipeError:
                self._reap()

    def folder(self) -> str:
        """Where the session's bash stands, by the kernel. Raises JailError when that cannot be told: relative paths could not be judged."""
        pid = self._shell_pid()
        try:
            return os.readlink(f"/proc/{pid}/cwd") if pid else self._lost()
        except OSError:
            return self._lost()

    def _lost(self) -> str:
        raise JailError("the folder of the session's shell cannot be read; nothing ran", hint="start a new shell")

    def _shell_pid(self) -> int:
        """The process below our launcher whose stdin is our pipe: bash itself, since its commands get the caller's stdin."""
        todo = [self._launcher]
        while todo:
            pid = todo.pop(0)
            try:
                if os.readlink(f"/proc/{pid}/fd/0") == f"pipe:[{self._inode}]":
                    return pid
            except OSError:
                pass  # not ours to look into: its children may be
            try:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    todo += [int(word) for word in file.read().split()]
            except OSError:
                pass  # it has just ended
        return 0

    def take_terminal(self) -> None:
        """Come to the front of the caller's terminal, to read a line; bash had put its own group there."""
        self._to_front(os.getpgrp())

    def give_terminal(self) -> None:
        """Let bash and its jobs have the terminal again."""
        pid = self._shell_pid()
        if pid:
            self._to_front(os.getpgid(pid))

    def _to_front(self, group: int) -> None:
        if self._interactive and os.isatty(0):
            try:
                os.tcsetpgrp(0, group)
            except OSError:
                pass  # not our controlling terminal: then nobody arbitrates it

    def watch(self, source: int) -> bool:
        """Wait until `source` can be read; False when the shell ended first."""
        poll = select.poll()
        poll.register(source, select.POLLIN | select.POLLHUP)
        poll.register(self._pipe, 0)
        while True:
            for fd, _ in poll.poll():
                if fd == source:
                    return True
                self._reap()
                return False

    def close(self) -> int:
        """End of input: bash ends as it does there. Returns the wait status of the launcher."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        self._reap()
        return self.ended or 0

    def pass_on(self, number: int) -> None:
        """A signal for the session."""
        if self.ended is None:
            os.kill(self._launcher, number)

    def _reap(self) -> None:
        while self.ended is None:
            try:
                self.ended = os.waitpid(self._launcher, 0)[1]
            except ChildProcessError:
                self.ended = 0


def _quoted(text: str) -> str:
    """The text as one word on one line: bash would ask for the rest of a line that ends inside a quote."""
    return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
